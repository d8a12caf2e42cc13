"""Compaction: when a conversation no longer fits, old results go first, then a summary takes the place of the rest."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

from toolwright.clock import now
from toolwright.errors import ToolwrightError
from toolwright.ids import new_id
from toolwright.messages import Assistant, CompactionPart, Message, Moment, TextPart, User
from toolwright.models.model import ModelError, ModelMessage, Settings, SystemMessage, UserMessage
from toolwright.models.retry import stream_with_retries
from toolwright.parts import Completed, ToolPart
from toolwright.session.events import SessionCompacted
from toolwright.session.history import since_summary
from toolwright.session.reply import ReplyWriter
from toolwright.session.turn import Turn

OUTPUT_RESERVE = 32_000
"""Tokens kept free for a reply whose limit nobody knows."""
PRUNE_PROTECT = 40_000
"""Tokens of the newest results that are never cleared."""
PRUNE_MINIMUM = 20_000
"""Less than this is not worth clearing."""
TAIL_SHARE = 0.25
"""How much of the room may be taken by turns that are kept word for word."""
TAIL_MOST = 15_000
MOST_IN_A_TURN = 3

HAND_OVER = (
    "Write the hand-over now: everything somebody needs who goes on with this work and sees nothing but your text."
)


async def compact_if_full(turn: Turn) -> None:
    """Make room before a step if the conversation has come near the model's limit; never after the last answer."""
    room = usable(turn)
    if room is None or estimate(turn) < room:
        return
    prune(turn)
    if estimate(turn) >= room:
        await make_room(turn)


async def make_room(turn: Turn, *, auto: bool = True) -> None:
    """Put a summary in the place of what came before. It is bounded, and a failure leaves a usable session."""
    if turn.compactions >= MOST_IN_A_TURN:
        raise ToolwrightError(
            "The conversation does not fit the model even after it was summarised several times. "
            "Start a new session, or choose a model with a larger context."
        )
    turn.compactions += 1
    compacted = list(turn.conversation.messages)
    prompt = turn.user
    tail = _tail_start(turn, compacted)
    _mark(turn, prompt, auto=auto, tail=tail)
    try:
        await _summarise(turn, compacted)
    except ModelError:
        _summarise_by_rule(turn, compacted)
    turn.conversation.bus.publish(SessionCompacted(session_id=turn.conversation.id))
    if auto:
        _go_on(turn, prompt)


def usable(turn: Turn) -> int | None:
    """How many tokens may be sent; None where the model's size is not known."""
    limits = turn.model.info.limits
    if limits.input:
        return limits.input
    if not limits.context:
        return None
    return limits.context - min(limits.output or OUTPUT_RESERVE, OUTPUT_RESERVE)


def estimate(turn: Turn) -> int:
    """Tokens the next request will have: the provider's own count where there is one, plus what has come since."""
    messages = since_summary(turn.conversation.messages)
    counted, rest = 0, messages
    for position in range(len(messages) - 1, -1, -1):
        info = messages[position].info
        if isinstance(info, Assistant) and info.tokens.total and not info.summary:
            counted, rest = info.tokens.total, messages[position + 1 :]
            counted += _results_size(messages[position])
            break
    return counted + sum(_size(message) for message in rest)


def prune(turn: Turn) -> None:
    """Clear old results, the oldest first, from before the last two prompts; skills and summaries stay."""
    candidates: list[ToolPart] = []
    kept = total = users = 0
    for message in reversed(since_summary(turn.conversation.messages)):
        users += isinstance(message.info, User)
        if users < 2:
            continue
        for part in reversed(message.calls):
            if not isinstance(part.state, Completed) or part.tool == "skill" or part.state.time.compacted:
                continue
            size = len(part.state.output) // 4
            kept += size
            if kept > PRUNE_PROTECT:
                candidates.append(part)
                total += size
    if total >= PRUNE_MINIMUM:
        for part in candidates:
            _clear(turn, part)


def _clear(turn: Turn, part: ToolPart) -> None:
    assert isinstance(part.state, Completed)
    state = replace(part.state, time=replace(part.state.time, compacted=now()))
    turn.conversation.put(replace(part, state=state))
    turn.history.forget(part.message_id)


def _size(message: Message) -> int:
    """Four characters are about one token."""
    texts = sum(len(part.text) for part in message.parts.values() if isinstance(part, TextPart))
    return texts // 4 + _results_size(message) + 8


def _results_size(message: Message) -> int:
    total = 0
    for part in message.calls:
        state = part.state
        if isinstance(state, Completed) and not state.time.compacted:
            total += len(state.output) // 4
    return total


def _tail_start(turn: Turn, messages: Sequence[Message]) -> str | None:
    """The oldest prompt that is kept with all that follows it, within a share of the room."""
    room = min(TAIL_MOST, int((usable(turn) or 0) * TAIL_SHARE))
    start = None
    for message in reversed(messages):
        room -= _size(message)
        if room < 0:
            break
        if isinstance(message.info, User):
            start = message.info.id
    return start


def _mark(turn: Turn, prompt: User, *, auto: bool, tail: str | None) -> None:
    info = replace(prompt, id=new_id("msg"), time=Moment(created=now()), system=None, tools=None)
    part = CompactionPart(
        id=new_id("prt"), session_id=info.session_id, message_id=info.id, auto=auto, tail_start_id=tail
    )
    turn.conversation.add(info, [part])


async def _summarise(turn: Turn, messages: Sequence[Message]) -> None:
    """Ask the model for the hand-over; its tools are not offered."""
    message = turn.begin_reply(agent="compaction", summary=True)
    reply = ReplyWriter(turn.conversation, message, turn.model.info.prices)
    request: list[ModelMessage] = [
        SystemMessage(text=turn.session.standing_of("compaction").agent.prompt),
        *turn.history.of(messages),
        UserMessage(content=(HAND_OVER,)),
    ]
    settings = Settings(purpose="compaction", cache_key=turn.conversation.id)
    try:
        stream = stream_with_retries(turn.model, request, [], settings, policy=turn.retry)
        async with aclosing(stream) as events:
            async for event in events:
                reply.take(event)
    except ModelError:
        turn.conversation.remove_from(message.info.id)
        raise
    reply.finish()
    turn.count(message)


def _summarise_by_rule(turn: Turn, messages: Sequence[Message]) -> None:
    """Where no model will write one: a summary of the prompts and the last words, so that work can go on."""
    prompts = [f"- {message.text}" for message in messages if isinstance(message.info, User) and message.text]
    answers = [message.text for message in messages if isinstance(message.info, Assistant) and message.text]
    text = "The conversation so far could not be summarised by a model. The user asked:\n" + "\n".join(prompts[-20:])
    text += f"\n\nThe last answer was:\n{answers[-1][-4000:]}" if answers else ""
    message = turn.begin_reply(agent="compaction", summary=True)
    info = message.info
    assert isinstance(info, Assistant)
    turn.conversation.put(
        TextPart(id=new_id("prt"), session_id=info.session_id, message_id=info.id, text=text, synthetic=True)
    )
    turn.conversation.update(replace(info, finish="stop", time=replace(info.time, completed=now())))


def _go_on(turn: Turn, prompt: User) -> None:
    """A prompt to go on with, in the place of the one that the summary has swallowed."""
    info = replace(prompt, id=new_id("msg"), time=Moment(created=now()))
    text = "Go on with the work where it stands; do not start again."
    part = TextPart(id=new_id("prt"), session_id=info.session_id, message_id=info.id, text=text, synthetic=True)
    turn.conversation.add(info, [part])
