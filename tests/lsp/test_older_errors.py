"""Errors before and after a change: those it brought are shown first, older ones are counted."""

from pathlib import Path

import pytest

from tests.lsp.stage import stage, warmed
from toolwright.lsp.comparing import compared, new_errors, old_lines
from toolwright.lsp.diagnostics import PER_FILE, Diagnostic
from toolwright.workspace import Workspace

OLD = "".join(f"BAD {number}\n" for number in range(PER_FILE + 8))
MODES = ("", "pulls", "unversioned")


def one(line: int, message: str = "bad", severity: int = 1) -> Diagnostic:
    return Diagnostic(line, 1, severity, message)


def shown(output: str) -> list[str]:
    """Return the errors that a result shows, in their order."""
    return [line for line in output.splitlines() if line.startswith("ERROR")]


async def read(workspace: Workspace, name: str) -> None:
    await workspace.call("read", filePath=name)
    await warmed(workspace, name)


@pytest.mark.parametrize("mode", MODES)
async def test_the_error_that_an_edit_has_caused_is_shown_however_many_older_ones_there_are(
    project: Path, mode: str
) -> None:
    (project / "a.scr").write_text(f"{OLD}last\n")
    async with stage(project, mode) as workspace:
        await read(workspace, "a.scr")
        broken = await workspace.call("edit", filePath="a.scr", oldString="last", newString="BAD new")
        assert shown(broken.output) == [f"ERROR [{PER_FILE + 9}:1] bad: BAD new"]
        assert f"{PER_FILE + 8} older errors in a.scr are not shown." in broken.output
        repaired = await workspace.call("edit", filePath="a.scr", oldString="BAD new", newString="good")
        assert shown(repaired.output) == []
        assert f"{PER_FILE + 8} older errors in a.scr are not shown." in repaired.output


@pytest.mark.parametrize("mode", MODES)
async def test_they_are_told_apart_in_a_file_that_the_server_has_never_seen(project: Path, mode: str) -> None:
    (project / "a.scr").write_text(OLD)
    patch = "*** Begin Patch\n*** Update File: a.scr\n@@\n-BAD 0\n+BAD first\n BAD 1\n*** End Patch"
    async with stage(project, mode) as workspace:
        result = await workspace.call("apply_patch", patchText=patch)
    assert shown(result.output) == ["ERROR [1:1] bad: BAD first"]
    assert f"{PER_FILE + 7} older errors" in result.output


@pytest.mark.parametrize("mode", MODES)
async def test_lines_that_a_change_has_moved_bring_nothing_new(project: Path, mode: str) -> None:
    (project / "a.scr").write_text(OLD)
    async with stage(project, mode) as workspace:
        await read(workspace, "a.scr")
        result = await workspace.call("edit", filePath="a.scr", oldString="BAD 3\n", newString="good\ngood\nBAD 3\n")
    assert shown(result.output) == []
    assert f"{PER_FILE + 8} older errors" in result.output


async def test_a_change_of_several_files_shows_in_each_what_it_brought(project: Path) -> None:
    for name in ("a.scr", "b.scr", "c.scr"):
        (project / name).write_text(f"{OLD}last\n")
    update = "".join(f"*** Update File: {name}.scr\n@@\n BAD 27\n-last\n+BAD in {name}\n" for name in "abc")
    async with stage(project) as workspace:
        result = await workspace.call("apply_patch", patchText=f"*** Begin Patch\n{update}*** End Patch")
    assert [line.rpartition(" in ")[2] for line in shown(result.output)] == ["a", "b", "c"]
    assert result.output.count("28 older errors") == 3


async def test_a_rename_of_what_is_used_in_several_files_costs_no_older_errors(project: Path) -> None:
    (project / "a.scr").write_text(f"def double\n{OLD}")
    (project / "b.scr").write_text(f"double\n{OLD}")
    async with stage(project) as workspace:
        result = await workspace.call(
            "lsp", operation="rename", filePath="a.scr", line=1, character=5, newName="doubled"
        )
        assert "Renamed in 2 files" in result.output
        assert shown(result.output) == []
        assert result.output.count("28 older errors") == 2


async def test_a_new_file_has_no_older_errors(project: Path) -> None:
    async with stage(project) as workspace:
        result = await workspace.call("write", filePath="a.scr", content="BAD\nBAD\n")
    assert len(shown(result.output)) == 2
    assert "older" not in result.output


def test_one_more_of_the_same_error_is_new() -> None:
    found = compared([one(1)], [one(1), one(5)], lambda line: line)
    assert (found.new, found.standing, found.older) == ((one(5),), (), (one(1),))


def test_an_error_that_went_from_one_changed_line_to_another_stands() -> None:
    found = compared([one(2), one(9)], [one(3), one(10)], {3: None, 10: 9}.get)
    assert (found.new, found.standing, found.older) == ((), (one(3),), (one(10),))


def test_warnings_are_none_of_them() -> None:
    found = compared([one(1, severity=2)], [one(1, severity=2), one(1)], lambda line: line)
    assert found.new == (one(1),)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\nb\nc\n", "a\nb\nc\n", [1, 2, 3]),
        ("a\nb\nc\n", "a\nx\nc\n", [1, None, 3]),
        ("a\nb\nc\n", "a\nx\ny\nb\nc\n", [1, None, None, 2, 3]),
        ("a\nb\nc\nd\n", "a\nd\n", [1, 4]),
        ("a\nb\nc\nd\ne\n", "x\nb\nd\ne\ny\n", [None, 2, 4, 5, None]),
        ("", "a\nb\n", [None, None]),
        ("same\n" * 30 + "z\n", "same\n" * 30 + "new\nz\n", [*range(1, 31), None, 31]),
    ],
)
def test_each_line_is_known_for_the_one_it_was(before: str, after: str, expected: list[int | None]) -> None:
    old_line = old_lines(before, after)
    assert [old_line(number + 1) for number in range(len(expected))] == expected


def test_in_other_files_what_was_there_is_not_new_wherever_it_stands() -> None:
    path = Path("/b")
    assert new_errors({path: (one(1),)}, {path: (one(7),)}) == {}
    assert new_errors({path: (one(1),)}, {path: (one(1), one(7))}) == {path: (one(7),)}
