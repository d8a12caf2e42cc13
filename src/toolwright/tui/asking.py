"""Questions to the person: a permission with the whole call and the rule each answer stores, and choices."""

import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from toolwright.chat.questions import SCOPES, offers, short_offers, show_call, show_offer
from toolwright.chat.screen import BOLD, DIM, YELLOW
from toolwright.cli.call_text import shown_call
from toolwright.cli.stored_rules import trial_lines
from toolwright.inbox import Choice, Question, Reply, RuleTrial, exchanged
from toolwright.tui.dialog import Dialog, StillInput, content_of
from toolwright.tui.diffs import WIDE, side_by_side
from toolwright.tui.page import Line, Page

ARMED = 0.4
"""Seconds without a key before a question takes an answer: whoever is typing when it appears has not read it."""
LOW = 24
"""Lines of a screen on which the answers are told in short, so that there is room for what is asked."""
ALL = 1_000_000

T = TypeVar("T")

Tried = Callable[[Question, Sequence[str]], Awaitable[RuleTrial]]
"""What storing other patterns than the offered ones would mean."""


class Asking(Dialog[T]):
    """A question. It is answered by keys that were pressed when it had been seen, and by no others."""

    class Early(Message):
        """A letter that was meant for the prompt."""

        def __init__(self, letter: str) -> None:
            super().__init__()
            self.letter = letter

    armed = False
    """Whether keys are answers."""
    _since = 0.0
    _rest: Timer | None = None
    _withdrawn = False

    def on_mount(self) -> None:
        # Not before it has been drawn.
        self.call_after_refresh(self._wait)

    def on_key(self, event: events.Key) -> None:
        if self.armed and event.time >= self._since:
            self.pressed(event)
            return
        event.stop()
        if not self.scroll(event.key):
            self._wait()
            if event.is_printable and event.character:
                self.post_message(self.Early(event.character))

    def pressed(self, event: events.Key) -> None:
        """Carry out a key that is an answer."""
        raise NotImplementedError

    def withdraw(self) -> None:
        """It was settled elsewhere."""
        self._withdrawn = True
        self._leave_withdrawn()

    def on_screen_resume(self) -> None:
        self._leave_withdrawn()

    def _leave_withdrawn(self) -> None:
        if self._withdrawn and self.app.screen is self:
            self.dismiss(None)

    def _wait(self) -> None:
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(ARMED, self._arm)

    def _arm(self) -> None:
        if not self.armed:
            self.armed, self._since = True, time.monotonic()


class PermissionDialog(Asking[Reply | None]):
    """May this be done? The whole of it, what it was understood to do, and what each answer would store."""

    def __init__(self, question: Question, directory: Path, explain: Callable[[Question], None], tried: Tried) -> None:
        super().__init__()
        self.question = question
        self.directory = directory
        self.explain = explain
        self.tried = tried
        self.rules = question.always
        """The rules that are offered, as the person has edited them."""
        self.chosen = question.always
        """Those that an answer for longer would store."""
        self._edited = ""
        """The rule that is being edited."""
        self._picks = False
        """Whether the next number says which rule to edit."""
        self.title_text = "May the agent do this?"

    def answers(self) -> ComposeResult:
        yield Static(id="offers", markup=False)
        yield StillInput(placeholder="what to do instead; Enter refuses", widget_id="advice")
        yield StillInput(placeholder="the rule to store", widget_id="rule")
        yield Static(id="trial", markup=False)

    def on_mount(self) -> None:
        self._leave_editing()

    def on_resize(self) -> None:
        super().on_resize()
        self._show()

    def explained(self, lines: Sequence[str]) -> None:
        """Why it is asked: below the call."""
        self._show([[], [("why it is asked", BOLD)], *([(line, DIM)] for line in lines)])
        self.call_after_refresh(self.scroll, "end")

    def _show(self, more: Sequence[Line] = ()) -> None:
        columns = max(20, self.size.width - 4)
        question, diff = self.question, self.question.metadata.get("diff")
        wide = columns >= WIDE and isinstance(diff, str)
        page = Page.blank(columns)
        show_call(page, shown_call(question, self.directory, diff=not wide, columns=columns).lstrip("\n"))
        lines = [*page.lines, *(side_by_side(str(diff), columns, ALL) if wide else []), *more]
        self.read(lines)
        page = Page.blank(columns)
        told = short_offers if self.size.height < LOW else offers
        for line in told(question, self.rules, self.chosen, "a number leaves one out or takes it back in"):
            show_offer(page, line)
        self.query_one("#offers", Static).update(content_of(page.lines))

    def pressed(self, event: events.Key) -> None:
        if isinstance(self.focused, Input):
            return
        if self.scroll(event.key):
            event.stop()
            return
        key = event.character or event.key
        if key == "y":
            self.dismiss(Reply(kind="once"))
        elif key in SCOPES and self.chosen:
            self.dismiss(Reply(kind="always", scope=SCOPES[key][0], patterns=self.chosen))
        elif key == "n":
            self.query_one("#advice").display = True
            self.query_one("#advice").focus()
            event.prevent_default()
        elif key == "?":
            self.explain(self.question)
        elif key == "e" and self.rules:
            self._pick_to_edit()
            event.prevent_default()
        elif key.isdigit() and 0 < int(key) <= len(self.rules):
            (self._edit if self._picks else self._toggle)(self.rules[int(key) - 1])
            event.prevent_default()
        else:
            return
        event.stop()

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
        self.tell("Enter takes it, Esc leaves it as it was; a * at the end stands for anything")
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
        trial = await self.tried(self.question, rules) if rule else RuleTrial(settles=False, reason="it is empty")
        page = Page.blank(max(20, self.size.width - 4))
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
        else:
            # Nobody has answered: the turn is stopped, as Ctrl-C does everywhere else.
            self.dismiss(None)


