"""The todowrite tool: a new todo list in place of the session's old one."""

from collections.abc import Sequence
from itertools import count
from typing import Annotated, NotRequired, TypedDict

from toolwright.calls.look import Arguments, Look
from toolwright.definition import Result, ToolContext, tool
from toolwright.services import Todo, Todos
from toolwright.tools._todo_list import shown_todos


class TodoEntry(TypedDict):
    """A todo as the model writes it."""

    content: str
    status: Annotated[str, "pending, in_progress, completed or cancelled"]
    priority: Annotated[str, "high, medium or low"]
    id: NotRequired[str]


def _subject(arguments: Arguments) -> str:
    todos = arguments.get("todos")
    count = len(todos) if isinstance(todos, list) else 0
    return f"{count} step{'' if count == 1 else 's'}"


@tool(
    text="todowrite.md",
    known_as=("TodoWrite",),
    unseen_changes=False,
    look=Look(verb="Plan", kind="think", subject=_subject, quiet=True),
)
async def todowrite(ctx: ToolContext, todos: list[TodoEntry]) -> Result:
    """Replace the list."""
    numbered = _numbered(todos)
    ctx.use(Todos).replace(ctx.session_id, numbered)
    return shown_todos(numbered)


def _numbered(entries: Sequence[TodoEntry]) -> list[Todo]:
    """The entries as todos; one without an id gets its position, or the next number that is free."""
    taken = {entry["id"] for entry in entries if "id" in entry}
    todos = []
    for position, entry in enumerate(entries, 1):
        own = entry.get("id") if "id" in entry else next(n for n in map(str, count(position)) if n not in taken)
        taken.add(str(own))
        todos.append(Todo.of({**entry, "id": str(own)}))
    return todos
