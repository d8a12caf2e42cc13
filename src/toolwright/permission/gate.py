"""The gate every call's requests pass: judged all together, asked one after the other, each written down."""

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

from toolwright.definition import Call
from toolwright.errors import PermissionDenied, PermissionRejected, ToolError
from toolwright.events import Event, PermissionAsked, PermissionReplied
from toolwright.inbox import Inbox, Question, Reply, ReplyKind, RuleTrial, rejected
from toolwright.permission.approvals import Approval, Approvals, covered
from toolwright.permission.judge import Judgement, denial, judged
from toolwright.permission.rules import Policy
from toolwright.record import record
from toolwright.request import Request

log = logging.getLogger(__name__)

REMEMBERED = 200
"""Questions of the past that a new rule is tried on."""


@record(slots=True)
class AskedRequest:
    """A request of a call, what the rules made of it and what was answered."""

    judgement: Judgement
    reply: ReplyKind | None = None


@record(frozen=True, slots=True, kw_only=True)
class AskingCall:
    """The call that asks: whose it is and under which rules it stands."""

    session_id: str
    policy: Policy
    call: Call
    callers: tuple[str, ...] = ()
    """The sessions above this one, whose approvals hold here too."""
    message_id: str = ""
    log: list[AskedRequest] = field(default_factory=list[AskedRequest])
    """What the call has asked for so far."""

    @property
    def sessions(self) -> tuple[str, ...]:
        return (self.session_id, *self.callers)


@record(slots=True)
class Gate:
    """Lets a call through, or raises. What was asked stands in the asker's log afterwards."""

    inbox: Inbox
    approvals: Approvals
    _waiting: dict[str, tuple[AskingCall, Request]] = field(default_factory=dict[str, tuple[AskingCall, Request]])
    _asked: deque[Request] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def judge(self, asker: AskingCall, request: Request) -> Judgement:
        """What a request comes to. Approvals are looked up only where they can matter."""
        judgement = judged(asker.policy, request, ())
        if judgement.action != "ask":
            return judgement
        return judged(asker.policy, request, self.approvals.of(asker.sessions))

    def check(self, asker: AskingCall, requests: Sequence[Request]) -> None:
        """Raise if a rule forbids any of the requests; ask nobody."""
        judgements = [self.judge(asker, request) for request in requests]
        if any(judgement.action == "deny" for judgement in judgements):
            _note(asker, judgements)
            _refuse_denied(judgements)

    async def ask(self, asker: AskingCall, requests: Sequence[Request]) -> None:
        """Judge all, then ask in order; return if every one is granted. A deny anywhere comes before every question."""
        asked = []
        for request in requests:  # a comprehension would be one more frame on every call
            asked.append(AskedRequest(self.judge(asker, request)))  # noqa: PERF401
        asker.log.extend(asked)
        if log.isEnabledFor(logging.DEBUG):
            _tell(asker, asked)
        for entry in asked:
            if entry.judgement.action == "deny":
                raise PermissionDenied(denial(entry.judgement))
        for entry in asked:
            if entry.judgement.action == "ask":
                await self._put(asker, entry)

    def waiting(self, question_id: str) -> tuple[AskingCall, Request] | None:
        """Who asked a question that waits, and for what in full."""
        return self._waiting.get(question_id)

    async def _put(self, asker: AskingCall, entry: AskedRequest) -> None:
        # An earlier question of this call may just have been answered with an "always" that covers this one.
        judgement = self.judge(asker, entry.judgement.request)
        _refuse_denied([judgement])
        if judgement.action == "allow":
            entry.reply = "always"
            return
        try:
            entry.reply = (await self._answered(asker, judgement.request)).kind
        except PermissionRejected:
            entry.reply = "reject"
            raise
        finally:
            log.debug("%s of %s was answered: %s", judgement.request.permission, asker.call.id, entry.reply)

    async def _answered(self, asker: AskingCall, request: Request) -> Reply:
        """Put one question and wait for its answer; raise PermissionRejected if it is no."""
        question = self._question(asker, request)

        def gone(kind: ReplyKind, _: Reply | None) -> Event:
            return PermissionReplied(session_id=asker.session_id, request_id=question.id, reply=kind)

        self._waiting[question.id] = (asker, request)
        # A difference may be large, and no rule looks at it.
        self._asked.append(replace(request, metadata={}))
        try:
            reply = await self.inbox.ask(question, _asked(question), gone)
        finally:
            del self._waiting[question.id]
        if reply.kind == "reject":
            raise rejected(f"{request.permission} on {', '.join(map(repr, request.patterns))}", reply)
        return reply

    def _question(self, asker: AskingCall, request: Request) -> Question:
        call = asker.call
        offered = self._worth_offering(asker, request)
        return Question(
            kind="permission",
            session_id=asker.session_id,
            tool=call.tool,
            arguments=call.arguments if isinstance(call.arguments, dict) else {},
            title=request.title or f"{call.tool} {', '.join(request.patterns)}",
            agent=asker.policy.agent,
            callers=asker.callers,
            call_id=call.id,
            message_id=asker.message_id,
            permission=request.permission,
            patterns=request.patterns,
            always=offered,
            metadata=request.metadata,
            accept=lambda reply: self._accept(asker, request, offered, reply),
            tried=lambda patterns: self._tried(asker, request, patterns),
        )

    def _worth_offering(self, asker: AskingCall, request: Request) -> tuple[str, ...]:
        """The offered patterns, if storing them would let this very request pass; otherwise none."""
        return request.always if self._settled(asker, request, _approvals(request, request.always)) else ()

    def _settled(self, asker: AskingCall, request: Request, more: Sequence[Approval]) -> bool:
        approvals = (*self.approvals.of(asker.sessions), *more)
        return judged(asker.policy, request, approvals).action == "allow"

    def _tried(self, asker: AskingCall, request: Request, patterns: Sequence[str]) -> RuleTrial:
        wanted = _approvals(request, patterns)
        earlier = [", ".join(one.patterns) for one in reversed(self._asked) if _all_covered(one, wanted)]
        settles = self._settled(asker, request, wanted)
        return RuleTrial(
            settles=settles,
            reason="" if settles else _unsettled(request),
            earlier=tuple(one for one in dict.fromkeys(earlier) if one != ", ".join(request.patterns)),
        )

    def _accept(self, asker: AskingCall, request: Request, offered: tuple[str, ...], reply: Reply) -> None:
        """Store what an `always` allows, and let every call go on, of any session, that this allows too."""
        if reply.kind != "always":
            return
        chosen = offered if reply.patterns is None else reply.patterns
        self.approvals.add(_approvals(request, chosen), reply.scope, asker.session_id)
        for question in self.inbox.pending:
            waiting = self._waiting.get(question.id)
            if waiting is not None and self.judge(*waiting).action == "allow":
                self.inbox.release(question.id, Reply(kind="always"))


