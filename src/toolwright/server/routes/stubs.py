"""Stubs of routes that clients ask for: empty here, or not offered at all."""

from collections.abc import Mapping
from typing import Any

from toolwright.http_server.refusal import forbidden
from toolwright.server.asking import Answer, RouteCall, Routes
from toolwright.server.routes.project_info import project_id
from toolwright.workspace import Workspace

routes = Routes()

_EMPTY: Mapping[str, Any] = {
    "/find/symbol": [],
    "/experimental/workspace": [],
    "/experimental/workspace/status": [],
    "/experimental/capabilities": {"backgroundSubagents": False},
    "/experimental/console": {"consoleManagedProviders": [], "switchableOrgCount": 0},
}
_EMPTY_LISTS = ("agent", "model", "provider", "command", "skill", "integration", "reference")
_NAMES = {"/find/symbol": "find.symbols"}
_NOT_OFFERED = {
    ("POST", "/session/{sessionID}/share", "session.share"): "Sharing is not offered: nothing leaves this machine.",
    ("DELETE", "/session/{sessionID}/share", "session.unshare"): "Sharing is not offered: nothing was shared.",
    ("POST", "/global/upgrade", "global.upgrade"): "Upgrading over HTTP is not offered. Use your package manager.",
}


def location(workspace: Workspace) -> dict[str, Any]:
    project = {"id": project_id(workspace), "directory": str(workspace.config.root)}
    return {"directory": str(workspace.directory), "project": project}


@routes.get("/api/location", "api.location")
async def where(ask: RouteCall) -> Any:
    """The folder and its project."""
    return location(await ask.workspace())


def _empty(value: Any) -> Answer:
    async def answer(ask: RouteCall) -> Any:
        """Nothing of the kind is here."""
        await ask.workspace()
        return value

    return answer


async def _empty_list(ask: RouteCall) -> Any:
    """Nothing of the kind is here."""
    return {"location": location(await ask.workspace()), "data": []}


def _refused(reason: str) -> Answer:
    async def answer(_: RouteCall) -> Any:
        """Not offered."""
        raise forbidden(reason)

    return answer


for _path, _value in _EMPTY.items():
    routes.get(_path, _NAMES.get(_path, _path.strip("/").replace("/", ".")))(_empty(_value))
for _name in _EMPTY_LISTS:
    routes.get(f"/api/{_name}", f"api.{_name}")(_empty_list)
for (_method, _path, _name), _reason in _NOT_OFFERED.items():
    routes.at(_method, _path, _name)(_refused(_reason))
