"""The gate every call's requests pass: judged all together, asked about in one question, each written down."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field, replace

from toolwright.calls.request import Need, Request
from toolwright.definition import Call
from toolwright.errors import CallChanged, PermissionDenied, PermissionRejected, ToolError
from toolwright.events import Event, PermissionReplied
from toolwright.inbox import Inbox, Question, Reply, ReplyKind, RuleTrial, Scope, rejected
from toolwright.permission.approvals import Approval, Approvals, act_covered, covered, offered
from toolwright.permission.asking import approval_of, asked_event, only, question_metadata, text_of
from toolwright.permission.judge import Judgement, denial, judged
from toolwright.permission.rules import Policy
from toolwright.record import record

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
    name: str = ""
    """By which people know the agent, where it works in the background."""
    message_id: str = ""
    log: list[AskedRequest] = field(default_factory=list[AskedRequest])
    """The requests that the call has made so far."""
    current: Callable[[], Policy] | None = None
    """The rules as they are by now; without it they stay those of `policy`."""
    waits: Callable[[Question | None], None] | None = None
    """Told which question the call waits for, and None when it does no longer."""
    granted: tuple[str, ...] = ()
    """The permissions that a person has given to the call as they have changed it."""

    def renewed(self) -> "AskingCall":
        """Return the same call under the rules that hold by now."""
        return replace(self, policy=self.current()) if self.current else self

    @property
    def sessions(self) -> tuple[str, ...]:
        return (self.session_id, *self.callers)


@record(slots=True)
class Gate:
    """Lets a call through, or raises. What was asked stands in the asker's log afterwards."""

    inbox: Inbox
    approvals: Approvals
    scope: Scope = "project"
    """For how long an `always` holds that does not say so itself."""
    _waiting: dict[str, tuple[AskingCall, tuple[Request, ...]]] = field(
        default_factory=dict[str, tuple[AskingCall, tuple[Request, ...]]]
    )
    _asked: deque[Request] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def judge(self, asker: AskingCall, request: Request) -> Judgement:
        """Judge a request. Approvals are looked up only where they can matter."""
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
        """Judge all, then ask about those that need it at once; return if all are granted. A deny comes before that."""
        asked = [AskedRequest(self.judge(asker, request)) for request in requests]
        asker.log.extend(asked)
        if log.isEnabledFor(logging.DEBUG):
            _tell(asker, asked)
        for entry in asked:
            if entry.judgement.action == "deny":
                raise PermissionDenied(denial(entry.judgement))
        if any(entry.judgement.action == "ask" for entry in asked):
            await self._put(asker, [entry for entry in asked if entry.judgement.action == "ask"])

    def waiting(self, question_id: str) -> tuple[AskingCall, tuple[Request, ...]] | None:
        """Return the call and the full requests behind an open question."""
        return self._waiting.get(question_id)

    async def _put(self, asker: AskingCall, asked: Sequence[AskedRequest]) -> None:
        # The rules may have become others since the call began.
        judgements = [self.judge(asker.renewed(), entry.judgement.request) for entry in asked]
        _refuse_denied(judgements)
        open_still = [one.request for one in judgements if one.action == "ask"]
        requests = tuple(one for one in open_still if one.permission not in asker.granted)
        reply: ReplyKind = "once"
        try:
            if requests:
                reply = (await self._answered(asker, requests)).kind
                # A rule that came while it waited holds all the same.
                _refuse_denied([self.judge(asker.renewed(), one) for one in requests])
        except CallChanged:
            raise
        except PermissionRejected:
            reply = "reject"
            raise
        finally:
            for entry, judgement in zip(asked, judgements, strict=True):
                entry.reply = reply if judgement.action == "ask" else "always"
                log.debug("%s of %s was answered: %s", judgement.request.permission, asker.call.id, entry.reply)

    async def _answered(self, asker: AskingCall, requests: tuple[Request, ...]) -> Reply:
        """Put one question about all of it and wait for its answer; raise PermissionRejected if it is no."""
        question = self._question(asker, requests)

        def gone(kind: ReplyKind, _: Reply | None) -> Event:
            return PermissionReplied(session_id=asker.session_id, request_id=question.id, reply=kind)

        self._waiting[question.id] = (asker, requests)
        # A difference may be large, and no rule looks at it.
        self._asked.extend(replace(request, metadata={}) for request in requests)
        if asker.waits is not None:
            asker.waits(question)
        try:
            reply = await self.inbox.ask(question, asked_event(question), gone)
        finally:
            del self._waiting[question.id]
            if asker.waits is not None:
                asker.waits(None)
        if reply.kind == "reject":
            acts = "; ".join(line for request in requests for line in request.act_lines)
            what = f"{question.permission} on {', '.join(map(repr, question.patterns))}"
            raise rejected(f"{what} ({acts})" if acts else what, reply)
        if reply.arguments is not None and reply.arguments != asker.call.arguments:
            raise CallChanged(reply.arguments, question.permissions)
        return reply

    def _question(self, asker: AskingCall, requests: tuple[Request, ...]) -> Question:
        call, main = asker.call, requests[-1]
        texts = self._worth_offering(asker, requests)
        return Question(
            kind="permission",
            session_id=asker.session_id,
            tool=call.tool,
            arguments=call.arguments if isinstance(call.arguments, dict) else {},
            title=main.title or f"{call.tool} {', '.join(main.patterns)}",
            agent=asker.policy.agent,
            name=asker.name,
            callers=asker.callers,
            call_id=call.id,
            message_id=asker.message_id,
            permission=main.permission,
            patterns=main.patterns,
            also=tuple(Need(permission=one.permission, patterns=one.patterns) for one in requests[:-1]),
            always=texts,
            metadata=question_metadata(requests),
            accept=lambda reply: self._accept(asker, requests, texts, reply),
            tried=lambda patterns: self._tried(asker, requests, patterns),
        )

    def _worth_offering(self, asker: AskingCall, requests: tuple[Request, ...]) -> tuple[str, ...]:
        """The texts of what is offered, if storing it would let this very call pass; otherwise none.

        What is allowed already is not offered again.
        """
        known = self.approvals.of(asker.sessions)
        texts: dict[str, None] = {}
        for request in requests:
            wanted = offered(request)
            missing = [
                pattern
                for pattern in (*request.patterns, *request.implied)
                if judged(asker.policy, only(request, pattern), known).action != "allow"
            ]
            needed = tuple(one for one in wanted if any(covered(request, pattern, (one,)) for pattern in missing))
            chosen = next((one for one in (needed, wanted) if self._settled(asker, request, one)), ())
            if not chosen:
                return ()
            texts |= dict.fromkeys(text_of(one, requests) for one in chosen)
        return tuple(texts)

    def _settled(self, asker: AskingCall, request: Request, more: Sequence[Approval]) -> bool:
        approvals = (*self.approvals.of(asker.sessions), *more)
        return judged(asker.policy, request, approvals).action == "allow"

    def _tried(self, asker: AskingCall, requests: tuple[Request, ...], patterns: Sequence[str]) -> RuleTrial:
        wanted = tuple(approval_of(text, requests) for text in patterns)
        earlier = [", ".join(one.patterns) for one in reversed(self._asked) if _all_covered(one, wanted)]
        open_still = [request for request in requests if not self._settled(asker, request, wanted)]
        own = {", ".join(request.patterns) for request in requests}
        return RuleTrial(
            settles=not open_still,
            reason=_unsettled(open_still[0]) if open_still else "",
            earlier=tuple(one for one in dict.fromkeys(earlier) if one not in own),
        )

    def _accept(self, asker: AskingCall, requests: tuple[Request, ...], texts: tuple[str, ...], reply: Reply) -> None:
        """Store what an `always` allows, and let every call go on, of any session, that this allows too."""
        if reply.kind != "always":
            return
        chosen = texts if reply.patterns is None else reply.patterns
        self.approvals.add(
            tuple(approval_of(text, requests) for text in chosen), reply.scope or self.scope, asker.session_id
        )
        for question in self.inbox.pending:
            other, needs = self._waiting.get(question.id, (asker, ()))
            if needs and all(self.judge(other, one).action == "allow" for one in needs):
                self.inbox.release(question.id, Reply(kind="always"))


