"""The broker: judges what a call needs, asks a person where the rules say so, and settles every question."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from toolwright.errors import PermissionDenied, PermissionRejected, ToolError, UsageError
from toolwright.events import Bus, PermissionAsked, PermissionReplied
from toolwright.ids import new_id
from toolwright.permission.approvals import Approval, Approvals, Scope, covered
from toolwright.permission.rules import Decision, Policy, strictest
from toolwright.request import Request
from toolwright.tool import Action

ReplyKind = Literal["once", "always", "reject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A person's answer to a question."""

    kind: ReplyKind
    message: str = ""
    """With a rejection: what to do instead."""
    scope: Scope = "project"
    """With `always`: for how long."""
    patterns: tuple[str, ...] | None = None
    """With `always`: which of the offered patterns; all of them if not said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the rules and approvals make of one request."""

    request: Request
    decision: Decision
    pattern: str
    """The pattern that decided."""

    @property
    def action(self) -> Action:
        return self.decision.action


@dataclass(slots=True)
class Entry:
    """A request of a call, what the rules made of it and what was answered."""

    judgement: Judgement
    reply: ReplyKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The call that asks: whose it is and under which rules it stands."""

    session_id: str
    policy: Policy
    callers: tuple[str, ...] = ()
    """The sessions above this one, whose approvals hold here too."""
    message_id: str = ""
    call_id: str = ""
    log: list[Entry] = field(default_factory=list[Entry])
    """What the call has asked for so far."""

    @property
    def sessions(self) -> tuple[str, ...]:
        return (self.session_id, *self.callers)


@dataclass(slots=True, kw_only=True)
class Question:
    """A request that waits for a person."""

    id: str
    asker: Asker
    request: Request
    offered: tuple[str, ...]
    """The patterns an `always` may store: those that really settle this question."""
    answer: "asyncio.Future[Reply]"


Answerer = Callable[[Question], Reply | None]
"""Answers a question at once, or returns None if the answer comes later through `reply`."""


def headless(reply: Reply) -> Answerer:
    """The answer where nobody can be asked: always the same, never a wait."""
    return lambda _: reply


@dataclass(slots=True, kw_only=True)
class Broker:
    """One for each workspace, shared by all its sessions."""

    bus: Bus
    approvals: Approvals
    answer: Answerer
    _questions: dict[str, Question] = field(default_factory=dict[str, Question])

    def judge(self, asker: Asker, requests: Sequence[Request]) -> list[Judgement]:
        """What each request comes to. Nobody is asked."""
        return [self._judge(asker, request) for request in requests]

    def _judge(self, asker: Asker, request: Request) -> Judgement:
        """Approvals are looked up only where they can matter; most calls are allowed without."""
        judgement = judged(asker.policy, request, ())
        if judgement.action != "ask":
            return judgement
        return judged(asker.policy, request, self.approvals.of(asker.sessions))

    def refuse_denied(self, judgements: Sequence[Judgement]) -> None:
        """Raise if any request is forbidden; so a deny anywhere comes before every question."""
        for judgement in judgements:
            if judgement.action == "deny":
                raise PermissionDenied(_denial(judgement))

    async def ask(self, asker: Asker, judgement: Judgement) -> Reply:
        """Put one question and wait for its answer; raise PermissionRejected if it is no."""
        question = self._question(asker, judgement.request)
        try:
            self._put(question)
            reply = await question.answer
        finally:
            self._withdraw(question)
        if reply.kind == "reject":
            raise PermissionRejected(_rejection(judgement, reply), advice=reply.message)
        return reply

    def pending(self, session_id: str | None = None) -> list[Question]:
        return [one for one in self._questions.values() if session_id in (None, one.asker.session_id)]

    def reply(self, question_id: str, reply: Reply) -> None:
        """Answer a waiting question, and every other question that this answer settles as well."""
        question = self._questions.get(question_id)
        if question is None:
            raise UsageError(f"No question {question_id!r} is waiting; it may have been answered or its turn stopped.")
        if reply.kind == "always":
            self._remember(question, reply)
        self._settle(question, reply)
        if reply.kind == "always":
            self._release_allowed()
        elif reply.kind == "reject":
            for other in self.pending(question.asker.session_id):
                self._settle(other, Reply(kind="reject"))

    def cancel(self, session_id: str, reason: str) -> None:
        """Settle every question of a session that is being stopped."""
        for question in self.pending(session_id):
            self._withdraw(question)
            if not question.answer.done():
                question.answer.set_exception(ToolError(f"The call was stopped: {reason}.", "aborted"))

    def _question(self, asker: Asker, request: Request) -> Question:
        return Question(
            id=new_id("per"),
            asker=asker,
            request=request,
            offered=self._worth_offering(asker, request),
            answer=asyncio.get_running_loop().create_future(),
        )

    def _put(self, question: Question) -> None:
        self._questions[question.id] = question
        self.bus.publish(_asked(question))
        reply = self.answer(question)
        if reply is not None and question.id in self._questions:
            self.reply(question.id, reply)

    def _withdraw(self, question: Question) -> None:
        """Take back a question that nobody has answered; whoever shows it must hear that it is gone."""
        if self._questions.pop(question.id, None) is not None:
            self._tell(question, "reject")

    def _worth_offering(self, asker: Asker, request: Request) -> tuple[str, ...]:
        """The offered patterns, if storing them would let this very request pass; otherwise none."""
        wanted = tuple(Approval(request.permission, pattern) for pattern in request.always)
        approvals = (*self.approvals.of(asker.sessions), *wanted)
        return request.always if judged(asker.policy, request, approvals).action == "allow" else ()

    def _remember(self, question: Question, reply: Reply) -> None:
        chosen = question.offered if reply.patterns is None else reply.patterns
        unknown = set(chosen) - set(question.offered)
        if unknown:
            choice = ", ".join(question.offered) or "nothing: this can only be allowed once"
            raise UsageError(f"{', '.join(sorted(unknown))} was not offered for this question; there is {choice}.")
        approvals = tuple(Approval(question.request.permission, pattern) for pattern in chosen)
        self.approvals.add(approvals, reply.scope, question.asker.session_id)

    def _release_allowed(self) -> None:
        """Let go every call, of any session, that a new approval allows under that session's own rules."""
        for question in self.pending():
            [judgement] = self.judge(question.asker, [question.request])
            if judgement.action == "allow":
                self._settle(question, Reply(kind="always"))

    def _settle(self, question: Question, reply: Reply) -> None:
        self._questions.pop(question.id, None)
        if not question.answer.done():
            question.answer.set_result(reply)
        self._tell(question, reply.kind)

    def _tell(self, question: Question, reply: ReplyKind) -> None:
        self.bus.publish(PermissionReplied(session_id=question.asker.session_id, request_id=question.id, reply=reply))


