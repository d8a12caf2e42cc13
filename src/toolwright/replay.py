"""Stored sessions played once more: as scripts for a model, and call by call against the tools of today."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from toolwright.call import INVALID
from toolwright.definition import Call
from toolwright.errors import UsageError
from toolwright.files.body import Link, body_at, name_of
from toolwright.files.journal import JournalEntry
from toolwright.inbox import Question, Reply
from toolwright.jsontypes import Json
from toolwright.messages import Assistant, Message, ReasoningPart, SessionInfo, TextPart, User
from toolwright.parts import Completed, Failed, ToolPart
from toolwright.record import record
from toolwright.session.calls import CUT_OFF, LAST_STEP
from toolwright.session.session import Session
from toolwright.session.sessions import session_rules
from toolwright.session.turn import Turn
from toolwright.workspace import Workspace

Children = Callable[[str], Sequence[Message]]

NOT_PLAYED = ("task", "question", "plan_enter", "plan_exit", "webfetch", "websearch", "codesearch")
"""Calls whose outcome is for people, subagents or the network to decide; of a task, the calls below it are played."""
_NEVER_RUN = re.compile(f"^({re.escape(LAST_STEP)}|{re.escape(CUT_OFF)})|\\bdoom_loop on ")
"""What the record of a call says that was refused before it came to its tool."""
_UNORDERED = ("glob", "grep", "list")
"""Tools that list the newest first: a copy has other times."""
MOST_CHANGED = 20
"""Files that are named as changed since."""
_CHANGING = re.compile(r"\b(ses|msg|call|job|prt|tool|per)_[0-9A-Za-z]+|\b\d+(\.\d+)? ?(ms|s|seconds)\b")


def script_of(messages: Sequence[Message], children: Children = lambda _: ()) -> Json:
    """What a model said in a session, as a script that `scripted/FILE` plays; and the prompts it was said to."""
    prompts = [message.text for message in messages if isinstance(message.info, User)]
    return {"prompts": prompts, "turns": list(_turns(messages, children))}


def _turns(messages: Sequence[Message], children: Children) -> Iterator[Json]:
    for message in messages:
        info = message.info
        if not isinstance(info, Assistant):
            continue
        parts = list(message.parts.values())
        turn: Json = {"kind": "compaction"} if info.summary else {}
        if reasoning := "".join(part.text for part in parts if isinstance(part, ReasoningPart)):
            turn["reasoning"] = reasoning
        if text := "".join(part.text for part in parts if isinstance(part, TextPart) and not part.synthetic):
            turn["text"] = text
        calls = [part for part in parts if isinstance(part, ToolPart) and part.parent_call_id is None]
        if calls:
            turn["tools"] = [{"name": part.tool, "args": part.state.input, "id": part.call_id} for part in calls]
        if info.error is not None:
            turn["error"] = {"message": str(info.error.data.get("message", info.error.name)), "retryable": False}
        if turn:
            yield turn
        for part in calls:
            yield from _turns(_during(part, children(child_of(part))), children)


def child_of(part: ToolPart) -> str:
    """The session that a task call has handed its work to; empty if it is none."""
    metadata = getattr(part.state, "metadata", None) or {}
    return str(metadata.get("sessionId", "")) if part.tool == "task" else ""


def _during(part: ToolPart, messages: Sequence[Message]) -> list[Message]:
    """What a subagent has said in one call: another may have gone on with its session."""
    span = getattr(part.state, "time", None)
    if span is None:
        return [*messages]
    return [one for one in messages if span.start <= one.info.time.created <= (span.end or one.info.time.created)]


@record(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """What a call came to: its result, and the files it left."""

    status: str
    output: str
    files: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """The files it changed, each with the name of its content; None for one that is gone."""

    def as_json(self) -> Json:
        return {"status": self.status, "output": self.output, "files": dict(self.files)}


@record(frozen=True, slots=True, kw_only=True)
class Replay:
    """How a session went when it was played again."""

    calls: int
    """Calls that were played."""
    call: Mapping[str, Any] | None = None
    """The first call that came out otherwise."""
    recorded: CallOutcome | None = None
    replayed: CallOutcome | None = None
    changed_since: tuple[str, ...] = ()
    """Files of the folder that somebody has changed after the session, if a call came out otherwise."""

    @property
    def same(self) -> bool:
        return self.call is None

    def as_json(self) -> Json:
        if self.call is None or self.recorded is None or self.replayed is None:
            return {"same": True, "calls": self.calls}
        return {
            "same": False,
            "calls": self.calls,
            "call": dict(self.call),
            "recorded": self.recorded.as_json(),
            "replayed": self.replayed.as_json(),
            "changed_since": list(self.changed_since),
        }


async def replay(records: Workspace, session_id: str, **opening: Any) -> Replay:
    """Play a stored session in a copy of its folder, as that was before. Nothing of the copy stays."""
    info, messages = await records.sessions.info(session_id), await records.sessions.messages(session_id)
    below = await children_of(records, session_id)
    entries = sorted(
        (entry for one in (session_id, *below) for entry in records.files.journal.entries(one)),
        key=lambda entry: entry.number,
    )
    with _copied(records.directory) as copy:
        _rewind(records, entries, records.directory, copy)
        opening = _opening(records) | opening
        outcome = await _play(
            info, messages, lambda child: below.get(child, ()), copy, records.directory, entries, opening
        )
    if outcome.same:
        return outcome
    return replace(outcome, changed_since=_changed_since(records.directory, messages, entries))


async def replay_export(export: Any, folder: Path, **opening: Any) -> Replay:
    """Play an exported session in a copy of a folder that is as its own was at the beginning."""
    from toolwright.session.copies import read_export

    info, messages = read_export(export)
    with _copied(folder.resolve()) as copy:
        return await _play(info, messages, lambda _: (), copy, Path(info.directory), (), opening)


def _opening(records: Workspace) -> Json:
    return {"trust": records.trusted, "environment": records.environment, "client": "cli"}


async def children_of(records: Workspace, session_id: str) -> dict[str, Sequence[Message]]:
    """The messages of every session below one."""
    found: dict[str, Sequence[Message]] = {}
    for child in await records.sessions.children(session_id):
        found[child.id] = await records.sessions.messages(child.id)
        found |= await children_of(records, child.id)
    return found


class _copied:  # noqa: N801 - read as a verb
    """A copy of a folder under its own name, for a while."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Path:
        self._above = Path(tempfile.mkdtemp(prefix="toolwright-replay-")).resolve()
        copy = self._above / (self._folder.name or "root")
        try:
            shutil.copytree(self._folder, copy, symlinks=True)
        except (OSError, shutil.Error) as error:
            shutil.rmtree(self._above, ignore_errors=True)
            raise UsageError(f"{self._folder} cannot be copied: {error}.") from error
        return copy

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._above, ignore_errors=True)


