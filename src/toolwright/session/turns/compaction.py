"""Compaction: when a conversation no longer fits, old results go first, then a summary takes the place of the rest."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from toolwright.calls.parts import Completed, ToolPart
from toolwright.errors import ToolwrightError
from toolwright.messages import Assistant, CompactionPart, Message, Moment, TextPart, User, new_part
from toolwright.models.model import ModelError, ModelMessage, ReplySettings, SystemMessage, UserMessage
from toolwright.models.transport.retry import stream_with_retries
from toolwright.session.events import SessionCompacted, SessionStatus
from toolwright.session.records.history import kept_from, since_summary
from toolwright.session.turns.reply import ReplyWriter
from toolwright.session.turns.turn import Turn
from toolwright.text.ids import new_id, now

OUTPUT_RESERVE = 32_000
"""Tokens kept free for a reply whose limit nobody knows."""
PRUNE_PROTECT = 40_000
"""Tokens of the newest results that are never cleared."""
PRUNE_MINIMUM = 20_000
"""Less than this is not worth clearing."""
TAIL_SHARE = 0.25
"""Share of the room that may be taken by turns that are kept word for word."""
TAIL_MOST = 15_000
MOST_IN_A_ROW = 3
"""Times that room may be made without getting anywhere."""
QUOTED = 4_000
"""Characters of a text that are taken over where the whole would be too much."""

HAND_OVER = (
    "Write the hand-over now: everything somebody needs who goes on with this work and sees nothing but your text."
)
SUMMARY = 8_000
"""Tokens a summary may have."""
GO_ON = "Go on with the work where it stands; do not start again."


async def compact_if_full(turn: Turn) -> None:
    """Make room before a step if the conversation has come near the model's limit; never after the last answer."""
    room = usable(turn)
    if room is None or not turn.settings.compaction.auto:
        return
    if not turn.tools_size:
        await turn.tools()
    if estimate(turn) < room:
        return
    _require_fit(turn, room)
    prune(turn)
    if estimate(turn) >= room:
        await make_room(turn)


def _require_fit(turn: Turn, room: int) -> None:
    """Raise where no summary can help: the instructions alone are too large, or the prompt that is to be answered."""
    name, context = turn.model.info.full_name, turn.model.info.limits.context or turn.model.info.limits.input
    fixed = _fixed_size(turn)
    if fixed >= room:
        raise ToolwrightError(
            f"The instructions and tools alone need about {_tokens(fixed)} tokens; {name} has {_tokens(context)} "
            "for them and the answer. Choose a model with a larger context, or an agent with fewer tools."
        )
    messages = since_summary(turn.conversation)
    prompt = turn.history.size(messages[-1]) if isinstance(messages[-1].info, User) else 0
    if fixed + prompt > context or (prompt and len(messages) == 1 and fixed + prompt > room):
        raise ToolwrightError(
            f"The prompt with its files needs about {_tokens(prompt)} tokens, instructions and tools {_tokens(fixed)}; "
            f"{name} has {_tokens(context)} in all. Send less at once, or choose a model with a larger context."
        )


def _tokens(number: int) -> str:
    return f"{number / 1000:.1f}k" if number >= 1000 else str(number)


async def make_room(turn: Turn, *, auto: bool = True) -> None:
    """Put a summary in the place of what came before, inside the hooks around compaction."""
    proceed: Callable[[], Awaitable[None]] = partial(_make_room, turn, auto=auto)
    for hook in reversed(turn.settings.compaction_hooks):
        proceed = partial(hook, proceed, turn.conversation.id)
    await proceed()


async def _make_room(turn: Turn, *, auto: bool) -> None:
    """It is bounded, and a failure leaves a usable session."""
    _require_progress(turn)
    compacted = list(since_summary(turn.conversation))
    prompt = turn.user
    tail = _tail_start(turn, compacted)
    mark = _mark(turn, prompt, auto=auto, tail=tail)
    why = ", for the conversation no longer fits the model" if auto else ""
    _tell(turn, {"type": "busy", "doing": f"writing a summary{why}"})
    failed: str | None = None
    try:
        await _summarise(turn, compacted)
    except ModelError as error:
        failed = str(error)
        for part in mark.parts.values():
            if isinstance(part, CompactionPart):
                turn.conversation.put(replace(part, failed=failed))
                break
        _summarise_by_rule(turn, compacted)
    except BaseException:
        turn.conversation.remove_from(mark.info.id)
        raise
    turn.conversation.tell(SessionCompacted(session_id=turn.conversation.id, failed=failed))
    if auto:
        _go_on(turn, prompt, kept=tail is not None)
    for message in turn.conversation.put_away(kept_from(turn.conversation)):
        turn.history.forget(message.info.id)


def _tell(turn: Turn, status: dict[str, object]) -> None:
    turn.conversation.tell(SessionStatus(session_id=turn.conversation.id, status=status))


def _require_progress(turn: Turn) -> None:
    """Raise if the last steps did nothing but make room."""
    steps = turn.spending.steps
    turn.compactions = turn.compactions + 1 if steps - turn.compacted_at <= 1 else 1
    turn.compacted_at = steps
    if turn.compactions > MOST_IN_A_ROW:
        raise ToolwrightError(
            "The conversation does not fit the model even after it was summarised several times. "
            "Start a new session, or choose a model with a larger context."
        )


