"""A stored session played again in a copy of its folder, call by call against the tools of today."""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from toolwright.calls.builtin import INVALID
from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.definition import ANY, Call
from toolwright.errors import UsageError
from toolwright.files.body import body_at, name_of
from toolwright.files.journal import JournalEntry
from toolwright.inbox import Question, Reply
from toolwright.messages import Message, SessionInfo, User
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.replay.beginning import changed_since, copied, rewind
from toolwright.replay.outcome import CallOutcome, NotPlayed, Replay
from toolwright.replay.script import Children, during
from toolwright.session.session import Session
from toolwright.session.sessions import session_rules
from toolwright.session.turns.loop import CUT_OFF, NO_MORE_CALLS
from toolwright.session.turns.terms import CallTerms
from toolwright.session.undo.undo import child_of
from toolwright.tools import built_in
from toolwright.tools.read import IN_EDITOR
from toolwright.workspace import Workspace

DECIDED = "people or the network decide what it comes to"
OUTSIDE = "it changed files outside the folder"
OPEN_ENDED = "it was stopped, or never came to its tool"
INHERITED = "it was made before the session was forked"
_NEVER_RUN = re.compile(f"^({re.escape(NO_MORE_CALLS)}|{re.escape(CUT_OFF)})|\\bdoom_loop on ")
"""What the record of a call says that was refused before it came to its tool."""
_SESSION_RULE = re.compile(r"the rule `(.+)` \(session\)")
"""Tools that list the newest first: a copy has other times."""
_CHANGING = re.compile(
    r"\b(ses|msg|call|job|prt|tool|per)_[0-9A-Za-z]+|\b\d+(\.\d+)? ?(ms|s|seconds)\b"
    rf"|\n\({re.escape(IN_EDITOR)}\)"
)


async def replay(records: Workspace, session_id: str, **opening: Any) -> Replay:
    """Play a stored session in a copy of its folder, as that was before. Nothing of the copy stays."""
    info, messages = await records.sessions.info(session_id), await records.sessions.messages(session_id)
    below = await children_of(records, session_id)
    entries = sorted(
        (entry for one in (session_id, *below) for entry in records.files.journal.entries(one)),
        key=lambda entry: entry.number,
    )
    with copied(records.directory) as copy:
        rewind(records, entries, copy)
        opening = _opening(records) | opening
        outcome = await _play(
            info, messages, lambda child: below.get(child, ()), copy, records.directory, entries, opening
        )
    if outcome.same:
        return outcome
    return replace(outcome, changed_since=changed_since(records.directory, messages, entries))


async def replay_export(export: Any, folder: Path, **opening: Any) -> Replay:
    """Play an exported session in a copy of a folder that is as its own was at the beginning."""
    from toolwright.session.storage.copies import read_export

    info, messages = read_export(export)
    with copied(folder.resolve()) as copy:
        return await _play(info, messages, lambda _: (), copy, Path(info.directory), (), opening)


def _opening(records: Workspace) -> Json:
    return {"trust": records.trusted, "environment": records.environment, "client": "cli"}


async def children_of(records: Workspace, session_id: str) -> dict[str, Sequence[Message]]:
    """The messages of every session below one."""
    children: dict[str, Sequence[Message]] = {}
    for child in await records.sessions.children(session_id):
        children[child.id] = await records.sessions.messages(child.id)
        children |= await children_of(records, child.id)
    return children


@record(frozen=True, slots=True, kw_only=True)
class _Time:
    """When a call was under way, and in which session."""

    session: str
    start: int
    end: int

    def is_before(self, other: "_Time") -> bool:
        return self.end <= other.start and (self.start, self.end) < (other.start, other.end)

    def overlaps(self, other: "_Time") -> bool:
        return self.start <= other.end and other.start <= self.end


def _times(session: str, messages: Sequence[Message], children: Children) -> dict[str, _Time]:
    """Those of all calls of a session and of the sessions below it."""
    times: dict[str, _Time] = {}
    for part in (part for message in messages for part in message.parts.values() if isinstance(part, ToolPart)):
        span = getattr(part.state, "time", None)
        if span is not None and span.end is not None:
            times[part.call_id] = _Time(session=session, start=span.start, end=span.end)
        if child := child_of(part):
            times |= _times(child, during(part, children(child)), children)
    return times


