"""The built-in tools, each in a module of its own name, loaded when it is first needed."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module

from toolwright.calls.builtin import BUILTIN
from toolwright.definition import Tool
from toolwright.registry import Source


def builtin() -> Iterator[Source]:
    """The built-in tools as the registry takes them, by the same door as a stranger's."""
    for tool_id in BUILTIN:
        yield Source(id=tool_id, load=partial(load, tool_id), origin="toolwright")


def load(tool_id: str) -> Tool:
    """Load a built-in tool by its id."""
    module = import_module(f"toolwright.tools.{tool_id}")
    tool = getattr(module, tool_id, None) or getattr(module, f"{tool_id}_")
    if not isinstance(tool, Tool):
        raise TypeError(f"toolwright.tools.{tool_id} does not define a tool of that name")
    return tool


def built_in(tool_id: str) -> Tool | None:
    """Return the built-in tool of an id, for whoever has no workspace and wants to know what it says of itself."""
    return load(tool_id) if tool_id in BUILTIN else None
