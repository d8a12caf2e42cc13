"""What git has to say of a folder, over HTTP."""

import subprocess
from pathlib import Path

import pytest

from tests.server.harness import served


def git(folder: Path, *words: str) -> None:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One file changed, one deleted, one new, one with secrets, on a branch with a commit of its own."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for name in ("a.txt", "b ü.txt", ".env"):
        (folder / name).write_text("one\ntwo\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    git(folder, "checkout", "-qb", "work")
    (folder / "c.txt").write_text("c\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "second")
    (folder / "a.txt").write_text("one\nTWO\nthree\n")
    (folder / "b ü.txt").unlink()
    (folder / "new.txt").write_text("new\n")
    (folder / ".env").write_text("KEY=1\n")
    (folder / ".env.local").write_text("KEY=2\n")
    return folder


async def test_changed_deleted_and_new_files_are_listed_without_secrets(repository: Path) -> None:
    async with served(repository) as server:
        assert await server.get("/vcs/status") == [
            {"file": "a.txt", "additions": 2, "deletions": 1, "status": "modified"},
            {"file": "b ü.txt", "additions": 0, "deletions": 2, "status": "deleted"},
            {"file": "new.txt", "additions": 1, "deletions": 0, "status": "added"},
        ]


async def test_their_differences_are_told_since_the_commit_and_since_the_branch_began(repository: Path) -> None:
    async with served(repository) as server:
        patches = {one["file"]: one["patch"] for one in await server.get("/vcs/diff?mode=git&context=0")}
        assert list(patches) == ["a.txt", "b ü.txt", "new.txt"]
        assert patches["a.txt"].endswith("@@ -2 +2,2 @@ one\n-two\n+TWO\n+three\n")
        assert "+new\n" in patches["new.txt"]
        assert "-one\n-two\n" in patches["b ü.txt"]
        assert "KEY" not in str(patches)
        assert "c.txt" in [one["file"] for one in await server.get("/vcs/diff?mode=branch")]
        await server.send("GET", "/vcs/diff?mode=other", status=400)


async def test_without_git_or_without_a_commit_there_is_little_to_say(tmp_path: Path) -> None:
    plain, fresh = tmp_path / "plain", tmp_path / "fresh"
    for folder in (plain, fresh):
        folder.mkdir()
        (folder / "a.txt").write_text("a\n")
    git(fresh, "init", "-q")
    async with served(plain) as server:
        assert await server.get("/vcs/status") == []
    async with served(fresh) as server:
        assert [one["status"] for one in await server.get("/vcs/status")] == ["added"]


async def test_git_is_not_asked_in_a_project_that_is_not_trusted(repository: Path) -> None:
    git(repository, "config", "core.fsmonitor", f"touch {repository}/ran; true")
    async with served(repository, trust=False) as server:
        refused = await server.send("GET", "/vcs/status", status=403)
        assert "not trusted" in refused["data"]["message"]
    async with served(repository) as server:
        await server.get("/vcs/status")
    assert not (repository / "ran").exists()


async def test_a_repository_within_runs_nothing_when_git_is_asked(repository: Path) -> None:
    """A command may have made it, with settings as it pleased."""
    within, mark = repository / "within", repository.parent / "RAN"
    within.mkdir()
    git(within, "init", "-q")
    (within / "f").write_text("x")
    git(within, "add", "f")
    git(within, "commit", "-qm", "1")
    git(within, "config", "filter.own.clean", f"touch {mark}; cat")
    (within / ".gitattributes").write_text("* filter=own\n")
    git(repository, "add", "within")
    (within / "f").write_text("y")
    async with served(repository) as server:
        await server.get("/vcs/status")
        await server.get("/vcs/diff?mode=git")
    assert not mark.exists()
    git(repository, "diff")
    assert mark.exists(), "it does nothing that could be noticed"


async def test_small_questions_of_the_newer_clients_have_an_answer(repository: Path) -> None:
    async with served(repository) as server:
        assert (await server.get("/api/health"))["healthy"] is True
        assert (await server.get("/global/config"))["share"] == "disabled"
        assert all(one["path"].startswith("/") for one in await server.get("/pty/shells"))
        await server.send("PUT", "/auth/openai", json={"type": "api", "key": "k"})
        assert await server.send("DELETE", "/auth/openai") is True
