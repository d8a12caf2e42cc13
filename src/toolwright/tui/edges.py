"""The edges of the screen: what is under way, what waits, who answers, and a panel beside it where there is room."""

import time
from pathlib import Path

from textual.content import Content
from textual.widgets import Static

from toolwright.app.branch import branch_of
from toolwright.app.words import duration, money
from toolwright.calls.parts import Running
from toolwright.terminal.calls import headline, todo_line
from toolwright.terminal.columns import clipped
from toolwright.terminal.renderer import last_line
from toolwright.terminal.screen import BOLD, DIM, YELLOW
from toolwright.text.display import visible
from toolwright.tui.cached_lines import CachedLines
from toolwright.tui.chat_state import MODES, ChatState
from toolwright.tui.page import Line
from toolwright.version import VERSION

WIDE, ROOMY = 120, 150
"""Columns from which on there is room for the panel if it tells something new, and from which on it is always there."""


class Edge(Static, CachedLines):
    """Lines of ours that are drawn anew only when they have changed."""

    DEFAULT_CSS = """
    Edge { height: auto; padding: 0 2; color: $text-muted; }
    """

    _shown = ""

    def tell(self, message: str | Content) -> None:
        content = Content(message) if isinstance(message, str) else message
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


def progress(talk: ChatState, columns: int) -> str:
    """Say in one line what is under way, for how long, and what a command has printed last."""
    if not talk.busy:
        return ""
    activity = "stopping" if talk.stopping else talk.doing.word()
    last, seconds = "", time.monotonic() - talk.began
    running = talk.story.running()
    if running and not talk.stopping:
        part = running[-1].part
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        activity, last = f"running {headline(part)}{more}", last_line(part)
        if isinstance(part.state, Running):
            seconds = max(0.0, time.time() - part.state.time.start / 1000)
    line = (
        f"{clipped(visible(activity, lines=False), columns // 2)} · {duration(seconds)} · {last or 'Esc Esc to stop'}"
    )
    return clipped(visible(line, lines=False), columns)


def waiting(talk: ChatState, columns: int) -> str:
    """The prompts that wait, and what the agent has yet to be told."""
    steered = [f"→ {_one_line(text)}" for text in talk.steered]
    queued = [f"{number}. {_one_line(text)}" for number, text in enumerate(talk.queue, 1)]
    lines = [*steered, *queued]
    if not lines:
        return ""
    head = "Told before the next step:" if steered and not queued else "Queued (Ctrl-Up to edit):"
    return "\n".join(clipped(line, columns) for line in (head, *lines[:4]))


def footer(talk: ChatState, columns: int) -> Content:
    """Return the line below the prompt: agent, model, context, cost."""
    model = clipped(talk.next_model or "no model: /connect", columns // 2)
    parts = [f"{model} {talk.desk.variant}" if talk.desk.variant else model]
    if MODES[talk.mode]:
        parts.append(MODES[talk.mode])
    use = talk.use
    if use is not None:
        if use.limit:
            parts.append(f"context {100 * use.context // use.limit} %")
        elif use.context:
            parts.append(f"context {use.context:,}")
        if use.cost:
            parts.append(money(use.cost))
    if talk.todos:
        parts.append(f"todo {sum(one.status == 'completed' for one in talk.todos)}/{len(talk.todos)}")
    if talk.session is not None and columns >= 90:
        parts.append(talk.session.slug or talk.session.id)
    agent = visible(talk.desk.agent, lines=False)
    rest = clipped(visible(" · ".join(parts), lines=False), max(0, columns - len(agent) - 3))
    return Content.assemble((agent, "bold $text-accent"), (f" · {rest}", ""))


def greeting(talk: ChatState, columns: int) -> list[Line]:
    """Return what an empty session shows: the folder, and commands to begin with."""
    branch = branch_of(talk.project.here)
    lines: list[Line] = [
        [("toolwright ", BOLD), (VERSION, DIM)],
        [(f"{_folder(talk)}{f' on {branch}' if branch else ''}", DIM)],
        [],
    ]
    hints = _HINTS
    if not talk.next_model:
        lines += [[("No model yet.", YELLOW)], []]
        keys, local = (talk.usable.keys, talk.usable.local) if talk.usable else ((), ())
        models = [(f"/model {name}", "there is a key for it") for name in keys[:3]]
        models += [(f"/model {name}", "runs on this machine") for name in local[:3]]
        hints = (
            *models,
            ("/connect", "a server on this machine, or a provider"),
            ("/demo", "a session without a model"),
        )
    wide = max(len(key) for key, _ in hints) + 2
    lines += [[(f"{key:<{wide}}", BOLD), (text, DIM)] for key, text in hints]
    return [[(clipped(visible(text, lines=False), columns), code) for text, code in line] for line in lines]


_HINTS: tuple[tuple[str, str], ...] = (
    ("/", "commands"),
    ("@", "files and agents"),
    ("Tab", "the next agent"),
    ("Ctrl-R", "earlier sessions"),
    ("?", "all keys"),
)


def has_news(talk: ChatState) -> bool:
    """Tell whether the panel would show something that stands nowhere else."""
    return bool(talk.todos or talk.story.children() or talk.story.changed_files())


def panel(talk: ChatState, columns: int) -> Content:
    """The same and more, with room: how full the context is, the todos, the subagents."""
    branch = branch_of(talk.project.here)
    parts: list[tuple[str, list[str]]] = [("folder", [_folder(talk), *([f"on {branch}"] if branch else [])])]
    if talk.use is not None:
        full = f" of {talk.use.limit:,}" if talk.use.limit else ""
        parts.append(("context", [f"{talk.use.context:,}{full}"]))
        if talk.use.cost:
            parts.append(("cost", [money(talk.use.cost)]))
    if talk.todos:
        parts.append(("todo", [todo_line(one.status, one.content) for one in talk.todos]))
    if children := talk.story.children():
        entries = [f"{'…' if one.part.state.status == 'running' else '•'} {one.title}" for one in children]
        parts.append(("subagents (Ctrl-G)", entries))
    if changed := talk.story.changed_files():
        entries = [f"{name}  +{added} -{removed}" for name, (added, removed) in changed.items()]
        parts.append(("changed (/diff)", entries[-12:]))
    sections = [
        Content("\n").join(
            [Content.styled(name, "bold"), *(Content(clipped(visible(line, lines=False), columns)) for line in lines)]
        )
        for name, lines in parts
    ]
    return Content("\n\n").join(sections) if sections else Content("a new session")


def _folder(talk: ChatState) -> str:
    """The folder of the project, from the user's home if it is in there."""
    folder, home = str(talk.project.directory), str(Path.home())
    return f"~{folder.removeprefix(home)}" if f"{folder}/".startswith(f"{home}/") else folder


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()), lines=False)
