"""Our tools as a toolset of pydantic-ai, our questions as its deferred approvals; and its toolsets as our tools."""

import base64
from typing import Any

from pydantic_ai import ApprovalRequired, ModelRetry, RunContext
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import BinaryContent, ToolReturn
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_ai.usage import RunUsage
from pydantic_core import SchemaValidator, core_schema

from toolwright.adapters.bridge import (
    Piece,
    Target,
    as_text,
    data_url,
    first_question,
    foreign_tool,
    joined,
    offered,
    result_of,
    run,
    session_of,
    shown,
)
from toolwright.definition import Attachment, Result, Tool, ToolContext
from toolwright.errors import ToolError
from toolwright.inbox import Question, Reply
from toolwright.protocols.json_types import Json

_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))
"""Arguments are checked by the tools themselves, whose words a model can act on."""


class Toolset(AbstractToolset[Any]):
    """The tools of a session, or of a workspace: `Agent(model, toolsets=[Toolset(workspace)])`.

    What our rules ask about is deferred: the agent needs `DeferredToolRequests` among its output types, and goes on
    with `DeferredToolResults`. `approvals={id: True}` is "once"; `metadata={id: {"reply": "always"}}` stores it. With
    `defer=False` the `answer` of the workspace is asked instead, and the run goes on.
    """

    def __init__(
        self,
        target: Target,
        *,
        id: str = "toolwright",  # noqa: A002 - the library's word
        defer: bool = True,
    ) -> None:
        self.session = session_of(target)
        self._id = id
        self._defer = defer

    @property
    def id(self) -> str:
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return {tool.id: self._tool(tool) for tool in await offered(self.session)}

    def _tool(self, tool: Tool) -> ToolsetTool[Any]:
        definition = ToolDefinition(
            name=tool.id, description=tool.description, parameters_json_schema=tool.parameters, strict=False
        )
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=1, args_validator=_OBJECT)

    async def call_tool(self, name: str, tool_args: Json, ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        if not self._defer:
            return as_return(await run(self.session, name, tool_args, ctx.tool_call_id or ""))
        if not ctx.tool_call_approved and (question := await first_question(self.session, name, tool_args)):
            raise ApprovalRequired(metadata=shown(question))

        def answer(question: Question) -> Reply:
            return _reply(ctx.tool_call_metadata) if ctx.tool_call_approved else Reply(kind="reject")

        return as_return(await run(self.session, name, tool_args, ctx.tool_call_id or "", answer))


def _reply(metadata: Any) -> Reply:
    facts = metadata if isinstance(metadata, dict) else {}
    if facts.get("reply") == "always":
        return Reply(kind="always", scope=facts.get("scope"))
    return Reply(kind="once")


def as_return(result: Result) -> ToolReturn:
    """A result as the library has them: failures are text, files are content, metadata stays with the program."""
    files = [
        BinaryContent(base64.b64decode(one.url.partition(",")[2]), media_type=one.mime)
        for one in result.attachments
        if one.url.startswith("data:")
    ]
    metadata = {**result.metadata, "title": result.title}
    if result.error is not None:
        metadata["error"] = result.error.kind
    return ToolReturn(result.output, content=files or None, metadata=metadata)


async def from_toolset(toolset: AbstractToolset[Any], deps: Any = None) -> list[Tool]:
    """The tools of a toolset of the library, for `tools=` of a workspace."""
    tools = await toolset.get_tools(_context(deps))
    return [_from_tool(toolset, name, tool, deps) for name, tool in tools.items()]


def _from_tool(toolset: AbstractToolset[Any], name: str, tool: ToolsetTool[Any], deps: Any) -> Tool:
    async def call(ctx: ToolContext, arguments: Json) -> Any:
        context = _context(deps, tool_call_id=ctx.call_id, tool_name=name, tool_call_approved=True)
        try:
            checked = tool.args_validator.validate_python(arguments)
        except ValueError as error:
            raise ToolError(f"The arguments for {name} do not fit: {error}", "schema") from error
        try:
            return _result(await toolset.call_tool(name, checked, context, tool))
        except (ModelRetry, ToolFailed) as error:
            raise ToolError(str(error)) from error

    definition = tool.tool_def
    return foreign_tool(name, definition.description or "", definition.parameters_json_schema, call)


def _result(value: Any) -> Result:
    if not isinstance(value, ToolReturn):
        return result_of(value, _piece)
    result = result_of(value.return_value, _piece)
    content = [value.content] if isinstance(value.content, str) else list(value.content or ())
    beside = joined([one if isinstance(one, str) else _piece(one) or as_text(one) for one in content])
    return Result(
        "\n".join(filter(None, (result.output, beside.output))),
        metadata=value.metadata if isinstance(value.metadata, dict) else {},
        attachments=(*result.attachments, *beside.attachments),
    )


def _piece(one: Any) -> Piece | None:
    if isinstance(one, BinaryContent):
        return Attachment(mime=one.media_type, url=data_url(one.media_type, one.base64))
    return None


def _context(deps: Any, **more: Any) -> RunContext[Any]:
    return RunContext(deps=deps, model=TestModel(), usage=RunUsage(), **more)
