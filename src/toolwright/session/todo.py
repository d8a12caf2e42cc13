"""The todo list of each session, kept with it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolwright.events import Bus
from toolwright.services import Todo
from toolwright.session.events import TodoUpdated
from toolwright.session.storage import Storage
from toolwright.wire import from_json, to_json


@dataclass(slots=True)
class StoredTodos:
    """Implements Todos: in memory while the workspace is open, on disk if sessions are kept."""

    bus: Bus
    storage: Storage | None = None
    _lists: dict[str, list[Todo]] = field(default_factory=dict[str, list[Todo]])

    def of(self, session_id: str) -> list[Todo]:
        if session_id not in self._lists:
            stored = self.storage.todos(session_id) if self.storage else []
            self._lists[session_id] = [from_json(Todo, value) for value in stored]
        return list(self._lists[session_id])

    def replace(self, session_id: str, todos: Sequence[Todo]) -> None:
        self._lists[session_id] = list(todos)
        values = [to_json(todo) for todo in todos]
        if self.storage:
            self.storage.put_todos(session_id, values)
        self.bus.publish(TodoUpdated(session_id=session_id, todos=tuple(values)))
