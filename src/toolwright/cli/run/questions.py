"""Permission questions on the command line: answered by an option, by a person, or by a plain no."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from toolwright.cli.options import note
from toolwright.errors import UsageError
from toolwright.inbox import Answerer, Choice, Question, Reply, TakesDefaults, always_say, exchanged
from toolwright.record import record
from toolwright.terminal.call_text import behind_bar, shown_call, wrapped
from toolwright.terminal.stored_rules import numbered, trial_lines
from toolwright.terminal.typed import forget_typed, is_terminal, read_line
from toolwright.text.display import visible


def answerer(options: argparse.Namespace) -> Answerer | None:
    """Return who answers: `--yes`, `--no`, the person at the terminal, or nobody; forms also `--defaults`."""
    user = _user(options)
    return TakesDefaults(user) if getattr(options, "defaults", False) else user


def _user(options: argparse.Namespace) -> Answerer | None:
    if options.yes and options.no:
        raise UsageError("--yes and --no contradict each other; give one of them.")
    if options.yes and os.environ.get("TOOLWRIGHT_SANDBOX"):
        raise UsageError("A command in the sandbox cannot answer for the person at the keyboard. Leave out --yes.")
    if options.yes:
        return always_say(Reply(kind="once"))
    if options.no:
        return always_say(Reply(kind="reject"))
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return None
    return TerminalUser(Path(getattr(options, "directory", ".")).resolve())


@record(slots=True)
class TerminalUser:
    """Puts questions to the person at the terminal, one at a time, while other work goes on."""

    directory: Path
    """Directory in which the calls work: what they were understood to do is told from there."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(self, question: Question) -> Reply:
        async with self._turn:
            if question.kind == "choice":
                return await _chosen_answers(question)
            return await _prompt(question, self.directory)


async def _prompt(question: Question, directory: Path) -> Reply:
    # A key that was pressed before the question was there is no answer to it.
    forget_typed()
    note(shown_call(question, directory))
    stored = question.always
    while True:
        note(_choices(question, stored))
        first, _, rest = (await read_line()).strip().partition(" ")
        match first:
            case "y" | "yes" | "once":
                return Reply(kind="once")
            case "s" | "session" if chosen := numbered(stored, rest):
                return Reply(kind="always", scope="session", patterns=chosen)
            case "a" | "always" if chosen := numbered(stored, rest):
                return Reply(kind="always", scope="project", patterns=chosen)
            case "e" | "edit" if chosen := numbered(stored, rest):
                stored = await _edited(question, stored, chosen[0])
            case "n" | "no" | "":
                return Reply(kind="reject", message=rest.strip())
            case _:
                continue


async def _edited(question: Question, stored: tuple[str, ...], rule: str) -> tuple[str, ...]:
    """The rules with another in the place of one, if that answers the question."""
    note(f"Store instead of {visible(question.rule(rule), lines=False)}:")
    typed = (await read_line()).strip().removeprefix(f"{question.permission} ")
    if not typed:
        return stored
    edited = exchanged(stored, rule, typed)
    trial = question.tried(edited)
    note("\n".join(f"  {line}" for line in trial_lines(trial)))
    return edited if trial.settles else stored


def _choices(question: Question, stored: Sequence[str]) -> str:
    """The answers there are, and the rule that each would store."""
    rules = [visible(question.rule(pattern), lines=False) for pattern in stored]
    lines = ["Allow?", "  y  yes, once"]
    if rules:
        lines += ["  s  yes, and store for this session:", "  a  yes, and store for this project, always:"]
        lines += [
            line for number, rule in enumerate(rules, 1) for line in wrapped(f"{_number(number, rules)}{rule}", " " * 7)
        ]
    if len(rules) > 1:
        lines.append("     (a 1 stores only the first, e 1 edits it)")
    if rules:
        lines.append("  e  edit the rule first")
    lines.append("  n  no; words after it go to the agent")
    return "\n".join(lines)


def _number(number: int, rules: list[str]) -> str:
    return f"{number}. " if len(rules) > 1 else ""


async def _chosen_answers(question: Question) -> Reply:
    answers = tuple([tuple(await _choose(one)) for one in question.choices])
    return Reply(kind="once", answers=answers) if any(answers) else Reply(kind="reject")


async def _choose(choice: Choice) -> list[str]:
    """The chosen labels; a number chooses an option, anything else is an answer in the user's own words."""
    note("\n".join(["", "The agent asks", *behind_bar(choice.question)]))
    for number, option in enumerate(choice.options, 1):
        note(visible(f"  {number}. {option.label}  {option.description}", lines=False))
    note(
        "Numbers"
        + (", several with commas" if choice.multiple else "")
        + (", or your own words" if choice.custom else "")
    )
    words = [word.strip() for word in (await read_line()).split(",") if word.strip()] or list(choice.default or ())
    return [choice.options[int(word) - 1].label if _is_number(word, choice) else word for word in words]


def _is_number(word: str, choice: Choice) -> bool:
    return word.isdigit() and 1 <= int(word) <= len(choice.options)