def _rewind(records: Workspace, entries: Sequence[JournalEntry], folder: Path, copy: Path) -> None:
    """Give the copy what its files were before the first change of each."""
    first: dict[str, JournalEntry] = {}
    for entry in entries:
        first.setdefault(entry.path, entry)
    made = {name for entry in entries for name in entry.made}
    for path, entry in first.items():
        if not Path(path).is_relative_to(folder):
            continue
        place = copy / Path(path).relative_to(folder)
        body = None if entry.before is None else records.files.journal.images.body(entry.before, None)
        if entry.before is not None and body is None:
            raise UsageError(f"What {path} was before is no longer kept, so the session cannot be played again.")
        place.unlink(missing_ok=True)
        if isinstance(body, Link):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(body.target)
        elif body is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(body)
    for name in sorted(made, key=len, reverse=True):
        if Path(name).is_relative_to(folder):
            emptied = copy / Path(name).relative_to(folder)
            if emptied.is_dir() and not any(emptied.iterdir()):
                emptied.rmdir()


def _changed_since(folder: Path, messages: Sequence[Message], entries: Sequence[JournalEntry]) -> tuple[str, ...]:
    """What others have changed after the last message: the copy has it as it is now. Repositories' own files aside."""
    rewound = {entry.path for entry in entries}
    end = max((_end(message) for message in messages), default=0)
    found: list[str] = []
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - {".git"})
        for path in (Path(above, name) for name in sorted(names)):
            if str(path) not in rewound and path.lstat().st_mtime > end / 1000:
                found.append(str(path.relative_to(folder)))
                if len(found) == MOST_CHANGED:
                    return tuple(found)
    return tuple(found)


