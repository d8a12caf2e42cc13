"""Our tools as function tools of the OpenAI Agents SDK, with its approvals for our questions; and its tools as ours."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from agents import FunctionTool, RunContextWrapper, ToolOutputFileContent, ToolOutputImage, ToolOutputText
from agents.tool_context import ToolContext as Invocation

from toolwright.adapters.bridge import Piece, Target, first_question, foreign_tool, offered, result_of, run, session_of
from toolwright.definition import Attachment, Result, Tool, ToolContext
from toolwright.inbox import Question, Reply, Said
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.session.session import Session

_ANOTHER = "toolwright-any-other-call"
"""The id of no call: what is approved for it is approved for every call of the tool."""


async def tools(target: Target, *, defer: bool = True) -> list[FunctionTool]:
    """The tools of a session, or of a workspace: `Agent(name, tools=await tools(workspace))`.

    What our rules ask about interrupts the run. `state.approve(item)` is "once", `always_approve=True` is "always",
    which is stored as everywhere, and `state.reject(item, rejection_message=...)` is advice. With `defer=False` the
    `answer` of the workspace is asked instead, and the run goes on.
    """
    session = session_of(target)
    return [_function(session, tool, defer=defer) for tool in await offered(session)]


def _function(session: Session, tool: Tool, *, defer: bool) -> FunctionTool:
    return FunctionTool(
        name=tool.id,
        description=tool.description,
        params_json_schema=tool.parameters,
        on_invoke_tool=partial(_invoke if defer else _asking_ours, session, tool.id),
        strict_json_schema=False,
        needs_approval=partial(_needs_approval, session, tool.id) if defer else False,
    )


async def _needs_approval(
    session: Session, tool: str, ctx: RunContextWrapper[Any], arguments: Json, call_id: str
) -> bool:
    return await first_question(session, tool, arguments) is not None


async def _invoke(session: Session, tool: str, ctx: Invocation[Any], text: str) -> Any:
    def answer(question: Question) -> Said:
        if ctx.is_tool_approved(tool, _ANOTHER):
            return Reply(kind="always")
        return Reply(kind="once" if ctx.is_tool_approved(tool, ctx.tool_call_id) else "reject")

    return as_output(await run(session, tool, _arguments(text), ctx.tool_call_id, answer))


async def _asking_ours(session: Session, tool: str, ctx: Invocation[Any], text: str) -> Any:
    return as_output(await run(session, tool, _arguments(text), ctx.tool_call_id))


def _arguments(text: str) -> Any:
    """Return the arguments as the model wrote them; the tool complains about what is no JSON."""
    try:
        return read_json(text) if text else {}
    except ValueError:
        return text


def as_output(result: Result) -> Any:
    """A result as the library has them: failures are text, and files follow the words."""
    if not result.attachments:
        return result.output
    return [ToolOutputText(text=result.output), *map(_file, result.attachments)]


def _file(one: Attachment) -> ToolOutputImage | ToolOutputFileContent:
    if one.mime.startswith("image/"):
        return ToolOutputImage(image_url=one.url)
    return ToolOutputFileContent(file_data=one.url, filename=one.filename)


def from_tools(theirs: Sequence[FunctionTool], context: Any = None) -> list[Tool]:
    """Function tools of the library, for `tools=` of a workspace."""
    return [_from_tool(one, context) for one in theirs]


def _from_tool(one: FunctionTool, context: Any) -> Tool:
    async def call(ctx: ToolContext, arguments: Json) -> Any:
        text = json.dumps(arguments)
        invocation = Invocation(context, tool_name=one.name, tool_call_id=ctx.call_id, tool_arguments=text)
        return result_of(await one.on_invoke_tool(invocation, text), _piece)

    return foreign_tool(one.name, one.description, one.params_json_schema, call)


def _piece(one: Any) -> Piece | None:
    match one:
        case ToolOutputText(text=str(text)):
            return text
        case ToolOutputImage(image_url=str(url)) if url.startswith("data:"):
            return Attachment(mime=url[len("data:") :].partition(";")[0], url=url)
        case ToolOutputFileContent(file_data=str(url), filename=name) if url.startswith("data:"):
            return Attachment(mime=url[len("data:") :].partition(";")[0], url=url, filename=name)
        case _:
            return None