class ChoiceDialog(Asking[tuple[str, ...] | None]):
    """A question of the agent with answers to choose from, or words of one's own; none of them declines."""

    def __init__(self, choice: Choice, number: int, count: int) -> None:
        super().__init__()
        self.choice = choice
        self.at = 0
        self.picked: set[int] = set()
        self.title_text = choice.header or "The agent asks"
        if count > 1:
            self.title_text += f" ({number} of {count})"

    def answers(self) -> ComposeResult:
        yield StillInput(placeholder="your own words; Enter answers", widget_id="own")

    def on_mount(self) -> None:
        self.query_one("#own").display = not self.choice.options
        keys = ["a number or Enter answers"] if self.choice.options else []
        keys += ["Space picks several"] if self.choice.multiple else []
        keys += ["o for your own words"] if self.choice.custom and self.choice.options else []
        self.tell(", ".join([*keys, "Esc declines"]))
        self._show()

    def _arm(self) -> None:
        super()._arm()
        if not self.choice.options:
            self.query_one("#own").focus()

    def _show(self) -> None:
        page = Page.blank(max(20, self.size.width - 4))
        for line in self.choice.question.splitlines():
            page.wrapped(line, BOLD)
        for at, option in enumerate(self.choice.options):
            mark = ("[x] " if at in self.picked else "[ ] ") if self.choice.multiple else ""
            here = "›" if at == self.at else " "
            page.wrapped(f"{here} {at + 1}. {mark}{option.label}", BOLD if at == self.at else "")
            if option.description:
                page.wrapped(f"       {option.description}", DIM)
        self.read(page.lines)

    def on_resize(self) -> None:
        super().on_resize()
        self._show()

    def pressed(self, event: events.Key) -> None:
        if self.query_one("#own").has_focus:
            return
        if self.scroll(event.key) or not self.choice.options:
            return
        key, count = event.character or event.key, len(self.choice.options)
        if event.key in ("up", "down"):
            self.at = (self.at + (1 if event.key == "down" else -1)) % count
        elif event.key == "space" and self.choice.multiple:
            self.picked ^= {self.at}
        elif key.isdigit() and 0 < int(key) <= count:
            self._take(int(key) - 1)
        elif event.key == "enter":
            self._answer()
            return
        elif key == "o" and self.choice.custom:
            self.query_one("#own").display = True
            self.query_one("#own").focus()
            event.prevent_default()
        event.stop()
        self._show()

    def _take(self, at: int) -> None:
        if self.choice.multiple:
            self.picked ^= {at}
        else:
            self.dismiss((self.choice.options[at].label,))

    def _answer(self) -> None:
        taken = sorted(self.picked) if self.choice.multiple and self.picked else [self.at]
        self.dismiss(tuple(self.choice.options[at].label for at in taken))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss((event.value.strip(),) if event.value.strip() else ())

    def action_give_up(self) -> None:
        self.dismiss(())
