"""A model that plays a written conversation: no key, no network, the same every time."""

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, get_args

from toolwright.errors import UsageError
from toolwright.models.info import ModelInfo, ModelLimits, Usage
from toolwright.models.model import (
    AssistantMessage,
    CallDelta,
    CallEnd,
    CallStart,
    Event,
    Finish,
    FinishReason,
    ModelCall,
    ModelError,
    ModelMessage,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReplySettings,
    SystemMessage,
    TextDelta,
    ToolMessage,
    ToolSpec,
    Trouble,
    UserMessage,
)
from toolwright.record import record

REMEMBERED = 100
"""Requests that a scripted model keeps for a test to look at."""


class ScriptedCall(TypedDict):
    name: str
    args: NotRequired[dict[str, Any]]
    raw: NotRequired[str]
    """The arguments as text, for those that are not valid JSON."""
    id: NotRequired[str]


class ScriptedError(TypedDict):
    message: NotRequired[str]
    kind: NotRequired[Trouble]
    status: NotRequired[int]
    retry_after: NotRequired[float]
    retryable: NotRequired[bool]


class ScriptedTurn(TypedDict, total=False):
    """One reply, and when it is given."""

    kind: Literal["main", "title", "compaction", "any"]
    """What the request must be for; main if left out."""
    match: str
    """A regular expression that must be found in the text of the conversation."""
    not_match: str
    repeat: int | bool
    """How often the turn may be used: once if left out, without end if true."""
    text: str
    reasoning: str
    tools: list[ScriptedCall]
    finish: FinishReason
    usage: dict[str, int]
    """input, output, reasoning, cache_read, cache_write."""
    no_usage: bool
    chunk: int
    """Characters in one event."""
    delay: float
    """Seconds before the first event."""
    gap: float
    """Seconds between two events."""
    error: ScriptedError
    """Instead of a reply, or after `cut` events of it."""
    cut: int
    """Break off after so many events."""


DEFAULT_INFO = ModelInfo(
    provider="scripted",
    id="scripted",
    limits=ModelLimits(context=200_000, output=32_000),
    accepts=frozenset({"text", "image"}),
)
_TITLE: ScriptedTurn = {"text": "Scripted title"}
_COMPACTION: ScriptedTurn = {"text": "Summary of the conversation so far."}


@record(frozen=True, slots=True, kw_only=True)
class SeenRequest:
    """A request as the model was asked."""

    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...]
    settings: ReplySettings


class ScriptedModel:
    """Answers each request with the first turn that fits and is not used up."""

    def __init__(
        self,
        *turns: ScriptedTurn,
        default: ScriptedTurn | None = None,
        title: ScriptedTurn = _TITLE,
        compaction: ScriptedTurn = _COMPACTION,
        info: ModelInfo = DEFAULT_INFO,
    ) -> None:
        for turn in (*turns, title, compaction, *([] if default is None else [default])):
            _check(turn)
        self.info = info
        self.requests: deque[SeenRequest] = deque(maxlen=REMEMBERED)
        """The newest requests, for tests to look at."""
        self.count = 0
        """Requests so far."""
        self._turns = turns
        self._used = [0] * len(turns)
        self._first = 0
        self._fallback = {"main": default, "title": title, "compaction": compaction}

    @classmethod
    def from_file(cls, path: Path, info: ModelInfo = DEFAULT_INFO) -> "ScriptedModel":
        """A list of turns as JSON, or an object with `turns` and, if wanted, `default`, `title` and `compaction`."""
        try:
            script = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise UsageError(f"{path} cannot be read as a script: {why}.") from error
        if isinstance(script, list):
            script = {"turns": script}
        if not isinstance(script, dict) or not isinstance(script.get("turns"), list):
            raise UsageError(f'{path} is not a script: expected a list of turns, or {{"turns": [...]}}.')
        others = {name: script[name] for name in ("default", "title", "compaction") if name in script}
        try:
            return cls(*script["turns"], **others, info=info)
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from error

    async def stream(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings
    ) -> AsyncGenerator[Event, None]:
        self.count += 1
        self.requests.append(SeenRequest(messages=tuple(messages), tools=tuple(tools), settings=settings))
        turn = self._next(messages, settings)
        cut = turn.get("cut")
        if turn.get("delay"):
            await asyncio.sleep(turn["delay"])
        if "error" in turn and cut is None:
            raise _error(turn["error"])
        for number, event in enumerate(_events(turn, self.count)):
            if cut is not None and number >= cut:
                raise _error(turn.get("error") or {"message": "The script breaks off here.", "kind": "cut"})
            yield event
            if turn.get("gap"):
                await asyncio.sleep(turn["gap"])

    async def close(self) -> None:
        """Nothing is open."""

    def _next(self, messages: Sequence[ModelMessage], settings: ReplySettings) -> ScriptedTurn:
        for number in range(self._first, len(self._turns)):
            turn = self._turns[number]
            if self._is_used_up(number) or not _fits(turn, messages, settings):
                continue
            self._used[number] += 1
            while self._first < len(self._turns) and self._is_used_up(self._first):
                self._first += 1
            return turn
        fallback = self._fallback[settings.purpose]
        if fallback is None:
            raise ModelError(f"The script has no turn for request {self.count}. Add one, or a `default`.", "not_found")
        return fallback

    def _is_used_up(self, number: int) -> bool:
        repeat = self._turns[number].get("repeat", 1)
        return repeat is not True and self._used[number] >= repeat


