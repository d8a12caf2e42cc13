"""The inbox: every question to a person, of any kind, put, waited for, answered at once or later, or withdrawn."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, get_args

from toolwright.calls.request import Need, Option
from toolwright.deadline import time_limit
from toolwright.errors import PermissionRejected, ToolError, UsageError
from toolwright.events import Bus, Event
from toolwright.record import record
from toolwright.text.ids import new_id

ReplyKind = Literal["once", "always", "reject"]
Scope = Literal["session", "project", "user"]
_WORDS: tuple[str, ...] = get_args(ReplyKind)
_SCOPES: tuple[str, ...] = get_args(Scope)

NOBODY = "nobody can be asked in this run: go on without it"
UNANSWERED = "nobody has answered within"
REFUSED, ADVICE = "The user refused", " and says: "
"""Beginning of the error of a refused call, and the words before the person's advice."""


@record(frozen=True, slots=True, kw_only=True)
class Reply:
    """A person's answer to a question."""

    kind: ReplyKind
    message: str = ""
    """With a rejection: what to do instead."""
    scope: Scope | None = None
    """With `always`: for how long; if not said, for the project where sessions are kept, else for the session."""
    patterns: tuple[str, ...] | None = None
    """With `always`: which of the offered patterns, or others that answer the question too; all if not said."""
    answers: tuple[tuple[str, ...], ...] = ()
    """To a choice: the chosen labels or words of one's own, one tuple a question."""
    arguments: Mapping[str, Any] | None = None
    """With `once`: all arguments of the call, as it is to be made in place of how it was asked for."""

    def __post_init__(self) -> None:
        for name, value, known in (("kind", self.kind, _WORDS), ("scope", self.scope, (None, *_SCOPES))):
            if value not in known:
                raise UsageError(f"Reply({name}={value!r:.60}): {name} is one of {', '.join(filter(None, known))}.")
        if self.arguments is not None and self.kind != "once":
            raise UsageError(f"Reply(arguments=...) goes with kind='once', not with {self.kind!r}.")
        if not isinstance(self.arguments, Mapping | None):
            raise UsageError(f"Reply(arguments={self.arguments!r:.60}) is no dict of arguments.")
        for name, listed in (("patterns", (self.patterns or (),)), ("answers", (self.answers, *self.answers))):
            if any(isinstance(one, str) for one in listed):
                raise UsageError(
                    f"Reply({name}=...) has a text in the place of a tuple: write ('a *',), and not 'a *'."
                )


@record(frozen=True, slots=True, kw_only=True)
class Choice:
    """A question of a tool to the user, with answers to choose from."""

    question: str
    header: str = ""
    options: tuple[Option, ...] = ()
    multiple: bool = False
    custom: bool = True
    """True if the user may answer in words of their own."""
    default: tuple[str, ...] | None = None
    """Answer where the user leaves it out; None if it needs one."""


@record(frozen=True, slots=True, kw_only=True)
class RuleTrial:
    """The effect of storing certain patterns, tried before it is done."""

    settles: bool
    """True if the question would be answered by them."""
    reason: str = ""
    """Why it would not."""
    earlier: tuple[str, ...] = ()
    """Earlier requests that would have been answered too, the newest first."""


def _nothing(_: Reply) -> None:
    """For questions whose answer has no effect but on who asked."""


def _unknown(_: Sequence[str]) -> RuleTrial:
    """For questions that no rule answers."""
    return RuleTrial(settles=False, reason="no rule answers this")


