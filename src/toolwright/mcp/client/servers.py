"""All servers of a workspace: the extensions they join as, and the tools, prompts and resources they bring."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from toolwright.errors import ToolError, UsageError
from toolwright.events import Bus, Event
from toolwright.extension import Extension, Hook
from toolwright.machine.folders import Folders
from toolwright.mcp.client.resources import mentioned_resources, resource_tools
from toolwright.mcp.client.server import McpServer, ServerHome, SharedByServers, Status
from toolwright.mcp.client.shortlist import Shortlist
from toolwright.mcp.client.tools import sanitised
from toolwright.mcp.client.tools import tool_id as id_of
from toolwright.mcp.protocol import object_of, text_of
from toolwright.process.programs.environment import SECRETS, Withholding
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import RpcClosed, RpcError
from toolwright.record import record
from toolwright.registry import Registry, ready
from toolwright.session.events import SessionStatus
from toolwright.session.session import Session
from toolwright.settings import McpSettings, Settings

if TYPE_CHECKING:
    from toolwright.commands import Commands
    from toolwright.models.hooked import ModelRequest, Stream
    from toolwright.models.model import Event as ModelEvent
    from toolwright.session.prompt import Prompt as PromptRecord

INSTRUCTIONS = 2000
"""Characters of a server's instructions that go to a model."""
PROMPTS = "MCP servers"
"""Origin of the commands that are prompts of servers."""
PATIENCE = 10.0
"""Seconds that the first prompt waits for servers whose tools are not known yet."""


class ServersHome(ServerHome, Protocol):
    """The workspace as its servers need it."""

    environment: Mapping[str, str]
    folders: Folders
    registry: Registry
    bus: Bus
    sessions_open: dict[str, Session]

    @property
    def settings(self) -> Settings: ...
    def context_of(self, provider: str, model: str) -> int: ...


@record(frozen=True, slots=True, kw_only=True)
class McpToolsChanged(Event):
    """A server has other tools than before."""

    type = "mcp.tools.changed"
    server: str


@record(frozen=True, slots=True, kw_only=True)
class ServerState:
    """Status of a server."""

    name: str
    type: str
    status: Status
    error: str | None = None
    tools: tuple[str, ...] = ()
    left_out: tuple[str, ...] | None = None
    """Tools that cannot be used, each with the reason."""


@record(frozen=True, slots=True, kw_only=True)
class ServerPrompt:
    """A prompt of a server, which is a command here."""

    name: str
    """`server:prompt`."""
    description: str
    arguments: tuple[str, ...]
    fill: Callable[[Sequence[str]], Awaitable[str]]
    """The text of the prompt for the values of its arguments, in order."""