def _end(message: Message) -> float:
    info = message.info
    return (isinstance(info, Assistant) and info.time.completed) or info.time.created


@record(slots=True, kw_only=True)
class _Player:
    """Plays calls one after the other and compares."""

    workspace: Workspace
    children: Children
    copy: Path
    folder: Path
    entries: Mapping[str, Mapping[str, str | None]]
    """For each call the files it changed, by their place in the folder."""
    replies: dict[str, Reply] = field(default_factory=dict[str, Reply])
    below: dict[str, Session] = field(default_factory=dict[str, Session])
    """The sessions of subagents, by the ids they had."""
    played: int = 0

    async def play(self, session: Session, messages: Sequence[Message]) -> Replay | None:
        withheld: frozenset[str] = frozenset()
        for message in messages:
            if isinstance(message.info, User):
                withheld = frozenset(name for name, wanted in (message.info.tools or {}).items() if not wanted)
            agent = message.info.agent if message.info.agent in self.workspace.agents.by_name else ""
            turn = replace(session.outside(agent), withheld=withheld)
            # Whoever works here bounds what a subagent may do.
            session.agent = turn.agent.name
            for part in message.parts.values():
                if isinstance(part, ToolPart) and part.parent_call_id is None:
                    different = await self._call(session, part, turn)
                    if different is not None:
                        return different
        return None

    async def _call(self, session: Session, part: ToolPart, turn: Turn) -> Replay | None:
        if child := child_of(part):
            messages = _during(part, self.children(child))
            name = next((one.info.agent for one in messages if one.info.agent), "")
            if child not in self.below:
                self.below[child] = self.workspace.session(name, parent=session)
            return await self.play(self.below[child], messages)
        recorded = self._recorded(part)
        if part.tool in NOT_PLAYED or recorded is None:
            return None
        self.played += 1
        rejected = isinstance(part.state, Failed) and part.state.kind == "rejected"
        self.replies[part.call_id] = Reply(kind="reject" if rejected else "once")
        arguments = _moved(part.state.input, str(self.folder), str(self.copy))
        result = await session.run_call(Call(id=part.call_id, tool=part.tool, arguments=arguments), turn)
        # A call that could not be made is answered, and so recorded as completed.
        status = f"failed: {result.error.kind}" if result.error and part.tool != INVALID else "completed"
        files = {name: self._content(name) for name in recorded.files}
        replayed = CallOutcome(
            status=status, output=_moved(result.output, str(self.copy), str(self.folder)), files=files
        )
        if _agree(part, recorded, replayed):
            return None
        call = {"id": part.call_id, "tool": part.tool, "arguments": part.state.input}
        return Replay(calls=self.played, call=call, recorded=recorded, replayed=replayed)

    def _recorded(self, part: ToolPart) -> CallOutcome | None:
        files = self.entries.get(part.call_id, {})
        match part.state:
            case Completed(output=output):
                return CallOutcome(status="completed", output=output, files=files)
            case Failed(error=error, kind=kind) if kind != "aborted" and not _NEVER_RUN.search(error):
                return CallOutcome(status=f"failed: {kind}", output=error, files=files)
            case _:
                return None

    def _content(self, name: str) -> str | None:
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
    for entry in entries:
        if Path(entry.path).is_relative_to(folder):
            files.setdefault(entry.call_id, {})[str(Path(entry.path).relative_to(folder))] = entry.after
    replies: dict[str, Reply] = {}

    def answer(question: Question) -> Reply:
        return replies.get(question.call_id, Reply(kind="once" if question.kind == "permission" else "reject"))

    async with Workspace(copy, answer=answer, **opening) as workspace:
        player = _Player(
            workspace=workspace, children=children, copy=copy, folder=folder, entries=files, replies=replies
        )
        async with workspace.session(rules=session_rules(info.permission or ())) as session:
            different = await player.play(session, messages)
        for one in list(workspace.sessions_open):
            workspace.forget_changes(one)
        workspace.forget_changes(session.id)
    return different or Replay(calls=player.played)


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
    one, other = (_CHANGING.sub("…", outcome.output) for outcome in (recorded, replayed))
    return one == other or (part.tool in _UNORDERED and sorted(one.splitlines()) == sorted(other.splitlines()))
