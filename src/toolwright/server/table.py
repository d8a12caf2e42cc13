"""From a method and a path to the route that answers there."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from toolwright.server.asking import Route
from toolwright.server.refusal import HttpRefusal, not_found

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
        """The route, and what stands in its places; a Refusal if there is none."""
        given = _segments(path)
        methods = self._methods(self._root, given, 0)
        if not methods:
            raise not_found(f"There is nothing at {path[:200]}. GET /doc lists what there is.")
        route = methods.get("GET" if method == "HEAD" else method)
        if route is None:
            refusal = HttpRefusal(405, "MethodNotAllowed", f"{path[:200]} takes {', '.join(methods)}, not {method}.")
            refusal.headers["allow"] = ", ".join(methods)
            raise refusal
        places = zip(_segments(route.path), given, strict=True)
        return route, {name[1:-1]: unquote(value) for name, value in places if name.startswith("{")}

    def _methods(self, branch: Branch, given: list[str], at: int) -> dict[str, Route]:
        if at == len(given):
            found: dict[str, Route] = branch.get(_HERE, {})
            return found
        for key in (given[at], _ANY):
            if key in branch and key != _HERE:
                found = self._methods(branch[key], given, at + 1)
                if found:
                    return found
        return {}


def _segments(path: str) -> list[str]:
    return path.strip("/").split("/") if path.strip("/") else []
