"""A destination: a host and a port, as rules, questions and results name it."""

import ipaddress
from urllib.parse import urlsplit

from toolwright.calls.request import PathPattern
from toolwright.record import record

EVERY_DESTINATION = "*:*"
"""The pattern of any host at any port: of each by itself, and not of whether commands have a network at all."""
WEB_PORTS = (80, 443)
"""Ports that a rule without a port speaks of when it allows."""
_PORTS = {"http": 80, "https": 443, "ssh": 22, "git": 9418, "git+ssh": 22, "git+https": 443, "ws": 80, "wss": 443}


@record(frozen=True, slots=True)
class Destination:
    """A host, by its name in small letters or its address, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def of(cls, host: str, port: int) -> "Destination":
        """Return it as everybody spells it."""
        return cls(host.strip("[]").rstrip(".").lower(), port)

    @classmethod
    def of_url(cls, url: str) -> "Destination | None":
        """Return where a URL leads, git's `user@host:path` among them; None if it is no address of a network."""
        try:
            parts = urlsplit(url.strip())
            if parts.scheme and "://" in url:
                port = parts.port or _PORTS.get(parts.scheme.rpartition("+")[2])
                return cls.of(parts.hostname, port) if parts.hostname and port else None
        except ValueError:
            return None
        before, colon, _ = url.partition(":")
        host = before.rpartition("@")[2]
        return cls.of(host, 22) if colon and host and "/" not in before else None

    @classmethod
    def read(cls, text: str) -> "Destination":
        """Read what another was written as."""
        host, _, port = text.rpartition(":")
        return cls.of(host, int(port))

    @property
    def is_local(self) -> bool:
        """True if it is the session's own."""
        return self.host in ("localhost", "127.0.0.1", "::1") or self.host.endswith(".localhost")

    @property
    def address(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        """Return the host as an address, if it is one."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def pattern(self) -> PathPattern:
        """Return it as rules see it. One without a port allows the ports of the web, and restricts every port."""
        also = (self.host,) if self.port in WEB_PORTS else ()
        return PathPattern(str(self), also, aliases=(self.host,))