def _approvals(request: Request, patterns: Sequence[str]) -> tuple[Approval, ...]:
    return tuple(Approval(request.permission, pattern) for pattern in patterns)


def _all_covered(request: Request, approvals: Sequence[Approval]) -> bool:
    return all(covered(request, pattern, approvals) for pattern in (*request.patterns, *request.implied))


def _unsettled(request: Request) -> str:
    """Why patterns of a person's own do not answer a question."""
    exact = {request.exact[pattern] for pattern in (*request.patterns, *request.implied) if pattern in request.exact}
    if "" in exact:
        return "nothing stored can answer this; it is asked every time"
    if exact:
        return f"this can only be stored word for word: {'; '.join(sorted(exact))}"
    return "a rule fits the same words, or with a * at its end all that begins with them"


class DryRunOver(ToolError):
    """Raised where a dry run has seen all it wants to see."""

    def __init__(self) -> None:
        super().__init__("Dry run: nothing was done.", "aborted")


@record(slots=True)
class DryGate(Gate):
    """Judges the first requests of a call, writes them down and ends the call there."""

    def check(self, asker: AskingCall, requests: Sequence[Request]) -> None:
        _note(asker, [self.judge(asker, request) for request in requests])
        raise DryRunOver

    async def ask(self, asker: AskingCall, requests: Sequence[Request]) -> None:
        self.check(asker, requests)


def _note(asker: AskingCall, judgements: Sequence[Judgement]) -> list[AskedRequest]:
    entries = [AskedRequest(judgement) for judgement in judgements]
    asker.log.extend(entries)
    _tell(asker, entries)
    return entries


def _tell(asker: AskingCall, entries: Sequence[AskedRequest]) -> None:
    """For the log. Not what is asked for: a command may have a key in it."""
    for entry in entries:
        decision = entry.judgement.decision
        told = f"by `{decision.rule}`" if decision.rule else "because no rule fits"
        log.debug("%s of %s: %s, %s", entry.judgement.request.permission, asker.call.id, decision.action, told)


def _refuse_denied(judgements: Sequence[Judgement]) -> None:
    for judgement in judgements:
        if judgement.action == "deny":
            raise PermissionDenied(denial(judgement))


def _asked(question: Question) -> PermissionAsked:
    call: dict[str, Any] = {"tool": question.tool, "arguments": dict(question.arguments)}
    return PermissionAsked(
        id=question.id,
        session_id=question.session_id,
        permission=question.permission,
        patterns=question.patterns,
        always=question.always,
        metadata=dict(question.metadata),
        tool={"messageID": question.message_id, "callID": question.call_id} if question.call_id else None,
        call=call | {"title": question.title, "agent": question.agent},
        callers=question.callers or None,
    )