@record(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """Something that waits for a person: a permission, or choices. The whole call stands in it."""

    kind: Literal["permission", "choice"]
    session_id: str
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    title: str = ""
    """The call in one line."""
    agent: str = ""
    name: str = ""
    """By which people know the agent, where it works in the background."""
    callers: tuple[str, ...] = ()
    """The sessions above, the nearest first, where a subagent asks."""
    call_id: str = ""
    message_id: str = ""
    permission: str = ""
    patterns: tuple[str, ...] = ()
    also: tuple[Need, ...] = ()
    """Further needs of the same call; one answer is for all of them."""
    always: tuple[str, ...] = ()
    """The patterns an `always` may store: those that really settle this question.

    One for another permission than `permission` begins with its name, as in `(edit) build`.
    """
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    choices: tuple[Choice, ...] = ()
    form: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Form of MCP behind the choices: its `message` and `requestedSchema`, for clients that can show it as it is."""
    id: str = field(default_factory=lambda: new_id("per"))
    accept: Callable[[Reply], None] = field(default=_nothing, repr=False)
    """Carries out what an answer means beyond this question, before whoever asked goes on."""
    tried: Callable[[Sequence[str]], RuleTrial] = field(default=_unknown, repr=False)
    """Tells what storing these patterns instead of the offered ones would mean."""

    @property
    def permissions(self) -> tuple[str, ...]:
        """All that the call asks for."""
        return tuple(dict.fromkeys((*(need.permission for need in self.also), self.permission)))

    def parts_of(self, text: str) -> tuple[str, str]:
        """Return the permission and the pattern of a rule that an `always` may store."""
        for need in self.also:
            if text.startswith(f"({need.permission}) "):
                return need.permission, text.removeprefix(f"({need.permission}) ")
        return self.permission, text

    def rule(self, text: str) -> str:
        """Return such a rule as it will be listed."""
        return " ".join(self.parts_of(text))


Said = Reply | str | None
Answerer = Callable[[Question], "Said | Awaitable[Said]"]
"""Answers a question: a Reply or one of the words once, always, reject; None if the answer comes later by id."""


class WrongAnswer(UsageError):
    """An answerer has failed, or has returned something that is no answer: a mistake in the program around us."""


def mistake_in(error: BaseException) -> WrongAnswer | None:
    """The mistake of an answerer among what was raised together, as by calls side by side."""
    if isinstance(error, WrongAnswer):
        return error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return next((mistake for one in inner if (mistake := mistake_in(one)) is not None), None)


@record(frozen=True, slots=True)
class AlwaysSay:
    """The same answer to every permission; choices are declined, because there is nothing to choose by."""

    reply: Reply

    def __call__(self, question: Question) -> Reply:
        return self.reply if question.kind == "permission" else Reply(kind="reject", message=NOBODY)


def always_say(reply: Reply) -> Answerer:
    return AlwaysSay(reply)


@record(frozen=True, slots=True)
class TakesDefaults:
    """Answers choices by their defaults where all of them have one, and leaves every other question to another."""

    otherwise: Answerer | None

    def __call__(self, question: Question) -> "Said | Awaitable[Said]":
        defaults = [choice.default for choice in question.choices]
        if question.kind == "choice" and any(defaults) and None not in defaults:
            return Reply(kind="once", answers=tuple(one or () for one in defaults))
        return Reply(kind="reject", message=NOBODY) if self.otherwise is None else self.otherwise(question)


def is_attended(answer: Answerer | None) -> bool:
    """Return whether a question that has no fixed answer can be put to anybody."""
    if isinstance(answer, TakesDefaults):
        return is_attended(answer.otherwise)
    return answer is not None and not isinstance(answer, AlwaysSay)


@record(slots=True)
class Inbox:
    """One for each workspace, shared by all its sessions."""

    bus: Bus
    answer: Answerer | None = None
    """The answerer that is asked first; without one every question is refused at once."""
    timeout: float | None = None
    """Seconds that a question waits before it is refused; as long as it takes, if nothing is said."""
    _open: "dict[str, tuple[Question, asyncio.Future[Reply]]]" = field(default_factory=dict)

    @property
    def attended(self) -> bool:
        """Return whether anybody can be asked at all."""
        return is_attended(self.answer)

    @property
    def pending(self) -> list[Question]:
        """The questions that wait for an answer, the oldest first."""
        return [question for question, _ in self._open.values()]

    def question(self, question_id: str) -> Question | None:
        """The question that waits under an id."""
        question, _ = self._open.get(question_id, (None, None))
        return question

    def of_session(self, session_id: str) -> list[Question]:
        return [question for question in self.pending if question.session_id == session_id]

    async def ask(self, question: Question, asked: Event, settled: Callable[[ReplyKind, Reply | None], Event]) -> Reply:
        """Put a question and wait for its answer. Raises PermissionRejected if nobody can be asked.

        `asked` is published with the question, `settled` makes the event that it is settled or withdrawn.
        """
        answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._open[question.id] = (question, answered)
        self.bus.publish(asked)
        reply: Reply | None = None
        try:
            async with time_limit(self.timeout):
                await self._consult(question)
                reply = await answered
        except TimeoutError:
            reply = Reply(kind="reject", message=f"{UNANSWERED} {self.timeout:g} seconds")
        finally:
            self._open.pop(question.id, None)
            # Also when the call is stopped: whoever shows the question must hear that it is gone.
            self.bus.publish(settled("reject" if reply is None else reply.kind, reply))
        return reply

    def reply(self, question_id: str, said: Reply | str) -> None:
        """Answer a waiting question, and every other question that this answer settles as well."""
        if question_id not in self._open:
            raise UsageError(f"No question {question_id!r} is waiting; it may have been answered or its turn stopped.")
        question, _ = self._open[question_id]
        reply = as_reply(said)
        _check(question, reply)
        question.accept(reply)
        if question_id in self._open:
            self._settle(question_id, reply)
        if reply.kind == "reject" and question.kind == "permission":
            for other in self.of_session(question.session_id):
                if other.kind == "permission":
                    self._settle(other.id, Reply(kind="reject"))

    def release(self, question_id: str, reply: Reply) -> None:
        """Settle a question that another answer has made superfluous."""
        self._settle(question_id, reply)

    def cancel(self, session_id: str, reason: str) -> None:
        """Withdraw every question of a session that is being stopped."""
        for question in self.of_session(session_id):
            _, answered = self._open[question.id]
            if not answered.done():
                answered.set_exception(ToolError(f"The call was stopped: {reason}.", "aborted"))

    async def _consult(self, question: Question) -> None:
        """Ask the answerer. Its mistakes are the program's, and raised there; a ToolError is told to the model."""
        if self.answer is None:
            self.reply(question.id, Reply(kind="reject", message=NOBODY))
            return
        try:
            answer: Any = self.answer(question)
            if inspect.isawaitable(answer):
                answer = await self._first(answer, question.id)
            if answer is not None and question.id in self._open:
                self.reply(question.id, answer)
        except (ToolError, WrongAnswer):
            raise
        except UsageError as error:
            raise WrongAnswer(f"The answer to {question.title!r:.80} does not fit: {error}") from error
        except Exception as bug:
            reason = f"{type(bug).__name__}: {bug}"
            raise WrongAnswer(f"answer= failed at {question.title!r:.80}, so nothing was done: {reason}") from bug

    async def _first(self, answering: Awaitable[Said], question_id: str) -> Said:
        """Return an answerer's reply, unless the question is answered in another way before."""
        _, answered = self._open[question_id]
        asking: asyncio.Future[Said] = asyncio.ensure_future(answering)
        either: list[asyncio.Future[Any]] = [asking, answered]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            asking.cancel()

    def _settle(self, question_id: str, reply: Reply) -> None:
        _, answered = self._open.pop(question_id)
        if not answered.done():
            answered.set_result(reply)


def as_reply(reply: object) -> Reply:
    """A Reply, or one of the words for one; anything else is a WrongAnswer."""
    match reply:
        case Reply():
            return reply
        case "once" | "always" | "reject":
            return Reply(kind=reply)
        case _:
            raise WrongAnswer(f"{reply!r} is no answer: return a Reply or one of the words {', '.join(_WORDS)}.")


def _check(question: Question, reply: Reply) -> None:
    """A rule of the person's own must answer what one of the offered rules would."""
    own = () if reply.kind != "always" else [one for one in reply.patterns or () if one not in question.always]
    for pattern in own:
        if not any(question.tried(exchanged(question.always, one, pattern)).settles for one in question.always):
            choice = ", ".join(question.always) or "nothing: this can only be allowed once"
            raise UsageError(f"{pattern} would not answer this question; there is {choice}.")


def exchanged(patterns: Sequence[str], old: str, new: str) -> tuple[str, ...]:
    """The patterns with another in the place of one."""
    return tuple(dict.fromkeys(new if one == old else one for one in patterns))


def rejected(what: str, reply: Reply) -> PermissionRejected:
    """The error of a call that was refused, in words that are true of who refused it."""
    if reply.message == NOBODY:
        return PermissionRejected(f"{what} was refused, because {NOBODY}. Nothing was done.", advice=NOBODY)
    if reply.message.startswith(UNANSWERED):
        message = f"{what} was refused, because {reply.message}. Nothing was done; go on without it."
        return PermissionRejected(message, advice=reply.message)
    if reply.message:
        return PermissionRejected(f"{REFUSED} {what}{ADVICE}{reply.message}", advice=reply.message)
    return PermissionRejected(f"{REFUSED} {what}. Nothing was done; do not try it again another way.")