def judged(policy: Policy, request: Request, approvals: Sequence[Approval]) -> Judgement:
    """The strictest answer over all patterns. An approval turns ask into allow; it never touches a deny."""
    decisions = [
        (decision, pattern)
        for pattern in (*request.patterns, *request.implied)
        for decision in [_approved(policy.decide(request.permission, pattern), request, pattern, approvals)]
    ]
    decisions += [
        (_approved(policy.decide_suspected(request.permission, one), request, one, approvals), one)
        for one in request.suspected
    ]
    decisions += [(policy.decide_below(request.permission, one), one.folder) for one in request.below]
    if not decisions:
        return Judgement(request=request, decision=Decision(action="ask"), pattern="")
    decision = strictest(decision for decision, _ in decisions)
    pattern = next(pattern for one, pattern in decisions if one is decision)
    if decision.action == "allow" and _must_ask(policy, request):
        decision = replace(decision, action="ask")
    return Judgement(request=request, decision=decision, pattern=pattern)


def _must_ask(policy: Policy, request: Request) -> bool:
    """What is not understood is asked about; where a box contains it, only if rules restrict such things at all."""
    if not request.metadata.get("must_ask"):
        return False
    return not request.metadata.get("contained") or policy.restricts(request.permission)


def _approved(decision: Decision, request: Request, pattern: str, approvals: Sequence[Approval]) -> Decision:
    if decision.action == "ask" and covered(request, pattern, approvals):
        return replace(decision, action="allow")
    return decision


def _asked(question: Question) -> PermissionAsked:
    asker, request = question.asker, question.request
    return PermissionAsked(
        id=question.id,
        session_id=asker.session_id,
        permission=request.permission,
        patterns=request.patterns,
        always=question.offered,
        metadata=dict(request.metadata),
        tool={"messageID": asker.message_id, "callID": asker.call_id} if asker.call_id else None,
        callers=asker.callers or None,
    )


def _denial(judgement: Judgement) -> str:
    decision = judgement.decision
    where = f" ({decision.rule.source})" if decision.rule and decision.rule.source else ""
    rule = f"the rule `{decision.rule}`{where}" if decision.rule else "no rule that allows it"
    whose = f" for the agent {decision.policy.agent}" if decision.policy and decision.policy.agent else ""
    return (
        f"A rule forbids {judgement.request.permission} on {judgement.pattern!r}: {rule}{whose}. Nothing was done."
        " Do not look for a way around it: go on without this, or tell the user what you would need."
    )


def _rejection(judgement: Judgement, reply: Reply) -> str:
    what = f"{judgement.request.permission} on {', '.join(map(repr, judgement.request.patterns))}"
    if reply.message:
        return f"The user refused {what} and says: {reply.message}"
    return f"The user refused {what}. Nothing was done; do not try it again another way."
