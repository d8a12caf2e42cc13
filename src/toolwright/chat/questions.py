"""Questions in the conversation: the whole call, what each answer would store and where, and why it is asked."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from toolwright.chat.columns import pieces
from toolwright.chat.keyboard import Keyboard
from toolwright.chat.screen import BOLD, CYAN, DIM, GREEN, RED, YELLOW, Screen
from toolwright.cli.call_text import shown_call
from toolwright.cli.stored_rules import numbered, trial_lines
from toolwright.cli.terminal import forget_typed
from toolwright.inbox import Choice, Question, Reply, RuleTrial, Scope, exchanged
from toolwright.record import record

SCOPES: dict[str, tuple[Scope, str]] = {
    "s": ("session", "for this session"),
    "a": ("project", "always in this project"),
    "u": ("user", "always, in every project"),
}


@record(slots=True, kw_only=True)
class QuestionPrompt:
    """Puts questions to the person at the keyboard."""

    screen: Screen
    keyboard: Keyboard
    directory: Path
    explained: Callable[[Question], list[str]]
    """Why a question is asked, with file and line."""
    tried: Callable[[Question, Sequence[str]], RuleTrial]
    """What storing other patterns than the offered ones would mean."""

    def ask(self, question: Question) -> Reply:
        return self._choices(question) if question.kind == "choice" else self._permission(question)

    def _permission(self, question: Question) -> Reply:
        show_call(self.screen, shown_call(question, self.directory))
        rules = question.always
        self._offer(question, rules)
        # What was typed before the question was there is no answer to it.
        forget_typed()
        while True:
            first, _, rest = self.keyboard.line("Allow? ", BOLD).strip().partition(" ")
            match first.lower():
                case "y" | "yes":
                    return Reply(kind="once")
                case "n" | "no":
                    return Reply(kind="reject", message=rest.strip())
                case "?":
                    for line in self.explained(question):
                        self.screen.wrapped(line, DIM)
                case "s" | "a" | "u" if chosen := numbered(rules, rest):
                    return Reply(kind="always", scope=SCOPES[first.lower()][0], patterns=chosen)
                case "e" if chosen := numbered(rules, rest):
                    rules = self._edited(question, rules, chosen[0])
                    self._offer(question, rules)
                case _:
                    self._offer(question, rules)

    def _edited(self, question: Question, rules: Sequence[str], rule: str) -> tuple[str, ...]:
        """The rules with another in the place of one, if the person wants that once its meaning is told."""
        typed = self.keyboard.line(f"Store {question.permission} ", BOLD, text=rule).strip()
        if not typed:
            return tuple(rules)
        made = exchanged(rules, rule, typed)
        trial = self.tried(question, made)
        for line in trial_lines(trial):
            self.screen.wrapped(f"  {line}", "" if trial.settles else YELLOW)
        return made if trial.settles else tuple(rules)

    def _offer(self, question: Question, rules: Sequence[str]) -> None:
        for line in offers(question, rules, rules, "a 1 stores only the first, e 1 edits it"):
            show_offer(self.screen, line)

    def _choices(self, question: Question) -> Reply:
        answers = tuple(tuple(self._choose(one)) for one in question.choices)
        return Reply(kind="once", answers=answers) if any(answers) else Reply(kind="reject")

    def _choose(self, choice: Choice) -> list[str]:
        self.screen.line()
        self.screen.wrapped(choice.question, BOLD)
        for number, option in enumerate(choice.options, 1):
            self.screen.wrapped(f"  {number}. {option.label}  {option.description}")
        several = ", several with commas" if choice.multiple else ""
        own = ", or your own words" if choice.custom else ""
        forget_typed()
        while True:
            typed = self.keyboard.line(f"A number{several}{own}: ").strip()
            words = [word.strip() for word in typed.split(",") if word.strip()]
            if words and all(_is_number(word, choice) for word in words):
                return [choice.options[int(word) - 1].label for word in words[: None if choice.multiple else 1]]
            if not typed or choice.custom:
                return [typed] if typed else []


def offers(question: Question, rules: Sequence[str], stored: Sequence[str], how: str) -> Iterator[str]:
    """The answers there are, and the rules that those for longer would store; `how` one stores only some of them."""
    yield "  y  yes, this once"
    if rules:
        for key, (_, where) in SCOPES.items():
            yield f"  {key}  yes, {where}"
        yield "     s, a and u store:"
        for number, pattern in enumerate(rules, 1):
            counted = f"{number}. " if len(rules) > 1 else ""
            left = "" if pattern in stored else "  (left out)"
            yield f"       {counted}{question.permission} {pattern}{left}"
        if len(rules) > 1:
            yield f"       ({how})"
        yield "  e  edit the rule first"
    yield "  n  no; words after it are told to the agent"
    yield "  ?  why it is asked"


def short_offers(question: Question, rules: Sequence[str], stored: Sequence[str], how: str) -> Iterator[str]:
    """The same in few lines."""
    longer = "   s session   a project   u every project   e edit" if rules else ""
    yield f"  y once{longer}   n no   ? why"
    if rules:
        several = len(rules) > 1
        rules = [
            f"{f'{number}. ' if several else ''}{question.permission} {pattern}"
            f"{'' if pattern in stored else ' (left out)'}"
            for number, pattern in enumerate(rules, 1)
        ]
        yield f"  s, a, u store: {'; '.join(rules)}{f' ({how})' if several else ''}"


def _is_number(word: str, choice: Choice) -> bool:
    return word.isascii() and word.isdigit() and 1 <= int(word) <= len(choice.options)


def show_call(screen: Screen, call: str) -> None:
    """The call with what it was understood to do: what cannot be undone, and who is reached, meets the eye."""
    label = ""
    for line in call.splitlines():
        name = line[2:12].strip()
        if line.startswith("  │ "):
            screen.line_of((line[:4], DIM), (line[4:], {"+": GREEN, "-": RED}.get(line[4:5], "")))
        elif line.startswith("  ! "):
            screen.line(line, YELLOW)
        elif line.startswith("  ") and (name in _LABELS or not name):
            label = name or label
            screen.line_of((line[:12], DIM), (line[12:], _colour_of(label, line[12:])))
        else:
            screen.line(line, _colour_of(label, line))


def show_offer(screen: Screen, line: str) -> None:
    """An answer with its key, or what one would store."""
    if not _KEY.match(line):
        screen.wrapped(line, DIM if line.endswith((":", ")")) else "")
        return
    first, *rest = pieces(line[5:], screen.width - 7)
    screen.line_of(("  ", ""), (line[2], CYAN), (f"  {first}", ""))
    for piece in rest:
        screen.line(f"     {piece}")


_LABELS = ("in", "runs", "reads", "writes", "deletes", "goes to", "network", "asks for")
_KEY = re.compile(r"  [ysauen?]  ")


def _colour_of(label: str, told: str) -> str:
    if label == "deletes":
        return RED
    return YELLOW if label == "network" and not told.startswith("none") else ""