@record(slots=True, kw_only=True)
class _Player:
    """Plays calls as they were made, those of a reply side by side, and compares."""

    workspace: Workspace
    children: Children
    copy: Path
    folder: Path
    entries: Mapping[str, Mapping[str, str | None]]
    """For each call the files it changed, by their place in the folder."""
    replies: dict[str, Reply] = field(default_factory=dict[str, Reply])
    below: dict[str, Session] = field(default_factory=dict[str, Session])
    """The sessions of subagents, by the ids they had."""
    times: Mapping[str, "_Time"] = field(default_factory=dict[str, "_Time"])
    """When each call was under way."""
    waiting: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    """The calls that are to be made now, each with what tells that it is done."""
    rules: Collection[str] = ()
    """The session's own."""
    outside: Collection[str] = ()
    """The calls that changed files outside the folder."""
    not_played: dict[str, NotPlayed] = field(default_factory=dict[str, NotPlayed])
    """By call, why it was not made again."""
    played: int = 0

    async def play(self, session: Session, messages: Sequence[Message]) -> Replay | None:
        withheld: frozenset[str] = frozenset()
        for message in messages:
            if isinstance(message.info, User):
                withheld = frozenset(name for name, wanted in (message.info.tools or {}).items() if not wanted)
            agent = message.info.agent if message.info.agent in self.workspace.agents.by_name else ""
            terms = session.idle_terms(agent)
            terms.withheld = withheld
            # Whoever works here bounds what a subagent may do.
            session.agent = terms.agent.name
            calls = [part for part in message.parts.values() if isinstance(part, ToolPart) and not part.parent_call_id]
            self.waiting |= {part.call_id: asyncio.Event() for part in calls if not child_of(part)}
            async with asyncio.TaskGroup() as group:
                playing = [group.create_task(self._call(session, part, terms)) for part in calls]
            if different := next(filter(None, (one.result() for one in playing)), None):
                return different
        return None

    async def _call(self, session: Session, part: ToolPart, terms: CallTerms) -> Replay | None:
        try:
            await self._wait_for_earlier(part)
            return await self._compare(session, part, terms)
        finally:
            if done := self.waiting.pop(part.call_id, None):
                done.set()

    async def _wait_for_earlier(self, part: ToolPart) -> None:
        """Of the calls that are to be made now, in whatever session, return when those are done that were done then."""
        own = self.times.get(part.call_id)
        for call_id, done in list(self.waiting.items()) if own is not None and not child_of(part) else ():
            other = self.times.get(call_id)
            if other is not None and own is not None and other.is_before(own):
                await done.wait()

    async def _compare(self, session: Session, part: ToolPart, terms: CallTerms) -> Replay | None:
        if child := child_of(part):
            messages = during(part, self.children(child))
            name = next((one.info.agent for one in messages if one.info.agent), "")
            if child not in self.below:
                self.below[child] = self.workspace.session(name, parent=session)
            return await self.play(self.below[child], messages)
        recorded = self._recorded(part)
        if recorded is None or not _is_repeatable(part.tool) or part.call_id in self.outside:
            why = OPEN_ENDED if recorded is None else OUTSIDE if part.call_id in self.outside else DECIDED
            self.not_played[part.call_id] = NotPlayed(id=part.call_id, tool=part.tool, why=why)
            return None
        self.played += 1
        number = self.played
        rejected = isinstance(part.state, Failed) and part.state.kind == "rejected"
        self.replies[part.call_id] = Reply(kind="reject" if rejected else "once")
        arguments = _moved(part.state.input, str(self.folder), str(self.copy))
        changes = self.workspace.files.journal.size(session.id)
        result = await session.run_call(Call(id=part.call_id, tool=part.tool, arguments=arguments), terms)
        # A call that could not be made is answered, and so recorded as completed.
        status = f"failed: {result.error.kind}" if result.error and part.tool != INVALID else "completed"
        changed = self.workspace.files.journal.entries(session.id, changes) if recorded.files else []
        left = {entry.path: entry.after for entry in changed if entry.call_id == part.call_id}
        files = {name: self._content(left, name) for name in recorded.files}
        replayed = CallOutcome(
            status=status, output=_moved(result.output, str(self.copy), str(self.folder)), files=files
        )
        if _agree(part, recorded, replayed) or self._ran_beside_changes(part):
            return None
        call = {"id": part.call_id, "tool": part.tool, "arguments": part.state.input}
        return Replay(calls=number, call=call, recorded=recorded, replayed=replayed)

    def _recorded(self, part: ToolPart) -> CallOutcome | None:
        files = self.entries.get(part.call_id, {})
        match part.state:
            case Completed(output=output):
                return CallOutcome(status="completed", output=output, files=files)
            case Failed(error=error, kind="denied") if self._was_taken_back(error):
                return None
            case Failed(error=error, kind=kind) if kind != "aborted" and not _NEVER_RUN.search(error):
                return CallOutcome(status=f"failed: {kind}", output=error, files=files)
            case _:
                return None

    def _was_taken_back(self, denial: str) -> bool:
        """Return whether a rule of the session has refused a call that is no rule of it any more."""
        by = _SESSION_RULE.search(denial)
        return by is not None and by[1] not in self.rules

    def _ran_beside_changes(self, part: ToolPart) -> bool:
        """Return whether another session of the same tree changed files meanwhile: who came first was chance."""
        own = self.times.get(part.call_id)
        return own is not None and any(
            other.session != own.session and call_id in self.entries and other.overlaps(own)
            for call_id, other in self.times.items()
        )

    def _content(self, left: Mapping[str, str | None], name: str) -> str | None:
        """Return the content of a file after the call; one beside it may have gone on from there."""
        if str(self.copy / name) in left:
            return left[str(self.copy / name)]
        try:
            return name_of(body_at(self.copy / name))
        except OSError:
            return None


