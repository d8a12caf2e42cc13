"""Questions in the conversation: the whole call, what each answer would store and where, and why it is asked."""

from collections.abc import Callable, Sequence
from pathlib import Path

from toolwright.chat.keyboard import Keyboard
from toolwright.inbox import Choice, Question, Reply, RuleTrial, exchanged
from toolwright.record import record
from toolwright.terminal.call_text import shown_call
from toolwright.terminal.questions import SCOPES, offers, show_call, show_offer
from toolwright.terminal.screen import BOLD, DIM, YELLOW, Screen
from toolwright.terminal.stored_rules import numbered, trial_lines
from toolwright.terminal.typed import forget_typed


@record(slots=True, kw_only=True)
class QuestionPrompt:
    """Puts questions to the person at the keyboard."""

    screen: Screen
    keyboard: Keyboard
    directory: Path
    explained: Callable[[Question], list[str]]
    """Why a question is asked, with file and line."""
    tried: Callable[[Question, Sequence[str]], RuleTrial]
    """Tries out storing other patterns than the offered ones."""

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
        edited = exchanged(rules, rule, typed)
        trial = self.tried(question, edited)
        for line in trial_lines(trial):
            self.screen.wrapped(f"  {line}", "" if trial.settles else YELLOW)
        return edited if trial.settles else tuple(rules)

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


def _is_number(word: str, choice: Choice) -> bool:
    return word.isascii() and word.isdigit() and 1 <= int(word) <= len(choice.options)
