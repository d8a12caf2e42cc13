"""The rules and the box by themselves: what a call would come to, and commands that the program itself decides on."""

from dataclasses import field
from typing import TYPE_CHECKING, Any

from toolwright.calls.request import Request
from toolwright.definition import Action, Call, Result
from toolwright.errors import ToolError
from toolwright.events import Bus
from toolwright.inbox import Inbox, Reply, always_say
from toolwright.permission.gate import AskedRequest, DryGate, DryRunOver, Gate
from toolwright.permission.judge import denial
from toolwright.permission.rules import STRICTNESS, Rule
from toolwright.record import record
from toolwright.session.records.call_record import CallRecord
from toolwright.session.storage.in_memory import MemoryStore
from toolwright.text.ids import new_id

if TYPE_CHECKING:
    from toolwright.session.session import Session


@record(frozen=True, slots=True, kw_only=True)
class CallDecision:
    """Decision of the rules on a call. Nothing of it was done, and nobody was asked."""

    action: Action
    reason: str = ""
    """For people and models: why it is denied, or what would be asked."""
    requests: tuple[Request, ...] = ()
    """Permissions that the call needs."""
    rule: Rule | None = None
    """The rule that decided, if one did."""
    error: ToolError | None = None
    """Why the call could not be made at all, such as wrong arguments; then `action` is of what was known of it."""


@record(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    """Outcome of a command."""

    exit_code: int | None
    """None if it did not come to its end."""
    output: str
    sandbox: str = ""
    """The box it ran in: `bubblewrap`, `landlock`, ..., `off`."""
    result: Result = field(repr=False)


async def decide(session: "Session", tool: str, arguments: dict[str, Any]) -> CallDecision:
    """Return what the rules make of a call of the session's agent; hooks and guards have their say."""
    call = Call(id=new_id("call"), tool=tool, arguments=arguments)
    log = list[AskedRequest]()
    journal = CallRecord.begin(call, session_id=session.id, message_id=new_id("msg"), store=MemoryStore(), bus=Bus())
    gate = DryGate(session.gate.inbox, session.gate.approvals)
    error = (await session.run_call(call, journal=journal, log=log, gate=gate)).error
    requests = tuple(one.judgement.request for one in log)
    if error is not None and error.kind in ("denied", "rejected"):
        return CallDecision(action="deny", reason=str(error), requests=requests)
    unmade = None if error is None or isinstance(error, DryRunOver) else error
    if not log:
        action: Action = "allow" if unmade is None else "ask"
        return CallDecision(action=action, reason=str(unmade or ""), error=unmade)
    strictest = max(log, key=lambda one: STRICTNESS[one.judgement.action]).judgement
    return CallDecision(
        action=strictest.action,
        reason=_reason(strictest.action, strictest.request, denial(strictest) if strictest.action == "deny" else ""),
        requests=requests,
        rule=strictest.decision.rule,
        error=unmade,
    )


def _reason(action: Action, request: Request, denied: str) -> str:
    if action == "ask":
        reasons = " ".join(map(str, request.metadata.get("reasons", ())))
        return f"{request.permission}: {', '.join(request.patterns)}. {reasons}".strip()
    return denied


async def run_command(session: "Session", command: str, arguments: dict[str, Any]) -> CommandOutcome:
    """Run a command in the box of the project. The program has decided on it: what the rules ask about is allowed."""
    call = Call(id=new_id("call"), tool="bash", arguments={"command": command, **arguments})
    inbox = Inbox(session.gate.inbox.bus, always_say(Reply(kind="once")))
    result = await session.run_call(call, gate=Gate(inbox, session.gate.approvals, session.gate.scope))
    code = result.metadata.get("exit")
    output = result.metadata.get("output") if result.error is None else result.output
    return CommandOutcome(
        exit_code=code if isinstance(code, int) else None,
        output=output if isinstance(output, str) else result.output,
        sandbox=str(result.metadata.get("sandbox", "")),
        result=result,
    )
