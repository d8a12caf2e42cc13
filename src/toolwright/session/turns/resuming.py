"""Going on with a turn whose question is answered when the process that asked it is over."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolwright.calls.parts import ToolPart
from toolwright.definition import Call, Result
from toolwright.errors import UsageError
from toolwright.inbox import Question, Reply, as_reply, rejected
from toolwright.messages import Assistant, Message
from toolwright.permission.approvals import Approval
from toolwright.session.budget import Budget
from toolwright.session.records.persisted_questions import questions_left
from toolwright.session.result import TurnResult
from toolwright.session.turns.loop import answer, refused_by_user

if TYPE_CHECKING:
    from toolwright.models.model import Model
    from toolwright.session.session import Session
    from toolwright.session.turns.turn import Turn

WAITING = "waiting"
"""The `finish` of a turn that waits for further answers."""


def waiting_in(messages: Sequence[Message]) -> list[Question]:
    """Return the questions with which a session was left: those of its last reply."""
    return [question for question, _, _ in questions_left(messages[-1:])]


async def resume(
    session: "Session",
    question_id: str,
    reply_or_text: Reply | str,
    *,
    model: "str | Model | None" = None,
    budget: Budget | Mapping[str, Any] | None = None,
) -> TurnResult:
    """Answer a question that was left, carry out its call or refuse it, and go on with the turn."""
    from toolwright.session.asking import go_on

    left = list(questions_left(session.conversation.messages[-1:]))
    asked = next((one for one in left if one[0].id == question_id), None)
    if asked is None:
        raise UsageError(f"No question {question_id!r} waits in {session.id}; it was answered, or the session went on.")
    question, message, part = asked
    reply = as_reply(reply_or_text)
    _check(question, reply)

    async def steps(turn: "Turn") -> Message:
        _reopen(turn, message)
        result = await _carry_out(turn, question, part, reply)
        turn.history.forget(message.info.id)
        if len(left) > 1 or (refused_by_user([result]) and not turn.settings.go_on_after_reject):
            return message
        return await answer(turn)

    result = await go_on(session, model=model, budget=budget, steps=steps)
    return replace(result, finish=WAITING) if len(left) > 1 else result


async def ask_again(session: "Session") -> TurnResult:
    """Make the calls again that wait for answers, so that somebody is asked, and go on with the turn."""
    from toolwright.session.asking import go_on

    left = list(questions_left(session.conversation.messages[-1:]))

    async def steps(turn: "Turn") -> Message:
        message = left[0][1]
        _reopen(turn, message)
        results = [
            await session.run_call(Call(id=part.call_id, tool=part.tool, arguments=part.state.input), turn, part=part)
            for _, _, part in left
        ]
        turn.history.forget(message.info.id)
        if refused_by_user(results) and not turn.settings.go_on_after_reject:
            return message
        return await answer(turn)

    return await go_on(session, steps=steps)


def _check(question: Question, reply: Reply) -> None:
    unknown = [one for one in reply.patterns or () if one not in question.always]
    if reply.kind == "always" and (unknown or not question.always):
        choice = ", ".join(question.always) or "nothing: this can only be allowed once"
        raise UsageError(f"always can store {choice}; not {', '.join(unknown) or 'this'}.")


def _reopen(turn: "Turn", message: Message) -> None:
    """Make of a reply that was broken off one whose calls are under way."""
    info = message.info
    if isinstance(info, Assistant):
        turn.conversation.update(replace(info, error=None, finish="tool-calls"))


async def _carry_out(turn: "Turn", question: Question, part: ToolPart, reply: Reply) -> Result:
    session = turn.session
    call = Call(id=part.call_id, tool=part.tool, arguments=part.state.input)
    if reply.kind == "reject":
        what = f"{question.permission} on {', '.join(map(repr, question.patterns))}"
        return await session.refuse(call, turn, session.record_of(call, part), rejected(what, reply))
    if reply.kind == "always":
        chosen = question.always if reply.patterns is None else reply.patterns
        approvals = tuple(Approval.written(*question.parts_of(text)) for text in chosen)
        session.gate.approvals.add(approvals, reply.scope or session.gate.scope, session.id)
    if reply.arguments is not None:
        call = replace(call, arguments=dict(reply.arguments))
    return await session.run_call(call, turn, part=part, granted=question.permissions)
