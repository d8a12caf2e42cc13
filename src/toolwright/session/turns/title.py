"""Titles and summaries, written by the hidden agents on the small model of a provider the user has chosen."""

import asyncio
import re
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import field, replace

from toolwright.agents import Agent
from toolwright.errors import ToolwrightError
from toolwright.events import Event
from toolwright.messages import Message
from toolwright.models.info import ModelInfo
from toolwright.models.known.catalog import version_of
from toolwright.models.known.families import small_options
from toolwright.models.model import Model, ModelMessage, ReplySettings, SystemMessage, TextDelta, UserMessage
from toolwright.record import record
from toolwright.session.events import SessionIdle
from toolwright.session.turns.turns import Turns

LONGEST = 100
READ = 4_000
"""Characters of a prompt that are enough to name it."""
_DEFAULT = re.compile(r"(New|Child) session - \d{4}-\d\d-\d\dT")
_SMALL = frozenset({"haiku", "flash", "nano", "mini", "lite", "luna"})
MAX_OUTPUT = 100
"""Tokens of a title."""
THINKING = 2_000
"""Tokens on top of that for a model that cannot but think first."""
_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)


@record(slots=True)
class Titles:
    """Names a session after its first prompt, beside the turn; a failure leaves the default title."""

    small_model: Callable[[Model], Model]
    """The model for small work, given the one the prompt is answered by."""
    _writing: set["asyncio.Task[None]"] = field(default_factory=set)

    def __call__(self, turns: Turns, user: Message, model: Model) -> None:
        info = turns.conversation.info
        if info.parent_id is None and _DEFAULT.match(info.title) and user.text:
            task = asyncio.create_task(self._write(turns, user, model))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def settled(self) -> None:
        """Wait for titles that are still being written."""
        if self._writing:
            await asyncio.wait(self._writing, timeout=10)

    async def close(self) -> None:
        """Give up on titles that are still being written."""
        for task in list(self._writing):
            task.cancel()
        if self._writing:
            await asyncio.wait(self._writing)

    async def _write(self, turns: Turns, user: Message, model: Model) -> None:
        try:
            agent = turns.session.ruled_agent_named("title").agent
            if model.info.local:
                await _rest_of(turns)
            text = await ask_once(self.small_model(model), agent, user.text[:READ], purpose="title")
        except ToolwrightError:
            return
        title = one_line(text)
        if title:
            turns.conversation.change(replace(turns.conversation.info, title=title))


async def _rest_of(turns: Turns) -> None:
    """Wait until the turn is over: on a server with one place, a second request would be served before the first."""
    over = asyncio.Event()

    def listen(event: Event) -> None:
        if isinstance(event, SessionIdle) and event.session_id == turns.session.id:
            over.set()

    leave = turns.conversation.bus.subscribe(listen)
    try:
        await over.wait()
    finally:
        leave()


async def ask_once(model: Model, agent: Agent, text: str, purpose: str) -> str:
    """One small question to a model, without tools."""
    messages: list[ModelMessage] = [SystemMessage(text=agent.prompt), UserMessage(content=(text,))]
    settings = ReplySettings(
        temperature=agent.temperature,
        max_output=MAX_OUTPUT + (THINKING if model.info.reasoning else 0),
        options={**small_options(model.info), **agent.options},
        purpose="title" if purpose == "title" else "main",
    )
    async with aclosing(model.stream(messages, [], settings)) as events:
        pieces = [event.text async for event in events if isinstance(event, TextDelta)]
    return _THINKING.sub("", "".join(pieces)).strip()


def small_sibling(info: ModelInfo, models: Iterable[ModelInfo]) -> ModelInfo | None:
    """The newest small model of the same provider, and behind a gateway of the same maker, if one is known."""
    if info.provider == "scripted":
        return None
    maker = info.id.rpartition("/")[0]
    small = [one for one in models if one.id.rpartition("/")[0] == maker and _is_small(one.id)]
    return max(small, key=lambda one: version_of(one.id), default=None)


def _is_small(model_id: str) -> bool:
    """By a word of its name; "gemini" has none in it."""
    return not _SMALL.isdisjoint(re.split(r"[^a-z]+", model_id.lower()))


def one_line(text: str) -> str:
    """The first line that says anything, short enough for a list."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."
