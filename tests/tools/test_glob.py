"""The glob tool, on real files."""

import os

import pytest

from tests.files.search_rows import arguments_of, lay_out_dated, lay_out_row, names_in
from tests.files.tool_case import ToolCase, lay_out, rows
from toolwright.files.search import FilesFound
from toolwright.protocols.json_types import Json
from toolwright.tools.glob import glob

ROWS = {row["id"]: row for row in rows("glob")}
PLAIN = [row for row in ROWS.values() if "quirk" not in row]
CHOICES = {
    "glob-0057": [],  # an ignored file is not brought back by its name
    "glob-0058": ["keep.log"],
    "glob-0065": ["b.txt", "real/a.txt"],  # links are not followed
}
"""What becomes of the rows whose recorded outcome is an accident; in the others only git's own files are missing."""
ACCIDENTS = [row for row in ROWS.values() if "quirk" in row]


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: f"{row['id']} {row['note']}")
async def test_recorded_rows(case: ToolCase, row: Json) -> None:
    lay_out_row(case, row)
    expected = row["result"]
    result = await case.run(glob, **arguments_of(row, case))
    if expected["status"] == "error":
        assert result.error is not None
        assert result.error.kind == "missing"
        return
    assert result.error is None
    assert result.metadata["count"] == expected["count"]
    assert result.metadata["truncated"] == expected["truncated"]
    assert names_in(result, case) == expected["files"]


@pytest.mark.parametrize("row", ACCIDENTS, ids=lambda row: f"{row['id']} {row['note']}")
async def test_rows_that_record_an_accident_come_out_as_we_chose(case: ToolCase, row: Json) -> None:
    lay_out_row(case, row)
    recorded = [name for name in row["result"]["files"] if not name.startswith(".git/")]
    result = await case.run(glob, **arguments_of(row, case))
    assert names_in(result, case) == CHOICES.get(row["id"], recorded)


async def test_the_newest_hundred_of_all_come_back_with_the_number_of_all(case: ToolCase) -> None:
    lay_out_dated(case.project, {f"{number % 7}/{number}.txt": "" for number in range(250)})
    result = await case.run(glob, pattern="*.txt")
    assert names_in(result, case) == [f"{number % 7}/{number}.txt" for number in range(249, 149, -1)]
    assert result.output.endswith(
        "\n\n(These are the newest 100 of 250 files. Narrow the pattern or the path to see others.)"
    )
    assert result.metadata == {"count": 100, "truncated": True, "total": 250}
    assert result.truncated is True


async def test_files_of_the_same_time_come_in_the_order_of_their_paths(case: ToolCase) -> None:
    lay_out(case.project, {f"{name}.txt": "" for name in "cadb"})
    for file in case.project.glob("*.txt"):
        os.utime(file, (1, 1))
    assert names_in(await case.run(glob, pattern="*.txt"), case) == ["a.txt", "b.txt", "c.txt", "d.txt"]


async def test_hidden_files_are_found_and_ignored_ones_only_when_asked_for(case: ToolCase) -> None:
    lay_out(case.project, {".gitignore": "lib/\n*.log\n", "lib/a.ts": "", "x.log": "", ".hidden/h.ts": ""})
    found = names_in(await case.run(glob, pattern="**/*"), case)
    assert sorted(found) == [".gitignore", ".hidden/h.ts"]
    found = names_in(await case.run(glob, pattern="**/*", ignored=True), case)
    assert sorted(found) == [".gitignore", ".hidden/h.ts", "lib/a.ts", "x.log"]


async def test_nothing_found_mentions_that_ignored_files_were_left_out(case: ToolCase) -> None:
    lay_out(case.project, {".gitignore": "*.log\n", "x.log": ""})
    result = await case.run(glob, pattern="*.log")
    assert result.output == "No files found\n\n(Ignored files were left out; set ignored to true to find them.)"


@pytest.mark.parametrize("pattern", ["lib/**", "lib/*.ts", "lib/**/*.ts"])
async def test_a_pattern_that_names_an_ignored_folder_does_not_see_into_it(case: ToolCase, pattern: str) -> None:
    lay_out(case.project, {".gitignore": "lib/\n", "lib/a.ts": "", "b.ts": ""})
    result = await case.run(glob, pattern=pattern)
    assert "set ignored to true" in result.output
    assert names_in(await case.run(glob, pattern=pattern, ignored=True), case) == ["lib/a.ts"]
    assert names_in(await case.run(glob, pattern="*.ts", path="lib"), case) == ["lib/a.ts"]


