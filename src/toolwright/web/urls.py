"""Web addresses, read once into a form in which every spelling of a host is the same host."""

import re
from ipaddress import IPv4Address, IPv6Address
from unicodedata import normalize
from urllib.parse import quote, unquote, urljoin, urlsplit

from toolwright.errors import ToolError
from toolwright.record import record

LONGEST = 4096
"""Characters that an address may have."""
Address = IPv4Address | IPv6Address

_PORTS = {"http": 80, "https": 443}
_KEPT = "%/:=&?~+!$,;'@()*[]"
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_USER = re.compile(r"^(\w*:[/\\]*)[^/?#]*@")
_BRACKETS = re.compile(r"\](:\d*)?$")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")


@record(frozen=True, slots=True, kw_only=True)
class Url:
    """An address: a host by name or number, and what to ask it for."""

    scheme: str
    host: str
    """In small letters, without brackets; a number always in its usual form."""
    port: int
    target: str
    """Path and query, as they stand in a request."""
    address: Address | None = None
    """The host, where it is a number."""

    @property
    def authority(self) -> str:
        """The host as an address shows it, with the port if it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    def join(self, reference: str) -> "Url":
        """The address that a redirect or link on this page leads to."""
        return parse_url(urljoin(str(self), reference.strip()))


def parse_url(text: str) -> Url:
    """The address of a web page; otherwise a ToolError that says what is wrong with it.

    A user name and password in it are dropped: they are neither sent nor shown.
    """
    text = text.strip()
    safe = _USER.sub(r"\1", text)
    if len(text) > LONGEST:
        raise ToolError(f"The address has {len(text):,} characters; at most {LONGEST} are possible.", "schema")
    if not text.lower().startswith(("http://", "https://")):
        raise ToolError(f"{safe!r} is not a web address: it must begin with http:// or https://.", "schema")
    if re.search(r"[\x00-\x1f\x7f\\]", text):
        raise ToolError(f"{safe!r} is not a web address: it has a control character or a backslash.", "schema")
    try:
        parts = urlsplit(text)
        port = parts.port
        host = parts.hostname or ""
    except ValueError:  # its text has the user name and password in it
        raise ToolError(f"{safe!r} is not a web address: its host or port makes no sense.", "schema") from None
    bracketed = parts.netloc.rpartition("@")[2].startswith("[")
    if bracketed and not _BRACKETS.search(parts.netloc):
        raise ToolError(f"{safe!r} is not a web address: only a port can follow the brackets.", "schema")
    name, address = _host(unquote(host), safe, bracketed=bracketed)
    target = quote(parts.path or "/", safe=_KEPT) + (f"?{quote(parts.query, safe=_KEPT)}" if parts.query else "")
    scheme = parts.scheme.lower()
    return Url(scheme=scheme, host=name, port=port or _PORTS[scheme], target=target, address=address)


def _host(text: str, url: str, *, bracketed: bool) -> tuple[str, Address | None]:
    try:
        if bracketed:
            address: Address | None = IPv6Address(text)
            return str(address), address
        name = _ascii(text).removesuffix(".")
        address = _number(name)
    except ValueError as problem:
        raise ToolError(f"{url!r} is not a web address: {text!r} is no host.", "schema") from problem
    if address is not None:
        return str(address), address
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise ToolError(f"{url!r} is not a web address: {text!r} is no host.", "schema")
    return name, None


def _ascii(host: str) -> str:
    """The name as the network knows it; full-width digits and other dots are the plain ones."""
    plain = normalize("NFKC", host[: LONGEST // 4].replace("\u3002", ".")).lower()
    if plain.isascii():
        return plain
    import idna

    return idna.encode(plain, uts46=True).decode("ascii")


def _number(host: str) -> IPv4Address | None:
    """`127.1`, `0x7f.1`, `0177.0.0.1`, `2130706433`: a host that ends in a number is one, as in a browser."""
    parts = host.split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return None
    numbers = [_value(part) for part in parts]
    *front, last = numbers
    if len(numbers) > 4 or any(number > 255 for number in front) or last >= 256 ** (5 - len(numbers)):
        raise ValueError("no IPv4 address")
    return IPv4Address(sum(number << 8 * (3 - place) for place, number in enumerate(front)) + last)


def _value(part: str) -> int:
    if not _NUMBER.fullmatch(part):
        raise ValueError("no number")
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if len(part) > 1 and part.startswith("0") else int(part)
