"""Proxies that the environment names for addresses."""

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from toolwright.errors import ToolError
from toolwright.record import record
from toolwright.web.urls import Url


@record(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A proxy that connections are made through."""

    host: str
    port: int
    secure: bool = False
    credentials: str = ""
    """`name:password`, for the proxy alone."""


def proxy_for(url: Url, environment: Mapping[str, str]) -> Proxy | None:
    """The proxy that `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` come to, in either case."""

    def value(name: str) -> str:
        return environment.get(name) or environment.get(name.upper()) or ""

    proxy = value(f"{url.scheme}_proxy") or value("all_proxy")
    if not proxy or is_excepted(url.host, url.port, value("no_proxy")):
        return None
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        host, port = parts.hostname, parts.port
    except ValueError:  # its text has the user name and password in it
        raise ToolError(
            f"The proxy for {url.scheme} is not an address. Correct {url.scheme}_proxy.", "network"
        ) from None
    if parts.scheme not in ("http", "https") or not host:
        raise ToolError(
            f"The proxy for {url.scheme} must be an http:// or https:// address. Correct {url.scheme}_proxy.", "network"
        )
    return Proxy(
        host=host,
        port=port or (443 if parts.scheme == "https" else 80),
        secure=parts.scheme == "https",
        credentials=f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else "",
    )


def is_excepted(host: str, port: int, exceptions: str) -> bool:
    """Tell whether `no_proxy` names it: `*`, `host`, `.host`, `*.host`, `host:8080`, `[::1]` or `10.0.0.0/8`."""
    for entry in (one.strip() for one in exceptions.lower().split(",")):
        if entry == f"[{host}]" or ("/" in entry and _is_within(host, entry)):
            return True
        name, _, wanted = entry.partition(":") if entry.count(":") == 1 else (entry, "", "")
        suffix = name.removeprefix("*").lstrip(".")
        is_host = host == suffix and not name.startswith("*")
        fits = name == "*" or is_host or (suffix and host.endswith(f".{suffix}"))
        if fits and (not wanted or wanted == str(port)):
            return True
    return False


def _is_within(host: str, network: str) -> bool:
    from ipaddress import ip_address, ip_network

    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:  # a name, which is in no network
        return False
