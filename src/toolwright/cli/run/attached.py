"""tw run --attach: the project on a server, whose questions are answered here."""

import argparse
import asyncio
import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from toolwright.cli.options import note, server_address
from toolwright.client import Client
from toolwright.client.remote import RemoteProject
from toolwright.errors import ToolwrightError, UsageError
from toolwright.events import Event, PermissionAsked
from toolwright.inbox import NOBODY, Answerer, Reply, as_reply
from toolwright.session.events import QuestionAsked


@asynccontextmanager
async def on_server(options: argparse.Namespace, user: Answerer | None) -> AsyncIterator[RemoteProject]:
    """The project that a command line names, as long as it is needed."""
    _refuse_limits(options)
    client = Client(server_address(options.attach), directory=getattr(options, "directory", ""))
    project = await RemoteProject.open(client)
    answering: set[asyncio.Task[None]] = set()

    def hear(event: Event) -> None:
        if isinstance(event, PermissionAsked | QuestionAsked):
            answering.add(asyncio.create_task(_answer(project, event.id, user)))

    project.subscribe(hear)
    try:
        yield project
    finally:
        for task in answering:
            task.cancel()
        await project.close()


def _refuse_limits(options: argparse.Namespace) -> None:
    limits = ("max_steps", "max_tokens", "max_cost", "max_seconds")
    limited = [f"--{name.replace('_', '-')}" for name in limits if getattr(options, name) is not None]
    if options.goal is not None:
        raise UsageError("--until cannot be given with --attach yet: run it where the project is.")
    if limited:
        raise UsageError(f"{limited[0]} cannot be given with --attach: the limits are those of the server's settings.")


async def _answer(project: RemoteProject, question_id: str, user: Answerer | None) -> None:
    question = next((one for one in await project.questions() if one.id == question_id), None)
    if question is None:
        return
    reply: Any = Reply(kind="reject", message=NOBODY) if user is None else user(question)
    if inspect.isawaitable(reply):
        reply = await reply
    try:
        await project.reply(question.id, as_reply(reply))
    except ToolwrightError as error:
        # Somebody else was faster, or the turn has ended.
        note(str(error))
