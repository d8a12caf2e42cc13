"""Logins of commands that do not have the keys: sockets for the ssh agent and for git's logins, for each session."""

import asyncio
import secrets
import shlex
import shutil
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolwright.errors import ToolError
from toolwright.machine.own_ports import listen_in
from toolwright.network.destination import Destination
from toolwright.network.git_login import LoginsForCommands
from toolwright.network.ssh_agent import AgentForCommands, Machine, UsersAgent
from toolwright.process.box.box import TEMP_FOLDERS
from toolwright.process.sandbox.sandbox import Sandbox

AGENT, GIT = "ssh-agent", "git-login"
_TIMEOUT: Final = 1
"""Seconds that git would have a login kept for, which nobody keeps."""


class LoginSockets:
    """One for each workspace."""

    def __init__(self, machine: Machine, sandbox: Sandbox) -> None:
        self._machine, self._sandbox = machine, sandbox
        self._agent = UsersAgent(machine, sandbox.new_folder)

    async def open(self, reached: Callable[[], Iterable[Destination]], note: Callable[[str], None]) -> "SessionLogins":
        """Open the sockets of a session, in the temporary folder that commands have. ToolError if that cannot be."""
        name = f".toolwright-{secrets.token_hex(4)}"
        outside = self._sandbox.temp / name
        inside = (TEMP_FOLDERS[0] if await self._sandbox.keeps_all() else self._sandbox.temp) / name
        agent = AgentForCommands(self._agent, reached, note)
        git = LoginsForCommands(self._machine, reached, note)
        try:
            outside.mkdir(mode=0o700)
            servers = [await _listen(outside, AGENT, agent.serve), await _listen(outside, GIT, git.serve)]
        except OSError as problem:
            raise ToolError(f"No sockets for logins can be made: {problem.strerror or problem}.") from problem
        return SessionLogins(outside, inside, servers)

    async def close(self) -> None:
        """End the agent that we have begun, if we have."""
        await self._agent.close()


class SessionLogins:
    """The sockets of one session."""

    def __init__(self, outside: Path, inside: Path, servers: list[asyncio.Server]) -> None:
        self._outside, self._servers = outside, servers
        self.variables: Mapping[str, str] = {"SSH_AUTH_SOCK": str(inside / AGENT)}
        helper = f"cache --timeout={_TIMEOUT} --socket={shlex.quote(str(inside / GIT))}"
        self.git_settings = (("credential.helper", ""), ("credential.helper", helper))
        """The first one takes away the user's own helpers, which have nothing to say in a box."""

    def close(self) -> None:
        for server in self._servers:
            server.close()
        with suppress(OSError):
            shutil.rmtree(self._outside)


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def _listen(folder: Path, name: str, serve: Serve) -> asyncio.Server:
    listening = listen_in(folder, name)
    try:
        return await asyncio.start_unix_server(serve, sock=listening)
    except BaseException:
        listening.close()
        raise
