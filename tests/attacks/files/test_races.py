"""A folder is exchanged for a link that leads outside, between the look at a path and its use: nothing gets out.

Attack: `d` and `l` (a link to a folder outside) change places all the time. Expectation: whatever a tool answers,
nothing outside is made, changed, deleted or shown, and no answer is a crash.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.files.race import ROUNDS, contents, exchanging
from toolwright.definition import Call, Result
from toolwright.errors import ToolError
from toolwright.files.body import Link
from toolwright.files.store import Change, Files
from toolwright.protocols.json_types import Json
from toolwright.session.session import Session
from toolwright.testing import make_session

SECRET = "SECRET of the user"


class Ground:
    """A project with a folder `d`, a link `l` beside it, and a folder outside that it leads to."""

    def __init__(self, root: Path) -> None:
        self.project, self.outside = root / "project", root / "outside"
        self.folder, self.link = self.project / "d", self.project / "l"
        self.folder.mkdir(parents=True)
        self.outside.mkdir()
        (self.outside / "x").write_text(f"{SECRET}\n")
        (self.outside / "only-outside").write_text(f"{SECRET}\n")
        self.link.symlink_to(self.outside)
        self.session: Session = make_session(self.project)
        self.before = contents(self.outside)
        self.inside = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)

    async def run(self, tool: str, **arguments: Any) -> Result:
        return await self.session.run_call(Call(id="call_1", tool=tool, arguments=arguments))

    def prepare(self) -> None:
        """The file inside as it was, whichever name the folder has at the moment."""
        handle = os.open("x", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, dir_fd=self.inside)
        os.write(handle, b"inside\n")
        os.close(handle)


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    made = Ground(tmp_path)
    yield made
    os.close(made.inside)


def _add(number: int) -> Json:
    return {"patchText": f"*** Begin Patch\n*** Add File: d/new{number}\n+x\n*** End Patch"}


def _deep(number: int) -> Json:
    return {"patchText": f"*** Begin Patch\n*** Add File: d/made{number}/deep/new\n+x\n*** End Patch"}


def _update(number: int) -> Json:
    return {"patchText": f"*** Begin Patch\n*** Update File: d/x\n@@\n+{number}\n*** End Patch"}


def _delete(number: int) -> Json:
    return {"patchText": "*** Begin Patch\n*** Delete File: d/x\n*** End Patch"}


def _move(number: int) -> Json:
    return {
        "patchText": f"*** Begin Patch\n*** Update File: d/x\n*** Move to: moved{number}\n@@\n+{number}\n*** End Patch"
    }


def _move_in(number: int) -> Json:
    return {
        "patchText": "*** Begin Patch\n*** Update File: source\n"
        f"*** Move to: d/moved{number}\n@@\n+{number}\n*** End Patch"
    }


WRITES: dict[str, tuple[str, Callable[[int], Json]]] = {
    "write, a new file": ("write", lambda number: {"filePath": f"d/new{number}", "content": "x"}),
    "write, in new folders": ("write", lambda number: {"filePath": f"d/made{number}/deep/new", "content": "x"}),
    "write, over a file": ("write", lambda number: {"filePath": "d/x", "content": f"{number}\n"}),
    "edit": ("edit", lambda number: {"filePath": "d/x", "oldString": "inside", "newString": f"{number}"}),
    "edit, a new file": ("edit", lambda number: {"filePath": f"d/new{number}", "oldString": "", "newString": "x"}),
    "multiedit": (
        "multiedit",
        lambda number: {"filePath": "d/x", "edits": [{"oldString": "inside", "newString": f"{number}"}]},
    ),
    "apply_patch, add": ("apply_patch", _add),
    "apply_patch, add in new folders": ("apply_patch", _deep),
    "apply_patch, update": ("apply_patch", _update),
    "apply_patch, delete": ("apply_patch", _delete),
    "apply_patch, move out": ("apply_patch", _move),
    "apply_patch, move in": ("apply_patch", _move_in),
}


@pytest.mark.parametrize("attack", WRITES)
async def test_no_tool_writes_outside(ground: Ground, attack: str) -> None:
    tool, arguments = WRITES[attack]
    with exchanging(ground.folder, ground.link):
        for number in range(ROUNDS):
            ground.prepare()
            (ground.project / "source").write_text("inside\n")
            if tool in ("write", "edit", "multiedit"):
                await ground.run("read", filePath="d/x")
            result = await ground.run(tool, **arguments(number))
            assert " broke:" not in result.output
    assert contents(ground.outside) == ground.before


READS: dict[str, tuple[str, Json]] = {
    "read": ("read", {"filePath": "d/x"}),
    "read, a folder": ("read", {"filePath": "d"}),
    "grep, a folder": ("grep", {"pattern": "SECRET", "path": "d"}),
    "grep, a file": ("grep", {"pattern": "SECRET", "path": "d/x"}),
    "grep, the project": ("grep", {"pattern": "SECRET"}),
    "glob": ("glob", {"pattern": "d/*"}),
    "glob, in a folder": ("glob", {"pattern": "*", "path": "d"}),
    "list": ("list", {"path": "d"}),
    "list, the project": ("list", {}),
    "a misspelt name": ("read", {"filePath": "d/only-outsid"}),
}


@pytest.mark.parametrize("attack", READS)
async def test_no_tool_shows_what_is_outside(ground: Ground, attack: str) -> None:
    tool, arguments = READS[attack]
    with exchanging(ground.folder, ground.link):
        for _ in range(ROUNDS):
            ground.prepare()
            result = await ground.run(tool, **arguments)
            assert " broke:" not in result.output
            assert "of the user" not in result.output
            assert "d/only-outside" not in result.output.replace("d/only-outsid ", "")


async def test_no_undo_writes_outside(ground: Ground) -> None:
    """What a change was made on is put back there or nowhere."""
    files = ground.session.home.use(Files)
    with exchanging(ground.folder, ground.link):
        for number in range(ROUNDS):
            ground.prepare()
            again = b"%d\n" % number
            for name, before, after in (
                ("x", b"inside\n", again),
                ("x", again, None),
                (f"new{number}", None, again),
                (f"link{number}", None, Link("x")),
            ):
                change = Change(place=files.tree.exactly(ground.folder / name), before=before, after=after)
                with suppress(ToolError):
                    await files.commit([change], session_id="ses_1", call_id="undo_1", undoes=True)
    assert contents(ground.outside) == ground.before
