"""The records of a workspace's sessions that have changed since they were last taken."""

from dataclasses import field, replace

from toolwright.events import Event, PartUpdated
from toolwright.messages import Assistant, Message
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.events import (
    MessageRemoved,
    MessageUpdated,
    PartRemoved,
    SessionCreated,
    SessionUpdated,
    TodoUpdated,
)
from toolwright.session.session import Session
from toolwright.session.storage.copies import exported, read_export, write_copy
from toolwright.workspace import Workspace


@record(slots=True)
class SessionChanges:
    """Changes in one session."""

    messages: set[str] = field(default_factory=set[str])
    removed: set[str] = field(default_factory=set[str])
    todos: bool = False


@record(slots=True)
class Recorder:
    """Listens to a workspace."""

    workspace: Workspace
    _changed: dict[str, SessionChanges] = field(default_factory=dict[str, SessionChanges])

    def listen(self) -> None:
        self.workspace.bus.subscribe(self._note)

    async def take(self) -> dict[str, Json]:
        """For each session that has changed what is new. A reply that is under way is left for the next time."""
        waiting, self._changed = self._changed, {}
        # A call without a conversation has nothing that could be gone on with.
        return {one: await self._new(one, changed) for one, changed in waiting.items() if await self._is_known(one)}

    async def _is_known(self, session_id: str) -> bool:
        return await self.workspace.store.knows(session_id)

    async def _new(self, session_id: str, changed: SessionChanges) -> Json:
        store = self.workspace.store
        messages = []
        for message in await store.messages(session_id):
            if message.info.id not in changed.messages:
                continue
            if is_under_way(message):
                self._of(session_id).messages.add(message.info.id)
            else:
                messages.append(message)
        return exported(await store.session(session_id), messages) | {
            "removed": sorted(changed.removed),
            "todos": await store.todos(session_id) if changed.todos else None,
        }

    def _of(self, session_id: str) -> SessionChanges:
        return self._changed.setdefault(session_id, SessionChanges())

    def _note(self, event: Event) -> None:
        match event:
            case MessageUpdated(info=info):
                self._of(info.session_id).messages.add(info.id)
            case PartUpdated(part=part):
                self._of(part.session_id).messages.add(part.message_id)
            case PartRemoved():
                self._of(event.session_id).messages.add(event.message_id)
            case MessageRemoved():
                self._of(event.session_id).messages.discard(event.message_id)
                self._of(event.session_id).removed.add(event.message_id)
            case SessionCreated(info=info) | SessionUpdated(info=info):
                self._of(info.id)
            case TodoUpdated():
                self._of(event.session_id).todos = True
            case _:
                pass


def is_under_way(message: Message) -> bool:
    return isinstance(message.info, Assistant) and message.info.time.completed is None


async def restore(workspace: Workspace, session_id: str, exports: list[Json]) -> Session:
    """Open a session that was saved elsewhere, under its own ids."""
    sessions = workspace.sessions
    for export in exports:
        info, messages = read_export(export)
        info = replace(info, project_id=sessions.project_id, directory=sessions.directory)
        write_copy(workspace.store, info, messages, keep_ids=True)
        if export["todos"] is not None:
            workspace.store.put_todos(info.id, export["todos"])
    await workspace.store.settled()
    session = workspace.session(id=session_id)
    await workspace.load_session(session)
    return session
