"""Our tools as tools of Inspect; and its tools as ours."""

import json
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from inspect_ai.approval import Approval, ApprovalDecision, Approver, approver
from inspect_ai.model import ChatMessage, ContentDocument, ContentImage, ContentText
from inspect_ai.tool import Tool as InspectTool
from inspect_ai.tool import ToolCall, ToolCallView, ToolDef, ToolError, ToolParams

from toolwright.adapters.bridge import Piece, Target, foreign_tool, offered, result_of, run, session_of
from toolwright.definition import Action, Attachment, Result, Tool, ToolContext
from toolwright.errors import ToolError as OurError
from toolwright.inbox import Reply, always_say
from toolwright.protocols.json_types import Json
from toolwright.session.session import Session


async def tools(target: Target) -> list[InspectTool]:
    """The tools of a session, or of a workspace: `use_tools(await tools(workspace))`.

    Questions go to the `answer` of the workspace, unless the calls have passed `approval_by` for the same session.
    """
    session = session_of(target)
    return [_definition(session, tool).as_tool() for tool in await offered(session)]


def approval_by(target: Target) -> Approver:
    """Our rules as an approver of the library: what they ask about is escalated to the next one, such as a human.

    `eval(task, approval=[ApprovalPolicy(approval_by(session), "*"), ApprovalPolicy(human_approver(), "*")])`
    """
    session = session_of(target)

    async def approve(message: str, call: ToolCall, view: ToolCallView, history: list[ChatMessage]) -> Approval:
        if call.function not in session.home.caller.registry:
            return Approval(decision="escalate", explanation=f"{call.function} is no tool of this workspace.")
        decision = await session.decide(call.function, **call.arguments)
        if decision.action == "ask":
            _ESCALATED.set((session.id, _key(call.function, call.arguments)))
        return Approval(decision=_DECISIONS[decision.action], explanation=decision.reason or None)

    # What the library logs of it: it looks its approvers up by what their decorator has noted.
    approving: Approver = approver(name="toolwright")(lambda: approve)()
    return approving


_DECISIONS: dict[Action, ApprovalDecision] = {"allow": "approve", "ask": "escalate", "deny": "reject"}
_ESCALATED: ContextVar[tuple[str, str]] = ContextVar("toolwright_escalated", default=("", ""))
"""The session and the call that was escalated in this task of the library: if it is made, somebody has approved it."""


def _key(tool: str, arguments: Json) -> str:
    return json.dumps([tool, arguments], sort_keys=True, default=str)


def _definition(session: Session, tool: Tool) -> ToolDef:
    async def execute(**arguments: Any) -> Any:
        approved = _ESCALATED.get() == (session.id, _key(tool.id, arguments))
        answer = always_say(Reply(kind="once")) if approved else None
        return as_content(await run(session, tool.id, arguments, answer=answer))

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
