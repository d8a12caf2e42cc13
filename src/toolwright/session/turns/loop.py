"""The loop: ask the model, run its calls side by side, until it has answered."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

from toolwright.call import call_from_text
from toolwright.calls.parts import ToolPart
from toolwright.calls.request import Request
from toolwright.definition import Call, Result
from toolwright.errors import CallChanged, PermissionDenied, PermissionRejected, ToolError
from toolwright.messages import AgentPart, Message
from toolwright.models.model import ModelError, ModelMessage, ToolSpec, UserMessage
from toolwright.models.transport.retry import stream_with_retries
from toolwright.session.prompt import PromptReader
from toolwright.session.records.history import since_summary
from toolwright.session.turns.compaction import compact_if_full, make_room
from toolwright.session.turns.failures import EMPTY, HELD_BACK, TOO_LONG
from toolwright.session.turns.instructions import LAST_STEP
from toolwright.session.turns.notices import tell_if_cut_short, tell_notices
from toolwright.session.turns.reply import ReplyWriter
from toolwright.session.turns.turn import Turn

NO_MORE_CALLS = "No more calls can be made: this was the last step. It was not run."
CUT_OFF = (
    "The reply was cut off by the token limit, so its calls were not run: their arguments may be incomplete. "
    "Make fewer or smaller calls in one reply."
)


async def take_and_answer(turn: Turn) -> Message:
    """Add to the prompt what goes with it, and answer it."""
    await attach(turn)
    return await answer(turn)


async def answer(turn: Turn) -> Message:
    """Work on the newest prompt until it is answered; return the message that ends the turn."""
    tell_notices(turn)
    while True:
        turn.spending.check()
        turn.take_pending()
        turn.follow_agent()
        await compact_if_full(turn)
        turn.spending.steps += 1
        last = turn.agent.steps is not None and turn.spending.steps >= turn.agent.steps
        reply = await _step(turn, tools=[] if last else await turn.tools(), last=last)
        turn.count(reply.message)
        results = await (refuse_calls(turn, reply) if last else run_calls(turn, reply))
        reply.finish()
        turn.note_changes(reply.message)
        if last or not (results or turn.take_pending() or (turn.prompt.waits and await turn.wait_for_background())):
            return _checked(turn, reply)
        if refused_by_user(results) and not turn.settings.go_on_after_reject:
            return reply.message
        turn.repeats.next_step()


async def attach(turn: Turn) -> Message:
    """Add to the message of a prompt what goes with it: its files, and what its text mentions."""
    message = turn.conversation.message(turn.user.id)
    assert message is not None
    async for part in PromptReader(turn, message.info.id).attached():
        turn.conversation.put(part)
    note_mentioned(turn, message)
    return message


def note_mentioned(turn: Turn, message: Message) -> None:
    """Let the agents that a prompt names take work, whatever the rules of whoever hands it down."""
    agents = turn.session.home.agents
    agents_named = (agents.find(part.name) for part in message.parts.values() if isinstance(part, AgentPart))
    turn.mentioned = tuple(agent.name for agent in agents_named if agent is not None)


async def _step(turn: Turn, *, tools: list[ToolSpec], last: bool) -> ReplyWriter:
    """One reply of the model. If it does not fit the model any more, room is made; if it is empty, one more chance."""
    try:
        reply = await ask_model(turn, tools=tools, last=last)
    except ModelError as error:
        if error.kind != "context_overflow" or not turn.settings.compaction.auto:
            raise
        turn.conversation.remove_from(turn.conversation.messages[-1].info.id)
        await make_room(turn)
        reply = await ask_model(turn, tools=tools, last=last)
    if reply.is_empty and reply.reason not in _FAILURES:
        turn.count(reply.message)
        turn.conversation.remove_from(reply.message.info.id)
        reply = await ask_model(turn, tools=tools, last=last)
    return reply


async def ask_model(turn: Turn, *, tools: list[ToolSpec], last: bool = False) -> ReplyWriter:
    """Stream one reply into a new message; trouble that passes is tried again."""
    messages: list[ModelMessage] = [turn.system_message(), *turn.history.of(since_summary(turn.conversation))]
    if last:
        messages.append(UserMessage(content=(LAST_STEP,)))
    message = turn.begin_reply()
    reply = ReplyWriter(turn.conversation, message, turn.model)
    reply.start()
    try:
        stream = stream_with_retries(turn.model, messages, tools, turn.reply_settings, policy=turn.settings.retry)
        async with aclosing(stream) as events:
            async for event in events:
                reply.take(event)
        await reply.complete()
    except BaseException:
        reply.stop()
        raise
    # A model that speaks no wire format is served by nobody: its counts are what its maker says.
    if turn.model.info.api and not turn.toolbox.doubted:
        tell_if_cut_short(turn, messages, reply.message)
    return reply


_FAILURES = {"content_filter": HELD_BACK, "length": TOO_LONG}


def _checked(turn: Turn, reply: ReplyWriter) -> Message:
    """The final message, marked as failed if the provider held the answer back or none came."""
    if reply.reason == "content_filter" or not reply.message.text:
        turn.fail(reply.message, _FAILURES.get(reply.reason, EMPTY))
    return reply.message


# Its calls.


async def run_calls(turn: Turn, reply: ReplyWriter) -> list[Result]:
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


async def refuse_calls(turn: Turn, reply: ReplyWriter) -> list[Result]:
    """Close the calls of a reply that had no calls to make."""
    return [await _refuse(turn, call, part, ToolError(NO_MORE_CALLS, "denied")) for call, part in _planned(reply)]


def _planned(reply: ReplyWriter) -> list[tuple[Call, ToolPart]]:
    calls = [call_from_text(end.id, end.name, end.arguments) for end in reply.calls.values()]
    return [(call, reply.part_of(call.id)) for call in calls]


async def _run(turn: Turn, call: Call, part: ToolPart) -> Result:
    if turn.repeats.circles(call):
        try:
            await _ask_about_circle(turn, call, part)
        except CallChanged as change:
            call = replace(call, arguments=change.arguments)
        except PermissionRejected as error:
            turn.repeats.refused()
            return await _refuse(turn, call, part, error)
        except PermissionDenied as error:
            # A model that goes round and may not would only go on doing so: the turn ends, as if a person had said no.
            return await _refuse(turn, call, part, PermissionRejected(str(error)))
        turn.repeats.approved()
    return await turn.session.run_call(call, turn, part=part)


async def _ask_about_circle(turn: Turn, call: Call, part: ToolPart) -> None:
    request = Request(
        permission="doom_loop",
        patterns=(call.tool,),
        always=(call.tool,),
        metadata={"tool": call.tool, "input": call.arguments},
    )
    await turn.session.ask_for(call, turn, request, part.message_id)


async def _refuse(turn: Turn, call: Call, part: ToolPart, error: ToolError) -> Result:
    return await turn.session.refuse(call, turn, turn.session.record_of(call, part), error)


def refused_by_user(results: Sequence[Result]) -> bool:
    """Tell whether the user has said no to something without saying what to do instead."""
    return any(isinstance(result.error, PermissionRejected) and not result.error.advice for result in results)
