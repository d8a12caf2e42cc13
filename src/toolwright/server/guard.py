"""What every request passes before it is looked at: host, secret, origin, size."""

import secrets
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import field
from typing import Any

from toolwright.record import record
from toolwright.server.asking import BODY
from toolwright.server.refusal import HttpRefusal, forbidden
from toolwright.server.secret import Secret

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = 32 * 1024
"""Bytes of all headers together."""
AT_ONCE = 64
"""Requests of one peer that are worked on at the same time, beyond those that wait for a turn or listen."""
WRONG = 20
"""Wrong secrets a minute, from one peer."""
_SAFE = ("GET", "HEAD")
OPEN = ("/page/login.js", "/page/style.css")
"""What the page that asks for the secret needs itself."""
_PREFIX = "/k-"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    # No script can make HTML from text.
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_ALWAYS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", _POLICY.encode()),
]


@record(slots=True, kw_only=True)
class Guard:
    """Decides whether a request is let through, and by which path."""

    secret: Secret | None
    hosts: frozenset[str]
    """`name:port` of every name we answer to; empty where we listen on a socket of the file system."""
    port: int
    origins: frozenset[str] = frozenset()
    """Of other pages, named by the person who started the server."""
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _wrong: dict[str, deque[float]] = field(default_factory=dict[str, "deque[float]"])
    _working: Counter[str] = field(default_factory=Counter[str])

    @property
    def cookie_name(self) -> str:
        return f"tw_{self.port}"

    def admit(self, scope: Scope) -> bool:
        """Let a request through or raise a Refusal; True if it came by the secret path, which is taken off it."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADERS:
            raise HttpRefusal(431, "TooLarge", f"The headers have at most {HEADERS} bytes.")
        self._check_host(headers)
        by_path = self._check_secret(scope, headers)
        self._check_origin(scope, headers)
        _check_body(scope, headers)
        return by_path

    def _check_host(self, headers: dict[str, str]) -> None:
        host = headers.get("host", "").lower()
        if self.hosts and host not in self.hosts:
            raise HttpRefusal(
                421, "WrongHost", f"This server does not answer as {host[:80]!r}. Start it with --allow-host."
            )

    def _check_secret(self, scope: Scope, headers: dict[str, str]) -> bool:
        path: str = scope["path"]
        token, by_path = "", path.startswith(_PREFIX)
        if by_path:
            token, _, rest = path[len(_PREFIX) :].partition("/")
            scope["path"], scope["raw_path"] = f"/{rest}", None
        if self.secret is None:
            return by_path
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            return by_path
        if path in OPEN and scope["method"] in _SAFE:
            return by_path
        given = [
            *([self.secret.is_it(token)] if by_path else []),
            *([self.secret.is_header(headers["authorization"])] if "authorization" in headers else []),
            *(
                [secrets.compare_digest(cookie.encode(), self.cookie.encode())]
                if (cookie := self._cookie_of(headers))
                else []
            ),
            *([self.secret.is_pair(pair)] if (pair := _auth_token(scope)) else []),
        ]
        peer = _peer(scope)
        if self._is_limited(peer) and given and not (self.secret.made and any(given)):
            raise HttpRefusal(
                429, "TooManyRequests", "Too many wrong secrets. Wait a minute, then bring the right one."
            )
        if any(given):
            return by_path
        if given:
            self._wrong.setdefault(peer, deque(maxlen=WRONG)).append(time.monotonic())
            self._wrong = dict(list(self._wrong.items())[-1000:])
        message = "This server wants its secret: the address it printed, a bearer token, or a password."
        refusal = HttpRefusal(401, "Unauthorized", message)
        refusal.headers["www-authenticate"] = 'Basic realm="toolwright"'
        raise refusal

    def _cookie_of(self, headers: dict[str, str]) -> str:
        for piece in headers.get("cookie", "").split(";"):
            name, _, value = piece.strip().partition("=")
            if name == self.cookie_name:
                return value
        return ""

    def _is_limited(self, peer: str) -> bool:
        wrong = self._wrong.get(peer, deque[float]())
        return len(wrong) >= WRONG and time.monotonic() - wrong[0] < 60

    def _check_origin(self, scope: Scope, headers: dict[str, str]) -> None:
        origin, method = headers.get("origin"), scope["method"]
        own = f"http://{headers.get('host', '')}"
        named = origin in self.origins
        if method in _SAFE or named:
            return
        if origin is not None and origin != own:
            raise forbidden("Requests from another page's origin are not carried out. Name it with --cors to allow it.")
        if headers.get("sec-fetch-site") == "cross-site":
            raise forbidden("Requests from another site are not carried out.")

    def headers_for(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """What every answer says beside its own headers."""
        origin = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"), "")
        if origin not in self.origins:
            return _ALWAYS
        return [*_ALWAYS, (b"access-control-allow-origin", origin.encode()), (b"vary", b"Origin")]

    def preflight(self, scope: Scope) -> dict[str, str]:
        """The answer to a page that asks what it may send."""
        origin = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"), "")
        if origin not in self.origins:
            raise forbidden("Requests from another page's origin are not carried out.")
        return {
            "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
            "access-control-allow-headers": "authorization, content-type, x-opencode-directory, last-event-id",
            "access-control-max-age": "600",
        }

    def begin(self, scope: Scope) -> Callable[[], None]:
        """Count a request of its peer; the returned function ends that."""
        peer = _peer(scope)
        if self._working[peer] >= AT_ONCE:
            raise HttpRefusal(
                429, "TooManyRequests", f"At most {AT_ONCE} requests are worked on at once. Wait for some."
            )
        self._working[peer] += 1
        counted = [True]

        def end() -> None:
            if counted:
                counted.clear()
                self._working[peer] -= 1
                if not self._working[peer]:
                    del self._working[peer]

        return end


def _check_body(scope: Scope, headers: dict[str, str]) -> None:
    length = headers.get("content-length", "")
    has_body = (length not in ("", "0")) or "transfer-encoding" in headers
    if length.isdecimal() and int(length) > BODY:
        raise HttpRefusal(413, "TooLarge", f"A body has at most {BODY} bytes.")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if scope["method"] not in _SAFE and has_body and kind != "application/json":
        raise HttpRefusal(
            415, "UnsupportedMediaType", f"A body must be application/json, not {kind[:60] or 'of no type'}."
        )


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _auth_token(scope: Scope) -> str:
    """`auth_token=` of the query, as browsers bring it to streams."""
    from urllib.parse import parse_qs

    query = scope.get("query_string", b"").decode("latin-1")
    return parse_qs(query).get("auth_token", [""])[0] if "auth_token=" in query else ""
