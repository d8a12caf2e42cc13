"""The built-in tools, each in a module of its own name, loaded when it is first needed."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module

from toolwright.definition import Tool
from toolwright.registry import Source

BUILTIN: tuple[str, ...] = (
    "invalid",
    "question",
    "bash",
    "read",
    "glob",
    "grep",
    "list",
    "edit",
    "multiedit",
    "write",
    "apply_patch",
    "task",
    "webfetch",
    "todowrite",
    "todoread",
    "websearch",
    "codesearch",
    "skill",
    "lsp",
    "batch",
    "plan_exit",
    "plan_enter",
)
"""In the order a model sees them."""


def builtin() -> Iterator[Source]:
    """The built-in tools as the registry takes them, by the same door as a stranger's."""
    for tool_id in BUILTIN:
        yield Source(id=tool_id, load=partial(_load, tool_id), origin="toolwright")


def _load(tool_id: str) -> Tool:
    module = import_module(f"toolwright.tools.{tool_id}")
    found = getattr(module, tool_id, None) or getattr(module, f"{tool_id}_")
    if not isinstance(found, Tool):
        raise TypeError(f"toolwright.tools.{tool_id} does not define a tool of that name")
    return found
