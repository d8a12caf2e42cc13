"""Our tools as tools of LangChain; and its tools as ours."""

from collections.abc import Sequence
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool

from toolwright.adapters.bridge import (
    Piece,
    Target,
    data_url,
    first_question,
    foreign_tool,
    offered,
    result_of,
    run,
    session_of,
    shown,
)
from toolwright.definition import Attachment, Result, Tool, ToolContext
from toolwright.errors import ToolError
from toolwright.inbox import Answerer, Reply, as_reply
from toolwright.protocols.json_types import Json
from toolwright.session.session import Session


async def tools(target: Target, *, interrupts: bool = False) -> list[StructuredTool]:
    """The tools of a session, or of a workspace: `create_agent(model, await tools(workspace))`.

    Questions go to the `answer` of the workspace. With `interrupts`, in a graph with a checkpointer, they interrupt
    the graph: `Command(resume="once")` goes on with it, as does anything else that can be answered. The artifact of a
    message is the metadata of the result.
    """
    session = session_of(target)
    return [_structured(session, tool, interrupts=interrupts) for tool in await offered(session)]


def _structured(session: Session, tool: Tool, *, interrupts: bool) -> StructuredTool:
    # A plain function and no partial: LangGraph looks at the annotations of what it is given.
    async def invoke(**arguments: Any) -> tuple[Any, Json]:
        answer = await _interrupted(session, tool.id, arguments) if interrupts else None
        return as_content(await run(session, tool.id, arguments, answer=answer))

    return StructuredTool.from_function(
        coroutine=invoke,
        name=tool.id,
        description=tool.description,
        args_schema=tool.parameters,
        infer_schema=False,
        response_format="content_and_artifact",
    )


async def _interrupted(session: Session, tool: str, arguments: Json) -> Answerer | None:
    """Return a person's answer to the question of a call. The first time, leave the graph, to be resumed with it."""
    from langgraph.types import interrupt

    question = await first_question(session, tool, arguments)
    if question is None:
        return None
    answer: Any = interrupt({"tool": tool, "arguments": arguments, **shown(question)})
    reply = Reply(**answer) if isinstance(answer, dict) else as_reply(answer)
    return lambda _: reply


def as_content(result: Result) -> tuple[Any, Json]:
    """A result as the library has them: failures are text, files are blocks after it; then the metadata."""
    metadata = {**result.metadata, "title": result.title}
    if result.error is not None:
        metadata["error"] = result.error.kind
    if not result.attachments:
        return result.output, metadata
    return [{"type": "text", "text": result.output}, *map(_block, result.attachments)], metadata


def _block(one: Attachment) -> Json:
    kind = "image" if one.mime.startswith("image/") else "file"
    return {"type": kind, "base64": one.url.partition(",")[2], "mime_type": one.mime}


def from_tools(theirs: Sequence[BaseTool]) -> list[Tool]:
    """Tools of the library, for `tools=` of a workspace."""
    return [_from_tool(one) for one in theirs]


def _from_tool(one: BaseTool) -> Tool:
    async def call(ctx: ToolContext, arguments: Json) -> Any:
        try:
            return result_of(await one.ainvoke(arguments), _piece)
        except ToolException as error:
            raise ToolError(str(error)) from error

    function = convert_to_openai_tool(one)["function"]
    return foreign_tool(function["name"], function["description"], function["parameters"], call)


def _piece(one: Any) -> Piece | None:
    match one:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "file" | "audio" | "video", "base64": str(content), "mime_type": str(mime)}:
            return Attachment(mime=mime, url=data_url(mime, content), filename=one.get("filename"))
        case _:
            return None
