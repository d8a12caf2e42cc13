"""The web page and its files."""

from pathlib import Path
from typing import Any

from starlette.responses import Response

from toolwright.server.asking import Ask, Routes
from toolwright.server.refusal import not_found

routes = Routes()

FOLDER = Path(__file__).parent.parent / "page"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@routes.get("/", "page")
async def page(_: Ask) -> Any:
    """The web page."""
    return _file("index.html")


@routes.get("/page/{name}", "page.file")
async def part(ask: Ask) -> Any:
    """A file of the web page."""
    return _file(ask.ids["name"])


def login() -> Response:
    """The page with one field, for who comes without the secret."""
    response = _file("login.html")
    response.status_code = 401
    return response


def _file(name: str) -> Response:
    path = FOLDER / name
    if "/" in name or path.suffix not in _KINDS or not path.is_file():
        raise not_found(f"The page has no file {name[:80]!r}.")
    return Response(path.read_bytes(), headers={"cache-control": "no-store"}, media_type=_KINDS[path.suffix])
