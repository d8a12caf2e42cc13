"""Permission questions on the command line: answered by an option, by a person, or by a plain no."""

import asyncio
import sys
from dataclasses import field

from toolwright.cli.options import note
from toolwright.cli.terminal import read_line
from toolwright.inbox import Answerer, Choice, Question, Reply, always_say
from toolwright.record import record


def answerer(*, yes: bool, no: bool) -> Answerer | None:
    """Who answers: `--yes`, `--no`, the person at the terminal, or nobody."""
    if yes:
        return always_say(Reply(kind="once"))
    if no:
        return always_say(Reply(kind="reject"))
    return TerminalUser() if sys.stdin.isatty() and sys.stderr.isatty() else None


@record(slots=True)
class TerminalUser:
    """Puts questions to the person at the terminal, one at a time, while other work goes on."""

    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(self, question: Question) -> Reply:
        async with self._turn:
            if question.kind == "choice":
                return await _chosen_answers(question)
            return await _prompt(question)


async def _prompt(question: Question) -> Reply:
    note(shown_question(question))
    while True:
        note(_choices(question))
        line = await read_line()
        words = line.split(maxsplit=1)
        match words[:1]:
            case ["y" | "yes" | "once"]:
                return Reply(kind="once")
            case ["s" | "session"] if chosen := _chosen(question, words[1:]):
                return Reply(kind="always", scope="session", patterns=chosen)
            case ["a" | "always"] if chosen := _chosen(question, words[1:]):
                return Reply(kind="always", scope="project", patterns=chosen)
            case ["n" | "no"] | []:
                return Reply(kind="reject", message=words[1].strip() if len(words) > 1 else "")
            case _:
                continue


def _chosen(question: Question, words: list[str]) -> tuple[str, ...]:
    """The patterns to store: all that are offered, or those whose numbers were named; none for a wrong number."""
    if not words:
        return question.always
    numbers = words[0].replace(",", " ").split()
    known = {str(number): pattern for number, pattern in enumerate(question.always, 1)}
    return tuple(known[number] for number in numbers) if all(number in known for number in numbers) else ()


def shown_question(question: Question) -> str:
    """What is asked for, and what it would do: the reasons and the difference, where there are any."""
    lines = [f"\n{question.permission}: {', '.join(question.patterns)}"]
    lines += [f"  {reason}" for reason in question.metadata.get("reasons", ())]
    if diff := question.metadata.get("diff"):
        lines.append(str(diff).rstrip())
    return "\n".join(lines)


def _choices(question: Question) -> str:
    rules = [f"{question.permission} {pattern}" for pattern in question.always]
    shown = ", ".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1)) if len(rules) > 1 else "".join(rules)
    several = "; a 1 stores only the first" if len(rules) > 1 else ""
    lasting = f", s for this session, a always in this project (stores: {shown}{several})" if rules else ""
    return f"Allow? y once{lasting}, n no (n and a word of advice is welcome)"


async def _chosen_answers(question: Question) -> Reply:
    answers = tuple([tuple(await _choose(one)) for one in question.choices])
    return Reply(kind="once", answers=answers) if any(answers) else Reply(kind="reject")


async def _choose(choice: Choice) -> list[str]:
    """The chosen labels; a number chooses an option, anything else is an answer in the user's own words."""
    note(f"\n{choice.question}")
    for number, option in enumerate(choice.options, 1):
        note(f"  {number}. {option.label}  {option.description}")
    note(
        "Numbers"
        + (", several with commas" if choice.multiple else "")
        + (", or your own words" if choice.custom else "")
    )
    words = [word.strip() for word in (await read_line()).split(",") if word.strip()]
    return [choice.options[int(word) - 1].label if _is_number(word, choice) else word for word in words]


def _is_number(word: str, choice: Choice) -> bool:
    return word.isdigit() and 1 <= int(word) <= len(choice.options)
