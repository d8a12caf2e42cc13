"""Messages that ssh sends to its agent: bytes in, requests out. Pure.

A client of OpenSSH from 8.9 on first binds its connection to the host that it speaks with: the key of the host, and
that host's signature on the session. What is signed later names the session.
"""

import struct
from typing import Final, Literal

from toolwright.record import record

LARGEST: Final = 256 * 1024
"""Bytes of a message."""
FAILURE: Final = b"\x00\x00\x00\x01\x05"
LIST, SIGN, EXTENSION, SUCCESS = 11, 13, 27, 6
BINDING: Final = b"session-bind@openssh.com"
_LOGIN: Final = 50
_NAMED: Final = b"SSHSIG"


@record(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """A request in a message to the agent."""

    kind: Literal["list", "bind", "log in", "sign for git", "other"]
    host_key: bytes = b""
    """Of a binding: the key of the host."""
    session: bytes = b""
    """Of a binding and of a login: the session that it is for."""


OTHER: Final = AgentRequest(kind="other")


def read_message(body: bytes) -> AgentRequest:
    """Read a message without its length."""
    try:
        match body[0]:
            case 11:
                return AgentRequest(kind="list")
            case 13:
                return _to_sign(body)
            case 27:
                return _binding(body)
            case _:
                return OTHER
    except (IndexError, struct.error):
        return OTHER


def _binding(body: bytes) -> AgentRequest:
    name, at = _read_string(body, 1)
    if name != BINDING:
        return OTHER
    host_key, at = _read_string(body, at)
    session, at = _read_string(body, at)
    _, at = _read_string(body, at)
    # A connection that is handed on to another machine is not for the host that it is bound to.
    return AgentRequest(kind="bind", host_key=host_key, session=session) if body[at] == 0 else OTHER


def _to_sign(body: bytes) -> AgentRequest:
    _, at = _read_string(body, 1)
    data, _ = _read_string(body, at)
    if data.startswith(_NAMED):
        namespace, _ = _read_string(data, len(_NAMED))
        return AgentRequest(kind="sign for git") if namespace == b"git" else OTHER
    session, at = _read_string(data, 0)
    return AgentRequest(kind="log in", session=session) if data[at] == _LOGIN else OTHER


def _read_string(data: bytes, at: int) -> tuple[bytes, int]:
    (size,) = struct.unpack_from(">I", data, at)
    end = at + 4 + size
    if end > len(data):
        raise IndexError
    return data[at + 4 : end], end
