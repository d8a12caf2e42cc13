"""What a session has changed, to be undone by turn, call, file or hunk, each seen before it is done."""

from collections.abc import Iterator, Sequence

from textual import events, work
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from toolwright.chat.calls import diff_lines, headline
from toolwright.chat.screen import BOLD, RED
from toolwright.cli.changes import shown_change
from toolwright.diff import compare
from toolwright.display import visible
from toolwright.errors import ToolwrightError, UsageError
from toolwright.messages import Message, User
from toolwright.record import record
from toolwright.session.undo import FileUndo, NothingToUndo, Selection
from toolwright.tui.dialog import Dialog
from toolwright.tui.diffs import WIDE, side_by_side
from toolwright.tui.page import Line, Page
from toolwright.tui.talk import Talk

LONGEST = 2_000


@record(frozen=True, slots=True, kw_only=True)
class Undoable:
    """One thing that can be undone, and the line it is shown as."""

    selection: Selection
    text: str


async def changes_of(talk: Talk, session_id: str) -> list[Undoable]:
    """The turns with their calls, the newest first; then the files with their hunks."""
    messages = await talk.call(talk.backend.messages(session_id))
    plans = await talk.call(talk.backend.changes(session_id))
    calls = {call for plan in plans for call in plan.calls}
    return [*_turns(messages, calls), *(entry for plan in plans for entry in _file(plan, talk))]


def selection_of(what: str) -> Selection:
    """What was typed behind /undo."""
    match what.split():
        case ["call", call]:
            return Selection(call=call)
        case ["file", path]:
            return Selection(file=path)
        case ["hunk", path, number] if number.isdigit():
            return Selection(file=path, hunks=(number,))
        case ["turn"]:
            return Selection()
        case _:
            raise UsageError("/undo takes nothing, `turn`, `file PATH`, `hunk PATH NUMBER` or `call ID`.")


async def diff_of_session(talk: Talk, session_id: str, columns: int) -> list[Line]:
    plans = await talk.call(talk.backend.changes(session_id))
    if not plans:
        return [[("the session has changed nothing that still stands", "")]]
    turned = [FileUndo(path=one.path, present=one.restored, restored=one.present, calls=one.calls) for one in plans]
    return shown_plans(turned, talk, columns)


def shown_plans(plans: Sequence[FileUndo], talk: Talk, columns: int) -> list[Line]:
    """The differences that undoing would make."""
    made: list[Line] = []
    for plan in plans:
        diff = shown_change(plan.path, plan.present, plan.restored, talk.backend.directory)
        page = Page.blank(columns)
        page.line(f"{plan.kind} {_name(plan.path, talk)}", BOLD)
        if columns < WIDE:
            for line, code in diff_lines(diff, LONGEST):
                page.line(f"  {line}", code)
        made += page.lines
        made += side_by_side(diff, columns, LONGEST) if columns >= WIDE else []
    return made


class UndoDialog(Dialog[Selection | str | None]):
    """Chooses what to undo; what is chosen is shown as it would be done."""

    title_text = "Undo"

    def __init__(self, changes: Sequence[Undoable], talk: Talk, session_id: str) -> None:
        super().__init__()
        self.changes, self.talk, self.session_id = changes, talk, session_id

    def answers(self) -> ComposeResult:
        yield OptionList(markup=False)

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.add_options([Option(Content(visible(one.text, lines=False))) for one in self.changes])
        options.highlighted = 0 if self.changes else None
        options.focus()
        self.tell("Enter undoes it, r undoes the last undo, Page Up and Page Down scroll, Esc gives up")
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
            plans = await self.talk.call(self.talk.backend.undo(self.session_id, selection, preview=True))
        except NothingToUndo as error:
            told = "The turn changed no file that is known; what was said from it on would no longer count."
            self.read([[(told if selection == Selection(turn=selection.turn) else str(error), "")]])
            return
        except ToolwrightError as error:
            self.read([[(str(error), RED)]])
            return
        self.read(shown_plans(plans, self.talk, self.size.width - 4))


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


def _file(plan: FileUndo, talk: Talk) -> Iterator[Undoable]:
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


def _name(path: str, talk: Talk) -> str:
    folder = str(talk.backend.directory)
    return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else path
