"""The proxy on the way to a provider, by the environment or, on systems that have such, by their settings."""

import os
import sys
from base64 import b64encode
from urllib.parse import SplitResult, unquote, urlsplit

PORTS = {"http": 80, "https": 443}


class BadProxy(Exception):
    """The address named as the proxy cannot be one."""


def proxy_of(target: SplitResult) -> SplitResult | None:
    """The proxy for an address; None where it is reached directly."""
    if sys.platform == "linux" and not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    from toolwright.web.proxies import is_excepted

    proxies, host, port = getproxies(), target.hostname or "", target.port or PORTS[target.scheme]
    address = proxies.get(target.scheme) or proxies.get("all")
    if not address or proxy_bypass(host) or is_excepted(host, port, proxies.get("no", "")):
        return None
    proxy = _split(address if "://" in address else f"http://{address}")
    if proxy is None:
        raise BadProxy(f"the proxy {_shown(address)} is no web address")
    if proxy.scheme != "http":
        raise BadProxy(f"the proxy {_shown(address)} is of a kind that is not known here; one by http:// is")
    return proxy


def login_of(address: SplitResult) -> str:
    """The login that is in an address, as a header has it; empty if there is none."""
    if address.username is None:
        return ""
    pair = f"{unquote(address.username)}:{unquote(address.password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def _split(given: str) -> SplitResult | None:
    try:
        proxy = urlsplit(given)
        return proxy if proxy.hostname and proxy.port != 0 else None
    except ValueError:
        return None


def _shown(proxy: str) -> str:
    """Without the login that may be in it."""
    return proxy.rpartition("@")[2]
