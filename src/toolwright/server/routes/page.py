"""The web page: its files, which anybody may have, and the key with which it speaks to the server."""

from pathlib import Path
from typing import Any

from starlette.responses import Response

from toolwright.http_server.refusal import not_found
from toolwright.server.asking import RouteCall, Routes

routes = Routes()

FOLDER = Path(__file__).parent.parent / "page"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@routes.get("/", "page")
async def page(_: RouteCall) -> Any:
    """The web page."""
    return page_file()


@routes.get("/page/{name}", "page.file")
async def part(ask: RouteCall) -> Any:
    """A file of the web page."""
    return page_file(ask.path["name"])


@routes.get("/tw/page/key", "tw.page.key")
async def key(ask: RouteCall) -> Any:
    """Get the key that the page keeps and sends in place of the secret; empty where no secret is wanted."""
    ask.serving.opened.set()
    return {"key": ask.serving.page_key}


def page_file(name: str = "index.html") -> Response:
    path = FOLDER / name
    if "/" in name or path.suffix not in _KINDS or not path.is_file():
        raise not_found(f"The page has no file {name[:80]!r}.")
    return Response(path.read_bytes(), headers={"cache-control": "no-store"}, media_type=_KINDS[path.suffix])
