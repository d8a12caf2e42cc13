"""An extension: the one record by which tools, hooks, agents, providers and commands join a workspace."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from toolwright.deadline import time_limit
from toolwright.definition import Tool, as_tool
from toolwright.errors import UsageError
from toolwright.hooks import CallHook
from toolwright.protocols.json_types import JsonView
from toolwright.record import record
from toolwright.registry import Source, ready

if TYPE_CHECKING:
    from toolwright.files.buffers import Buffers
    from toolwright.files.store import Commit
    from toolwright.models.hooked import RequestHook
    from toolwright.process.jobs.editor_terminals import Terminals
    from toolwright.session.turns.settings import CompactionHook, PromptHook


STARTING = 30.0
"""Seconds for code of others to be loaded or to start: an extension, a plugin, a file of tools."""
LEAVING = 120.0
"""Seconds for an extension to end, with the hooks that run at the end of sessions."""
CALLING = 3600.0
"""Seconds for one call of a tool that runs in a program of its own; a question to a person takes none of them."""
HOOK_KINDS = ("call", "request", "prompt", "compaction")


@record(frozen=True, slots=True, kw_only=True)
class Hook:
    """A function around each kind of thing it cares about. Of several hooks the first is outermost."""

    call: CallHook | None = None
    """`async (proceed, call, ctx) -> Result`, around every call of every agent."""
    request: "RequestHook | None" = None
    """An async generator `(proceed, request)` around every request to a model: yields its events."""
    prompt: "PromptHook | None" = None
    """`async (proceed, prompt, session_id) -> TurnEnd`, around every prompt."""
    compaction: "CompactionHook | None" = None
    """`async (proceed, session_id)`, around the making of every summary."""


@record(frozen=True, slots=True, kw_only=True, eq=False)
class Resource:
    """Something that clients of `tw mcp serve` read by its address, without a call."""

    uri: str
    """Its address; with `{name}` in it a whole family of them, whose values `read` is given by their names."""
    read: Callable[..., "str | bytes | Awaitable[str | bytes]"]
    """Makes its text, or its bytes; a plain function or an async one."""
    name: str = ""
    description: str = ""
    mime: str = "text/plain"
    followers: "set[Callable[[str], None]]" = field(default_factory=set)
    """Told of an address that has changed."""

    def changed(self, uri: str = "") -> None:
        """Tell the clients that follow it that it reads otherwise now; of a family, at which address."""
        for tell in list(self.followers):
            tell(uri or self.uri)


@record(frozen=True, slots=True, kw_only=True)
class Extension:
    """An addition to a workspace. One that fails to start is left out with its reason, and the others go on."""

    name: str = "extension"
    tools: "Iterable[Tool | Source | Callable[..., Any]]" = ()
    """Tools, plain functions to be made into tools, or sources that load one when it is needed."""
    origin: str = ""
    """The file or package it was loaded from, as people know it; empty for a program's own."""
    replaces: bool = False
    """True if its tools take the place of others of the same name, as those of `tools=` do. Else the earlier stay."""
    hooks: "Sequence[Hook | CallHook]" = ()
    """In one list: a plain function is a hook around calls."""
    agents: JsonView = field(default_factory=dict[str, Any])
    """By name, as the configuration writes them."""
    providers: JsonView = field(default_factory=dict[str, Any])
    commands: JsonView = field(default_factory=dict[str, Any])
    resources: "Sequence[Resource]" = ()
    """Resources for clients of our MCP server."""
    start: "Callable[[Any], AbstractAsyncContextManager[Any]] | None" = None
    """Given the workspace, an async context that is entered when it opens and left when it closes."""
    committed: "Callable[[Commit], Awaitable[str | None] | str | None] | None" = None
    """Asked after a file is written and before the result is told: it may change the file, and say something.

    A plain function or an async one."""
    buffers: "Buffers | None" = None
    """Open files of an editor: their texts are read from there and written there."""
    terminals: "Terminals | None" = None
    """Terminals that run the shell's commands in our place, with nothing of ours, above all no sandbox, around them."""

    def config(self) -> dict[str, Any]:
        """Its agents, providers and commands as a configuration would say them."""
        settings = {"agent": dict(self.agents), "provider": dict(self.providers), "command": dict(self.commands)}
        return {key: value for key, value in settings.items() if value}


@record(frozen=True, slots=True, kw_only=True)
class ExtensionProblem:
    """An extension that is left out, and why."""

    name: str
    reason: str


async def enter(context: "AbstractAsyncContextManager[Any]") -> None:
    """Start an extension. TimeoutError if it does not come to an end with that."""
    limit = time_limit(STARTING)
    try:
        async with limit:
            await context.__aenter__()
    except TimeoutError:
        if limit.expired:
            raise TimeoutError(f"it did not start within {STARTING:g} seconds") from None
        raise


async def leave(context: "AbstractAsyncContextManager[Any]") -> None:
    """End an extension."""
    async with time_limit(LEAVING):
        await context.__aexit__(None, None, None)


def sources_of(extension: Extension) -> list[Source]:
    """The tools of an extension as the registry takes them."""
    return [_source(one, extension.name) for one in extension.tools]


def parts_of(extension: Extension) -> list[str]:
    """Return the parts of an extension by their fields: `call` for a hook around calls, `tools` and so on."""
    hooks = {kind for hook in hooks_of(extension) for kind in HOOK_KINDS if getattr(hook, kind) is not None}
    others = ("tools", "agents", "providers", "commands", "resources", "committed", "buffers", "terminals")
    return [*(kind for kind in HOOK_KINDS if kind in hooks), *(name for name in others if getattr(extension, name))]


def hooks_of(extension: Extension) -> list[Hook]:
    """The hooks of an extension; a plain function is one around calls."""
    return [_hook(one) for one in extension.hooks]


def _source(provided: "Tool | Source | Callable[..., Any]", origin: str) -> Source:
    if isinstance(provided, Source):
        return provided
    try:
        return ready(as_tool(provided), origin)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{error}") from error


def _hook(provided: object) -> Hook:
    if isinstance(provided, Hook):
        return provided
    if callable(provided) and not isinstance(provided, Tool):
        return Hook(call=provided)
    raise UsageError(f"{provided!r} is no hook: give a function around calls, or Hook(call=..., request=...).")
