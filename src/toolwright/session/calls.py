"""Running the calls of a reply: side by side, but in order where they touch the same file."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from toolwright.call import call_from_text
from toolwright.errors import PermissionRejected, ToolError
from toolwright.models.model import CallEnd
from toolwright.parts import ToolPart
from toolwright.request import Request
from toolwright.session.reply import ReplyWriter
from toolwright.session.turn import Turn
from toolwright.tool import Call, Result

_WRITERS = ("edit", "write", "multiedit", "apply_patch")
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
    planned = _plan([(call, reply.part_of(call.id)) for call in map(_parsed, reply.calls.values())])
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

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(index)) for index in range(len(planned))]
    return [task.result() for task in tasks]


def _parsed(end: CallEnd) -> Call:
    return call_from_text(end.id, end.name, end.arguments)


def _plan(calls: Sequence[tuple[Call, ToolPart]]) -> list[_Planned]:
    planned: list[_Planned] = []
    for index, (call, part) in enumerate(calls):
        after = tuple(earlier for earlier in range(index) if _clash(calls[earlier][0], call))
        planned.append(_Planned(call, part, after))
    return planned


def _clash(one: Call, other: Call) -> bool:
    """Whether two calls are about one file and at least one of them writes it. A patch may touch any."""
    if one.tool not in _WRITERS and other.tool not in _WRITERS:
        return False
    if "apply_patch" in (one.tool, other.tool):
        return _file(one) is not None or _file(other) is not None or one.tool == other.tool
    return _file(one) is not None and _file(one) == _file(other)


def _file(call: Call) -> str | None:
    path = call.arguments.get("filePath") if isinstance(call.arguments, dict) else None
    return path if isinstance(path, str) else None


async def _run(turn: Turn, one: _Planned) -> Result:
    if turn.repeats.circles(one.call):
        try:
            await _ask_about_circle(turn, one.call)
        except ToolError as error:
            return await _refuse(turn, one, error)
        turn.repeats.approved()
    return await turn.session.run_call(one.call, part=one.part)


async def _ask_about_circle(turn: Turn, call: Call) -> None:
    request = Request(
        permission="doom_loop",
        patterns=(call.tool,),
        always=(call.tool,),
        metadata={"tool": call.tool, "input": call.arguments},
    )
    await turn.session.ask_for(call, request)


async def _refuse(turn: Turn, one: _Planned, error: ToolError) -> Result:
    """Close the record of a call that is not going to be run."""
    record = turn.session.record_of(one.call, one.part)
    record.running(one.call)
    result = Result.failed(error)
    await record.finished(one.call, result)
    return result


def refused_by_user(results: Sequence[Result]) -> bool:
    """Whether the user has said no to something without saying what to do instead."""
    return any(isinstance(result.error, PermissionRejected) and not result.error.advice for result in results)