def _fits(turn: ScriptedTurn, messages: Sequence[ModelMessage], settings: ReplySettings) -> bool:
    if turn.get("kind", "main") not in {"any", settings.purpose}:
        return False
    if "match" not in turn and "not_match" not in turn:
        return True
    text = "\n".join(piece for message in messages for piece in _texts(message))
    wanted, unwanted = turn.get("match"), turn.get("not_match")
    return (wanted is None or re.search(wanted, text, re.DOTALL) is not None) and (
        unwanted is None or re.search(unwanted, text, re.DOTALL) is None
    )


def _texts(message: ModelMessage) -> Iterator[str]:
    match message:
        case SystemMessage():
            return
        case UserMessage():
            yield from (part if isinstance(part, str) else part.filename or part.mime for part in message.content)
        case ToolMessage():
            yield message.output
        case AssistantMessage():
            for part in message.content:
                match part:
                    case str():
                        yield part
                    case Reasoning():
                        yield part.text
                    case ModelCall():
                        yield f"{part.name} {json.dumps(part.arguments, ensure_ascii=False)}"


def _events(turn: ScriptedTurn, request: int) -> Iterator[Event]:
    size = turn.get("chunk", 12)
    if turn.get("reasoning"):
        yield from map(ReasoningDelta, _chunks(turn["reasoning"], size))
        yield ReasoningEnd({})
    yield from map(TextDelta, _chunks(turn.get("text", ""), size))
    calls = turn.get("tools") or []
    for number, call in enumerate(calls):
        call_id = call.get("id") or f"call_{request}_{number}"
        arguments = call["raw"] if "raw" in call else json.dumps(call.get("args", {}), ensure_ascii=False)
        yield CallStart(call_id, call["name"])
        yield from (CallDelta(call_id, piece) for piece in _chunks(arguments, size))
        yield CallEnd(call_id, call["name"], arguments)
    if not turn.get("no_usage"):
        yield Usage(**{"input": 100, "output": 10, **turn.get("usage", {})})
    yield Finish(turn.get("finish") or ("tool_calls" if calls else "stop"))


def _chunks(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _error(error: ScriptedError) -> ModelError:
    return ModelError(
        error.get("message", "The script answers with an error."),
        error.get("kind", "overload"),
        status=error.get("status"),
        retry_after=error.get("retry_after"),
        retryable=error.get("retryable"),
    )


def _check(turn: Any) -> None:
    """A script is written by hand: say which key is wrong instead of passing over it."""
    if not isinstance(turn, Mapping):
        raise UsageError(
            f"A turn of a script is {turn!r:.60}. "
            'Write each as an object of its own: ScriptedModel({"text": "Hello."}, {"text": "Done."}).'
        )
    if unknown := sorted(map(str, set(turn) - ScriptedTurn.__annotations__.keys())):
        known = ", ".join(sorted(ScriptedTurn.__annotations__))
        raise UsageError(f"A turn of a script has no {', '.join(unknown)!r}. It may have: {known}.")
    finish = turn.get("finish", "stop")
    if finish not in get_args(FinishReason):
        raise UsageError(f"finish of a turn is one of {', '.join(get_args(FinishReason))}, not {finish!r:.60}.")
    for call in _listed(turn.get("tools") or ()):
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
            raise UsageError(
                f'Each of the `tools` of a turn has a name, as in {{"name": "read", "args": {{}}}}; not {call!r:.60}.'
            )
        if unknown := sorted(map(str, set(call) - ScriptedCall.__annotations__.keys())):
            raise UsageError(f"A call of a script has no {', '.join(unknown)!r}. It may have: name, args, raw, id.")


def _listed(tools: Any) -> list[Any]:
    return list(tools) if isinstance(tools, Sequence) and not isinstance(tools, str) else [tools]
