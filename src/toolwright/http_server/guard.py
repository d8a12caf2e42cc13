"""The guard before every request: host, secret, origin, size."""

import secrets
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import field
from typing import Any
from urllib.parse import unquote

from toolwright.app.server_secret import Secret, bearer_of
from toolwright.http_server.refusal import HttpRefusal, forbidden
from toolwright.record import record

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = 32 * 1024
"""Bytes of all headers together."""
BODY = 32 * 1024 * 1024
"""Bytes of a request's body."""
AT_ONCE = 64
"""Requests of one peer that are worked on at the same time, beyond those that wait for a turn or listen."""
WRONG = 20
"""Wrong secrets a minute, from one peer."""
_SAFE = ("GET", "HEAD")
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
    origins: frozenset[str] = frozenset()
    """Of other pages, named by the person who started the server."""
    page_key: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """Key that the page sends in place of the secret."""
    has_page: bool = True
    """True if a page is served, whose own files need no secret and for which a browser may ask for a password."""
    _wrong: dict[str, deque[float]] = field(default_factory=dict[str, "deque[float]"])
    _working: Counter[str] = field(default_factory=Counter[str])

    def admit(self, scope: Scope) -> None:
        """Let a request through or raise a Refusal. The secret is taken off the path, if it stands there."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADERS:
            raise HttpRefusal(431, "TooLarge", f"The headers have at most {HEADERS} bytes.")
        self._check_host(headers)
        self._check_secret(scope, headers)
        self._check_origin(scope, headers)
        _check_body(scope, headers)

    def _check_host(self, headers: dict[str, str]) -> None:
        host = headers.get("host", "").lower()
        if self.hosts and host not in self.hosts:
            way = " Start it with --allow-host." if self.has_page else ""
            raise HttpRefusal(421, "WrongHost", f"This server does not answer as {host[:80]!r}.{way}")

    def _check_secret(self, scope: Scope, headers: dict[str, str]) -> None:
        path: str = scope["path"]
        token, by_path = "", path.startswith(_PREFIX)
        if by_path:
            # As it was sent: a secret may have a slash in it.
            token, _, rest = (scope["raw_path"] or b"").decode("latin-1")[len(_PREFIX) :].partition("/")
            token, scope["path"], scope["raw_path"] = unquote(token), unquote(f"/{rest}"), None
        if self.secret is None:
            return
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            return
        if self.has_page and _is_of_page(path) and scope["method"] in _SAFE:
            return
        verdicts = [
            *([self.secret.matches(token)] if by_path else []),
            *([self._is_header(headers["authorization"])] if "authorization" in headers else []),
            *([self.secret.is_pair(pair)] if (pair := _auth_token(scope)) else []),
        ]
        peer = _peer(scope)
        if self._is_limited(peer) and verdicts and not (self.secret.generated and any(verdicts)):
            raise HttpRefusal(
                429, "TooManyRequests", "Too many wrong secrets. Wait a minute, then bring the right one."
            )
        if any(verdicts):
            return
        if verdicts:
            self._wrong.setdefault(peer, deque(maxlen=WRONG)).append(time.monotonic())
            self._wrong = dict(list(self._wrong.items())[-1000:])
        forms = "the address it printed, a bearer token, or a password" if self.has_page else "a bearer token"
        message = f"This server wants its secret: {forms}."
        refusal = HttpRefusal(401, "Unauthorized", message)
        # A page that is not ours could have the browser ask the person for a password of ours.
        of_script = not self.has_page or headers.get("sec-fetch-mode", "navigate") != "navigate"
        refusal.headers["www-authenticate"] = f'{"Bearer" if of_script else "Basic"} realm="toolwright"'
        raise refusal

    def _is_header(self, header: str) -> bool:
        """Say whether an `Authorization` header has the secret, or the key of the page."""
        of_page = bearer_of(header)
        by_page = of_page is not None and secrets.compare_digest(of_page, self.page_key.encode())
        return by_page or (self.secret is not None and self.secret.is_header(header))

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
            way = " Name it with --cors to allow it." if self.has_page else ""
            raise forbidden(f"Requests from another page's origin are not carried out.{way}")
        if headers.get("sec-fetch-site") == "cross-site":
            raise forbidden("Requests from another site are not carried out.")

    def headers_for(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """Return the headers that every answer gets beside its own."""
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


def _is_of_page(path: str) -> bool:
    """Say whether a path is of the page's own files, in which there is no secret: it asks for one itself."""
    return path == "/" or path.startswith("/page/")


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _auth_token(scope: Scope) -> str:
    """`auth_token=` of the query, as browsers bring it to streams."""
    from urllib.parse import parse_qs

    query = scope.get("query_string", b"").decode("latin-1")
    return parse_qs(query).get("auth_token", [""])[0] if "auth_token=" in query else ""
