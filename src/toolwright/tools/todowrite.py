"""The todowrite tool: a new todo list in place of the session's old one."""

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import NotRequired, TypedDict

from toolwright.errors import InvalidArguments
from toolwright.services import Todo, TodoPriority, Todos, TodoStatus
from toolwright.tool import Result, ToolContext, tool
from toolwright.tools._todo_list import shown_todos


class Entry(TypedDict):
    """A todo as the model writes it."""

    content: str
    status: TodoStatus
    priority: TodoPriority
    id: NotRequired[str]


@tool(text="todowrite.md")
async def todowrite(ctx: ToolContext, todos: list[Entry]) -> Result:
    """Replace the list."""
    _require_different_ids(todos)
    numbered = _numbered(todos)
    ctx.use(Todos).replace(ctx.session_id, numbered)
    return shown_todos(numbered)


def _require_different_ids(entries: Sequence[Entry]) -> None:
    times = Counter(entry["id"] for entry in entries if "id" in entry)
    lines = [
        f"- todos[{index}].id: {entry['id']!r} is the id of {times[entry['id']]} entries ({entry['content']!r})"
        for index, entry in enumerate(entries)
        if "id" in entry and times[entry["id"]] > 1
    ]
    if lines:
        raise InvalidArguments(
            "The list was not changed, because ids are used more than once:\n"
            + "\n".join(lines)
            + "\nSend the list again with an id of its own for each entry, or with none."
        )


def _numbered(entries: Sequence[Entry]) -> list[Todo]:
    """The entries as todos; one without an id gets its position, or the next number that is free."""
    taken = {entry["id"] for entry in entries if "id" in entry}
    todos = []
    for position, entry in enumerate(entries, 1):
        own = entry.get("id") if "id" in entry else next(n for n in map(str, count(position)) if n not in taken)
        taken.add(str(own))
        todos.append(Todo(id=str(own), content=entry["content"], status=entry["status"], priority=entry["priority"]))
    return todos
