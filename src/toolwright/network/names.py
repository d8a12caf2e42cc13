"""Names asked for inside a session's network: each gets an address of its own, and no question leaves the machine."""

import re
import struct
from ipaddress import IPv4Address, IPv4Network

from toolwright.record import record

ADDRESSES = IPv4Network("198.18.0.0/15")
"""Set aside for tests of networks: nobody on the internet has one of these."""
MOST = 60_000
"""Names that have an address at a time. The one that has had its own for longest loses it."""
LONGEST = 253
"""Characters of a name."""
ADDRESS, INTERNET = 1, 1
LASTS = 60
"""Seconds for which a program may keep an answer."""
_FINE, _NO_SUCH_NAME = 0x8180, 0x8183
_HEAD = struct.Struct(">HHHHHH")
_LABEL = re.compile(rb"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")


@record(frozen=True, slots=True, kw_only=True)
class NameQuestion:
    """A question of a program about a name."""

    name: str
    kind: int
    number: int
    asked: bytes
    """The question as it was put, which the answer repeats."""

    @classmethod
    def read(cls, data: bytes) -> "NameQuestion | None":
        """Read a datagram; None if it is no single question about a name that a host can have."""
        if len(data) < _HEAD.size:
            return None
        number, flags, questions, *_ = _HEAD.unpack_from(data)
        if flags & 0xF800 or questions != 1:
            return None
        at, labels = _HEAD.size, list[bytes]()
        while (size := data[at : at + 1]) not in (b"", b"\0"):
            label = data[at + 1 : at + 1 + size[0]]
            if not _LABEL.fullmatch(label):
                return None
            labels.append(label)
            at += 1 + size[0]
        name = b".".join(labels).decode("ascii").lower()
        if len(data) < at + 5 or not 0 < len(name) <= LONGEST:
            return None
        kind, family = struct.unpack_from(">HH", data, at + 1)
        return cls(name=name, kind=kind, number=number, asked=data[_HEAD.size : at + 5]) if family == INTERNET else None

    @property
    def wants_address(self) -> bool:
        return self.kind == ADDRESS

    def answer(self, address: IPv4Address | None, *, exists: bool = True) -> bytes:
        """Say the address, that there is nothing of this kind, or that there is no such name."""
        records = b""
        if address is not None:
            records = struct.pack(">HHHIH", 0xC00C, ADDRESS, INTERNET, LASTS, 4) + address.packed
        flags = _FINE if exists else _NO_SUCH_NAME
        return _HEAD.pack(self.number, flags, 1, int(bool(records)), 0, 0) + self.asked + records


class GivenAddresses:
    """The addresses that names have been given in one session."""

    def __init__(self) -> None:
        self._by_name = dict[str, IPv4Address]()
        self._by_address = dict[str, str]()
        self._next = 1

    def address_of(self, name: str) -> IPv4Address:
        """Return the address of a name, a new one if it has none."""
        if (known := self._by_name.get(name)) is not None:
            return known
        if len(self._by_name) >= MOST:
            oldest = next(iter(self._by_name))
            self._by_address.pop(str(self._by_name.pop(oldest)), None)
        address = ADDRESSES.network_address + self._next
        self._next = self._next % (ADDRESSES.num_addresses - 2) + 1
        self._by_name[name] = address
        self._by_address[str(address)] = name
        return address

    def name_at(self, address: str) -> str:
        """Return the name that an address was given to; empty for any other address."""
        return self._by_address.get(address, "")
