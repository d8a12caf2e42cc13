"""Running the calls of a reply: side by side; the door keeps them in order where they touch the same file."""

import asyncio
from collections.abc import Sequence

from toolwright.call import call_from_text
from toolwright.definition import Call, Result
from toolwright.errors import PermissionDenied, PermissionRejected, ToolError
from toolwright.parts import ToolPart
from toolwright.request import Request
from toolwright.session.answering import Answering
from toolwright.session.reply import ReplyWriter
from toolwright.session.session import refuse

LAST_STEP = "No more calls can be made: this was the last step. It was not run."
CUT_OFF = (
    "The reply was cut off by the token limit, so its calls were not run: their arguments may be incomplete. "
    "Make fewer or smaller calls in one reply."
)


async def run_calls(turn: Answering, reply: ReplyWriter) -> list[Result]:
    """Run every call of the reply and return their results in order. A refused call does not stop the others."""
    planned = _planned(reply)
    if reply.reason == "length":
        return [await _refuse(turn, one, part, ToolError(CUT_OFF, "too_large")) for one, part in planned]
    if len(planned) == 1:
        return [await _run(turn, *planned[0])]
    try:
        # Tasks begin in the order they are made, and so the calls come to the door in theirs.
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_run(turn, call, part)) for call, part in planned]
    except ExceptionGroup as trouble:
        # No failure of a tool comes this far; what does, such as a full disk, ends the turn and is told as it is.
        raise trouble.exceptions[0] from None
    return [task.result() for task in tasks]


async def refuse_calls(turn: Answering, reply: ReplyWriter) -> list[Result]:
    """Close the calls of a reply that had no calls to make."""
    return [await _refuse(turn, call, part, ToolError(LAST_STEP, "denied")) for call, part in _planned(reply)]


def _planned(reply: ReplyWriter) -> list[tuple[Call, ToolPart]]:
    calls = [call_from_text(end.id, end.name, end.arguments) for end in reply.calls.values()]
    return [(call, reply.part_of(call.id)) for call in calls]


async def _run(turn: Answering, call: Call, part: ToolPart) -> Result:
    if turn.repeats.circles(call):
        try:
            await _ask_about_circle(turn, call, part)
        except PermissionRejected as error:
            turn.repeats.refused()
            return await _refuse(turn, call, part, error)
        except PermissionDenied as error:
            # A model that goes round and may not would only go on doing so: the turn ends, as if a person had said no.
            return await _refuse(turn, call, part, PermissionRejected(str(error)))
        turn.repeats.approved()
    return await turn.session.run_call(call, turn.turn, part=part)


async def _ask_about_circle(turn: Answering, call: Call, part: ToolPart) -> None:
    request = Request(
        permission="doom_loop",
        patterns=(call.tool,),
        always=(call.tool,),
        metadata={"tool": call.tool, "input": call.arguments},
    )
    await turn.session.ask_for(call, turn.turn, request, part.message_id)


async def _refuse(turn: Answering, call: Call, part: ToolPart, error: ToolError) -> Result:
    return await refuse(call, turn.session.record_of(call, part), error)


def refused_by_user(results: Sequence[Result]) -> bool:
    """Whether the user has said no to something without saying what to do instead."""
    return any(isinstance(result.error, PermissionRejected) and not result.error.advice for result in results)
