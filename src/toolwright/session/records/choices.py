"""Choices that tools put to the user, through the inbox like every other question."""

from collections.abc import Sequence

from toolwright.definition import ToolContext
from toolwright.events import Event
from toolwright.inbox import Choice, Inbox, Question, Reply, ReplyKind, rejected
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import JsonView
from toolwright.record import record
from toolwright.session.events import QuestionAsked, QuestionRejected, QuestionReplied
from toolwright.text.ids import new_id

NO_FORM: JsonView = {}


@record(frozen=True, slots=True)
class InboxQuestions:
    """Implements Questions for all sessions of a workspace."""

    inbox: Inbox

    @property
    def attended(self) -> bool:
        return self.inbox.attended

    async def ask(self, ctx: ToolContext, questions: Sequence[Choice], form: JsonView = NO_FORM) -> list[list[str]]:
        question = Question(
            kind="choice",
            id=new_id("que"),
            session_id=ctx.session_id,
            tool="question",
            title=questions[0].question if questions else "",
            agent=ctx.agent,
            call_id=ctx.call_id,
            message_id=ctx.message_id,
            choices=tuple(questions),
            form=form,
        )

        def gone(_: ReplyKind, reply: Reply | None) -> Event:
            if reply is None or not reply.answers:
                return QuestionRejected(session_id=ctx.session_id, request_id=question.id)
            return QuestionReplied(session_id=ctx.session_id, request_id=question.id, answers=reply.answers)

        asked = QuestionAsked(
            id=question.id,
            session_id=ctx.session_id,
            questions=tuple(to_json(one) for one in questions),
            tool={"messageID": ctx.message_id, "callID": ctx.call_id},
        )
        reply = await self.inbox.ask(question, asked, gone)
        if not reply.answers:
            raise rejected("to answer", reply)
        return [list(one) for one in reply.answers]