def usable(turn: Turn) -> int | None:
    """Return how many tokens may be sent; None where the model's size is not known."""
    limits = turn.model.info.limits
    reserved = turn.settings.compaction.reserved
    if limits.input:
        return limits.input - (reserved or 0)
    if not limits.context:
        return None
    most = min(OUTPUT_RESERVE, limits.context // 4)
    return limits.context - (reserved or min(limits.output or most, most))


def estimate(turn: Turn) -> int:
    """Tokens the next request will have: the provider's own count where there is one, plus what has come since."""
    messages = turn.conversation.messages
    # What was counted before the last summary says nothing about what is sent after it.
    summary = turn.conversation.summary_position()
    for position in range(len(messages) - 1, -1 if summary is None else summary, -1):
        info = messages[position].info
        if isinstance(info, Assistant) and info.tokens.total:
            since = sum(map(turn.history.size, messages[position + 1 :]))
            return info.tokens.total + _results_size(messages[position]) + since
    return _fixed_size(turn) + sum(map(turn.history.size, since_summary(turn.conversation)))


def _fixed_size(turn: Turn) -> int:
    """Tokens of what every request begins with."""
    return len(turn.system_message().text) // 4 + turn.tools_size


def prune(turn: Turn) -> None:
    """Clear old results, the oldest first, from before the last two prompts; skills and summaries stay."""
    is_pinned = turn.session.home.caller.registry.is_pinned
    candidates: list[ToolPart] = []
    kept = total = users = 0
    for message in reversed(since_summary(turn.conversation)):
        users += isinstance(message.info, User)
        if users < 2:
            continue
        for part in reversed(message.calls):
            if not isinstance(part.state, Completed) or is_pinned(part.tool) or part.state.time.compacted:
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
        room -= turn.history.size(message)
        if room < 0 or (isinstance(message.info, Assistant) and message.info.summary):
            break
        if isinstance(message.info, User):
            start = message.info.id
    return start


def _mark(turn: Turn, prompt: User, *, auto: bool, tail: str | None) -> Message:
    info = replace(prompt, id=new_id("msg"), time=Moment(created=now()), system=None, tools=None)
    part = CompactionPart(**new_part(info.session_id, info.id), auto=auto, tail_start_id=tail)
    return turn.conversation.add(info, [part])


async def _summarise(turn: Turn, messages: Sequence[Message]) -> None:
    """Ask the model for the hand-over; its tools are not offered."""
    message = turn.begin_reply(agent="compaction", summary=True)
    reply = ReplyWriter(turn.conversation, message, turn.model)
    request: list[ModelMessage] = [
        SystemMessage(text=turn.session.ruled_agent_named("compaction").agent.prompt),
        *turn.history.of(messages),
        UserMessage(content=(HAND_OVER,)),
    ]
    settings = ReplySettings(purpose="compaction", cache_key=turn.conversation.id, max_output=SUMMARY)
    try:
        stream = stream_with_retries(turn.model, request, [], lambda: settings, policy=turn.settings.retry)
        async with aclosing(stream) as events:
            async for event in events:
                reply.take(event)
        await reply.complete()
        if reply.is_empty:
            raise ModelError("The model wrote no summary.", "cut", retryable=False)
        reply.finish()
    except ModelError:
        # What it took is spent, though nothing came of it.
        if reply.usage is not None:
            await reply.complete()
            turn.count(message)
        turn.conversation.remove_from(message.info.id)
        raise
    turn.count(message)


def _summarise_by_rule(turn: Turn, messages: Sequence[Message]) -> None:
    """Write a summary of the prompts and the last words where no model will, so that work can go on."""
    prompts = [_quoted(message.text) for message in messages if isinstance(message.info, User) and message.text]
    answers = [message.text for message in messages if isinstance(message.info, Assistant) and message.text]
    text = "The conversation so far could not be summarised by a model. The user asked:\n- " + "\n- ".join(
        prompts[-20:]
    )
    text += f"\n\nThe last answer was:\n{answers[-1][-QUOTED:]}" if answers else ""
    message = turn.begin_reply(agent="compaction", summary=True)
    info = message.info
    assert isinstance(info, Assistant)
    turn.conversation.put(TextPart(**new_part(info.session_id, info.id), text=text, synthetic=True))
    turn.conversation.update(replace(info, finish="stop", time=replace(info.time, completed=now())))


def _go_on(turn: Turn, prompt: User, *, kept: bool) -> None:
    """A prompt to go on with. Where the one that is being answered was not kept, it says again what was asked."""
    asked = turn.conversation.message(prompt.id)
    again = f" The user had asked: {_quoted(asked.text)}" if asked is not None and asked.text and not kept else ""
    info = replace(prompt, id=new_id("msg"), time=Moment(created=now()))
    part = TextPart(**new_part(info.session_id, info.id), text=f"{GO_ON}{again}", synthetic=True)
    turn.conversation.add(info, [part])


def _quoted(text: str) -> str:
    return text if len(text) <= QUOTED else f"{text[:QUOTED]} …"