def _all_covered(request: Request, approvals: Sequence[Approval]) -> bool:
    acts = [text for text, act in request.acts.items() if act.kind != "reads"]
    return all(covered(request, pattern, approvals) for pattern in (*request.patterns, *request.implied)) and all(
        act_covered(request, text, approvals) for text in acts
    )


def _unsettled(request: Request) -> str:
    """Why patterns of a person's own do not answer a question."""
    kinds = {act.kind for act in request.acts.values()}
    if "final" in kinds:
        return "What cannot be taken back is asked every time."
    if "changes" in kinds:
        words = "; ".join(f"`{' '.join(act.words)}`" for act in request.acts.values() if act.kind == "changes")
        return f"A rule must spell out what changes something: {words}"
    exact = {request.exact[pattern] for pattern in (*request.patterns, *request.implied) if pattern in request.exact}
    if "" in exact:
        return "Nothing stored can cover it; it is asked every time."
    if exact:
        return f"It can only be stored word for word: {'; '.join(sorted(exact))}"
    return "A rule covers the same words, or with a * at its end all that begins with them."


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
        reason = f"by `{decision.rule}`" if decision.rule else "because no rule fits"
        log.debug("%s of %s: %s, %s", entry.judgement.request.permission, asker.call.id, decision.action, reason)


def _refuse_denied(judgements: Sequence[Judgement]) -> None:
    for judgement in judgements:
        if judgement.action == "deny":
            raise PermissionDenied(denial(judgement))
