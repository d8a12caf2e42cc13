"""The loop: ask the model, run its calls, until it has answered."""

from contextlib import aclosing

from toolwright.messages import Assistant, Failure, Message
from toolwright.models.model import ModelError, ModelMessage, ToolSpec, UserMessage
from toolwright.models.retry import stream_with_retries
from toolwright.session.calls import refused_by_user, run_calls
from toolwright.session.compaction import compact_if_full, make_room
from toolwright.session.failures import failure_of
from toolwright.session.reply import ReplyWriter
from toolwright.session.system import LAST_STEP, system_prompt
from toolwright.session.turn import Turn


async def answer(turn: Turn) -> Message:
    """Work on the newest prompt until it is answered; return the message that ends the turn."""
    while True:
        turn.check_budget()
        turn.session.work_as(turn.user.agent)
        await compact_if_full(turn)
        turn.steps += 1
        last = turn.agent.steps is not None and turn.steps >= turn.agent.steps
        reply = await _step(turn, tools=[] if last else await turn.tools(), last=last)
        turn.count(reply.message)
        if not reply.calls or last:
            return _checked(turn, reply)
        results = await run_calls(turn, reply)
        turn.note_changes(reply.message)
        if refused_by_user(results) and not turn.go_on_after_reject:
            return reply.message


async def _step(turn: Turn, *, tools: list[ToolSpec], last: bool) -> ReplyWriter:
    """One reply of the model. If it does not fit the model any more, room is made once and it is asked again."""
    try:
        return await ask_model(turn, tools=tools, last=last)
    except ModelError as error:
        if error.kind != "context_overflow":
            raise
        await make_room(turn)
        return await ask_model(turn, tools=tools, last=last)


async def ask_model(turn: Turn, *, tools: list[ToolSpec], last: bool = False) -> ReplyWriter:
    """Stream one reply into a new message; trouble that passes is tried again."""
    messages = _request(turn, last=last)
    message = turn.begin_reply()
    reply = ReplyWriter(turn.conversation, message, turn.model.info.prices)
    reply.start()
    try:
        stream = stream_with_retries(turn.model, messages, tools, turn.settings(), policy=turn.retry)
        async with aclosing(stream) as events:
            async for event in events:
                reply.take(event)
    except ModelError as error:
        turn.fail(message, failure_of(error))
        raise
    reply.finish()
    return reply


def _request(turn: Turn, *, last: bool) -> list[ModelMessage]:
    system = system_prompt(
        turn.agent,
        directory=turn.session.directory,
        root=turn.instructions.root,
        instructions=turn.instructions,
        extra=turn.user.system or "",
    )
    messages: list[ModelMessage] = [turn.system_message(system), *turn.history.of(turn.conversation.messages)]
    if last:
        messages.append(UserMessage(content=(LAST_STEP,)))
    return messages


def _checked(turn: Turn, reply: ReplyWriter) -> Message:
    """The final message, marked as failed if the provider held the answer back or none came."""
    info = reply.message.info
    if isinstance(info, Assistant) and reply.reason == "content_filter":
        turn.fail(
            reply.message, Failure(name="ContentFilterError", data={"message": "The provider held the answer back."})
        )
    return reply.message
