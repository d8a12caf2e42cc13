"""One request, and the route that answers it: its path, query and body, read with limits and checked by a schema."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.requests import ClientDisconnect, Request

from toolwright.http_server.guard import BODY
from toolwright.http_server.refusal import HttpRefusal, bad_request, forbidden, not_found
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.schema.check import problems_with
from toolwright.workspace import Workspace

if TYPE_CHECKING:
    from toolwright.server.serving import Serving


@record(frozen=True, slots=True, kw_only=True)
class RouteCall:
    """A request of a client to a route."""

    request: Request
    path: Mapping[str, str]
    """Values of the route's path, by name."""
    serving: "Serving"
    route: "Route"

    def query(self, name: str, default: str = "") -> str:
        return self.request.query_params.get(name, default)

    def flag(self, name: str) -> bool:
        return self.query(name) in ("true", "1")

    def query_int(self, name: str, default: int, most: int) -> int:
        """A number of the query, at least 0."""
        value = self.query(name)
        if not value:
            return default
        try:
            return max(0, min(int(float(value)), most))
        except (ValueError, OverflowError):
            raise bad_request(f"{name} must be a whole number, not {value[:40]!r}.") from None

    @property
    def named_folder(self) -> str:
        """The folder that the request names itself; empty if it names none."""
        header = self.request.headers.get("x-opencode-directory", "")
        folder = self.query("directory") or self.query("location[directory]")
        return folder or (unquote(header) if "%" in header else header)

    async def workspace(self) -> Workspace:
        """The workspace of the folder that is asked about."""
        return await self.serving.projects.of(self.named_folder)

    def require_secret(self, what: str) -> None:
        """Refuse the request where anybody could make it."""
        if not self.serving.protected:
            raise forbidden(f"{what} only where clients bring a secret. Start the server without --no-auth.")

    async def body(self) -> Json:
        """The body as an object that fits the route's schema; nothing at all is an empty object."""
        text = await self._content()
        if not text.strip():
            value: Any = {}
        else:
            try:
                value = read_json(text.decode("utf-8"))
            except ValueError as error:
                raise bad_request(f"The body is not JSON: {error}.") from error
        if self.route.body is not None and (issues := problems_with(value, self.route.body)):
            raise bad_request("The body is not as it should be:", issues)
        if not isinstance(value, dict):
            raise bad_request("The body must be a JSON object.")
        return value

    async def _content(self) -> bytes:
        pieces: list[bytes] = []
        size = 0
        try:
            async for piece in self.request.stream():
                size += len(piece)
                if size > BODY:
                    raise HttpRefusal(413, "TooLarge", f"A body has at most {BODY} bytes.")
                pieces.append(piece)
        except ClientDisconnect:
            raise bad_request("The body came to no end.") from None
        return b"".join(pieces)


Answer = Callable[[RouteCall], Awaitable[Any]]
"""Answers a request: a JSON value, or a starlette response."""


@record(frozen=True, slots=True, kw_only=True)
class Route:
    """A method and a path, and who answers there."""

    method: str
    path: str
    name: str
    """As clients know it, such as `session.list`."""
    answer: Answer
    body: Json | None = None
    """The schema of the body, for those that take one."""
    summary: str = ""


class Routes:
    """Collects the routes of a module: `@routes.get("/path", "path.get")`."""

    def __init__(self) -> None:
        self.all: list[Route] = []

    def at(self, method: str, path: str, name: str, body: Json | None = None) -> Callable[[Answer], Answer]:
        def added(answer: Answer) -> Answer:
            summary = (answer.__doc__ or "").strip().partition("\n")[0]
            self.all.append(Route(method=method, path=path, name=name, answer=answer, body=body, summary=summary))
            return answer

        return added

    def get(self, path: str, name: str) -> Callable[[Answer], Answer]:
        return self.at("GET", path, name)

    def post(self, path: str, name: str, body: Json | None = None) -> Callable[[Answer], Answer]:
        return self.at("POST", path, name, body)


Branch = dict[str, Any]
_ANY = "{}"
_HERE = "/"


class Table:
    """A tree of path segments, so that finding a route costs the same however many there are."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._root: Branch = {}
        for route in self.routes:
            branch = self._root
            for segment in _segments(route.path):
                branch = branch.setdefault(_ANY if segment.startswith("{") else segment, {})
            branch.setdefault(_HERE, {})[route.method] = route

    def find(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        """Return the route and the values of its path; HttpRefusal if there is none."""
        segments = _segments(path)
        methods = self._methods(self._root, segments, 0)
        if not methods:
            raise not_found(f"There is nothing at {path[:200]}. GET /doc lists what there is.")
        route = methods.get("GET" if method == "HEAD" else method)
        if route is None:
            refusal = HttpRefusal(405, "MethodNotAllowed", f"{path[:200]} takes {', '.join(methods)}, not {method}.")
            refusal.headers["allow"] = ", ".join(methods)
            raise refusal
        places = zip(_segments(route.path), segments, strict=True)
        return route, {name[1:-1]: unquote(value) for name, value in places if name.startswith("{")}

    def _methods(self, branch: Branch, segments: list[str], at: int) -> dict[str, Route]:
        if at == len(segments):
            routes: dict[str, Route] = branch.get(_HERE, {})
            return routes
        for key in (segments[at], _ANY):
            if key in branch and key != _HERE:
                routes = self._methods(branch[key], segments, at + 1)
                if routes:
                    return routes
        return {}


def _segments(path: str) -> list[str]:
    return path.strip("/").split("/") if path.strip("/") else []
