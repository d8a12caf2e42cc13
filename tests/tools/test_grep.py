"""The grep tool, on real files."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.files.search_rows import arguments_of, groups_in, lay_out_dated, lay_out_row
from tests.files.tool_case import ToolCase, lay_out, rows
from toolwright.protocols.json_types import Json
from toolwright.tools.grep import grep

ROWS = {row["id"]: row for row in rows("grep")}
PLAIN = [row for row in ROWS.values() if "quirk" not in row]
NO_PATTERN = ("grep-0018", "grep-0019", "grep-0023")


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: f"{row['id']} {row['note']}")
async def test_recorded_rows(case: ToolCase, row: Json) -> None:
    lay_out_row(case, row)
    expected = _without_git(row["result"])
    result = await case.run(grep, **arguments_of(row, case))
    if expected["status"] == "error":
        assert result.error is not None
        assert result.error.kind == expected["error_kind"]
        return
    assert result.error is None
    assert result.metadata["matches"] == expected["matches"]
    assert result.metadata["truncated"] == expected["truncated"]
    groups = groups_in(result, case)
    assert len(groups) == expected.get("file_count", len(groups))
    if "groups" in expected:
        assert _abridged(groups) == expected["groups"]


def _without_git(expected: Json) -> Json:
    """What the recording found in git's own folder, which we leave out by choice, is not expected."""
    groups = expected.get("groups") or []
    own = [group for group in groups if group[0].startswith(".git/")]
    if not own:
        return expected
    return expected | {
        "groups": [group for group in groups if group not in own],
        "matches": expected["matches"] - sum(len(lines) for _, lines in own),
        "file_count": expected.get("file_count", len(groups)) - len(own),
    }


@pytest.mark.parametrize("row", [ROWS[name] for name in NO_PATTERN], ids=lambda row: row["args"]["pattern"])
async def test_a_pattern_that_cannot_be_used_is_an_error_where_the_recording_found_nothing(
    case: ToolCase, row: Json
) -> None:
    lay_out_row(case, row)
    result = await case.run(grep, **row["args"])
    assert result.error is not None
    assert result.error.kind == "schema"


@pytest.mark.parametrize(("name", "lines"), [("grep-0066", [1, "alpha | beta"]), ("grep-0073", [1, "alpha | beta"])])
async def test_a_bar_in_a_file_name_loses_no_match_where_the_recording_did(
    case: ToolCase, name: str, lines: list[Any]
) -> None:
    row = ROWS[name]
    lay_out_row(case, row)
    result = await case.run(grep, **row["args"])
    groups = _abridged(groups_in(result, case))
    assert ["pipe|name.txt", [lines]] in groups
    assert [group for group in groups if group[0] != "pipe|name.txt"] == row["result"]["groups"]


def _abridged(groups: list[list[Any]]) -> list[list[Any]]:
    """Long lines in the way the rows give them."""
    return [[path, [[number, _short(text)] for number, text in lines]] for path, lines in groups]


def _short(text: str) -> Any:
    return text if len(text) <= 200 else {"chars": len(text), "ends_with": text[-6:]}


async def test_the_whole_answer(case: ToolCase) -> None:
    lay_out_dated(case.project, {"old.txt": "one\nsome TODO\n", "new.txt": "TODO a\n\nTODO b\n"})
    result = await case.run(grep, pattern="TODO")
    assert result.output == (
        f"Found 3 matches\n"
        f"{case.project}/new.txt:\n  Line 1: TODO a\n  Line 3: TODO b\n\n"
        f"{case.project}/old.txt:\n  Line 2: some TODO"
    )
    assert result.title == "TODO"
    assert result.metadata == {"matches": 3, "truncated": False, "total": 3}
    assert result.truncated is False


async def test_a_hundred_lines_of_the_newest_files_and_the_number_of_all(case: ToolCase) -> None:
    lay_out_dated(case.project, {f"{number}.txt": "x\n" * 30 for number in range(10)})
    result = await case.run(grep, pattern="x")
    assert result.output.startswith("Found 100 matches of 300\n")
    assert [path for path, _ in groups_in(result, case)] == ["9.txt", "8.txt", "7.txt", "6.txt"]
    assert result.metadata == {"matches": 100, "truncated": True, "total": 300}


