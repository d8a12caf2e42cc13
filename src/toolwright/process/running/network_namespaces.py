"""Network namespaces of sessions: asked of the keeper, held by descriptors, gone with the last who holds one."""

import array
import asyncio
import json
import os
import socket
import weakref
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.process.keeper.order import GateOrder, SpaceOrder
from toolwright.process.keeper.space import PROXY, Handed
from toolwright.process.running.scope import PATIENCE, Scopes

MOST = 200
"""Descriptors that come with one answer; the system hands out no more than 253 at once."""
ANSWER = 16_384

__all__ = ["PROXY", "Handed", "Space"]


class Space:
    """A namespace in which nothing leads anywhere but to the sockets that were made in it."""

    gate: GateOrder | None = None
    door = 0
    variables: Mapping[str, str] = MappingProxyType({})

    def __init__(self, scopes: Scopes, descriptor: int, sockets: Sequence[Handed], refused: Sequence[str]) -> None:
        self.descriptor = descriptor
        self.sockets = tuple(sockets)
        self.refused = tuple(refused)
        """Things that could not be had in it."""
        self._scopes = scopes
        self._release = weakref.finalize(self, os.close, descriptor)

    @classmethod
    async def make(cls, scopes: Scopes, ports: Sequence[int] = ()) -> "Space":
        """Make one, with these ports of its loopback listened on. ToolError if the machine has none to give."""
        sockets, others, refused = await _ask(scopes, {"ports": list(ports), "plain": 0}, [])
        return cls(scopes, others[0], sockets, refused)

    async def further(self, *, ports: Sequence[int] = (), plain: int = 0) -> list[Handed]:
        """Make more sockets in it: some that listen on ports, and some to be connected to what listens there."""
        sockets, _, _ = await _ask(self._scopes, {"ports": list(ports), "plain": plain}, [self.descriptor])
        return sockets

    def close(self) -> None:
        """Let go of it. It is gone once nothing runs in it any more."""
        for _, held in self.sockets:
            held.close()
        self._release()


async def _ask(
    scopes: Scopes, order: SpaceOrder, descriptors: Sequence[int]
) -> tuple[list[Handed], list[int], list[str]]:
    control = scopes.send_anchored(json.dumps(order).encode(), descriptors)
    try:
        data, received = await _received(control)
    finally:
        control.close()
    answer = json.loads(data or b'{"failed": "the process that makes it was killed"}')
    if "failed" in answer:
        for descriptor in received:
            os.close(descriptor)
        raise ToolError(f"The network of this session cannot be set up: {answer['failed']}.")
    names: list[str] = answer["names"]
    sockets = [(name, socket.socket(fileno=one)) for name, one in zip(names, received, strict=False)]
    for _, held in sockets:
        held.setblocking(False)
    return sockets, received[len(names) :], answer["refused"]


async def _received(control: socket.socket) -> tuple[bytes, list[int]]:
    """The answer with what came beside it, which belongs to nobody else: it is not inherited."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(control.fileno(), readable.set)
    try:
        async with time_limit(PATIENCE):
            await readable.wait()
    except TimeoutError as error:
        raise ToolError(f"The network of this session cannot be set up: no answer in {PATIENCE} seconds.") from error
    finally:
        loop.remove_reader(control.fileno())
    data, ancillary, _, _ = control.recvmsg(ANSWER, socket.CMSG_SPACE(MOST * 4), getattr(socket, "MSG_CMSG_CLOEXEC", 0))
    descriptors = array.array("i")
    for _, _, content in ancillary:
        descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    return data, list(descriptors)
