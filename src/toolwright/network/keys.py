"""Headers that are put in for named hosts on the way out: the programs that talk to them never have the key."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from toolwright.errors import ToolError

SECURE: Final = 443
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")


class Keys:
    """The headers by host, with the variables that they take from our environment."""

    def __init__(self, headers: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._headers = {host.lower(): header for host, header in headers.items()}
        self._environment = environment

    def __contains__(self, host: str) -> bool:
        return host in self._headers

    def line_for(self, host: str) -> bytes:
        """Return the line for a host. ToolError if it cannot be sent."""
        header = self._headers[host]
        missing = [name for name in _VARIABLE.findall(header) if not self._environment.get(name)]
        if missing:
            raise ToolError(f"the header for {host} takes the variable {missing[0]}, which is not set", "missing")
        line = _VARIABLE.sub(lambda match: self._environment[match[1]], header)
        name, colon, value = line.partition(":")
        if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name) or not value.strip().isprintable():
            raise ToolError(f"the header for {host} is none: write `Name: value` in sandbox.keys")
        return line.encode("utf-8")


def variables_of(headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of the variables that headers take, which no command is to have."""
    for header in headers.values():
        yield from _VARIABLE.findall(header)


def with_key(head: bytes, line: bytes) -> bytes:
    """Return a request with the line in it, in the place of any other of its name."""
    start, _, rest = head.partition(b"\r\n\r\n")
    name = line.partition(b":")[0].lower()
    lines = [one for one in start.split(b"\r\n") if one.partition(b":")[0].strip().lower() != name]
    return b"\r\n".join([*lines, line, b"", rest])
