"""The ssh agent for commands: it signs for hosts that their session may reach, and the keys stay with the user's own.

A command talks to a socket of ours. What it wants signed goes on to the user's agent, or to one of ours with the keys
that need no password, if the client has bound it to a host that the session has reached and that the user knows.
"""

import asyncio
import base64
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolwright.deadline import time_limit
from toolwright.network import agent_protocol as protocol
from toolwright.network.destination import Destination
from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.child import Child, run_child
from toolwright.record import record

SSH: Final = 22
PATIENCE: Final = 20.0
"""Seconds for a program of ssh's to answer, and for the user's agent, which may ask."""
_NO_KEY: Final = ("config", "known_hosts", "authorized_keys", "environment", "rc")
_NAME: Final = "agent"
Conversation = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@record(frozen=True, slots=True, kw_only=True)
class Machine:
    """The places of the user's keys and known hosts."""

    home: Path
    environment: Mapping[str, str]
    lookup: Lookup


class UsersAgent:
    """The user's own agent, or one of ours with the keys that are no secret to whoever is the user."""

    def __init__(self, machine: Machine, folder: Callable[[], Path]) -> None:
        """`folder` makes a private one, where commands do not look."""
        self._machine, self._folder = machine, folder
        self._own: Child | None = None
        self._held = -1
        self._socket: asyncio.Task[str] | None = None

    async def connect(self) -> Conversation:
        """Connect to it. OSError if there is none."""
        if self._socket is None:
            self._socket = asyncio.ensure_future(self._begin())
        return await asyncio.open_unix_connection(await asyncio.shield(self._socket))

    async def knows(self, place: Destination, host_key: bytes) -> bool:
        """Tell whether the user knows this key as the host's."""
        program = self._machine.lookup.find("ssh-keygen")
        name = place.host if place.port == SSH else f"[{place.host}]:{place.port}"
        wanted = base64.b64encode(host_key)
        files = (self._machine.home / ".ssh" / "known_hosts", Path("/etc/ssh/ssh_known_hosts"))
        for file in files:
            if program is not None and file.is_file():
                with suppress(OSError, TimeoutError):
                    ran = await run_child([program, "-F", name, "-f", str(file)], seconds=PATIENCE)
                    if any(wanted in line.split() for line in ran.out.splitlines() if not line.startswith(b"@revoked")):
                        return True
        return False

    async def close(self) -> None:
        if self._socket is not None:
            self._socket.cancel()
            await asyncio.wait([self._socket])
        if self._own is not None:
            self._own.__exit__(None, None, None)
            os.close(self._held)

    async def _begin(self) -> str:
        theirs = self._machine.environment.get("SSH_AUTH_SOCK", "")
        if theirs and Path(theirs).is_socket():
            return theirs
        lookup = self._machine.lookup
        agent, add = lookup.find("ssh-agent"), lookup.find("ssh-add")
        keys = [str(file) for file in private_keys(self._machine.home)]
        if agent is None or add is None or not keys:
            raise FileNotFoundError
        folder = self._folder()
        # The names of sockets are short, and the path of the folder need not be.
        self._held = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        path = f"/proc/self/fd/{self._held}/{_NAME}"
        self._own = Child([agent, "-D", "-a", _NAME], cwd=folder).__enter__()
        env = {**lookup.around(self._machine.environment), "SSH_AUTH_SOCK": _NAME}
        # Nobody is asked for a password: such a key is left to the user's own agent.
        env |= {"SSH_ASKPASS": "/bin/false", "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":"}
        # It says where it listens once it does.
        assert self._own.stdout is not None
        async with time_limit(PATIENCE):
            await asyncio.to_thread(self._own.stdout.readline)
        await run_child([add, "-q", *keys], seconds=PATIENCE, cwd=folder, env=env)
        return path


def private_keys(home: Path) -> list[Path]:
    """List the user's files that ssh would take for keys."""
    keys = list[Path]()
    for file in sorted((home / ".ssh").glob("*")):
        if file.name.startswith(_NO_KEY) or file.suffix == ".pub" or not file.is_file():
            continue
        with suppress(OSError), file.open("rb") as opened:
            if re.match(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----", opened.read(64)):
                keys.append(file)
    return keys


class AgentForCommands:
    """One for each session: the socket's other end."""

    def __init__(
        self, users: UsersAgent, reached: Callable[[], Iterable[Destination]], note: Callable[[str], None]
    ) -> None:
        """`reached` are the destinations that the session has connections to, or had."""
        self._users, self._reached, self._note = users, reached, note

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client until it goes."""
        upstream: Conversation | None = None
        try:
            with suppress(OSError, EOFError, ValueError, TimeoutError):
                upstream = await self._users.connect()
                await self._answer_all(reader, writer, upstream)
        finally:
            for stream in (writer, *(upstream[1:] if upstream else ())):
                stream.close()

    async def _answer_all(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: Conversation
    ) -> None:
        bound = b""
        while True:
            body = await _message(reader)
            asked = protocol.read_message(body)
            refusal = await self._refusal(asked, bound)
            if refusal:
                self._note(f"the ssh agent did not sign: {refusal}")
            if refusal or asked.kind == "other":
                answer = protocol.FAILURE
            else:
                upstream[1].write(len(body).to_bytes(4, "big") + body)
                async with time_limit(PATIENCE):
                    reply = await _message(upstream[0])
                answer = len(reply).to_bytes(4, "big") + reply
            if asked.kind == "bind" and not refusal:
                bound = asked.session
            writer.write(answer)
            await writer.drain()

    async def _refusal(self, asked: protocol.AgentRequest, bound: bytes) -> str:
        match asked.kind:
            case "bind":
                places = [place for place in self._reached() if not place.is_local]
                if any([await self._users.knows(place, asked.host_key) for place in places]):
                    return ""
                return "it was asked for a host that this session has not reached, or whose key the user does not know"
            case "log in" if not bound or asked.session != bound:
                return "the client has not bound the session to a host, as OpenSSH does from 8.9 on"
            case _:
                return ""


async def _message(reader: asyncio.StreamReader) -> bytes:
    size = int.from_bytes(await reader.readexactly(4), "big")
    if not 0 < size <= protocol.LARGEST:
        raise ValueError
    return await reader.readexactly(size)
