"""The edit tool, on real files: every recorded row, and what the tool owes its callers."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.files.tool_case import ToolCase, lay_out, rows
from toolwright.calls.request import Request
from toolwright.definition import Result
from toolwright.protocols.json_types import Json
from toolwright.tools.edit import edit
from toolwright.tools.read import read

ROWS = list(rows("edit"))

RELAXES_CONTENT = ("block_anchor", "context")

BETTER: dict[str, tuple[str, str]] = {
    "edit-0069": ("ambiguous", "two places, told apart by position and not by their indentation"),
    "edit-0611": ("ambiguous", "the same"),
    "edit-0616": ("ambiguous", "the same"),
    "edit-0071": ("ok", "the replacement is indented like the lines it replaces, without a blank line more"),
    "edit-0187": ("ok", "indented like the lines it replaces"),
    "edit-0198": ("ok", "indented like the lines it replaces"),
    "edit-0512": ("ok", "indented once, not twice"),
    "edit-0127": ("ok", "replaceAll changes every place, however it is spaced"),
    "edit-0180": ("ok", "line ends follow the lines replaced"),
    "edit-0183": ("ok", "line ends follow the lines replaced"),
    "edit-0184": ("ok", "line ends follow the lines replaced"),
    "edit-0593": ("ok", "line ends follow the lines replaced"),
    "edit-0598": ("ok", "line ends follow the lines replaced"),
    "edit-0601": ("ok", "line ends follow the lines replaced"),
    "edit-0604": ("ok", "line ends follow the lines replaced"),
    "edit-0609": ("ok", "line ends follow the lines replaced"),
    "edit-0612": ("ok", "line ends follow the lines replaced"),
}
"""Rows that come out otherwise unless `edit.drift` is `replace`: how, and why."""

MEANT = {f"edit-{number:04d}" for number in (395, 399, 400, 401, 402, 403, 404, 406, 408, 412)}
MEANT |= {f"edit-{number:04d}" for number in (414, 415, 434, 436, 438, 526, 536, 538)}
"""Rows that the reference refuses, and that are done as they are meant unless `edit.drift` is `replace`: oldString is
wrong in a line that newString has as the file does, or by a slip in its first or last line."""

QUIRKS: dict[str, tuple[str, bytes | None]] = {
    "edit-0026": ("ok", b"price = $`; $`\n"),
    "edit-0028": ("ok", b"price = $'; $'\n"),
    "edit-0044": ("ambiguous", None),
    "edit-0045": ("ambiguous", None),
    "edit-0177": ("ok", "\ufefffirst\nx\n".encode()),
    "edit-0203": ("ok", b"alpha\nbeta \xff b\nG\n"),
}
"""Rows that record an accident, and what we do there: the outcome, and the bytes if they change."""

UNSEEN = "one candidate between matching first and last line is accepted whatever stands between"


def label(row: Json) -> str:
    return f"{row['id']} {row['note']}"


@pytest.mark.parametrize("row", [row for row in ROWS if "quirk" not in row], ids=label)
async def test_recorded_rows_in_the_manner_of_the_reference(case: ToolCase, row: Json) -> None:
    case.files.drift = "replace"
    await check(case, row)


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in ROWS
        if "quirk" not in row and row.get("strategy") not in RELAXES_CONTENT and row["id"] not in {*BETTER, *MEANT}
    ],
    ids=label,
)
async def test_recorded_rows_that_do_not_relax_content_in_our_own_manner(case: ToolCase, row: Json) -> None:
    await check(case, row)


@pytest.mark.parametrize("row", [row for row in ROWS if row["id"] in BETTER], ids=label)
async def test_rows_that_come_out_better_in_our_own_manner(case: ToolCase, row: Json) -> None:
    result = await play(case, row)
    assert outcome(result) == BETTER[row["id"]][0]
    content = (case.project / row["file"]).read_bytes().decode()
    assert content != row["after"]
    if "\r\n" in row["before"]:
        assert content.count("\r\n") == content.count("\n")


@pytest.mark.parametrize("row", [row for row in ROWS if row["id"] in MEANT], ids=label)
async def test_rows_whose_old_text_is_wrong_in_what_leaves_no_doubt_are_done_as_meant(
    case: ToolCase, row: Json
) -> None:
    assert outcome(await play(case, row)) == "ok"
    before, after = row["before"], (case.project / row["file"]).read_bytes().decode()
    at = after.index(row["newString"])
    assert before.startswith(after[:at])
    assert before.endswith(after[at + len(row["newString"]) :])


@pytest.mark.parametrize("row", [row for row in ROWS if row["id"] in QUIRKS], ids=label)
async def test_rows_that_record_an_accident_come_out_as_we_chose(case: ToolCase, row: Json) -> None:
    result = await play(case, row)
    wanted, content = QUIRKS[row["id"]]
    assert outcome(result) == wanted
    path = case.project / row["file"]
    assert path.read_bytes() == (content or row["before"].encode())


@pytest.mark.parametrize("row", [row for row in ROWS if row.get("quirk") == UNSEEN], ids=label)
async def test_lines_the_model_has_never_seen_are_not_replaced(case: ToolCase, row: Json) -> None:
    assert outcome(await play(case, row)) == "not_found"
    assert (case.project / row["file"]).read_bytes().decode() == row["before"]


def test_every_row_is_accounted_for() -> None:
    quirks = {row["id"] for row in ROWS if "quirk" in row and row["quirk"] != UNSEEN}
    assert quirks == set(QUIRKS)


async def check(case: ToolCase, row: Json) -> None:
    result = await play(case, row)
    assert outcome(result) == row.get("error_kind", row["outcome"]), result.output
    path = case.project / row["file"]
    assert (path.read_bytes().decode() if path.exists() else None) == row["after"]
    if "additions" in row:
        assert result.metadata["filediff"]["additions"] == row["additions"]
        assert result.metadata["filediff"]["deletions"] == row["deletions"]


async def play(case: ToolCase, row: Json) -> Result:
    path = case.project / row["file"]
    if row["before"] is not None:
        lay_out(case.project, {row["file"]: row["before"]})
        if row.get("read_first", True):
            await case.run(read, filePath=str(path))
    if row.get("touched_after_read"):
        path.write_bytes(path.read_bytes() + b"\n")
    result = await case.run(edit, **arguments(case, row))
    if row.get("touched_after_read"):
        path.write_bytes(path.read_bytes()[:-1])
    return result


def arguments(case: ToolCase, row: Json) -> Json:
    path = str(case.project / row["file"])
    if "args" in row:
        return {name: path if value == "{file}" else value for name, value in row["args"].items()}
    given: Json = {
        "filePath": row["file"] if row.get("relative_path") else path,
        "oldString": row["oldString"],
        "newString": row["newString"],
    }
    return given if row["replaceAll"] is None else {**given, "replaceAll": row["replaceAll"]}


def outcome(result: Result) -> str:
    return "ok" if result.error is None else result.error.kind


# --- what an edit tells


async def test_the_result_says_where_and_what(case: ToolCase) -> None:
    await written(case, "a.py", "one\ntwo\nthree\nfour\nfive\nsix\n")
    result = await run(case, "a.py", "four", "FOUR\nand more")
    assert result.output == (
        "Edited a.py, lines 4-5.\n"
        "    2   two\n"
        "    3   three\n"
        "    4 - four\n"
        "    4 + FOUR\n"
        "    5 + and more\n"
        "    6   five\n"
        "    7   six"
    )
    assert result.title == "a.py"
    assert result.metadata["strategy"] == "exact"
    assert result.metadata["lines"] == [4, 5]
    assert result.metadata["diagnostics"] == {}
    filediff = result.metadata["filediff"]
    assert (filediff["file"], filediff["additions"], filediff["deletions"]) == (str(case.project / "a.py"), 2, 1)
    assert filediff["before"].splitlines()[3] == "four"


async def test_the_diff_has_the_header_and_four_lines_around(case: ToolCase) -> None:
    path = await written(case, "a.txt", "".join(f"{number}\n" for number in range(1, 12)))
    result = await run(case, "a.txt", "6\n", "six\n")
    lines = result.metadata["diff"].splitlines()
    assert lines[:5] == [f"Index: {path}", "=" * 67, f"--- {path}", f"+++ {path}", "@@ -2,9 +2,9 @@"]
    assert lines[5:] == [" 2", " 3", " 4", " 5", "-6", "+six", " 7", " 8", " 9", " 10"]


async def test_a_tolerant_match_is_named(case: ToolCase) -> None:
    await written(case, "a.py", "def f():\n    if x:\n        return 1\n")
    result = await run(case, "a.py", "if x:\n    return 1", "if x:\n    return 2")
    assert (case.project / "a.py").read_text() == "def f():\n    if x:\n        return 2\n"
    assert "(line_trimmed)" in result.output
    assert result.metadata["strategy"] == "line_trimmed"


async def test_a_large_file_is_told_of_by_its_patch_alone(case: ToolCase) -> None:
    await written(case, "big.txt", "".join(f"line {number}\n" for number in range(60_000)))
    result = await run(case, "big.txt", "line 31234\n", "LINE\n")
    assert "before" not in result.metadata["filediff"]
    assert result.metadata["filediff"]["patch"] == result.metadata["diff"]
    assert len(str(result.metadata)) < 3000


async def test_a_miss_shows_the_nearest_lines_and_what_differs(case: ToolCase) -> None:
    await written(case, "a.py", "import os\n\ndef total(items):\n    return sum(item.price for item in items)\n")
    result = await run(case, "a.py", "def total(items):\n    return sum(item.prices for item in items)", "pass")
    assert result.error is not None
    assert result.error.kind == "not_found"
    assert "    4      return sum(item.price for item in items)" in result.output
    assert 'line 4: after "item.price" oldString has "s", the file nothing' in result.output
    assert "with each line stripped" in result.output


@pytest.mark.parametrize(
    ("content", "old", "said"),
    [
        ("print(“hi”)\n", 'print("hi")', "U+0022"),
        ("cafe\u0301 au lait\n", "caf\u00e9 au lait", "only look-alike characters differ"),
        ("wait – now\n", "wait - now", "U+2013"),
    ],
)
async def test_look_alike_characters_are_pointed_out(case: ToolCase, content: str, old: str, said: str) -> None:
    await written(case, "a.txt", content)
    result = await run(case, "a.txt", old, "x")
    assert outcome(result) == "not_found"
    assert "only look-alike characters differ" in result.output
    assert said in result.output
    assert (case.project / "a.txt").read_text() == content


async def test_ambiguity_lists_the_lines(case: ToolCase) -> None:
    await written(case, "a.txt", "foo\nbar\nfoo\n  foo\n")
    result = await run(case, "a.txt", "foo", "X")
    assert outcome(result) == "ambiguous"
    assert "3 places (lines 1, 3, 4)" in result.output


async def test_an_edit_whose_result_is_already_there_is_said_to_change_nothing(case: ToolCase) -> None:
    await written(case, "a.py", "    x = 1\n")
    assert outcome(await run(case, "a.py", "x  =  1", "x = 1")) == "same"


# --- files


async def test_a_new_file_is_created_with_its_folders(case: ToolCase) -> None:
    result = await run(case, "deep/er/new.txt", "", "fresh\n")
    assert result.output == "Created deep/er/new.txt: 1 line."
    assert (case.project / "deep/er/new.txt").read_text() == "fresh\n"
    assert "+fresh" in case.asked[0].metadata["diff"]


@pytest.mark.parametrize(
    ("name", "old", "kind"), [("gone.txt", "a", "missing"), ("folder", "a", "is_folder"), ("folder", "", "is_folder")]
)
async def test_what_is_no_file_cannot_be_edited(case: ToolCase, name: str, old: str, kind: str) -> None:
    lay_out(case.project, {"folder/": None})
    assert outcome(await run(case, name, old, "b")) == kind


async def test_a_file_must_have_been_read_and_be_as_it_was_then(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\n"})
    assert outcome(await run(case, "a.txt", "one", "two")) == "unread"
    await case.run(read, filePath="a.txt")
    (case.project / "a.txt").write_text("one more\n")
    assert outcome(await run(case, "a.txt", "one", "two")) == "stale"


async def test_reading_under_another_name_counts(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\n", "sub/": None})
    await case.run(read, filePath=f"{case.project}/sub/.././a.txt")
    assert outcome(await run(case, "a.txt", "one", "two")) == "ok"


async def test_after_one_read_one_may_edit_twice(case: ToolCase) -> None:
    await written(case, "a.txt", "one\n")
    assert outcome(await run(case, "a.txt", "one", "two")) == "ok"
    assert outcome(await run(case, "a.txt", "two", "three")) == "ok"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
async def test_encoding_and_mark_stay(case: ToolCase, encoding: str) -> None:
    path = case.project / "a.txt"
    path.write_bytes("é1\r\ntwo\nthree".encode(encoding))
    await case.run(read, filePath="a.txt")
    assert outcome(await run(case, "a.txt", "two", "zwei")) == "ok"
    assert path.read_bytes() == "é1\r\nzwei\nthree".encode(encoding)


async def test_edits_of_one_session_at_the_same_time_are_all_made(case: ToolCase) -> None:
    await written(case, "a.txt", "".join(f"line {number}.\n" for number in range(6)))
    names = ["a.txt", "./a.txt", str(case.project / "a.txt")] * 2
    await asyncio.gather(*(run(case, name, f"line {n}.", f"LINE {n}.") for n, name in enumerate(names)))
    assert (case.project / "a.txt").read_text() == "".join(f"LINE {number}.\n" for number in range(6))
    assert case.permissions().count("edit") == 6


# --- permission


async def test_the_question_shows_path_and_diff(case: ToolCase) -> None:
    path = await written(case, "src/a.txt", "one\n")
    await run(case, "src/a.txt", "one", "two")
    [question] = [request for request in case.asked if request.permission == "edit"]
    assert question.patterns == ("src/a.txt",)
    assert question.always == ("*",)
    assert question.metadata["filepath"] == str(path)
    assert "-one\n+two\n" in question.metadata["diff"]


async def test_a_denied_edit_tells_nothing_about_the_file(case: ToolCase) -> None:
    await written(case, "a.txt", "one\n")
    case.rules = [("edit", "*", "deny")]
    outputs = {(await run(case, "a.txt", old, "two")).output for old in ("one", "nope", "two", "")}
    assert len(outputs) == 1
    assert (case.project / "a.txt").read_text() == "one\n"


async def test_outside_of_the_project_the_folder_is_asked_for_first(case: ToolCase) -> None:
    (case.project.parent / "out.txt").write_text("one\n")
    await case.run(read, filePath="../out.txt")
    case.asked.clear()
    await run(case, "../out.txt", "one", "two")
    assert case.permissions() == ["external_directory", "edit"]


async def test_a_file_that_changes_while_the_question_is_open_is_not_overwritten(case: ToolCase) -> None:
    path = await written(case, "a.txt", "one\n")

    def change(request: Request) -> None:
        path.write_text("one\nthe user's line\n")

    case.while_asking = change
    assert outcome(await run(case, "a.txt", "one", "ONE")) == "stale"
    assert path.read_text() == "one\nthe user's line\n"


async def written(case: ToolCase, name: str, content: str) -> Path:
    """A file that has been read."""
    path = case.project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())
    await case.run(read, filePath=name)
    return path


async def run(case: ToolCase, name: str, old: str, new: str, **more: Any) -> Result:
    return await case.run(edit, filePath=name, oldString=old, newString=new, **more)
