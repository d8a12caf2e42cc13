"""The answer that both todo tools give: the list as it now stands."""

import json
from collections.abc import Sequence

from toolwright.definition import Result
from toolwright.services import Todo


def shown_todos(todos: Sequence[Todo]) -> Result:
    """The list as JSON, one entry a line; the title counts what is not completed."""
    entries = [todo.as_json() for todo in todos]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    remaining = sum(todo.status != "completed" for todo in todos)
    return Result(
        f"[\n{lines}\n]" if entries else "[]",
        title=f"{remaining} todo{'' if remaining == 1 else 's'}",
        metadata={"todos": entries},
    )