async def _play(
    info: SessionInfo,
    messages: Sequence[Message],
    children: Children,
    copy: Path,
    folder: Path,
    entries: Sequence[JournalEntry],
    opening: Json,
) -> Replay:
    files: dict[str, dict[str, str | None]] = {}
    outside = {entry.call_id for entry in entries if not Path(entry.path).is_relative_to(folder)}
    for entry in entries:
        if Path(entry.path).is_relative_to(folder):
            files.setdefault(entry.call_id, {})[str(Path(entry.path).relative_to(folder))] = entry.after
    replies: dict[str, Reply] = {}
    rules = session_rules(info.permission or ())
    # A fork has what another session said and did before it; whatever that has changed is not in its own journal.
    own = [message for message in messages if message.info.time.created >= info.time.created]
    earlier = messages[: len(messages) - len(own)]
    inherited = [part for message in earlier for part in message.parts.values() if isinstance(part, ToolPart)]

    def answer(question: Question) -> Reply:
        return replies.get(question.call_id, Reply(kind="once" if question.kind == "permission" else "reject"))

    async with Workspace(copy, answer=answer, **opening) as workspace:
        _check_agents(workspace, messages, children)
        player = _Player(
            workspace=workspace,
            children=children,
            copy=copy,
            folder=folder,
            entries=files,
            replies=replies,
            times=_times(info.id, messages, children),
            rules=[str(rule) for rule in rules],
            outside=outside,
            not_played={part.call_id: NotPlayed(id=part.call_id, tool=part.tool, why=INHERITED) for part in inherited},
        )
        async with workspace.session(rules=rules) as session:
            different = await player.play(session, own)
        for one in list(workspace.sessions_open):
            workspace.forget_changes(one)
        workspace.forget_changes(session.id)
    return replace(different or Replay(calls=player.played), not_played=tuple(player.not_played.values()))


def _check_agents(workspace: Workspace, messages: Sequence[Message], children: Children) -> None:
    """Every subagent must be there: under the rules of another its calls would mean nothing."""
    for part in (part for message in messages for part in message.parts.values() if isinstance(part, ToolPart)):
        below = during(part, children(child_of(part)))
        for name in {one.info.agent for one in below if one.info.agent} - {*workspace.agents.by_name}:
            raise UsageError(
                f"The session had a subagent {name!r}, which is no agent here. Configure it, or name it again."
            )
        _check_agents(workspace, below, children)


def _moved(value: Any, old: str, new: str) -> Any:
    """A value with the name of one folder in place of another's."""
    match value:
        case str():
            return value.replace(old, new)
        case dict():
            return {key: _moved(entry, old, new) for key, entry in value.items()}
        case list():
            return [_moved(entry, old, new) for entry in value]
        case _:
            return value


def _agree(part: ToolPart, recorded: CallOutcome, replayed: CallOutcome) -> bool:
    if recorded.status != replayed.status or recorded.files != replayed.files:
        return False
    # Who said no is of no account; nor are the words about arguments that were no object, and so are not recorded.
    if recorded.status == "failed: rejected" or (recorded.status == "failed: schema" and not part.state.input):
        return True
    one, other = (_CHANGING.sub(_placeholder, outcome.output) for outcome in (recorded, replayed))
    return one == other or (_is_listing(part.tool) and sorted(one.splitlines()) == sorted(other.splitlines()))


def _is_repeatable(tool_id: str) -> bool:
    """Return whether a call is played; of one that is handed down, the calls below it are."""
    tool = built_in(tool_id)
    return tool is None or tool.repeatable


def _is_listing(tool_id: str) -> bool:
    """Return whether it lists what there is in files, in an order that may change."""
    tool = built_in(tool_id)
    return tool is not None and tool.reads == ANY and tool.look.kind in ("read", "search")


def _placeholder(found: re.Match[str]) -> str:
    """Return the placeholder of an id or a time; a remark on where a text was from leaves nothing."""
    return "" if IN_EDITOR in found[0] else "…"