async def test_files_of_the_same_time_come_in_the_order_of_their_paths(case: ToolCase) -> None:
    lay_out(case.project, {f"{name}.txt": "x\n" for name in "cadb"})
    for file in case.project.glob("*.txt"):
        os.utime(file, (1, 1))
    result = await case.run(grep, pattern="x")
    assert [path for path, _ in groups_in(result, case)] == ["a.txt", "b.txt", "c.txt", "d.txt"]


@pytest.mark.parametrize(
    ("pattern", "place", "reason"),
    [
        ("foo(?=bar)", "at character 4 ('(?=bar)')", "look-around"),
        ("a(b", "", "unclosed group"),
        ("ab[z-a]", "at character 4 ('z-a]')", "range"),
        (r"x\q", r"at character 2 ('\\q')", "escape"),
        ("one\\n", "", r"\n"),
    ],
)
async def test_an_invalid_pattern_says_where_and_what_to_do(
    case: ToolCase, pattern: str, place: str, reason: str
) -> None:
    result = await case.run(grep, pattern=pattern)
    assert result.error is not None
    assert result.error.kind == "schema"
    assert place in result.output
    assert reason in result.output
    assert "set literal to true" in result.output


async def test_a_literal_pattern_is_found_as_it_stands(case: ToolCase) -> None:
    lay_out(case.project, {"a.go": "m := map[string]interface{}{\nmapXstring\n"})
    result = await case.run(grep, pattern="interface{}{", literal=True)
    assert groups_in(result, case) == [["a.go", [[1, "m := map[string]interface{}{"]]]]


async def test_one_odd_file_never_fails_the_search(case: ToolCase) -> None:
    lay_out(case.project, {"ok.txt": "needle\n", "bin.dat": "needle\0\n"})
    (case.project / "latin.txt").write_bytes(b"needle \xe5\n")
    (case.project / "endless.js").write_bytes(b"needle" + b"x" * 300_000)
    (case.project / "wide.txt").write_bytes("needle".encode("utf-16"))
    (case.project / "gone.txt").symlink_to("nowhere")
    (case.project / "loop").symlink_to(".")
    (case.project / "new\nline.txt").write_text("needle\n")
    os.mkfifo(case.project / "pipe")
    result = await case.run(grep, pattern="needle")
    found = {path: lines[0][1] for path, lines in groups_in(result, case)}
    assert found.keys() == {"ok.txt", "latin.txt", "endless.js", "wide.txt", "new\\nline.txt"}
    assert found["latin.txt"] == "needle \ufffd"
    assert found["endless.js"] == "needle" + "x" * 1994 + "..."


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_an_unreadable_file_is_passed_over_and_mentioned(case: ToolCase) -> None:
    lay_out(case.project, {"ok.txt": "needle\n", "shut.txt": "needle\n"})
    (case.project / "shut.txt").chmod(0)
    result = await case.run(grep, pattern="needle")
    assert [path for path, _ in groups_in(result, case)] == ["ok.txt"]
    assert "could not be read" in result.output


async def test_a_line_is_cut_between_whole_characters(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "needle" + "😀" * 3000 + "\n"})
    result = await case.run(grep, pattern="needle")
    assert groups_in(result, case) == [["a.txt", [[1, "needle" + "😀" * 1994 + "..."]]]]


