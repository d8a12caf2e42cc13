"""May this be done? What is to be approved, three answers, and behind keys: what would be stored, and why it asks."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from toolwright.inbox import Question, Reply, RuleTrial, exchanged
from toolwright.terminal.call_text import call_lines, command_of, facts, headline_of, listed, understood, warnings
from toolwright.terminal.columns import clipped
from toolwright.terminal.questions import SCOPES, show_call
from toolwright.terminal.screen import BOLD, DIM, YELLOW
from toolwright.terminal.stored_rules import trial_lines
from toolwright.tui.asking import Asking
from toolwright.tui.dialog import CachedInput, content_of
from toolwright.tui.diffs import diff_rows
from toolwright.tui.page import DrawnPage, Line

ALL = 1_000_000
ROOMY = 70
"""Columns from which on there is room for all that keys do."""
TOLD = ("in", "writes", "deletes", "changes", "goes to", "network", "unclear", "outside", "asks for")
"""Facts of a command that are shown at once; `?` shows all."""
NO_NETWORK = "none"

Tried = Callable[[Question, Sequence[str]], Awaitable[RuleTrial]]
"""Tries out storing other patterns than the offered ones."""
View = Literal["call", "always", "why"]
Answer = tuple[str, str]
"""A key, and its meaning."""
_SCOPES: tuple[Answer, ...] = (("s", "This session"), ("a", "This project"), ("u", "Every project"))


class PermissionDialog(Asking[Reply | None]):
    """The whole of a call, and the answers there are."""

    DEFAULT_CSS = """
    PermissionDialog #answers { height: 1; margin-top: 1; }
    """

    def __init__(
        self,
        question: Question,
        directory: Path,
        explain: Callable[[Question], None],
        tried: Tried,
        *,
        chosen: bool = True,
    ) -> None:
        """`chosen`: whether Enter answers with yes at once; not where somebody is in the middle of a prompt."""
        super().__init__()
        self.question = question
        self.directory = directory
        self.explain = explain
        self.tried = tried
        self.view: View = "call"
        self.at = 0 if chosen else -1
        """The answer that Enter gives; none if negative."""
        self.rules = question.always
        """The rules that are offered, as the person has edited them."""
        self.chosen = question.always
        """Those that an answer for longer would store."""
        self._edited = ""
        """The rule that is being edited."""
        self._picks = False
        """True while the next number picks the rule to edit."""
        self._why: Sequence[str] = ()
        self._note = ""
        self.title_text = headline_of(question, directory)

    def answers(self) -> ComposeResult:
        yield CachedInput(placeholder="what to do instead; Enter refuses", widget_id="advice")
        yield CachedInput(placeholder="the rule to store", widget_id="rule")
        yield Static(id="trial", markup=False)
        yield Static(id="answers", markup=False)

    def on_mount(self) -> None:
        self._leave_editing()

    def on_resize(self) -> None:
        super().on_resize()
        self._show()

    # What is shown.

    @property
    def _columns(self) -> int:
        return max(20, self.size.width - 4)

    def _show(self) -> None:
        self.query_one("#title", Static).update(Content(clipped(self.title_text, self._columns)))
        match self.view:
            case "call":
                self.read(list(self._call()))
            case "always":
                self.read(list(self._always()))
            case "why":
                self.read(list(self._details()))
        self._show_answers()

    def _call(self) -> Iterator[Line]:
        """Yield the call to approve, and its most important facts."""
        columns = self._columns
        if len(clipped(self.title_text, columns)) < len(self.title_text):
            page = DrawnPage.blank(columns)
            page.wrapped(self.title_text, BOLD)
            yield from page.lines
        diff, command = self.question.metadata.get("diff"), command_of(self.question)
        if command is not None or not isinstance(diff, str):
            for line in call_lines(self.question, columns, self.title_text):
                yield [(line[:4], DIM), (line[4:], BOLD if command is not None else "")]
        page = DrawnPage.blank(columns)
        for name, entries in facts(self.question, self.directory):
            if name in TOLD and entries and not (name == "network" and entries[0].startswith(NO_NETWORK)):
                show_call(page, "\n".join(listed(name, entries, columns)))
        show_call(page, "\n".join(warnings(self.question, columns)))
        yield from page.lines
        if isinstance(diff, str):
            yield from diff_rows(diff, columns, ALL)

    def _always(self) -> Iterator[Line]:
        several = len(self.rules) > 1
        yield [
            ("\u201cAlways\u201d will store:", ""),
            ("  (press its number to leave one out)" if several else "", DIM),
        ]
        for number, rule in enumerate(self.rules, 1):
            left = rule not in self.chosen
            page = DrawnPage.blank(self._columns)
            count = f"{number}. " if several else ""
            page.wrapped(f"  {count}{self.question.rule(rule)}{'  (left out)' if left else ''}", DIM if left else "")
            yield from page.lines

    def _details(self) -> Iterator[Line]:
        """Why it is asked, and all of the call as it was understood."""
        yield [("why it is asked", BOLD)]
        for line in self._why:
            page = DrawnPage.blank(self._columns)
            page.wrapped(line, DIM)
            yield from page.lines
        page = DrawnPage.blank(self._columns)
        show_call(page, "\n".join(understood(self.question, self.directory, self._columns)))
        yield from page.lines

    def explained(self, lines: Sequence[str]) -> None:
        """Show why it is asked, above all of the call."""
        self._why, self.view = lines, "why"
        self._show()

    @property
    def _offered(self) -> tuple[Answer, ...]:
        if self.view == "always":
            return _SCOPES
        always = (("a", "Always"),) if self.rules else ()
        return (("y", "Allow once"), *always, ("n", "Reject"))

    def _show_answers(self) -> None:
        pieces: list[str | tuple[str, str]] = []
        for number, (key, text) in enumerate(self._offered):
            pieces += [(f" {text} ", "bold reverse" if number == self.at else "bold"), (f" {key}  ", "$dim")]
        more = "e edit · Esc back" if self.view == "always" else "Esc back" if self.view == "why" else "? why"
        pieces.append((f" {more}{self._note}", "$dim"))
        self.query_one("#answers", Static).update(Content.assemble(*pieces))

    def fitted(self, hides: bool) -> None:
        more = " · ↑↓ more · Ctrl-F all" if self._columns >= ROOMY else " · ↑↓ more"
        note = more if hides else " · Ctrl-F less" if self.whole else ""
        if note != self._note:
            self._note = note
            self._show_answers()

    # Keys.

    def pressed(self, event: events.Key) -> None:
        if isinstance(self.focused, Input):
            return
        key = event.character or event.key
        if not (self.scroll(event.key) or self._moves(event.key) or self._answers(key) or self._turns(key)):
            return
        event.stop()
        event.prevent_default()

    def _moves(self, key: str) -> bool:
        """Choose another answer, or give the chosen one."""
        count = len(self._offered)
        if key in ("left", "right", "tab", "shift+tab"):
            self.at = (max(self.at, 0) + (1 if key in ("right", "tab") else -1)) % count if self.at >= 0 else 0
            self._show_answers()
        elif key == "enter" and self.at >= 0:
            self._answers(self._offered[self.at][0])
        else:
            return False
        return True

    def _answers(self, key: str) -> bool:
        if key not in [one for one, _ in self._offered]:
            return False
        if self.view == "always":
            self.dismiss(Reply(kind="always", scope=SCOPES[key][0], patterns=self.chosen))
        elif key == "y":
            self.dismiss(Reply(kind="once"))
        elif key == "a":
            self.at = max(self.at, -1) if self.at < 0 else 1
            self._turn("always")
        else:
            self.query_one("#advice").display = True
            self.query_one("#advice").focus()
            self.call_after_refresh(self._fit)
        return True

    def _turns(self, key: str) -> bool:
        """Show something else of the question."""
        if key == "?":
            self.explain(self.question)
        elif key == "e" and self.view == "always":
            self._pick_to_edit()
        elif self.view == "always" and key.isdigit() and 0 < int(key) <= len(self.rules):
            (self._edit if self._picks else self._toggle)(self.rules[int(key) - 1])
        else:
            return False
        return True

    def _turn(self, view: View) -> None:
        self.view = view
        self._show()

    def _toggle(self, pattern: str) -> None:
        kept = {*self.chosen} ^ {pattern}
        # An answer for longer that stores nothing would be no answer for longer.
        self.chosen = tuple(one for one in self.rules if one in kept) or self.chosen
        self._show()

    # Rules of the person's own.

    def _pick_to_edit(self) -> None:
        if len(self.rules) == 1:
            self._edit(self.rules[0])
        else:
            self._picks = True
            self.tell("which rule? its number")

    def _edit(self, rule: str) -> None:
        self._picks, self._edited = False, rule
        self.tell("Enter stores nothing yet, it takes the rule · Esc leaves it as it was · * at the end: anything")
        field = self.query_one("#rule", Input)
        field.value = rule
        field.display = self.query_one("#trial").display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "rule":
            self.run_worker(self._try(event.value.strip()), group="trial", exclusive=True, exit_on_error=False)

    async def _try(self, rule: str) -> tuple[str, ...]:
        """Show what storing this would mean; the rules then, or none where it would not answer the question."""
        rules = exchanged(self.rules, self._edited, rule)
        trial = await self.tried(self.question, rules) if rule else RuleTrial(settles=False, reason="It is empty.")
        page = DrawnPage.blank(self._columns)
        for line in trial_lines(trial):
            page.wrapped(f" {line}", DIM if trial.settles else YELLOW)
        self.query_one("#trial", Static).update(content_of(page.lines))
        self.call_after_refresh(self._fit)
        return rules if trial.settles else ()

    async def _take(self, rule: str) -> None:
        if rules := await self._try(rule):
            self.chosen = tuple(one for one in rules if one in exchanged(self.chosen, self._edited, rule))
            self.rules = rules
            self._leave_editing()

    def _leave_editing(self) -> None:
        for name in ("#advice", "#rule", "#trial"):
            self.query_one(name).display = False
        self.set_focus(None)
        self.tell("")
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "rule":
            self.run_worker(self._take(event.value.strip()), group="trial", exclusive=True, exit_on_error=False)
        else:
            self.dismiss(Reply(kind="reject", message=event.value.strip()))

    def action_give_up(self) -> None:
        if isinstance(self.focused, Input) or self._picks:
            self._picks = False
            self._leave_editing()
        elif self.view != "call":
            self.at = min(self.at, 0)
            self._turn("call")
        else:
            # Nobody has answered: the turn is stopped, as Ctrl-C does everywhere else.
            self.dismiss(None)
