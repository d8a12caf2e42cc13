"""What was approved outside the project comes out as in a plain shell, and goes with undo."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.capture.case import KINDS, Kind, captured, git, look, python
from tests.outside import outside_folder
from tests.process.shell_session import run

COMMANDS = {
    "touch": "touch ~/n",
    "a folder": "mkdir ~/n",
    "folders": "mkdir -p ~/n/a/b",
    "a file": "echo hi > ~/n; echo more >> ~/n",
    "a copy": "cp d/f ~/n",
    "copies": "cp -r d ~/n",
    "copies with all that they are": "cp -a d ~/n",
    "moved there": "mv d ~/n",
    "moved from there": "mv ~/old/x moved",
    "a link": "ln -s project/d ~/n",
    "a second name": "ln ~/one ~/n",
    "deleted": "rm -rf ../old",
    "a file deleted": "rm ../one",
    "another name": "mv ~/old ~/n",
    "edited in place": "sed -i s/one/two/ ~/one",
    "written over": "cp d/f ~/one; chmod 600 ~/one; touch -d 2001-01-01 ~/one",
    "unpacked": "mkdir ~/n && tar cf - d | tar xf - -C ~/n",
    "a work tree": "git worktree add -q ../wt -b b",
    "a work tree made and gone": "git worktree add -q ../wt2 -b b2 && git worktree remove ../wt2 && touch ~/n",
    "a clone": "git clone -q . ../n",
    "a program's own folder": "python3 -m venv --without-pip ~/n",
}


def prepare(project: Path) -> None:
    (project / "d").mkdir(parents=True)
    git(project, "init", "-q")
    (project / "d" / "f").write_text("f\n")
    (project / "d" / "s").symlink_to("f")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "one")
    home = project.parent
    (home / "old" / "x").mkdir(parents=True)
    (home / "old" / "x" / "y").write_text("y\n")
    (home / "one").write_text("one\n")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMMANDS)
async def test_what_was_approved_happens_as_in_a_plain_shell_and_goes_with_undo(name: str, kind: Kind) -> None:
    command = COMMANDS[name]
    with outside_folder() as plain:
        prepare(plain / "project")
        environment = {"HOME": str(plain), "PATH": os.environ["PATH"]}
        subprocess.run(["/bin/sh", "-c", command], cwd=plain / "project", env=environment, check=True)
        expected = seen(plain)
    async with captured(kind) as case:
        prepare(case.project)
        before = look(case.project.parent)
        result = await case.run(command)
        assert result.metadata["exit"] == 0, result.output
        assert seen(case.project.parent) == expected
        await case.undo()
        assert look(case.project.parent) == before


def seen(home: Path) -> dict[str, tuple[str, int, bytes | str]]:
    """What is in a home, without what names the place that it is in."""
    texts = {path.removeprefix(str(home)): found for path, found in look(home).items()}
    return {
        path: (kind, mode, text.replace(bytes(home), b"~") if isinstance(text, bytes) else text.replace(str(home), "~"))
        for path, (kind, mode, text) in texts.items()
        if not path.endswith(".pyc")
    }


async def test_plan_writes_its_plan_and_nothing_else() -> None:
    async with captured() as case:
        (case.project / ".toolwright" / "plans").mkdir(parents=True)
        (case.project / "seed").write_text("kept")
        script = "import contextlib\nfor name in ('seed', 'new', '.toolwright/agent.md'):\n"
        script += " with contextlib.suppress(OSError): open(name, 'w').write('x')"
        session = case.shell.another("plan")
        result = await run(session, f"echo plan > .toolwright/plans/a.md; {python(script)}")
        assert result.error is None, result.output
        assert (case.project / ".toolwright" / "plans" / "a.md").read_text() == "plan\n"
        assert (case.project / "seed").read_text() == "kept"
        assert sorted(path.name for path in case.project.iterdir()) == [".git", ".toolwright", "seed"]
        assert [path.name for path in (case.project / ".toolwright").iterdir()] == ["plans"]
