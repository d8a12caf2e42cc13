"""The todo list of each session, kept with it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field

from toolwright.events import Bus
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.services import Todo
from toolwright.session.events import TodoUpdated
from toolwright.session.store import Store


@record(slots=True)
class StoredTodos:
    """Implements Todos: remembered while the workspace is open, kept where its sessions are."""

    bus: Bus
    store: Store
    _lists: dict[str, list[Todo]] = field(default_factory=dict[str, list[Todo]])

    async def of(self, session_id: str) -> list[Todo]:
        if session_id not in self._lists:
            stored = _readable(await self.store.todos(session_id))
            self._lists.setdefault(session_id, stored)
        return list(self._lists[session_id])

    def replace(self, session_id: str, todos: Sequence[Todo]) -> None:
        self._lists[session_id] = list(todos)
        values = [todo.as_json() for todo in todos]
        self.store.put_todos(session_id, values)
        self.bus.publish(TodoUpdated(session_id=session_id, todos=tuple(values)))

    def forget(self, session_id: str) -> None:
        """Let go of the list of a session that is over; what is stored stays."""
        self._lists.pop(session_id, None)


def _readable(values: Sequence[Json]) -> list[Todo]:
    """The entries that can be read; one damaged entry does not hide the others."""
    todos = []
    for value in values:
        with suppress(TypeError, KeyError):
            todos.append(Todo.of(value))
    return todos