async def test_a_pattern_may_start_with_a_dot_and_a_slash(case: ToolCase) -> None:
    lay_out(case.project, {"src/a.ts": "", "src/in/b.ts": ""})
    assert names_in(await case.run(glob, pattern="./src/*.ts"), case) == ["src/a.ts"]


async def test_an_absolute_pattern_is_answered_with_what_it_would_find(case: ToolCase) -> None:
    lay_out(case.project, {"src/a.ts": "", "src/in/b.ts": ""})
    result = await case.run(glob, pattern=f"{case.project}/src/*.ts")
    assert result.output == (
        f"No files found\n\n(Patterns start from {case.project}. There src/*.ts finds 1, newest first:\n  src/a.ts)"
    )


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("src", "src is a folder; src/** names the files in it."),
        ("src/", "src is a folder; src/** names the files in it."),
        ("../*", "A pattern cannot lead out of the folder searched; set path to the folder meant."),
        ("[bad", "The pattern [bad is no glob: a [ that is never closed, at '[bad'."),
        ("a{b", "The pattern a{b is no glob: a { that is never closed, at '{b'."),
    ],
)
async def test_a_pattern_that_cannot_find_anything_is_explained(case: ToolCase, pattern: str, hint: str) -> None:
    lay_out(case.project, {"src/a.ts": ""})
    result = await case.run(glob, pattern=pattern)
    assert result.metadata["count"] == 0
    assert hint in result.output


async def test_a_name_with_a_line_break_stays_one_path(case: ToolCase) -> None:
    (case.project / "new\nline.txt").write_text("")
    result = await case.run(glob, pattern="new*")
    assert result.output == f"{case.project}/new\\nline.txt"
    assert result.metadata["count"] == 1


async def test_a_name_that_is_not_utf_8_is_shown_with_its_bytes(case: ToolCase) -> None:
    lay_out(case.project, {os.fsdecode(b"caf\xe9.txt"): ""})
    result = await case.run(glob, pattern="caf*")
    assert result.output == f"{case.project}/caf\\xe9.txt"


@pytest.mark.parametrize("pattern", ["**/*.ts", "link/*.ts", "link/**"])
async def test_links_to_the_outside_are_not_followed(case: ToolCase, pattern: str) -> None:
    lay_out(case.project.parent, {"outside/secret.ts": ""})
    (case.project / "link").symlink_to("../outside")
    assert names_in(await case.run(glob, pattern=pattern), case) == []


async def test_a_missing_folder_is_an_error_with_near_names(case: ToolCase) -> None:
    lay_out(case.project, {"source/a.ts": ""})
    result = await case.run(glob, pattern="*", path="sorce")
    assert result.error is not None
    assert result.error.kind == "missing"
    assert f"{case.project}/source" in result.output


async def test_what_is_asked_inside_and_outside_the_project(case: ToolCase) -> None:
    outside = case.project.parent / "outside"
    lay_out(outside, {"a.txt": ""})
    await case.run(glob, pattern="*.md")
    result = await case.run(glob, pattern="*.txt", path=str(outside))
    assert result.output == f"{outside}/a.txt"
    inside, first, second = case.asked
    assert (inside.permission, inside.patterns, inside.always) == ("glob", ("*.md",), ("*",))
    assert inside.metadata == {"pattern": "*.md"}
    assert (first.permission, first.metadata) == ("glob", {"pattern": "*.txt", "path": str(outside)})
    assert (second.permission, second.patterns, second.always) == ("external_directory", *[(f"{outside}/*",)] * 2)


async def test_a_denied_search_is_not_carried_out(case: ToolCase) -> None:
    case.rules.append(("glob", "**/*.pem", "deny"))
    result = await case.run(glob, pattern="**/*.pem")
    assert result.error is not None
    assert result.error.kind == "denied"


async def test_a_search_that_is_stopped_before_it_found_anything_says_so(
    case: ToolCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stopped(*_: object, **__: object) -> FilesFound:
        return FilesFound(paths=(), total=0, complete=False)

    monkeypatch.setattr("toolwright.tools.glob.find_files", stopped)
    result = await case.run(glob, pattern="*")
    assert "The search was stopped after 60 seconds" in result.output
    assert result.metadata["truncated"]
