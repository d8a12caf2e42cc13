"""A project outside of the temporary folders, a command in it, and whether undo gives back all that was there."""

import os
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from tests.outside import outside_folder
from tests.process.shell_session import EVERYTHING_ALLOWED, ShellSession, open_shell
from toolwright.definition import Result
from toolwright.permission.rules import Rule
from toolwright.process.sandbox.sandbox import SandboxSettings
from toolwright.session.undo.file_back import Selection
from toolwright.session.undo.undo import Undo

Kind = Literal["bubblewrap", "landlock", "landlock alone"]
KINDS: tuple[Kind, ...] = ("bubblewrap", "landlock", "landlock alone")


@asynccontextmanager
async def captured(kind: Kind = "bubblewrap", rules: Sequence[Rule] = EVERYTHING_ALLOWED) -> AsyncIterator["Case"]:
    """Open a project with a home of its own around it."""
    with outside_folder() as home:
        project = home / "project"
        project.mkdir()
        git(project, "init", "-q")
        environment = {**os.environ, "HOME": str(home)}
        settings = SandboxSettings(mode="landlock" if kind == "landlock alone" else kind)
        replies = ["once"] * 50
        async with open_shell(
            project, rules=rules, sandbox=settings, environment=environment, replies=replies
        ) as shell:
            if kind == "landlock alone":
                await shell.sandbox.ready()
                assert shell.sandbox._findings is not None
                shell.sandbox._findings = replace(shell.sandbox._findings, mounts=False, anchored=())
            yield Case(project, shell)


class Case:
    """One project, and its state at different moments."""

    def __init__(self, project: Path, shell: ShellSession) -> None:
        self.project = project
        self.shell = shell

    async def run(self, command: str) -> Result:
        result = await self.shell.bash(command)
        assert result.error is None, result.output
        return result

    async def undo(self, result: Selection | None = None) -> None:
        selection = result or Selection(call=self.last_call)
        await (await self.of()).revert(selection)

    async def of(self) -> Undo:
        return await Undo.of(self.shell.workspace.files, self.shell.session.conversation)

    @property
    def last_call(self) -> str:
        """The last command that has changed anything."""
        entries = self.shell.workspace.files.journal.everything(self.shell.session.id)
        return next(entry.call_id for entry in reversed(entries) if not entry.undoes)

    async def is_undone(self, command: str, *, code: int = 0) -> Result:
        """Run a command; its changes go with undo, come again with redo, and go once more."""
        before = look(self.project)
        result = await self.run(command)
        assert result.metadata["exit"] == code, result.output
        after = look(self.project)
        assert before != after, f"nothing was changed: {result.output}"
        await self.undo()
        assert look(self.project) == before
        await (await self.of()).unrevert()
        assert look(self.project) == after
        await self.undo()
        assert look(self.project) == before
        return result


OURS = (".git", ".toolwright", ".opencode", "project.home")
"""Git's own, what is there while a command runs, to be protected, and our own folders."""
Look = dict[str, tuple[str, int, bytes | str]]


def look(folder: Path) -> Look:
    """What is in a folder but for git: kinds, modes, contents and where links lead."""
    found: Look = {}
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in OURS]
        for name in folders + files:
            path = Path(parent, name)
            status = path.lstat()
            mode = stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                found[str(path)] = ("link", 0, str(path.readlink()))
            elif stat.S_ISDIR(status.st_mode):
                found[str(path)] = ("folder", mode, "")
            elif stat.S_ISREG(status.st_mode):
                found[str(path)] = ("file", mode, path.read_bytes())
            else:
                found[str(path)] = ("other", status.st_mode, "")
    return found


PYTHON = str(Path(sys.executable).resolve())
"""One that every box shows: that of the checkout may lie in a temporary folder."""


def python(code: str) -> str:
    """A command that runs a program in Python."""
    return f"{PYTHON} - <<'END'\n{code}\nEND"


def prepare(project: Path) -> None:
    """Files of every kind."""
    (project / "d").mkdir()
    for number in range(20):
        (project / "d" / f"f{number}").write_text(f"old {number}\n" * 50)
    os.link(project / "d" / "f0", project / "hard0")
    (project / "sym1").symlink_to("d/f1")
    (project / "db").write_bytes(b"\0" * 100_000)
    (project / "empty").mkdir()
    (project / "tool").write_text("#!/bin/sh\n")
    (project / "tool").chmod(0o755)


def git(project: Path, *words: str) -> str:
    settings = ["-c", "user.email=a@b.c", "-c", "user.name=A"]
    done = subprocess.run(["git", *settings, *words], cwd=project, check=True, capture_output=True, text=True)
    return done.stdout
