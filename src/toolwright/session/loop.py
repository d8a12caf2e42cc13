"""The loop: ask the model, run its calls, until it has answered."""

from contextlib import aclosing

from toolwright.messages import Message
from toolwright.models.model import ModelError, ModelMessage, ToolSpec, UserMessage
from toolwright.models.retry import stream_with_retries
from toolwright.session.answering import Answering
from toolwright.session.calls import refuse_calls, refused_by_user, run_calls
from toolwright.session.compaction import compact_if_full, make_room
from toolwright.session.failures import EMPTY, HELD_BACK, TOO_LONG
from toolwright.session.history import since_summary
from toolwright.session.notices import tell_if_cut_short, tell_notices
from toolwright.session.reply import ReplyWriter
from toolwright.session.system import LAST_STEP


async def answer(turn: Answering) -> Message:
    """Work on the newest prompt until it is answered; return the message that ends the turn."""
    tell_notices(turn)
    while True:
        turn.spending.check()
        turn.hear()
        turn.follow_agent()
        await compact_if_full(turn)
        turn.spending.steps += 1
        last = turn.agent.steps is not None and turn.spending.steps >= turn.agent.steps
        reply = await _step(turn, tools=[] if last else await turn.tools(), last=last)
        turn.count(reply.message)
        results = await (refuse_calls(turn, reply) if last else run_calls(turn, reply))
        reply.finish()
        turn.note_changes(reply.message)
        if last or not (results or turn.hear()):
            return _checked(turn, reply)
        if refused_by_user(results) and not turn.go_on_after_reject:
            return reply.message
        turn.repeats.next_step()


async def _step(turn: Answering, *, tools: list[ToolSpec], last: bool) -> ReplyWriter:
    """One reply of the model. If it does not fit the model any more, room is made; if it is empty, one more chance."""
    try:
        reply = await ask_model(turn, tools=tools, last=last)
    except ModelError as error:
        if error.kind != "context_overflow" or not turn.compaction.auto:
            raise
        turn.conversation.remove_from(turn.conversation.messages[-1].info.id)
        await make_room(turn)
        reply = await ask_model(turn, tools=tools, last=last)
    if reply.is_empty and reply.reason not in _FAILURES:
        turn.count(reply.message)
        turn.conversation.remove_from(reply.message.info.id)
        reply = await ask_model(turn, tools=tools, last=last)
    return reply


async def ask_model(turn: Answering, *, tools: list[ToolSpec], last: bool = False) -> ReplyWriter:
    """Stream one reply into a new message; trouble that passes is tried again."""
    messages: list[ModelMessage] = [turn.system_message(), *turn.history.of(since_summary(turn.conversation))]
    if last:
        messages.append(UserMessage(content=(LAST_STEP,)))
    message = turn.begin_reply()
    reply = ReplyWriter(turn.conversation, message, turn.model)
    reply.start()
    try:
        stream = stream_with_retries(turn.model, messages, tools, turn.settings, policy=turn.retry)
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


def _checked(turn: Answering, reply: ReplyWriter) -> Message:
    """The final message, marked as failed if the provider held the answer back or none came."""
    if reply.reason == "content_filter" or not reply.message.text:
        turn.fail(reply.message, _FAILURES.get(reply.reason, EMPTY))
    return reply.message
