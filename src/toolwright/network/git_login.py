"""Git's logins for commands: asked of the user's own git, for hosts that the session has reached.

In a box git is told that its helper is `git credential-cache`, whose daemon we are: the words that it sends are those
that any helper is told. The user's helpers run outside, and keep what they keep.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Final

from toolwright.deadline import time_limit
from toolwright.network.destination import Destination
from toolwright.network.ssh_agent import Machine
from toolwright.process.running.child import run_child

PATIENCE: Final = 60.0
"""Seconds for a helper, which may open a browser."""
LONGEST: Final = 16_384
_ASKED: Final = ("protocol", "host", "path", "username")


class LoginsForCommands:
    """One for each session: the socket's other end."""

    def __init__(
        self, machine: Machine, reached: Callable[[], Iterable[Destination]], note: Callable[[str], None]
    ) -> None:
        self._machine, self._reached, self._note = machine, reached, note

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one question. What git wants kept or forgotten is the user's own matter."""
        try:
            with suppress(OSError, EOFError, TimeoutError):
                async with time_limit(PATIENCE):
                    data = await reader.read(LONGEST)
                    while not reader.at_eof() and len(data) < LONGEST:
                        data += await reader.read(LONGEST)
                lines = data.decode("utf-8", "replace").splitlines()
                asked = dict(line.split("=", 1) for line in lines if "=" in line)
                if asked.get("action") == "get":
                    writer.write(await self._login(asked))
                    await writer.drain()
        finally:
            writer.close()

    async def _login(self, fields: Mapping[str, str]) -> bytes:
        url = f"{fields.get('protocol')}://{fields.get('host')}/"
        place = Destination.of_url(url)
        if place is None or place not in self._reached():
            self._note(f"git was given no login for {url}: this session has not reached it")
            return b""
        git = self._machine.lookup.find("git")
        if git is None:
            return b""
        question = "".join(f"{name}={fields[name]}\n" for name in _ASKED if name in fields)
        env = {**self._machine.lookup.around(self._machine.environment), "GIT_TERMINAL_PROMPT": "0"}
        env |= {"GIT_ASKPASS": "", "SSH_ASKPASS": "", "GCM_INTERACTIVE": "never"}
        with suppress(OSError, TimeoutError):
            ran = await run_child(
                [git, "credential", "fill"],
                seconds=PATIENCE,
                cwd=self._machine.home,
                env=env,
                data=f"{question}\n".encode(),
            )
            return ran.out if ran.code == 0 else b""
        return b""
