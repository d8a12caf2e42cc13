"""Serving the tools of a workspace that a program has opened, over HTTP or our input and output."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from toolwright.errors import UsageError
from toolwright.inbox import NOBODY, Answerer, Question, Reply, Said
from toolwright.mcp.serve.service import ClientAnswers, Service
from toolwright.workspace import Workspace

log = logging.getLogger(__name__)


async def serve_mcp(
    workspace: Workspace,
    *,
    http: int | None = None,
    token: str = "",
    agent: str = "",
    tools: Sequence[str] = (),
    tunnel: bool = False,
    say: Callable[[str], None] = log.info,
) -> None:
    """Offer the tools of a workspace to MCP clients until cancelled, or until the one client on stdio has gone.

    `http` is a port of 127.0.0.1 (0 for any), where a client needs the `token`; without one it is made. Where it
    listens, and with which token, is told by `say`. Questions about a call go to its client if that can ask
    somebody, and otherwise to the `answer` of the workspace. `tools` are the only ones offered. `tunnel` lets programs
    in that cannot be seen, such as a tunnel of ssh, if they bring the token.
    """
    workspace.require_open()
    if isinstance(tools, str):
        raise UsageError(f"tools={tools!r:.60} is no list of names: write tools=[...].")
    answers = ClientAnswers()
    async with _asking(workspace, answers):
        service = Service(workspace=workspace, answers=answers, agent=agent, only=tools)
        await service.prepare()
        if http is None:
            from toolwright.mcp.serve.stdio import serve_stdio

            await serve_stdio(service)
        else:
            try:
                from toolwright.mcp.serve.http import serve_http
            except ModuleNotFoundError as error:
                install = "Install it with: pip install 'toolwright[server]'"
                raise UsageError(f"Serving MCP over HTTP needs {error.name}. {install}") from error
            await serve_http(service, http, token, say, tunnel=tunnel)


@asynccontextmanager
async def _asking(workspace: Workspace, answers: ClientAnswers) -> AsyncIterator[None]:
    """Have clients asked about their own calls, and everybody else about the others, as long as they are served."""
    before = workspace.inbox.answer
    workspace.inbox.answer = _either(answers, before)
    try:
        yield
    finally:
        workspace.inbox.answer = before


def _either(answers: ClientAnswers, otherwise: Answerer | None) -> Answerer:
    async def answer(question: Question) -> Said:
        if answers.can_ask(question):
            return await answers(question)
        if otherwise is None:
            return Reply(kind="reject", message=NOBODY)
        reply = otherwise(question)
        return reply if isinstance(reply, Reply | str | None) else await asyncio.ensure_future(reply)

    return answer
