"""What a server wants changed becomes changes of files, in either of the forms servers use."""

from pathlib import Path
from typing import Any

import pytest

from toolwright.errors import ToolError
from toolwright.files.paths import Tree
from toolwright.files.store import Files
from toolwright.lsp.positions import uri_of
from toolwright.lsp.workspace_edit import revised


@pytest.fixture
def files(project: Path) -> Files:
    return Files(Tree(project), project.parent / "data")


def edit(first: int, last: int, new: str, line: int = 0) -> dict[str, Any]:
    place = {"start": {"line": line, "character": first}, "end": {"line": line, "character": last}}
    return {"range": place, "newText": new}


async def applied(files: Files, wanted: object) -> None:
    changes = [one.change for one in await revised(files, wanted)]
    await files.commit(changes, session_id="ses_1", call_id="call_1")


async def test_both_forms_change_files_with_their_mark_and_line_ends(project: Path, files: Files) -> None:
    file = project / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    await applied(files, {"changes": {uri_of(file): [edit(0, 3, "1"), edit(0, 3, "2", line=1)]}})
    assert file.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n"
    listed = {"textDocument": {"uri": uri_of(file), "version": None}, "edits": [edit(0, 1, "one")]}
    await applied(files, {"documentChanges": [listed]})
    assert file.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n"


async def test_files_are_made_moved_and_deleted(project: Path, files: Files) -> None:
    old, gone, new, made = (project / name for name in ("old.txt", "gone.txt", "sub/new.txt", "made.txt"))
    old.write_text("text\n")
    old.chmod(0o750)
    gone.write_text("x")
    operations = [
        {"kind": "create", "uri": uri_of(made)},
        {"textDocument": {"uri": uri_of(made)}, "edits": [edit(0, 0, "new\n")]},
        {"kind": "rename", "oldUri": uri_of(old), "newUri": uri_of(new)},
        {"textDocument": {"uri": uri_of(new)}, "edits": [edit(0, 4, "moved")]},
        {"kind": "delete", "uri": uri_of(gone)},
    ]
    await applied(files, {"documentChanges": operations})
    assert made.read_text() == "new\n"
    assert new.read_text() == "moved\n"
    assert new.stat().st_mode & 0o777 == 0o750
    assert not old.exists()
    assert not gone.exists()


async def test_what_changes_nothing_is_left_out(project: Path, files: Files) -> None:
    (project / "a.txt").write_text("one\n")
    assert await revised(files, {"changes": {uri_of(project / "a.txt"): [edit(0, 3, "one")]}}) == []
    assert await revised(files, None) == []


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ({"kind": "explode"}, "not known"),
        ({"textDocument": {"uri": "untitled:1"}, "edits": []}, "no file"),
        ({"textDocument": {"uri": "file:///nowhere/at/all"}, "edits": []}, "not there"),
    ],
)
async def test_what_makes_no_sense_is_refused(files: Files, operation: dict[str, Any], said: str) -> None:
    with pytest.raises(ToolError, match=said):
        await revised(files, {"documentChanges": [operation]})


async def test_edits_that_overlap_are_refused(project: Path, files: Files) -> None:
    (project / "a.txt").write_text("abcdef\n")
    with pytest.raises(ToolError, match="make no sense"):
        await revised(files, {"changes": {uri_of(project / "a.txt"): [edit(0, 3, "x"), edit(2, 4, "y")]}})
