"""Questions for names as they come out of a session's network, by datagrams and by connections."""

import asyncio
import socket
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from ipaddress import IPv4Address
from typing import Any, Final

from toolwright.deadline import time_limit
from toolwright.network.gatekeeper import Gatekeeper
from toolwright.network.names import GivenAddresses, NameQuestion
from toolwright.network.talking import PATIENCE, send, some

QUESTIONS: Final = 256
"""Names that are being decided on at a time; further ones get no answer, and are asked for again."""
BY_CONNECTION: Final = 100
"""Questions that are answered by one connection."""
_PACKET_INFO: Final = {socket.IPPROTO_IP: 8, socket.IPPROTO_IPV6: 50}
_HERE: Final = IPv4Address("127.0.0.1")


class AskedNames:
    """One for each session."""

    def __init__(self, keeper: Gatekeeper, home: asyncio.AbstractEventLoop) -> None:
        self.given = GivenAddresses()
        self._keeper, self._home = keeper, home
        self._questions = 0

    def came(self, server: socket.socket, start: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        """Take a datagram; `start` has what is begun ended with the session."""
        try:
            data, ancillary, _, peer = server.recvmsg(4096, 256)
        except OSError:
            return
        question = NameQuestion.read(data)
        if question is None or self._questions >= QUESTIONS:
            return
        self._questions += 1
        start(self._answered(question, partial(_answer_from, server, ancillary, peer)))

    async def _answered(self, question: NameQuestion, answer: "Callable[[bytes], object]") -> None:
        try:
            with suppress(OSError, RuntimeError):
                answer(await self._answer(question))
        finally:
            self._questions -= 1

    async def _answer(self, question: NameQuestion) -> bytes:
        if question.name == "localhost" or question.name.endswith(".localhost"):
            return question.answer(_HERE if question.wants_address else None)
        exists = asyncio.run_coroutine_threadsafe(_now(self._keeper.exists, question.name), self._home)
        if not await asyncio.wrap_future(exists):
            return question.answer(None, exists=False)
        return question.answer(self.given.address_of(question.name) if question.wants_address else None)

    async def by_connection(self, connection: socket.socket) -> None:
        """Answer the questions that come by a connection: a program asks for both versions of an address by one."""
        data = b""
        for _ in range(BY_CONNECTION):
            async with time_limit(PATIENCE):
                while len(data) < 2 or len(data) < (end := 2 + int.from_bytes(data[:2], "big")):
                    data = await some(connection, data)
                question, data = NameQuestion.read(data[2:end]), data[end:]
                if question is None:
                    return
                answer = await self._answer(question)
                await send(connection, len(answer).to_bytes(2, "big") + answer)


async def _now(function: Callable[[str], bool], argument: str) -> bool:
    return function(argument)


def _answer_from(server: socket.socket, ancillary: Sequence[tuple[int, int, bytes]], peer: Any, answer: bytes) -> None:
    """Answer from the address that was asked, which is the only one that programs believe."""
    source = list[tuple[int, int, bytes]]()
    for level, kind, data in ancillary:
        if _PACKET_INFO.get(level) == kind:
            address = b"\0" * 4 + data[8:12] + b"\0" * 4 if level == socket.IPPROTO_IP else data[:16] + b"\0" * 4
            source.append((level, kind, address))
    server.sendmsg([answer], source, 0, peer)
