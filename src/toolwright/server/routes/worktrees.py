"""Worktrees of git, for clients that work on several things at once: made below our data, removed only when clean."""

import re
import secrets
from pathlib import Path
from typing import Any

from toolwright.http_server.refusal import bad_request, not_found
from toolwright.protocols.json_types import Json
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.routes.project_info import project_id
from toolwright.server.routes.vcs import Git

routes = Routes()

_TEXT = {"type": "string"}
_NAMED: Json = {"type": "object", "properties": {"name": _TEXT, "startCommand": _TEXT}}
_PLACED: Json = {"type": "object", "required": ["directory"], "properties": {"directory": _TEXT}}
_OTHER = re.compile(r"[^a-z0-9]+")


@routes.get("/experimental/worktree", "worktree.list")
async def listed(ask: RouteCall) -> Any:
    """The folders of the worktrees beside this one."""
    paths = await (await Worktrees.of(ask)).all()
    for path in paths:
        ask.serving.projects.admit(path)
    return [str(path) for path in paths]


@routes.post("/experimental/worktree", "worktree.create", _NAMED)
async def create(ask: RouteCall) -> Any:
    """A new worktree on a branch of its own, from the last commit."""
    body, worktrees = await ask.body(), await Worktrees.of(ask)
    if body.get("startCommand"):
        raise bad_request("No startCommand is run here. Have it run in a session, where the rules judge it.")
    name = _OTHER.sub("-", str(body.get("name") or "").lower()).strip("-")[:40] or f"work-{secrets.token_hex(3)}"
    path = await worktrees.make(name)
    ask.serving.projects.admit(path)
    return {"name": name, "branch": f"work/{name}", "directory": str(path)}


@routes.at("DELETE", "/experimental/worktree", "worktree.remove", _PLACED)
async def remove(ask: RouteCall) -> Any:
    """Remove a worktree; one with work that is not committed stays."""
    worktrees = await Worktrees.of(ask)
    path = await worktrees.named(await ask.body())
    await worktrees.git.run("worktree", "remove", "--", str(path))
    return True


@routes.post("/experimental/worktree/reset", "worktree.reset", _PLACED)
async def reset(ask: RouteCall) -> Any:
    """Bring a worktree to the last commit of the folder; one with work that is not committed stays as it is."""
    worktrees = await Worktrees.of(ask)
    path = await worktrees.named(await ask.body())
    if await worktrees.git.run("-C", str(path), "status", "--porcelain"):
        raise bad_request(f"{path.name} has work that is not committed. Commit it first, or discard it in a session.")
    await worktrees.git.run("-C", str(path), "reset", "--hard", "-q", await worktrees.git.last())
    return True


class Worktrees:
    """The worktrees of one repository that were made here."""

    def __init__(self, git: Git, folder: Path) -> None:
        self.git, self._folder = git, folder

    @classmethod
    async def of(cls, ask: RouteCall) -> "Worktrees":
        workspace = await ask.workspace()
        return cls(Git(workspace), workspace.folders.data / "worktrees" / project_id(workspace))

    async def all(self) -> list[Path]:
        """Those that git knows of and that lie in our folder."""
        listing = await self.git.run("worktree", "list", "--porcelain", "-z")
        paths = [Path(line.removeprefix("worktree ")) for line in listing.split("\0") if line.startswith("worktree ")]
        return [path for path in paths if path.is_relative_to(self._folder)]

    async def make(self, name: str) -> Path:
        path = self._folder / name
        if path.exists():
            raise bad_request(f"There is a worktree {name!r} already. Choose another name, or remove it first.")
        self._folder.mkdir(parents=True, exist_ok=True)
        await self.git.run("worktree", "add", "-q", "-b", f"work/{name}", "--", str(path), await self.git.last())
        return path

    async def named(self, body: Json) -> Path:
        path = Path(body["directory"])
        if path not in await self.all():
            raise not_found(f"{body['directory'][:200]} is no worktree that was made here.")
        return path
