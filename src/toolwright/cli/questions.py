"""Permission questions on the command line: answered by an option, by a person, or by a plain no."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolwright.cli.options import note
from toolwright.display import visible
from toolwright.permission.broker import Answerer, Broker, Question, Reply, headless

if TYPE_CHECKING:
    from toolwright.services import Asked
    from toolwright.session.questions import AskedQuestions, OpenQuestion


def answerer(*, yes: bool, no: bool) -> "Answerer | TerminalUser":
    """Who answers: `--yes`, `--no`, the person at the terminal, or, where nobody is, a refusal that says so."""
    if yes:
        return headless(Reply(kind="once"))
    if no:
        return headless(Reply(kind="reject"))
    if sys.stdin.isatty() and sys.stderr.isatty():
        return TerminalUser()
    return _nobody


def _nobody(question: Question) -> Reply:
    request = question.request
    asked = visible(f"{request.permission} {', '.join(request.patterns)}", lines=False)
    note(f"refused, because nobody is there to ask: {asked}")
    return Reply(kind="reject")


@dataclass(slots=True)
class TerminalUser:
    """Puts questions to the person at the terminal, one at a time, while other work goes on."""

    broker: Broker | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _asking: set["asyncio.Task[None]"] = field(default_factory=set)

    def __call__(self, question: Question) -> None:
        task = asyncio.get_running_loop().create_task(self._ask(question))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, question: Question) -> None:
        async with self._turn:
            if question.answer.done() or self.broker is None:
                return
            reply = await asyncio.to_thread(_prompt, question)
            if not question.answer.done():
                self.broker.reply(question.id, reply)


def _prompt(question: Question) -> Reply:
    note(shown_question(question))
    while True:
        note(_choices(question))
        words = sys.stdin.readline().split(maxsplit=1)
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
        return question.offered
    numbers = words[0].replace(",", " ").split()
    known = {str(number): pattern for number, pattern in enumerate(question.offered, 1)}
    return tuple(known[number] for number in numbers) if all(number in known for number in numbers) else ()


def shown_question(question: Question) -> str:
    """What is asked for, and what it would do: the reasons and the difference, where there are any.

    A pattern or reason stays on its own line, whatever it contains, so that it cannot look like another one.
    """
    request = question.request
    asked = visible(f"{request.permission}: {', '.join(request.patterns)}", lines=False)
    lines = [f"\n{asked}"]
    lines += [f"  {visible(str(reason), lines=False)}" for reason in request.metadata.get("reasons", ())]
    if diff := request.metadata.get("diff"):
        lines.append(visible(str(diff).rstrip()))
    return "\n".join(lines)


def _choices(question: Question) -> str:
    rules = [visible(f"{question.request.permission} {pattern}", lines=False) for pattern in question.offered]
    shown = ", ".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1)) if len(rules) > 1 else "".join(rules)
    several = "; a 1 stores only the first" if len(rules) > 1 else ""
    lasting = f", s for this session, a always in this project (stores: {shown}{several})" if rules else ""
    return f"Allow? y once{lasting}, n no (n and a word of advice is welcome)"


def terminal_responder(questions: "AskedQuestions") -> Callable[["OpenQuestion"], None]:
    """Puts the questions of the `question` tool to the person at the terminal."""
    asking: set[asyncio.Task[None]] = set()

    def respond(question: "OpenQuestion") -> None:
        task = asyncio.get_running_loop().create_task(_respond(questions, question))
        asking.add(task)
        task.add_done_callback(asking.discard)

    return respond


async def _respond(questions: "AskedQuestions", question: "OpenQuestion") -> None:
    answers = [await asyncio.to_thread(_choose, one) for one in question.questions]
    if any(answers):
        questions.reply(question.id, answers)
    else:
        questions.reject(question.id)


def _choose(asked: "Asked") -> list[str]:
    """The chosen labels; a number chooses an option, anything else is an answer in the user's own words."""
    note(f"\n{asked.question}")
    for number, option in enumerate(asked.options, 1):
        note(visible(f"  {number}. {option.label}  {option.description}", lines=False))
    note(
        "Numbers"
        + (", several with commas" if asked.multiple else "")
        + (", or your own words" if asked.custom else "")
    )
    words = [word.strip() for word in sys.stdin.readline().split(",") if word.strip()]
    return [asked.options[int(word) - 1].label if _is_number(word, asked) else word for word in words]


def _is_number(word: str, asked: "Asked") -> bool:
    return word.isdigit() and 1 <= int(word) <= len(asked.options)
