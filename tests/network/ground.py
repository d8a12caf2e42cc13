"""Hosts that are nowhere but in a test: names that lead to servers on the loopback, and a shell that reaches them."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from tests.process.shell_session import ShellSession, open_shell
from toolwright.errors import ToolError
from toolwright.network.destination import Destination
from toolwright.network.keys import Keys
from toolwright.network.known import KnownDestination
from toolwright.network.logins import LoginSockets
from toolwright.network.outward import Outward, Unreachable
from toolwright.network.sessions import Networks
from toolwright.network.ssh_agent import Machine
from toolwright.permission.rules import Rule
from toolwright.process.sandbox.sandbox import SandboxSettings

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Rung = Literal["bubblewrap", "landlock", "gate"]
RUNGS: tuple[Rung, ...] = ("bubblewrap", "landlock", "gate")
"""The last is Landlock without namespaces."""
ASKS = Rule("network", "*", "ask")
ALLOWS = Rule("*", "*", "allow")


class Elsewhere(Outward):
    """A world of the test's own: what is not in it cannot be reached."""

    def __init__(self) -> None:
        super().__init__()
        self.ports = dict[str, int]()
        """Where on the loopback a destination is."""
        self.wanted = list[str]()
        """What was connected to."""

    async def connect(self, destination: Destination, *, named: bool) -> socket.socket:
        self.wanted.append(str(destination))
        port = self.ports.get(str(destination))
        if port is None:
            raise Unreachable(f"{destination} cannot be reached: there is no such host")
        return await super().connect_here(port)

    async def secured(self, connection: socket.socket, host: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(sock=connection)


@asynccontextmanager
async def open_network(
    project: Path,
    *rules: Rule,
    rung: Rung = "bubblewrap",
    replies: Sequence[str] = (),
    known: Sequence[KnownDestination] = (),
    world: Outward | None = None,
    reveal: tuple[str, ...] = (),
    capture: bool = True,
    keys: Keys = Keys({}, {}),  # noqa: B008 - it never changes
) -> AsyncIterator[ShellSession]:
    """A shell in a sandbox whose commands are held to rules about destinations."""

    async def all_known() -> list[KnownDestination]:
        return list(known)

    settings = SandboxSettings(mode="landlock" if rung == "gate" else rung, reveal=reveal, capture=capture)
    async with open_shell(project, rules=(ALLOWS, *rules), replies=replies, sandbox=settings) as shell:
        try:
            await shell.sandbox.ready()
        except ToolError as error:
            pytest.skip(str(error))
        if rung == "gate" and shell.sandbox._findings is not None:
            shell.sandbox._findings = replace(shell.sandbox._findings, mounts=False, anchored=())
        if not await shell.sandbox.holds_network_by():
            pytest.skip("nothing on this machine holds commands")
        services = shell.workspace
        home = services.folders.home
        environment = {**os.environ, "HOME": str(home), "SSH_AUTH_SOCK": ""}
        machine = Machine(home=home, environment=environment, lookup=services.lookup)
        networks = Networks(
            shell.scopes,
            all_known,
            services.folders.state,
            world or Elsewhere(),
            keys,
            shell.jobs.spaces,
            LoginSockets(machine, shell.sandbox),
        )
        setattr(shell.workspace, "networks", networks)  # noqa: B010 - it takes the place of a property
        try:
            yield shell
        finally:
            await shell.jobs.close()
            await networks.close()


@asynccontextmanager
async def serving(handler: Handler, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
    """A server outside of every box; yields its port."""
    server = await asyncio.start_server(handler, host, port)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer any request of HTTP with its first line and the host it names."""
    lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    named = [line for line in lines if line.lower().startswith((b"host:", b"authorization:"))]
    body = b" ".join([lines[0], *named]) + b"\n"
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(body), body))
    await writer.drain()
    writer.close()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say again what is said, to the end."""
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def fetched(port: int, path: str) -> str:
    """What a server of this machine answers to somebody outside of every box."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n".encode())
        return (await reader.read()).partition(b"\r\n\r\n")[2].decode()
    finally:
        writer.close()
