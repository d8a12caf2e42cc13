"""One command after the other: what the first leaves for the next to find, and what would add up if it stayed."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.waiting import until
from toolwright.definition import Result
from toolwright.inbox import Question, Reply
from toolwright.process.running.scope import Program, Scope, Scopes
from toolwright.workspace import Workspace, open_workspace

RUNGS = ("bubblewrap", "landlock")
ROUNDS = min(300, int(os.environ.get("TOOLWRIGHT_ATTACK_ROUNDS", "12")))
SECRET = "KEY=the-secret\n"


@pytest.fixture(params=RUNGS)
def rung(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Program]:
    """Every program that is started, where no other program of the machine has a socket that comes and goes."""
    monkeypatch.setattr("toolwright.process.box.hidden_paths.UNIX_SOCKETS", tmp_path / "none")
    programs, start = list[Program](), Scopes.start

    async def note(self: Scopes, program: Program) -> Scope:
        programs.append(program)
        return await start(self, program)

    monkeypatch.setattr(Scopes, "start", note)
    return programs


@asynccontextmanager
async def opened(project: Path, home: Path, rung: str, **more: object) -> AsyncIterator[Workspace]:
    settings = json.dumps({"sandbox": rung, **more})
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TOOLWRIGHT_CONFIG_CONTENT": settings}
    async with open_workspace(project, answer=_yes, trust=True, environment=environment) as workspace:
        first = await workspace.call("bash", command="true")
        if "does not work on this machine" in first.output or not await workspace.sandbox.keeps_all():
            pytest.skip(f"no {rung} with mounts on this machine: {first.output}")
        assert first.error is None
        yield workspace


def _yes(_: Question) -> Reply:
    return Reply(kind="once")


def mounts(program: Program) -> int:
    confined = len(program.walls.confinement["mounts"]) if program.walls.confinement is not None else 0
    return confined + sum(word in ("--bind", "--ro-bind", "--tmpfs") for word in program.argv)


async def run(workspace: Workspace, script: str) -> Result:
    """A script that a program of the project runs, so that no analysis of the command line sees what it does."""
    file = workspace.config.root / "script.sh"
    file.write_text(script)
    return await workspace.call("bash", command="sh script.sh")


async def test_with_the_home_folder_as_project_the_tenth_command_takes_no_more_mounts_than_the_second(
    project: Path, rung: str, started: list[Program]
) -> None:
    (project / ".env").write_text(SECRET)
    async with opened(project, project, rung) as workspace:
        del started[:]
        for _ in range(10):
            assert (await run(workspace, "cat .env")).error is None
    taken = [mounts(program) for program in started]
    assert taken == [taken[1]] * 10


MOVES: dict[str, tuple[str, str]] = {
    "among other people's files": ("mkdir -p node_modules/a", "mv conf node_modules/a/x && mkdir conf"),
    "with something else left in its place": (
        "mkdir -p node_modules/a",
        "mv conf node_modules/a/x; mkdir conf; echo x > conf/.env",
    ),
    "under a folder that seems not to have changed": (
        "mkdir x; touch -d @1000 x conf",
        "rmdir x; mv conf x; touch -d @1000 x",
    ),
    "into a git folder that the command has made": ("true", "mkdir -p .git/objects; mv conf .git/objects/x"),
    "into one further down": ("mkdir -p sub/deep", "mkdir -p sub/deep/.git; mv conf sub/deep/.git/x"),
    "into an environment that is new": ("true", "mkdir -p .venv/lib; mv conf .venv/lib/x"),
}
"""Where a command may move a folder with a secret in it: what it does first, and what then."""


@pytest.mark.parametrize("where", MOVES)
async def test_a_secret_that_a_command_has_moved_is_hidden_from_the_next(
    project: Path, tmp_path: Path, rung: str, where: str
) -> None:
    (project / "conf").mkdir()
    (project / "conf/.env").write_text(SECRET)
    first, second = MOVES[where]
    async with opened(project, tmp_path / "home", rung) as workspace:
        await run(workspace, first)
        await run(workspace, second)
        shown = await run(workspace, "find . -name .env -exec cat {} +; grep -r secret . --include=.env")
    assert "the-secret" not in shown.output


async def test_a_denied_program_does_not_run_where_its_name_is_a_link_to_one_with_a_version(
    project: Path, tmp_path: Path, rung: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "tool3.11").write_text("#!/bin/sh\necho it ran\n")
    (programs / "tool3.11").chmod(0o755)
    (programs / "tool3").symlink_to("tool3.11")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    async with opened(project, tmp_path / "home", rung, permission={"bash": {"tool3 *": "deny"}}) as workspace:
        outcome = await run(workspace, "tool3; env tool3; tool3.11")
    assert "it ran" not in outcome.output
    assert "denied" in outcome.output


LINKS = """
ln -s ../../outside .git/worktrees
mkdir -p .git/modules; ln -s ../../../outside .git/modules/m
for r in a b c d e; do git init -q $r; done
rm -rf a/.git/info; ln -s "$DATA" a/.git/info
ln -s "$DATA/auth.json" b/.git/info/key; ln -s ../../../.env b/.git/info/env
rm c/.git/config; ln -s ../../.env c/.git/config
rm -rf d/.git/worktrees; ln -s ../../../outside d/.git/worktrees
mkfifo e/.git/commondir; rm e/.git/config; truncate -s 1T e/.git/config
mkdir f; ln -s ../../outside f/.git
"""
"""What a command puts into git folders for the next box to trip over."""
FOLLOWED = """
cat .env [a-f]/.git/config [a-f]/.git/info/* 2>/dev/null | head -c 1000000 | grep -a secret
for p in .git/worktrees .git/modules/m d/.git/worktrees f/.git "$OUTSIDE"; do
  echo x > $p/evil; echo x > $p/within/evil; mkdir $p/hooks; done 2>/dev/null
true
"""


async def test_links_in_git_folders_lead_our_boxes_nowhere(project: Path, tmp_path: Path, rung: str) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    data = home / ".local/share/toolwright"
    (outside / "within").mkdir(parents=True)
    (outside / "HEAD").write_text("ref: x")
    data.mkdir(parents=True)
    (data / "auth.json").write_text('{"a": {"type": "api", "key": "the-secret"}}')
    (project / ".env").write_text(SECRET)
    _git(project, "init", "-q")
    async with opened(project, home, rung) as workspace:
        before = _files_of(outside)
        made = await run(workspace, f"DATA={data}; {LINKS}")
        assert made.error is None, made.output
        shown = await run(workspace, f"OUTSIDE={outside}; {FOLLOWED}")
    assert shown.output == "(no output)"
    assert _files_of(outside) == before


def _files_of(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*"))


async def test_a_git_file_of_the_project_opens_nothing_above_it(project: Path, tmp_path: Path, rung: str) -> None:
    (project / ".git").write_text("gitdir: made-up")
    (project / "made-up").mkdir()
    (project / "made-up/config").write_text("[core]\n\tworktree = ..\n")
    (project / "made-up/commondir").write_text("../..\n")
    (project / "made-up/HEAD").write_text("ref: x")
    (project.parent / "HEAD").write_text("ref: x")
    async with opened(project, tmp_path / "home", rung) as workspace:
        await run(workspace, "echo x > ../evil; true")
    assert not (project.parent / "evil").exists()


async def test_links_that_may_not_be_edited_break_no_command_wherever_they_lead(
    project: Path, tmp_path: Path, rung: str
) -> None:
    (tmp_path / "outside").write_text("kept")
    (project / "in.lock").write_text("kept")
    rules = {"permission": {"edit": {"*": "allow", "*.lock": "deny"}}}
    async with opened(project, tmp_path / "home", rung, **rules) as workspace:
        for name, target in {"to": "in.lock", "out": "../outside", "nowhere": "nothing"}.items():
            (project / f"{name}.lock").symlink_to(target)
        for _ in ("alone", "beside a job"):
            done = await run(workspace, "echo x > to.lock; echo x > out.lock; echo done")
            assert done.error is None, done.output
            assert "done" in done.output.splitlines()
            await workspace.call("bash", command="sleep 600", background=True, timeout=50)
    assert (project / "in.lock").read_text() == (tmp_path / "outside").read_text() == "kept"


async def test_a_row_of_commands_leaves_nothing_that_adds_up(
    project: Path, tmp_path: Path, rung: str, started: list[Program]
) -> None:
    home = tmp_path / "home"
    async with opened(project, home, rung) as workspace:

        async def some(count: int) -> tuple[int, int, int, int]:
            for number in range(count):
                (project / "a.env").write_text(f"{number}")
                await run(workspace, f"mkdir -p d{number}/node_modules; rm -r d{number}; true")
            files = sum(1 for _ in (home / ".local/share/toolwright/tmp").rglob("*"))
            return _descriptors(), files, len(started[-1].argv), mounts(started[-1])

        before = await some(40)
        assert await some(40) == before


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are all that is needed


async def test_nothing_is_left_of_what_commands_had_for_themselves(project: Path, tmp_path: Path, rung: str) -> None:
    home = tmp_path / "home"
    async with opened(project, home, rung) as workspace:
        await run(workspace, "echo x > /tmp/x")
        folder = home / ".local/share/toolwright/tmp"
        assert any(folder.rglob("tmp/x"))
    assert list(folder.iterdir()) == []


async def test_commands_side_by_side_have_what_their_boxes_need(project: Path, tmp_path: Path, rung: str) -> None:
    async with opened(project, tmp_path / "home", rung) as workspace:
        calls = (workspace.call("bash", command=f"sleep 0.0{number}; echo done") for number in range(8))
        results = await asyncio.gather(*calls)
        assert [result.output.strip() for result in results] == ["done"] * 8
        await until(_is_gone(project / ".toolwright"))


async def test_what_boxes_need_is_made_again_if_somebody_takes_it_away(
    project: Path, tmp_path: Path, rung: str
) -> None:
    heard_of = {"mode": rung, "capture": False}
    async with opened(project, tmp_path / "home", rung, sandbox=heard_of) as workspace:
        await workspace.call("bash", command="sleep 600", background=True, timeout=50)
        (project / ".toolwright").rmdir()
        result = await run(workspace, "mkdir -p .toolwright/agent && echo made")
        assert result.error is None
        assert "made" not in result.output.splitlines()


def _is_gone(place: Path) -> Callable[[], bool]:
    return lambda: not place.exists()


SHOWS_THE_PAST = [
    "git log -p",
    "git log --all --patch",
    "git show HEAD~1",
    "git diff HEAD~1 HEAD",
    "git log -p -- .",
    "git whatchanged -p",
    "git --no-pager log -p --reverse",
    "git -C . log -p",
    "env A=1 git log -p",
]


@pytest.mark.parametrize("command", SHOWS_THE_PAST)
async def test_without_a_box_git_shows_nothing_of_a_secret_that_it_once_had(
    project: Path, tmp_path: Path, command: str
) -> None:
    home, environment = tmp_path / "home", _plain_git()
    (project / ".env").write_text(SECRET)
    (project / "a.txt").write_text("seen before\n")
    steps = (("init", "-q"), ("add", "-A"), ("commit", "-qm1"), ("rm", "-q", ".env", "a.txt"), ("commit", "-qm2"))
    for step in steps:
        _git(project, *step)
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/attributes").write_text("*.png -diff\n")
    settings = '{"sandbox": "off"}'
    environment |= {"HOME": str(home), "TOOLWRIGHT_CONFIG_CONTENT": settings}
    async with open_workspace(project, answer=_no, trust=True, environment=environment) as workspace:
        shown = await workspace.call("bash", command=command)
    assert shown.error is None, shown.output
    assert "seen before" in shown.output
    assert "the-secret" not in shown.output


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, env=_plain_git(), check=True)


def _no(_: Question) -> Reply:
    return Reply(kind="reject")


def _plain_git() -> dict[str, str]:
    who = {f"GIT_{role}_{what}": "a" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", **who}


FLIPS = """
import os, time
end = os.path.join(os.getcwd(), "enough")
while not os.path.exists(end):
    for one, two in (("conf", "other"), ("other", "conf")):
        try:
            os.rename(one, two)
        except OSError:
            time.sleep(0.001)
"""
"""A job that gives the folder with the secret another name and back, for as long as it is let."""


async def test_a_job_cannot_move_a_secret_while_the_box_of_another_command_is_put_up(
    project: Path, tmp_path: Path, rung: str
) -> None:
    (project / "conf").mkdir()
    (project / "conf/.env").write_text(SECRET)
    (project / "flips.py").write_text(FLIPS)
    async with opened(project, tmp_path / "home", rung) as workspace:
        await workspace.call("bash", command="python3 flips.py", background=True, timeout=50)
        for _ in range(ROUNDS):
            shown = await run(workspace, "cat conf/.env other/.env 2>/dev/null; true")
            assert "the-secret" not in shown.output
        (project / "enough").touch()


EXCHANGES = """
import ctypes, os, time
exchange = lambda one, two: ctypes.CDLL(None).renameat2(-100, one, -100, two, 2)
os.makedirs(".git/worktrees/within"), os.makedirs("x/.git"), open("x/.git/foo", "w").close()
os.symlink("../../outside", ".git/rebase-link"), os.symlink("../../.env", "x/.git/index.link")
open("begun", "w").close()
while not os.path.exists("enough"):
    exchange(b".git/worktrees", b".git/rebase-link"), exchange(b"x/.git/foo", b"x/.git/index.link")
    time.sleep(0.0007)
"""
"""A job that has links in the places of what the next box mounts, half of the time."""


async def test_a_job_cannot_lead_the_box_of_another_command_elsewhere_while_it_is_put_up(
    project: Path, tmp_path: Path, rung: str
) -> None:
    (project / ".env").write_text(SECRET)
    (tmp_path / "outside/within").mkdir(parents=True)
    _git(project, "init", "-q")
    (project / "exchanges.py").write_text(EXCHANGES)
    async with opened(project, tmp_path / "home", rung) as workspace:
        await workspace.call("bash", command="python3 exchanges.py", background=True, timeout=50)
        await until((project / "begun").exists)
        for _ in range(ROUNDS):
            shown = await run(workspace, "cat .env; echo x > ../outside/within/evil; true")
            assert "the-secret" not in shown.output
            assert not (tmp_path / "outside/within/evil").exists()
        (project / "enough").touch()
