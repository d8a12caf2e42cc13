"""A merge written into the project: all of it or nothing, as one call of a session, so that one undo takes it back."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from toolwright.calls.request import Request
from toolwright.copies.git import Repository
from toolwright.copies.trees import LINK, NESTED, RUN, Entry, contents, differences
from toolwright.definition import ANY, Call, Result, Tool, ToolContext, tool
from toolwright.errors import UsageError
from toolwright.files.attributes import Attributes
from toolwright.files.body import Body, Link
from toolwright.files.mending import mended_at_once
from toolwright.files.paths import Tree
from toolwright.files.replace import Change
from toolwright.files.store import Files
from toolwright.messages import Assistant, ModelRef, Moment, Paths, TextPart, User
from toolwright.record import record
from toolwright.session.session import Session
from toolwright.text.diff import unified
from toolwright.text.ids import new_id, now
from toolwright.workspace import Workspace

CALL = "merge"
_RUNS = 0o111


async def changes_between(repository: Repository, before: str, after: str, project: Tree) -> list[Change]:
    """Return what turns one tree into another, as changes of a project that is still the first of them."""
    changed = [
        one for one in await differences(repository, before, after) if NESTED not in _modes(one.before, one.after)
    ]
    held = await contents(repository, (entry.blob for one in changed for entry in (one.before, one.after) if entry))
    changes = list[Change]()
    for difference in changed:
        if difference.kind == "moved":
            changes.append(_change(project, difference.source, difference.before, None, held))
            changes.append(_change(project, difference.path, None, difference.after, held))
        else:
            changes.append(_change(project, difference.path, difference.before, difference.after, held))
    return changes


Put = Callable[[Sequence[str], Sequence[Change]], Awaitable[Result]]
"""Writes changes that copies, by their names, have been merged to."""


async def write_merge(ctx: ToolContext, copies: Sequence[str], changes: Sequence[Change]) -> Result:
    """Write a merge as a part of a call: rules judge each file, and a person is asked where they ask."""
    diff = "".join(unified(one.place.relative, _decode(one.before), _decode(one.after)) for one in changes)
    patterns = tuple(one.place.pattern for one in changes)
    named = ", ".join(one.place.relative for one in changes)
    title = f"merge {', '.join(copies)}: {named}"
    metadata = {"filepath": named, "diff": diff}
    await ctx.ask_all(Request(permission="edit", patterns=patterns, title=title, metadata=metadata))
    files = ctx.use(Files)
    with mended_at_once(files.data):
        await files.commit(changes, session_id=ctx.session_id, call_id=ctx.call_id)
    summary = f"Merged {', '.join(copies)}: {len(changes)} {'file' if len(changes) == 1 else 'files'}."
    return Result(summary, title=", ".join(copies), metadata={"diff": diff})


@record(slots=True)
class MergeCall:
    """The call that writes a merge, in a session of its own as all that was wished there."""

    session: str = ""
    """The session that made it."""
    _changes: Sequence[Change] = ()

    def tool(self) -> Tool:
        """Return the tool by which it passes the door."""

        @tool(id=CALL, asks=True, permission="edit", writes=ANY)
        async def merge(ctx: ToolContext, copies: list[str]) -> Result:
            """Write what copies of the project have been merged to."""
            return await write_merge(ctx, copies, self._changes)

        return merge

    async def put(self, workspace: Workspace, copies: Sequence[str], changes: Sequence[Change]) -> Result:
        """Have the call made."""
        self._changes, title = changes, f"Merge {', '.join(copies)}"
        session = workspace.sessions.create(title=title)
        self.session, reply = session.id, _messages(session, workspace, title)
        call = Call(id=new_id("call"), tool=CALL, arguments={"copies": list(copies)})
        result = await session.run_call(call, message_id=reply.id)
        session.conversation.update(replace(reply, finish="stop", time=replace(reply.time, completed=now())))
        return result


def _messages(session: Session, workspace: Workspace, title: str) -> Assistant:
    """Add what a merge looks like in a conversation: the person's wish, and the reply that holds the call."""
    conversation, agent = session.conversation, workspace.agents.default().name
    user = User(
        id=new_id("msg"),
        session_id=session.id,
        time=Moment(created=now()),
        agent=agent,
        model=ModelRef(provider_id="", model_id=""),
    )
    conversation.add(user)
    conversation.put(TextPart(id=new_id("prt"), session_id=session.id, message_id=user.id, text=title))
    folder = str(workspace.directory)
    reply = Assistant(
        id=new_id("msg"),
        session_id=session.id,
        parent_id=user.id,
        time=Moment(created=now()),
        provider_id="",
        model_id="",
        agent=agent,
        mode=agent,
        path=Paths(cwd=folder, root=folder),
    )
    conversation.add(reply)
    return reply


def _change(project: Tree, path: str, before: Entry | None, after: Entry | None, held: Mapping[str, bytes]) -> Change:
    place = project.exactly(project.root / path)
    like = _attributes(place.path, after) if after is not None and after.mode != LINK else None
    return Change(place=place, before=_body(before, held), after=_body(after, held), like=like)


def _attributes(path: Path, after: Entry) -> Attributes | None:
    """Return what the file is to be beside its content; None where it stays as it is, or is new and plain."""
    runs = after.mode == RUN
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        if not runs:
            return None
        umask = os.umask(0)
        os.umask(umask)
        return Attributes(mode=0o777 & ~umask, owner=os.getuid(), group=os.getgid())
    try:
        present = Attributes.of(handle)
    finally:
        with suppress(OSError):
            os.close(handle)
    if bool(present.mode & 0o100) == runs:
        return None
    return replace(present, mode=present.mode | (present.mode >> 2 & _RUNS) if runs else present.mode & ~_RUNS)


def _body(entry: Entry | None, held: Mapping[str, bytes]) -> Body:
    if entry is None:
        return None
    if entry.mode == NESTED:
        raise UsageError("A repository within the project is merged by itself.")
    data = held[entry.blob]
    return Link(os.fsdecode(data)) if entry.mode == LINK else data


def _modes(*entries: Entry | None) -> set[str]:
    return {entry.mode for entry in entries if entry}


def _decode(body: Body) -> str:
    if isinstance(body, Link):
        return f"link to {body.target}\n"
    if body is None or b"\0" in body:
        return ""
    return body.decode("utf-8", "replace")
