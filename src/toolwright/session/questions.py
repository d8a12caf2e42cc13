"""Questions of tools to the user: put, waited for, answered or declined."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from toolwright.errors import PermissionRejected, UsageError
from toolwright.events import Bus
from toolwright.ids import new_id
from toolwright.services import Asked
from toolwright.session.events import QuestionAsked, QuestionRejected, QuestionReplied
from toolwright.tool import ToolContext
from toolwright.wire import to_json

Answers = list[list[str]]


@dataclass(slots=True, kw_only=True)
class OpenQuestion:
    """Questions that wait for the user."""

    id: str
    session_id: str
    questions: tuple[Asked, ...]
    answer: "asyncio.Future[Answers]"


Responder = Callable[[OpenQuestion], Answers | None]
"""Answers at once, or returns None if the answer comes later; an empty list declines."""


def nobody(_: OpenQuestion) -> Answers:
    """Where nobody can be asked, every question is declined."""
    return []


@dataclass(slots=True)
class AskedQuestions:
    """Implements Questions for all sessions of a workspace."""

    bus: Bus
    respond: Responder = nobody
    _open: dict[str, OpenQuestion] = field(default_factory=dict[str, OpenQuestion])

    async def ask(self, ctx: ToolContext, questions: Sequence[Asked]) -> Answers:
        question = OpenQuestion(
            id=new_id("que"),
            session_id=ctx.session_id,
            questions=tuple(questions),
            answer=asyncio.get_running_loop().create_future(),
        )
        self._open[question.id] = question
        self.bus.publish(
            QuestionAsked(
                id=question.id,
                session_id=ctx.session_id,
                questions=tuple(to_json(one) for one in questions),
                tool={"messageID": ctx.message_id, "callID": ctx.call_id},
            )
        )
        try:
            if (answers := self.respond(question)) is not None:
                self._settle(question, answers)
            return await question.answer
        finally:
            # Also when the call is stopped: whoever shows the question must hear that it is gone.
            if self._open.pop(question.id, None) is not None and not _is_answered(question):
                self.bus.publish(QuestionRejected(session_id=question.session_id, request_id=question.id))

    def pending(self, session_id: str | None = None) -> list[OpenQuestion]:
        return [one for one in self._open.values() if session_id in (None, one.session_id)]

    def reply(self, question_id: str, answers: Answers) -> None:
        self._settle(self._find(question_id), answers)

    def reject(self, question_id: str) -> None:
        self._settle(self._find(question_id), [])

    def _find(self, question_id: str) -> OpenQuestion:
        if question_id not in self._open:
            raise UsageError(f"No question {question_id!r} is waiting.")
        return self._open[question_id]

    def _settle(self, question: OpenQuestion, answers: Answers) -> None:
        if question.answer.done():
            return
        if not answers:
            question.answer.set_exception(PermissionRejected("The user did not want to answer the question."))
            self.bus.publish(QuestionRejected(session_id=question.session_id, request_id=question.id))
            return
        question.answer.set_result(answers)
        told = tuple(tuple(one) for one in answers)
        self.bus.publish(QuestionReplied(session_id=question.session_id, request_id=question.id, answers=told))


def _is_answered(question: OpenQuestion) -> bool:
    return question.answer.done() and not question.answer.cancelled()
