"""Our tools as tools of LangChain; and its tools as ours."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool

from toolwright.adapters.bridge import Piece, Target, data_url, foreign_tool, offered, result_of, run, session_of
from toolwright.definition import Attachment, Result, Tool, ToolContext
from toolwright.errors import ToolError
from toolwright.jsontypes import Json
from toolwright.session.session import Session


async def tools(target: Target) -> list[StructuredTool]:
    """The tools of a session, or of a workspace: `model.bind_tools(await tools(workspace))`.

    The library has no way to defer a call, so questions go to the `answer` of the workspace. The artifact of a
    message is the metadata of the result.
    """
    session = session_of(target)
    return [_structured(session, tool) for tool in await offered(session)]


def _structured(session: Session, tool: Tool) -> StructuredTool:
    return StructuredTool.from_function(
        coroutine=partial(_invoke, session, tool.id),
        name=tool.id,
        description=tool.description,
        args_schema=tool.parameters,
        infer_schema=False,
        response_format="content_and_artifact",
    )


async def _invoke(session: Session, tool: str, /, **arguments: Any) -> tuple[Any, Json]:
    return as_content(await run(session, tool, arguments))


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
