"""Our tools as tools of Inspect; and its tools as ours."""

from collections.abc import Sequence
from typing import Any

from inspect_ai.model import ContentDocument, ContentImage, ContentText
from inspect_ai.tool import Tool as InspectTool
from inspect_ai.tool import ToolDef, ToolError, ToolParams

from toolwright.adapters.bridge import Piece, Target, foreign_tool, offered, result_of, run, session_of
from toolwright.definition import Attachment, Result, Tool, ToolContext
from toolwright.errors import ToolError as OurError
from toolwright.jsontypes import Json
from toolwright.session.session import Session


async def tools(target: Target) -> list[InspectTool]:
    """The tools of a session, or of a workspace: `use_tools(await tools(workspace))`.

    The library has no way to defer a call, so questions go to the `answer` of the workspace.
    """
    session = session_of(target)
    return [_definition(session, tool).as_tool() for tool in await offered(session)]


def _definition(session: Session, tool: Tool) -> ToolDef:
    async def execute(**arguments: Any) -> Any:
        return as_content(await run(session, tool.id, arguments))

    schema = tool.parameters
    parameters = ToolParams.model_validate(
        {
            "properties": {name: _described(name, one) for name, one in schema.get("properties", {}).items()},
            "required": schema.get("required", []),
        }
    )
    return ToolDef(execute, name=tool.id, description=tool.description, parameters=parameters, parallel=True)


def _described(name: str, schema: Json) -> Json:
    """The library refuses parameters without a description."""
    return {"description": name, **schema}


def as_content(result: Result) -> Any:
    """A result as the library has them: failures are text, and files follow the words."""
    if not result.attachments:
        return result.output
    return [ContentText(text=result.output), *map(_file, result.attachments)]


def _file(one: Attachment) -> ContentImage | ContentDocument:
    if one.mime.startswith("image/"):
        return ContentImage(image=one.url)
    return ContentDocument(document=one.url, mime_type=one.mime, filename=one.filename or "")


def from_tools(theirs: Sequence[InspectTool]) -> list[Tool]:
    """Tools of the library, for `tools=` of a workspace."""
    return [_from_tool(ToolDef(one)) for one in theirs]


def _from_tool(one: ToolDef) -> Tool:
    async def call(ctx: ToolContext, arguments: Json) -> Any:
        try:
            return result_of(await one.tool(**arguments), _piece)
        except ToolError as error:
            raise OurError(str(error)) from error

    return foreign_tool(one.name, one.description, one.parameters.model_dump(exclude_none=True), call)


def _piece(one: Any) -> Piece | None:
    match one:
        case ContentText(text=str(text)):
            return text
        case ContentImage(image=url) if url.startswith("data:"):
            return Attachment(mime=url[len("data:") :].partition(";")[0], url=url)
        case ContentDocument(document=url, mime_type=mime, filename=name) if url.startswith("data:"):
            return Attachment(mime=mime, url=url, filename=name)
        case _:
            return None
