"""Changes of a session, to be undone by turn, call, file or hunk, each seen before it is done."""

from collections.abc import Iterator, Sequence

from textual import events, work
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from toolwright.app.outcome import FileChanges
from toolwright.errors import ToolwrightError
from toolwright.messages import Message, User
from toolwright.record import record
from toolwright.session.undo.file_back import FileUndo, Selection
from toolwright.terminal.calls import headline
from toolwright.terminal.changes import shown_change
from toolwright.terminal.screen import BOLD, RED
from toolwright.text.diff import compare
from toolwright.text.display import visible
from toolwright.tui.chat_state import ChatState
from toolwright.tui.dialog import Dialog
from toolwright.tui.diffs import diff_rows
from toolwright.tui.page import DrawnPage, Line

LONGEST = 2_000
_DONE = {"delete": "deleted", "recreate": "added", "restore": "changed"}
ONLY_WORDS = "This turn changed no file. Undoing it leaves what was said from it on out of what the model is sent."


@record(frozen=True, slots=True, kw_only=True)
class Undoable:
    """One thing that can be undone, and the line it is shown as."""

    selection: Selection
    text: str


async def changes_of(talk: ChatState, session_id: str) -> list[Undoable]:
    """The turns with their calls, the newest first; then the files with their hunks."""
    messages = await talk.call(talk.project.messages(session_id))
    plans = await talk.call(talk.project.changes(session_id))
    plans = [plan for plan in plans if not plan.changed_since]
    calls = {call for plan in plans for call in plan.calls}
    return [*_turns(messages, calls), *(entry for plan in plans for entry in _file(plan, talk))]


def shown_plans(plans: Sequence[FileUndo], talk: ChatState, columns: int) -> list[Line]:
    """The differences that undoing would make."""
    lines: list[Line] = []
    for plan in plans:
        diff = shown_change(plan.path, *plan.shown(), talk.project.directory)
        page = DrawnPage.blank(columns)
        page.line(f"{plan.kind} {_name(plan.path, talk)}", BOLD)
        lines += [*page.lines, *diff_rows(diff, columns, LONGEST)]
    return lines


class ChangesDialog(Dialog[None]):
    """Files that were changed, or would be: a list, and the difference of the one that is chosen."""

    def __init__(self, changes: FileChanges, talk: ChatState) -> None:
        super().__init__()
        self.changes, self.talk, self.title_text = changes, talk, changes.title

    def answers(self) -> ComposeResult:
        yield OptionList(markup=False)

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.add_options([Option(Content(visible(self._line(one), lines=False))) for one in self.changes.plans])
        options.highlighted = 0
        options.focus()
        self.tell("↑↓ choose a file · Page Up and Page Down scroll · Esc close")

    def _line(self, plan: FileUndo) -> str:
        kind = plan.kind if self.changes.undoing else _DONE[plan.kind]
        removed, added = plan.counts()[::-1]
        since = "  (others have changed it since)" if plan.changed_since else ""
        return f"{kind:<8} {_name(plan.path, self.talk)}  +{added} -{removed}{since}"

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        plan = self.changes.plans[event.option_index]
        columns = self.size.width - 4
        diff = shown_change(plan.path, *plan.shown(), self.talk.project.directory)
        self.read(diff_rows(diff, columns, LONGEST))

    def on_option_list_option_selected(self) -> None:
        self.dismiss(None)

    def on_key(self, event: events.Key) -> None:
        if event.key == "q":
            self.dismiss(None)
        elif self.scroll(event.key):
            event.stop()


class UndoDialog(Dialog[Selection | str | None]):
    """Chooses what to undo; what is chosen is shown as it would be done."""

    title_text = "Undo"

    def __init__(self, changes: Sequence[Undoable], talk: ChatState, session_id: str) -> None:
        super().__init__()
        self.changes, self.talk, self.session_id = changes, talk, session_id

    def answers(self) -> ComposeResult:
        yield OptionList(markup=False)

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.add_options([Option(Content(visible(one.text, lines=False))) for one in self.changes])
        options.highlighted = 0 if self.changes else None
        options.focus()
        self.tell("Enter undo it · r redo what was undone · Page Up and Page Down scroll · Esc close")
        if not self.changes:
            self.read([[("There is nothing left to undo in this session.", "")]])

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._preview(self.changes[event.option_index].selection)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.changes[event.option_index].selection)

    def on_key(self, event: events.Key) -> None:
        if event.key == "r":
            self.dismiss("redo")
        elif self.scroll(event.key):
            event.stop()

    @work(exclusive=True)
    async def _preview(self, selection: Selection) -> None:
        try:
            plans = await self.talk.call(self.talk.project.undo(self.session_id, selection, preview=True))
        except ToolwrightError as error:
            self.read([[(str(error), RED)]])
            return
        self.read(shown_plans(plans, self.talk, self.size.width - 4) or [[(ONLY_WORDS, "")]])


def _turns(messages: Sequence[Message], calls: set[str]) -> Iterator[Undoable]:
    turns: list[list[Undoable]] = []
    for message in messages:
        if isinstance(message.info, User) and message.text:
            words = " ".join(message.text.split())[:80]
            turns.append([Undoable(selection=Selection(turn=message.info.id), text=f"turn    {words}")])
        for part in message.calls if turns else ():
            if part.call_id in calls:
                turns[-1].append(Undoable(selection=Selection(call=part.call_id), text=f"  call  {headline(part)}"))
    for turn in reversed(turns):
        yield from turn


def _file(plan: FileUndo, talk: ChatState) -> Iterator[Undoable]:
    additions, deletions = plan.counts()
    name = _name(plan.path, talk)
    yield Undoable(selection=Selection(file=plan.path), text=f"file    {name}  +{deletions} -{additions}")
    diff = compare(*plan.texts())
    hunks = list(diff.hunks())
    if len(hunks) > 1:
        for number, (_, changes) in enumerate(hunks, 1):
            lines = f"line {diff.first_line + changes[0].before_start}"
            yield Undoable(
                selection=Selection(file=plan.path, hunks=(str(number),)),
                text=f"  hunk  {number} of {len(hunks)}, {lines}",
            )


def _name(path: str, talk: ChatState) -> str:
    folder = str(talk.project.directory)
    return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else path
