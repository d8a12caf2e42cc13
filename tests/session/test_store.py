"""What every store promises: one contract, held by the one on disk, the one in memory, and one written here."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.session.trial import calls, read
from toolwright.calls.parts import Part
from toolwright.errors import UsageError
from toolwright.messages import AnyPart, Info, Message, ModelRef, Moment, SessionInfo, TextPart, User
from toolwright.models.scripted import ScriptedModel
from toolwright.protocols.client_json import from_json, json_text
from toolwright.protocols.json_types import Json
from toolwright.session.storage.in_memory import MemoryStore
from toolwright.session.storage.on_disk import Storage
from toolwright.session.storage.owner import Lease, Owner
from toolwright.session.store import Store
from toolwright.testing import make_workspace


class TextStore:
    """A third store: every record a line of JSON, in plain dictionaries. It knows nothing of the other two."""

    def __init__(self) -> None:
        self.sessions_: dict[str, str] = {}
        self.messages_: dict[str, str] = {}
        self.parts_: dict[str, str] = {}
        self.todos_: dict[str, str] = {}
        self.owners: dict[str, Owner] = {}

    def put_session(self, info: SessionInfo) -> None:
        self.sessions_[info.id] = json_text(info)

    def put_message(self, info: Info) -> None:
        self.messages_[info.id] = json_text(info)

    def put_part(self, part: Part) -> None:
        self.parts_[part.id] = json_text(part)

    def put_todos(self, session_id: str, todos: Sequence[Json]) -> None:
        self.todos_[session_id] = json_text(list(todos))

    def remove_message(self, message_id: str) -> None:
        self.messages_.pop(message_id, None)
        for part in self._all(AnyPart, self.parts_):
            if part.message_id == message_id:
                self.remove_part(part.id)

    def remove_part(self, part_id: str) -> None:
        self.parts_.pop(part_id, None)

    def delete_session(self, session_id: str) -> None:
        for info in self._all(Info, self.messages_):
            if info.session_id == session_id:
                self.remove_message(info.id)
        for kept in (self.sessions_, self.todos_, self.owners):
            kept.pop(session_id, None)

    async def session(self, session_id: str) -> SessionInfo:
        if session_id in self.sessions_:
            info: SessionInfo = from_json(SessionInfo, json.loads(self.sessions_[session_id]))
            return info
        raise UsageError(f"There is no session {session_id!r}.")

    async def knows(self, *ids: str) -> bool:
        return any(one in kept for one in ids for kept in (self.sessions_, self.messages_, self.parts_))

    async def sessions(self, project_id: str, limit: int = 1000, *, roots: bool = False) -> list[SessionInfo]:
        infos = [one for one in self._all(SessionInfo, self.sessions_)[::-1] if one.project_id == project_id]
        wanted = [one for one in infos if not roots or one.parent_id is None]
        return sorted(wanted, key=lambda one: -(one.time.updated or one.time.created))[:limit]

    async def children(self, session_id: str) -> list[SessionInfo]:
        return [one for one in self._all(SessionInfo, self.sessions_) if one.parent_id == session_id]

    async def messages(self, session_id: str, last: int = 0) -> list[Message]:
        infos = [one for one in self._all(Info, self.messages_) if one.session_id == session_id]
        parts = self._all(AnyPart, self.parts_)
        found = [Message(one, {part.id: part for part in parts if part.message_id == one.id}) for one in infos]
        return found[-last:] if last else found

    async def todos(self, session_id: str) -> list[Json]:
        found: list[Json] = json.loads(self.todos_.get(session_id, "[]"))
        return found

    async def unused_since(self, milliseconds: int) -> list[str]:
        infos = self._all(SessionInfo, self.sessions_)
        young = {one.id for one in infos if (one.time.updated or 0) >= milliseconds} | set(self.owners)
        kept = young | {one.parent_id for one in infos if one.id in young and one.parent_id}
        return [one.id for one in infos if one.id not in kept and one.parent_id not in kept]

    async def take(self, session_id: str, owner: Owner) -> None:
        if self.owners.setdefault(session_id, owner) != owner:
            raise UsageError(f"Another is working on {session_id}.")

    def let_go(self, session_id: str, owner: Owner) -> None:
        if self.owners.get(session_id) == owner:
            del self.owners[session_id]

    async def leases(self) -> list[Lease]:
        return [Lease(session_id=name, owner=owner, state="held") for name, owner in self.owners.items()]

    async def size(self) -> int:
        return sum(map(len, (*self.sessions_.values(), *self.messages_.values(), *self.parts_.values())))

    def shrink(self) -> None: ...
    async def settled(self) -> None: ...
    async def close(self) -> None: ...

    def _all(self, kind: Any, kept: dict[str, str]) -> list[Any]:
        return [from_json(kind, json.loads(text)) for text in kept.values()]


MAKERS: dict[str, Callable[[Path], Store]] = {
    "disk": lambda folder: Storage.open(folder / "sessions.db"),
    "memory": lambda _: MemoryStore(),
    "text": lambda _: TextStore(),
}


@pytest.fixture(params=MAKERS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made = MAKERS[request.param](tmp_path)
    yield made
    await made.close()


def session(name: str, updated: int = 1, parent: str | None = None, project: str = "p") -> SessionInfo:
    time = Moment(created=1, updated=updated)
    return SessionInfo(
        id=name, project_id=project, directory="/p", title=name, version="1", time=time, parent_id=parent
    )


def message(name: str, session_id: str = "ses_1") -> User:
    model = ModelRef(provider_id="p", model_id="m")
    return User(id=name, session_id=session_id, time=Moment(created=1), agent="build", model=model)


def text(name: str, message_id: str, words: str = "x", session_id: str = "ses_1") -> TextPart:
    return TextPart(id=name, session_id=session_id, message_id=message_id, text=words)


def texts(messages: Sequence[Message]) -> list[list[str]]:
    return [[getattr(part, "text", "") for part in one.parts.values()] for one in messages]


async def test_messages_and_parts_stay_in_the_order_they_first_came(store: Store) -> None:
    store.put_session(session("ses_1"))
    for name in ("msg_3", "msg_1", "msg_2"):
        store.put_message(message(name))
        store.put_part(text(f"prt_b{name[-1]}", name, f"b{name[-1]}"))
        store.put_part(text(f"prt_a{name[-1]}", name, f"a{name[-1]}"))
    store.put_part(text("prt_b3", "msg_3", "changed"))
    assert [one.info.id for one in await store.messages("ses_1")] == ["msg_3", "msg_1", "msg_2"]
    assert texts(await store.messages("ses_1")) == [["changed", "a3"], ["b1", "a1"], ["b2", "a2"]]
    assert texts(await store.messages("ses_1", 2)) == [["b1", "a1"], ["b2", "a2"]]
    assert await store.messages("ses_none") == []


async def test_what_is_removed_is_gone_and_nothing_else(store: Store) -> None:
    store.put_session(session("ses_1"))
    store.put_session(session("ses_2"))
    for name, owner in (("msg_1", "ses_1"), ("msg_2", "ses_1"), ("msg_9", "ses_2")):
        store.put_message(message(name, owner))
        store.put_part(text(f"prt_{name}", name, name, owner))
        store.put_part(text(f"prt_{name}b", name, "b", owner))
    store.remove_part("prt_msg_1b")
    store.remove_message("msg_2")
    store.put_todos("ses_1", [{"id": "1"}])
    assert texts(await store.messages("ses_1")) == [["msg_1"]]
    assert await store.todos("ses_1") == [{"id": "1"}]
    store.delete_session("ses_1")
    assert await store.messages("ses_1") == []
    assert await store.todos("ses_1") == []
    assert [one.id for one in await store.sessions("p")] == ["ses_2"]
    assert texts(await store.messages("ses_2")) == [["msg_9", "b"]]


async def test_every_id_in_use_is_known(store: Store) -> None:
    store.put_session(session("ses_1"))
    store.put_message(message("msg_1"))
    store.put_part(text("prt_1", "msg_1"))
    for one in ("ses_1", "msg_1", "prt_1"):
        assert await store.knows("ses_none", *(f"prt_x{number}" for number in range(1200)), one)
    assert not await store.knows("ses_2", "msg_2", "prt_2")
    assert not await store.knows()


async def test_sessions_are_listed_by_project_the_last_used_first(store: Store) -> None:
    for info in (
        session("ses_old", 5),
        session("ses_new", 9),
        session("ses_child", 20, "ses_old"),
        session("ses_same", 9),
        session("ses_else", 99, project="q"),
    ):
        store.put_session(info)
    store.put_session(session("ses_old", 10))
    assert [one.id for one in await store.sessions("p")] == ["ses_child", "ses_old", "ses_same", "ses_new"]
    assert [one.id for one in await store.sessions("p", 2, roots=True)] == ["ses_old", "ses_same"]
    assert [one.id for one in await store.children("ses_old")] == ["ses_child"]
    assert (await store.session("ses_else")).project_id == "q"
    with pytest.raises(UsageError, match="There is no session 'ses_none'"):
        await store.session("ses_none")


async def test_a_session_belongs_to_one_at_a_time(store: Store) -> None:
    one, other = Owner.new(), Owner.new()
    store.put_session(session("ses_1"))
    await store.take("ses_1", one)
    await store.take("ses_1", one)
    with pytest.raises(UsageError, match="working on ses_1"):
        await store.take("ses_1", other)
    store.let_go("ses_1", other)
    assert [(lease.session_id, lease.owner, lease.state) for lease in await store.leases()] == [("ses_1", one, "held")]
    store.let_go("ses_1", one)
    await store.take("ses_1", other)


async def test_of_all_who_want_a_session_at_once_one_gets_it(store: Store) -> None:
    store.put_session(session("ses_1"))
    wanting = (store.take("ses_1", Owner.new()) for _ in range(20))
    outcomes = await asyncio.gather(*wanting, return_exceptions=True)
    assert outcomes.count(None) == 1
    assert all(isinstance(one, UsageError) for one in outcomes if one is not None)


async def test_what_nobody_uses_is_found_with_its_whole_tree(store: Store) -> None:
    for info in (
        session("ses_old", 10),
        session("ses_oldchild", 20, "ses_old"),
        session("ses_kept", 10),
        session("ses_young", 500, "ses_kept"),
        session("ses_busy", 10),
    ):
        store.put_session(info)
    await store.take("ses_busy", Owner.new())
    assert await store.unused_since(100) == ["ses_old", "ses_oldchild"]


async def test_a_workspace_works_with_any_store(store: Store, project: Path) -> None:
    (project / "a.txt").write_text("hello\n")
    model = ScriptedModel(calls(read()), {"text": "One."}, {"text": "Two."}, title={"text": "Titled"})
    async with make_workspace(project, model=model, store=store) as workspace, workspace.session() as first:
        assert (await first.prompt("First.")).text == "One."
        name = first.id
    async with make_workspace(project, model=model, store=store) as workspace:
        async with workspace.session(id=name) as again:
            assert (await again.prompt("Second.")).text == "Two."
        assert [one.text for one in await workspace.sessions.messages(name)] == [
            "First.",
            "",
            "One.",
            "Second.",
            "Two.",
        ]
        copied = await workspace.sessions.imported(await workspace.sessions.exported(name))
        assert copied.id != name
        await workspace.sessions.delete(name)
        assert [one.id for one in await workspace.sessions.listed()] == [copied.id]
        assert await store.leases() == []
