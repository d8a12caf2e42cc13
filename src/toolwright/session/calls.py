"""Running the calls of a reply: side by side, but in order where they touch the same file."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from toolwright.call import call_from_text
from toolwright.errors import PermissionDenied, PermissionRejected, ToolError
from toolwright.models.model import CallEnd
from toolwright.parts import ToolPart
from toolwright.request import Request
from toolwright.session.reply import ReplyWriter
from toolwright.session.session import refuse
from toolwright.session.turn import Turn
from toolwright.tool import Call, Result

_WRITERS = ("edit", "write", "multiedit", "apply_patch")
_ANYWHERE = ("apply_patch", "bash", "batch", "grep", "glob", "list")
"""Calls that may look at or touch any file. Beside a call that writes one, they keep the order they were made in."""
_LAST_STEP = "No more calls can be made: this was the last step. It was not run."
_CUT_OFF = (
    "The reply was cut off by the token limit, so its calls were not run: their arguments may be incomplete. "
    "Make fewer or smaller calls in one reply."
)


@dataclass(frozen=True, slots=True)
class _Planned:
    call: Call
    part: ToolPart
    after: tuple[int, ...]
    """The earlier calls that must be done first."""


async def run_calls(turn: Turn, reply: ReplyWriter) -> list[Result]:
    """Run every call of the reply and return their results in order. A refused call does not stop the others."""
    planned = _planned(reply)
    if reply.reason == "length":
        return [await _refuse(turn, one, ToolError(_CUT_OFF, "too_large")) for one in planned]
    done = [asyncio.Event() for _ in planned]

    async def run(index: int) -> Result:
        one = planned[index]
        try:
            for earlier in one.after:
                await done[earlier].wait()
            return await _run(turn, one)
        finally:
            done[index].set()

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(index)) for index in range(len(planned))]
    except ExceptionGroup as trouble:
        # No failure of a tool comes this far; what does, such as a full disk, ends the turn and is told as it is.
        raise trouble.exceptions[0] from None
    return [task.result() for task in tasks]


async def refuse_calls(turn: Turn, reply: ReplyWriter) -> list[Result]:
    """Close the calls of a reply that had no calls to make."""
    return [await _refuse(turn, one, ToolError(_LAST_STEP, "denied")) for one in _planned(reply)]


def _planned(reply: ReplyWriter) -> list[_Planned]:
    return _plan([(call, reply.part_of(call.id)) for call in map(_parsed, reply.calls.values())])


def _parsed(end: CallEnd) -> Call:
    return call_from_text(end.id, end.name, end.arguments)


def _plan(calls: Sequence[tuple[Call, ToolPart]]) -> list[_Planned]:
    planned: list[_Planned] = []
    for index, (call, part) in enumerate(calls):
        after = tuple(earlier for earlier in range(index) if _clash(calls[earlier][0], call))
        planned.append(_Planned(call, part, after))
    return planned


def _clash(one: Call, other: Call) -> bool:
    """Whether two calls may be about one file and at least one of them writes it."""
    if one.tool not in _WRITERS and other.tool not in _WRITERS:
        return False
    if one.tool in _ANYWHERE or other.tool in _ANYWHERE:
        return _touches_files(one) and _touches_files(other)
    return _file(one) is not None and _file(one) == _file(other)


def _touches_files(call: Call) -> bool:
    return call.tool in _ANYWHERE or _file(call) is not None


def _file(call: Call) -> str | None:
    path = call.arguments.get("filePath") if isinstance(call.arguments, dict) else None
    return path if isinstance(path, str) else None


async def _run(turn: Turn, one: _Planned) -> Result:
    if turn.repeats.circles(one.call):
        try:
            await _ask_about_circle(turn, one)
        except PermissionRejected as error:
            return await _refuse(turn, one, error)
        except PermissionDenied as error:
            # A model that goes round and may not would only go on doing so: the turn ends, as if a person had said no.
            return await _refuse(turn, one, PermissionRejected(str(error)))
        turn.repeats.approved()
    return await turn.session.run_call(one.call, part=one.part)


async def _ask_about_circle(turn: Turn, one: _Planned) -> None:
    call = one.call
    request = Request(
        permission="doom_loop",
        patterns=(call.tool,),
        always=(call.tool,),
        metadata={"tool": call.tool, "input": call.arguments},
    )
    await turn.session.ask_for(call, request, one.part.message_id)


async def _refuse(turn: Turn, one: _Planned, error: ToolError) -> Result:
    return await refuse(one.call, turn.session.record_of(one.call, one.part), error)


def refused_by_user(results: Sequence[Result]) -> bool:
    """Whether the user has said no to something without saying what to do instead."""
    return any(isinstance(result.error, PermissionRejected) and not result.error.advice for result in results)
