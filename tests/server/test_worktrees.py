"""Worktrees over HTTP, and MCP servers that a client adds."""

from pathlib import Path

import pytest

from tests.mcp.conftest import scripted
from tests.server.harness import served
from tests.server.test_vcs import git


@pytest.fixture
def repository(project: Path) -> Path:
    git(project, "init", "-q", "-b", "main")
    (project / "a.txt").write_text("one\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "first")
    return project


async def test_a_worktree_is_made_worked_in_reset_and_removed(repository: Path) -> None:
    async with served(repository) as server:
        made = await server.post("/experimental/worktree", {"name": "Fix the bug!"})
        folder = Path(made["directory"])
        assert (made["name"], made["branch"]) == ("fix-the-bug", "work/fix-the-bug")
        assert (folder / "a.txt").read_text() == "one\n"
        assert await server.get("/experimental/worktree") == [str(folder)]
        assert (await server.get(f"/path?directory={folder}"))["worktree"] == str(folder)
        (folder / "a.txt").write_text("two\n")
        place = {"directory": str(folder)}
        await server.send("POST", "/experimental/worktree/reset", 400, json=place)
        await server.send("DELETE", "/experimental/worktree", 500, json=place)
        assert (folder / "a.txt").read_text() == "two\n"
        (folder / "a.txt").write_text("one\n")
        assert await server.post("/experimental/worktree/reset", place)
        assert await server.send("DELETE", "/experimental/worktree", json=place)
        assert not folder.exists()


async def test_only_worktrees_that_were_made_here_are_touched(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "theirs"))
    async with served(repository) as server:
        assert await server.get("/experimental/worktree") == []
        await server.send("DELETE", "/experimental/worktree", 404, json={"directory": str(tmp_path / "theirs")})
        await server.send("POST", "/experimental/worktree", 400, json={"startCommand": "make"})
        await server.post("/experimental/worktree", {"name": "a"})
        await server.send("POST", "/experimental/worktree", 400, json={"name": "a"})


async def test_without_git_there_are_none(project: Path) -> None:
    async with served(project) as server:
        await server.send("POST", "/experimental/worktree", 400, json={})


async def test_a_client_adds_an_mcp_server(project: Path) -> None:
    async with served(project) as server:
        assert await server.get("/mcp") == {}
        added = await server.post("/mcp", {"name": "s", "config": scripted()})
        assert added == {"s": {"status": "connected"}}
        assert "s_echo" in await server.get("/experimental/tool/ids")
        assert await server.post("/mcp/s/disconnect")
        await server.send("POST", "/mcp", 400, json={"name": "s", "config": scripted()})
        await server.send("POST", "/mcp", 400, json={"name": "t", "config": {"command": "not a list"}})