async def test_long_lines_are_left_to_the_general_limits(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": ("needle" + "x" * 3000 + "\n") * 60})
    result = await case.run(grep, pattern="needle")
    assert Path(result.metadata["outputPath"]).read_text().count("needle") == 60
    assert result.metadata["matches"] == 60


@pytest.mark.parametrize("pattern", ["crlf$", "^.*crlf$", "cr.{2}$"])
async def test_the_end_of_a_line_is_found_before_a_carriage_return(case: ToolCase, pattern: str) -> None:
    lay_out(case.project, {"a.txt": "a crlf\r\nb\r\n"})
    result = await case.run(grep, pattern=pattern)
    assert groups_in(result, case) == [["a.txt", [[1, "a crlf"]]]]


@pytest.mark.parametrize("last", ["needle", f"{'x' * 9000} needle"])
async def test_the_end_of_a_last_line_without_a_line_end_is_found(case: ToolCase, last: str) -> None:
    lay_out(case.project, {"a.txt": f"a\r\n{last}", "b.txt": f"b\n{last}", "c.txt": f"{last}\n"})
    for _ in range(3):
        result = await case.run(grep, pattern="needle$")
        assert sorted([name, [number for number, _ in lines]] for name, lines in groups_in(result, case)) == [
            ["a.txt", [2]],
            ["b.txt", [2]],
            ["c.txt", [1]],
        ]
        assert "could not be read" not in result.output


async def test_a_file_as_path_is_searched_alone(case: ToolCase) -> None:
    lay_out(case.project, {"src/a.txt": "needle\n", "src/b.txt": "needle\n"})
    result = await case.run(grep, pattern="needle", path="src/a.txt")
    assert groups_in(result, case) == [["src/a.txt", [[1, "needle"]]]]


async def test_a_binary_file_as_path_is_called_so(case: ToolCase) -> None:
    lay_out(case.project, {"a.bin": "needle\0"})
    result = await case.run(grep, pattern="needle", path="a.bin")
    assert result.output == f"No matches found\n\n({case.project}/a.bin is a binary file; its lines cannot be shown.)"


async def test_a_pipe_as_path_is_refused_and_not_waited_for(case: ToolCase) -> None:
    os.mkfifo(case.project / "pipe")
    result = await case.run(grep, pattern="x", path="pipe")
    assert result.error is not None
    assert "is a device or a pipe" in result.output


async def test_a_missing_path_finds_nothing_and_names_what_is_near(case: ToolCase) -> None:
    lay_out(case.project, {"source/a.txt": "x\n"})
    result = await case.run(grep, pattern="x", path="sorce")
    assert result.metadata == {"matches": 0, "truncated": False, "total": 0}
    assert f"There is no file {case.project}/sorce. The nearest name is {case.project}/source." in result.output


@pytest.mark.parametrize("include", ["util/*.py", "src/util/*.py", "./util/*.py", "{project}/src/util/*.py"])
async def test_include_starts_from_the_path_or_the_project(case: ToolCase, include: str) -> None:
    lay_out(case.project, {"src/util/a.py": "x\n", "src/b.py": "x\n", "util/c.py": "x\n"})
    include = include.replace("{project}", str(case.project))
    result = await case.run(grep, pattern="x", path="src", include=include)
    assert [path for path, _ in groups_in(result, case)] == ["src/util/a.py"]


@pytest.mark.parametrize("include", ["*", "**", "**/*"])
async def test_an_include_for_everything_leaves_ignored_files_alone(case: ToolCase, include: str) -> None:
    lay_out(case.project, {".gitignore": "lib\n", "lib/a.py": "x\n", "b.py": "x\n"})
    result = await case.run(grep, pattern="x", include=include)
    assert [path for path, _ in groups_in(result, case)] == ["b.py"]


async def test_an_include_that_is_no_glob_finds_nothing_and_says_why(case: ToolCase) -> None:
    lay_out(case.project, {"a.py": "x\n"})
    result = await case.run(grep, pattern="x", include="[a")
    assert result.error is None
    assert "The include [a is no glob: a [ that is never closed" in result.output


async def test_ignored_files_are_searched_when_asked_for(case: ToolCase) -> None:
    lay_out(case.project, {".gitignore": "lib/\n", "lib/a.py": "x\n"})
    assert groups_in(await case.run(grep, pattern="x"), case) == []
    assert groups_in(await case.run(grep, pattern="x", ignored=True), case) == [["lib/a.py", [[1, "x"]]]]


async def test_what_is_gits_own_is_not_searched(case: ToolCase) -> None:
    lay_out(case.project, {".git/config": "x\n", ".git/HEAD": "x\n", ".git/logs/HEAD": "x\n", ".git/hooks/a": "x\n"})
    lay_out(case.project, {"sub/.git/config": "x\n", "sub/.git/HEAD": "x\n"})
    result = await case.run(grep, pattern="x")
    assert groups_in(result, case) == []


async def test_links_are_not_followed(case: ToolCase) -> None:
    lay_out(case.project.parent, {"outside/a.txt": "needle\n"})
    (case.project / "link").symlink_to("../outside")
    result = await case.run(grep, pattern="needle")
    assert groups_in(result, case) == []


async def test_files_that_may_not_be_read_are_left_out_and_counted(case: ToolCase) -> None:
    lay_out(case.project, {".env": "KEY=1\n", "sub/prod.env": "KEY=2\n", "a.txt": "KEY=3\n"})
    case.rules += [("read", "*.env", "ask"), ("read", "*prod.env", "deny")]
    result = await case.run(grep, pattern="KEY")
    assert groups_in(result, case) == [["a.txt", [[1, "KEY=3"]]]]
    assert "(Matches in 2 files were left out: reading there is forbidden, or has to be asked for" in result.output
    assert result.metadata["total"] == 1


@pytest.mark.parametrize("arguments", [{"include": ".env"}, {"path": ".env"}, {"path": "innocent.txt"}])
async def test_a_forbidden_file_cannot_be_reached_by_name_or_link(case: ToolCase, arguments: Json) -> None:
    lay_out(case.project, {".env": "KEY=1\n", "innocent.txt": {"link": ".env"}})
    case.rules.append(("read", "*.env", "deny"))
    result = await case.run(grep, pattern=".", **arguments)
    assert "KEY" not in result.output
    assert "left out" in result.output


async def test_forbidden_files_do_not_take_the_places_of_others(case: ToolCase) -> None:
    files = {f"open/{number}.txt": "x\n" for number in range(10)}
    lay_out_dated(case.project, files | {f"shut/{number}.txt": "x\n" * 50 for number in range(10)})
    case.rules.append(("read", "shut/*", "deny"))
    result = await case.run(grep, pattern="x")
    assert len(groups_in(result, case)) == 10


async def test_what_is_asked_inside_and_outside_the_project(case: ToolCase) -> None:
    outside = case.project.parent / "outside"
    outside.mkdir()
    await case.run(grep, pattern="x", include="*.py")
    await case.run(grep, pattern="x", path=str(outside))
    inside, first, second = case.asked
    assert (inside.permission, inside.patterns, inside.always) == ("grep", ("x",), ("*",))
    assert inside.metadata == {"pattern": "x", "include": "*.py"}
    assert (first.permission, first.metadata) == ("grep", {"pattern": "x", "path": str(outside)})
    assert (second.permission, second.patterns, second.always) == ("external_directory", *[(f"{outside}/*",)] * 2)


async def test_a_denied_search_is_not_carried_out(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "secret_key\n"})
    case.rules.append(("grep", "secret*", "deny"))
    result = await case.run(grep, pattern="secret_key")
    assert result.error is not None
    assert result.error.kind == "denied"


async def test_a_file_outside_the_project_is_searched_alone(case: ToolCase) -> None:
    outside = case.project.parent / "outside"
    lay_out(outside, {"a.txt": "needle\n", "b.txt": "needle\n"})
    result = await case.run(grep, pattern="needle", path=str(outside / "a.txt"))
    assert result.output == f"Found 1 match\n{outside}/a.txt:\n  Line 1: needle"
    assert case.asked[-1].patterns == (f"{outside}/*",)


@pytest.mark.parametrize("bad", ["a\0b", "\ud800", "x" * 10_001])
@pytest.mark.parametrize("name", ["pattern", "include"])
async def test_patterns_that_no_file_can_fit_are_refused(case: ToolCase, name: str, bad: str) -> None:
    result = await case.run(grep, **{"pattern": "x", name: bad})
    assert result.error is not None
    assert result.error.kind == "schema"
