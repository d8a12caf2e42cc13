"""The edges of the screen: what is under way, what waits, who answers, and a panel beside it where there is room."""

import time

from textual.content import Content
from textual.widgets import Static

from toolwright.chat.calls import duration, headline, todo_line
from toolwright.chat.columns import clipped
from toolwright.chat.renderer import last_line, money
from toolwright.display import visible
from toolwright.parts import Running
from toolwright.tui.still import Still
from toolwright.tui.talk import MODES, Talk

WIDE = 120
"""Columns from which on there is room for the panel."""


class Edge(Static, Still):
    """Lines of ours that are drawn anew only when they have changed."""

    DEFAULT_CSS = """
    Edge { height: auto; padding: 0 1; color: $text-muted; }
    """

    _shown = ""

    def tell(self, told: str | Content) -> None:
        content = Content(told) if isinstance(told, str) else told
        text = content.plain
        if text != self._shown:
            # Lines are made to fit, so the room it takes is that of their number.
            taller = not self._shown or not text or text.count("\n") != self._shown.count("\n")
            self._shown = text
            self.display = bool(text)
            self.update(content, layout=taller)

    @property
    def shown(self) -> str:
        return self._shown


def progress(talk: Talk, columns: int) -> str:
    """What is under way, for how long, and the last line that a command has printed."""
    if not talk.busy:
        return ""
    told = "stopping" if talk.stopping else "thinking"
    last, seconds = "", time.monotonic() - talk.began
    running = talk.story.running()
    if running and not talk.stopping:
        part = running[-1].part
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        told, last = f"{headline(part)}{more}", last_line(part)
        if isinstance(part.state, Running):
            seconds = max(0.0, time.time() - part.state.time.start / 1000)
    waits = f"  {last}" if last else "  Esc twice stops"
    line = f"… {duration(seconds)}  {clipped(visible(told, lines=False), columns // 2)}{waits}"
    return clipped(visible(line, lines=False), columns)


def waiting(talk: Talk, columns: int) -> str:
    """The prompts that wait, and what the agent has yet to be told."""
    steered = [f"→ {_one_line(text)}" for text in talk.steered]
    queued = [f"{number}. {_one_line(text)}" for number, text in enumerate(talk.queue, 1)]
    lines = [*steered, *queued]
    if not lines:
        return ""
    head = "the agent is told before its next step:" if steered and not queued else "waits (Ctrl-Up edits the last):"
    return "\n".join(clipped(line, columns) for line in (head, *lines[:4]))


def footer(talk: Talk, columns: int) -> str:
    """Who answers, and what it has taken."""
    told = [talk.agent, f"{talk.next_model or 'no model'}{f' {talk.variant}' if talk.variant else ''}"]
    if MODES[talk.mode]:
        told.append(MODES[talk.mode])
    use = talk.use
    if use is not None:
        if use.limit:
            told.append(f"context {100 * use.context // use.limit} %")
        elif use.context:
            told.append(f"context {use.context:,}")
        if use.cost:
            told.append(money(use.cost))
    if talk.todos:
        told.append(f"todo {sum(one.status == 'completed' for one in talk.todos)}/{len(talk.todos)}")
    if talk.session is not None and columns >= 90:
        told.append(talk.session.slug or talk.session.id)
    return clipped(visible(" · ".join(told), lines=False), columns)


def panel(talk: Talk, columns: int) -> Content:
    """The same and more, with room: how full the context is, the todos, the subagents."""
    parts: list[tuple[str, list[str]]] = []
    if talk.use is not None:
        full = f" of {talk.use.limit:,}" if talk.use.limit else ""
        parts.append(("context", [f"{talk.use.context:,}{full}"]))
        parts.append(("cost", [money(talk.use.cost)]))
    if talk.todos:
        parts.append(("todo", [todo_line(one.status, one.content) for one in talk.todos]))
    if children := talk.story.children():
        told = [f"{'…' if one.part.state.status == 'running' else '•'} {one.title}" for one in children]
        parts.append(("subagents (Ctrl-G)", told))
    made = [
        Content("\n").join(
            [Content.styled(name, "bold"), *(Content(clipped(visible(line, lines=False), columns)) for line in lines)]
        )
        for name, lines in parts
    ]
    return Content("\n\n").join(made) if made else Content("a new session")


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()), lines=False)