class Servers:
    """The servers that the settings name."""

    def __init__(self, workspace: ServersHome) -> None:
        settings = workspace.settings
        self._workspace = workspace
        self._commands: Commands | None = None
        self._shortlist = Shortlist(registry=workspace.registry, context=workspace.context_of)
        withheld = Withholding(names=(*SECRETS, *settings.environment.deny), except_for=settings.environment.allow)
        self._around = around = SharedByServers(
            home=workspace,
            cache=workspace.folders.cache,
            environment=workspace.lookup.around_theirs(withheld.apply(workspace.environment)),
            data=workspace.folders.data,
            timeout=settings.experimental.mcp_timeout,
        )
        self._told: dict[str, int] = {}
        """Number of tools of each server that wait, as sessions were told."""
        self.by_name = {name: McpServer(name, one, around, self._offer) for name, one in settings.mcp.items()}
        self._waited = False
        self._shortlist.join()
        workspace.registry.add(ready(one, "MCP servers") for one in resource_tools(self))
        for server in self.by_name.values():
            server.recall()
        workspace.registry.finders.append(self._find)

    def extensions(self) -> tuple[Extension, ...]:
        """One for each server, and one that starts them before the first prompt."""
        each = (Extension(name=_origin(server), start=server.opened) for server in self.by_name.values())
        around = Hook(prompt=self._before_prompt, request=self._with_instructions)
        return (*each, Extension(name="mcp", hooks=[around]))

    def add(self, name: str, settings: McpSettings) -> McpServer:
        """Have one more server as long as the workspace is open."""
        if name in self.by_name:
            raise UsageError(f"There is an MCP server {name!r} already. Choose another name.")
        server = self.by_name[name] = McpServer(name, settings, self._around, self._offer)
        server.recall()
        return server

    def __getitem__(self, name: str) -> McpServer:
        if name not in self.by_name:
            there = ", ".join(self.by_name) or "none"
            raise UsageError(f"There is no MCP server {name!r} in the configuration. There are: {there}.")
        return self.by_name[name]

    def states(self) -> list[ServerState]:
        return [
            ServerState(
                name=server.name,
                type=server.type,
                status=server.status,
                error=server.error or None,
                tools=tuple(tool.id for tool in server.tools),
                left_out=tuple(f"{one.name}: {one.reason}" for one in server.left_out) or None,
            )
            for server in self.by_name.values()
        ]

    def begin(self) -> None:
        """Start all servers in the background."""
        for server in self.by_name.values():
            server.begin()

    async def settled(self) -> None:
        """Return once every server is connected or has failed."""
        await asyncio.gather(*(server.settled() for server in self.by_name.values()))

    async def known(self) -> None:
        """Start all servers, and wait a little, once, for those whose tools are not known yet."""
        self.begin()
        unknown = [one for one in self.by_name.values() if one.enabled and not one.tools]
        if unknown and not self._waited:
            self._waited = True
            waiting = [asyncio.ensure_future(one.settled()) for one in unknown]
            await asyncio.wait(waiting, timeout=PATIENCE)

    async def close(self) -> None:
        """End them all."""
        await asyncio.gather(*(server.close() for server in self.by_name.values()))

    def prompts(self) -> list[ServerPrompt]:
        """The prompts of all servers that are known so far."""
        return [
            _prompt(server, one)
            for server in self.by_name.values()
            for one in server.lists["prompts"]
            if server.enabled and text_of(one.get("name"))
        ]

    def join_commands(self, commands: "Commands") -> None:
        """Have the prompts among the commands, from now on and as they change."""
        self._commands = commands
        self._name_commands()

    def _name_commands(self) -> None:
        if self._commands is None:
            return
        from toolwright.commands import Command

        outdated = [name for name, one in self._commands.added.items() if one.origin == PROMPTS]
        for name in outdated:
            del self._commands.added[name]
        for prompt in self.prompts():
            command = Command(name=prompt.name, description=prompt.description, origin=PROMPTS, write=prompt.fill)
            self._commands.added.setdefault(prompt.name, command)

    # The tools.

    def _offer(self, server: McpServer) -> None:
        """Put the tools of a server in the place of those it had, and tell."""
        self._shortlist.put(_origin(server), server.tools)
        self._name_commands()
        self._workspace.bus.publish(McpToolsChanged(server=server.name))
        if (waiting := len(server.waiting)) and waiting != self._told.get(server.name):
            words = f"{_counted(waiting)} of the MCP server {server.name} changed and wait: tw mcp accept {server.name}"
            for session_id in self._workspace.sessions_open:
                status: dict[str, object] = {"type": "busy", "notice": words}
                self._workspace.bus.publish(SessionStatus(session_id=session_id, status=status))
        self._told[server.name] = waiting

    async def _find(self, tool_id: str) -> None:
        """Start the server whose tool this would be, if its tools are not known yet. ToolError if it cannot be."""
        named = [one for one in self.by_name.values() if _is_of(tool_id, one) and one.status != "connected"]
        failed: ToolError | None = None
        for server in sorted(named, key=lambda one: -len(one.name)):
            try:
                await server.client()
            except ToolError as error:
                failed = failed or error
            if tool_id in self._workspace.registry:
                return
        if failed is not None:
            raise failed

    async def _before_prompt(
        self, proceed: "Callable[[PromptRecord], Awaitable[Any]]", prompt: "PromptRecord", session_id: str
    ) -> Any:
        """Start the servers, wait a little for unknown ones, and attach the resources that are mentioned."""
        await self.known()
        session = self._workspace.sessions_open.get(session_id)
        if session is not None and prompt.mentions and ":" in prompt.text:
            attached = await mentioned_resources(self, session, prompt.text)
            prompt = replace(prompt, files=(*prompt.files, *attached)) if attached else prompt
        return await proceed(prompt)

    async def _with_instructions(self, proceed: "Stream", request: "ModelRequest") -> "AsyncIterator[ModelEvent]":
        """Tell the model what the connected servers say of themselves."""
        from toolwright.models.model import SystemMessage

        sections = [
            f"Of the MCP server {server.name}:\n{server.instructions[:INSTRUCTIONS]}"
            for server in self.by_name.values()
            if server.status == "connected" and server.instructions
        ]
        first = request.messages[0] if request.messages else None
        if sections and isinstance(first, SystemMessage):
            extended = replace(first, text="\n\n".join([first.text, *sections]))
            request = replace(request, messages=[extended, *request.messages[1:]])
        async for event in proceed(request):
            yield event


def _counted(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"


def _is_of(tool_id: str, server: McpServer) -> bool:
    """Tell whether a name begins as the tools of a server do; those of `a` and of `a_b` may both."""
    return tool_id.lower().startswith(id_of(server.name, "").lower())


def _origin(server: McpServer) -> str:
    return f"the MCP server {server.name}"


def _prompt(server: McpServer, listing: Json) -> ServerPrompt:
    name = text_of(listing.get("name"))
    listed = listing.get("arguments")
    arguments = [text_of(object_of(one).get("name")) for one in listed] if isinstance(listed, list) else []

    async def fill(values: Sequence[str]) -> str:
        client = await server.client()
        try:
            answer = await client.prompt(name, dict(zip(arguments, values, strict=False)))
        except (RpcError, RpcClosed) as error:
            raise UsageError(f"The MCP server {server.name} did not give its prompt {name!r}: {error}") from error
        return prompt_text(answer)

    return ServerPrompt(
        name=f"{sanitised(server.name)}:{sanitised(name)}",
        description=text_of(listing.get("description")),
        arguments=tuple(arguments),
        fill=fill,
    )


def prompt_text(answer: Json) -> str:
    """The texts of a prompt's messages and of the resources in them, one after the other."""
    messages = answer.get("messages")
    contents = [object_of(one).get("content") for one in messages] if isinstance(messages, list) else []
    blocks = [object_of(one) for said in contents for one in (said if isinstance(said, list) else [said])]
    kept = [object_of(one.get("resource")) if one.get("type") == "resource" else one for one in blocks]
    return "\n".join(text for one in kept if (text := text_of(one.get("text"))))
