"""The write tool, on real files."""

import os
import stat
import threading
from pathlib import Path

import pytest

from tests.files.tool_case import ToolCase, lay_out, make_case, rows
from toolwright.definition import Result
from toolwright.files.replace import Change
from toolwright.protocols.json_types import Json
from toolwright.text.diff import unified
from toolwright.tools.read import read
from toolwright.tools.write import write

ROWS = list(rows("write"))

CHOICES = {"write-0009": "schema"}
"""Half a surrogate pair is no text; it is refused, not replaced by something the model did not send."""


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "quirk" not in row], ids=lambda row: f"{row['id']} {row['note']}"
)
async def test_recorded_rows(case: ToolCase, row: Json) -> None:
    result = await _play(case, row)
    if row["outcome"] == "ok":
        assert result.error is None, result.output
        assert result.title == row["title"]
        assert result.metadata["exists"] is row["existed"]
    else:
        assert result.error is not None
        assert result.error.kind == row["error_kind"]
    assert _files(case.project) == row["files_after"]
    if "mode_after" in row:
        assert oct(stat.S_IMODE((case.project / "s.sh").stat().st_mode)) == row["mode_after"]


@pytest.mark.parametrize("row", [row for row in ROWS if "quirk" in row], ids=lambda row: f"{row['id']} {row['note']}")
async def test_rows_that_record_an_accident_come_out_as_we_chose(case: ToolCase, row: Json) -> None:
    result = await _play(case, row)
    assert result.error is not None
    assert result.error.kind == CHOICES[row["id"]]
    assert _files(case.project) == row["files"]


async def _play(case: ToolCase, row: Json) -> Result:
    lay_out(case.project, row["files"])
    if "mode" in row:
        (case.project / "s.sh").chmod(int(row["mode"], 8))
    arguments = {name: value.replace("{project}", str(case.project)) for name, value in row["args"].items()}
    for step in row.get("read_first", []):
        name, more = (step, {}) if isinstance(step, str) else step
        await case.run(read, filePath=name, **more)
    if "write_before" in row:
        await case.run(write, filePath=arguments["filePath"], content=row["write_before"])
    if "edit_before" in row:
        await _edit(case, arguments["filePath"], *row["edit_before"])
    for name in row.get("touched_after_read", []):
        later = (case.project / name).stat().st_mtime + 5
        os.utime(case.project / name, (later, later))
    return await case.run(write, **arguments)


async def _edit(case: ToolCase, path: str, old: str, new: str) -> None:
    """What the edit tool comes down to."""
    loaded = await case.files.load(case.files.tree.place(path))
    after = loaded.text.encode(loaded.text.content.replace(old, new))
    change = Change(place=loaded.place, before=loaded.data, after=after)
    await case.files.commit([change], session_id=case.session_id, call_id="call_0")


def _files(folder: Path) -> Json:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes().decode() for path in paths}


async def test_the_question_shows_the_difference(case: ToolCase) -> None:
    path = case.project / "src" / "a.txt"
    lay_out(case.project, {"src/a.txt": "one\ntwo\n"})
    await case.run(read, filePath="src/a.txt")
    case.asked.clear()
    result = await case.run(write, filePath="src/a.txt", content="one\nTWO\n")
    (request,) = case.asked
    assert (request.permission, request.patterns, request.always) == ("edit", ("src/a.txt",), ("*",))
    assert request.metadata["filepath"] == str(path)
    assert "-two\n+TWO\n" in request.metadata["diff"]
    assert result.output == "Wrote src/a.txt: 2 lines."
    assert "-two\n+TWO\n" in result.metadata["diff"]
    assert result.metadata["exists"] is True


async def test_nothing_happens_without_leave(case: ToolCase) -> None:
    for action in ("ask", "deny"):
        case.rules = [("edit", "*", action)]
        result = await case.run(write, filePath="new/a.txt", content="x")
        assert result.error is not None
        assert not (case.project / "new").exists()


async def test_a_denied_path_answers_the_same_whatever_is_there(case: ToolCase) -> None:
    lay_out(case.project, {"secret/a.txt": "x"})
    case.rules = [("edit", "secret/*", "deny")]
    answers = [(await case.run(write, filePath=f"secret/{name}", content="y")).output for name in ("a.txt", "b.txt")]
    assert answers[0].replace("a.txt", "b.txt") == answers[1]
    assert "A rule forbids" in answers[0]


@pytest.mark.parametrize("path", ["alias/n.txt", "ok/../secret/n.txt", "./secret/n.txt"])
async def test_a_rule_sees_through_links_and_dots(case: ToolCase, path: str) -> None:
    lay_out(case.project, {"secret/": "", "ok/": "", "alias": {"link": "secret"}})
    case.rules = [("edit", "secret/*", "deny")]
    result = await case.run(write, filePath=path, content="x")
    assert result.error is not None
    assert result.error.kind == "denied"


async def test_without_git_rules_start_at_the_folder_opened(tmp_path: Path) -> None:
    case = make_case(tmp_path, git=False)
    case.rules = [("edit", "src/*", "deny")]
    result = await case.run(write, filePath="src/n.txt", content="x")
    assert result.error is not None
    assert result.error.kind == "denied"


async def test_outside_is_asked_for_first_and_alone(case: ToolCase) -> None:
    outside = case.project.parents[1] / "outside"
    outside.mkdir()
    await case.run(write, filePath=str(outside / "n.txt"), content="x")
    assert case.permissions() == ["external_directory", "edit"]
    assert case.asked[0].patterns == case.asked[0].always == (f"{outside}/*",)
    assert case.asked[1].patterns == ("../../outside/n.txt",)
    assert (outside / "n.txt").read_text() == "x"


async def test_a_change_made_while_the_question_was_open_is_not_overwritten(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "old\n"})
    await case.run(read, filePath="a.txt")
    case.while_asking = lambda request: _save(case.project / "a.txt", "the user's\n")
    result = await case.run(write, filePath="a.txt", content="new\n")
    assert result.error is not None
    assert result.error.kind == "stale"
    assert (case.project / "a.txt").read_text() == "the user's\n"


async def test_a_file_that_appears_while_the_question_is_open_is_not_overwritten(case: ToolCase) -> None:
    case.while_asking = lambda request: _save(case.project / "a.txt", "the user's\n")
    result = await case.run(write, filePath="a.txt", content="new\n")
    assert result.error is not None
    assert result.error.kind == "stale"
    assert (case.project / "a.txt").read_text() == "the user's\n"


async def test_a_change_with_its_time_set_back_is_noticed(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "old\n"})
    path = case.project / "a.txt"
    await case.run(read, filePath="a.txt")
    status = path.stat()
    path.write_text("now\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    result = await case.run(write, filePath="a.txt", content="new\n")
    assert result.error is not None
    assert result.error.kind == "stale"


async def test_a_large_file_changed_with_its_time_set_back_is_noticed(
    case: ToolCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = case.project / "big.txt"
    path.write_bytes(b"a" * 79 + b"\n" + b"x\n" * 3_000_000)
    monkeypatch.setattr("toolwright.files.disk._SETTLED", -1)
    await case.run(read, filePath="big.txt", limit=1)
    status = path.stat()
    with path.open("r+b") as file:
        file.write(b"b")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    result = await case.run(write, filePath="big.txt", content="new\n")
    assert result.error is not None
    assert result.error.kind == "stale"


async def test_a_large_file_read_in_the_moment_it_was_written_may_be_changed(
    case: ToolCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.files.disk._SETTLED", 3600 * 10**9)  # a moment that no busy machine misses
    (case.project / "big.txt").write_bytes((b"x" * 1999 + b"\n") * 3_000)
    await case.run(read, filePath="big.txt", limit=1)
    assert (await case.run(write, filePath="big.txt", content="new\n")).error is None


async def test_a_read_in_another_session_does_not_count(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "old\n"})
    await case.run(read, filePath="a.txt")
    case.session_id = "ses_2"
    result = await case.run(write, filePath="a.txt", content="new\n")
    assert result.error is not None
    assert result.error.kind == "unread"


async def test_another_spelling_of_the_path_counts_as_read(case: ToolCase) -> None:
    lay_out(case.project, {"d/a.txt": "old\n", "other": {"link": "d"}})
    await case.run(read, filePath="./d/../d/a.txt")
    assert (await case.run(write, filePath="other/a.txt", content="new\n")).error is None


async def test_having_read_only_a_part_is_remarked(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\ntwo\n"})
    await case.run(read, filePath="a.txt", limit=1)
    result = await case.run(write, filePath="a.txt", content="x\n")
    assert result.output == "Wrote a.txt: 1 line. Only a part of the old content had been read."


@pytest.mark.parametrize(
    ("before", "content", "after", "remark"),
    [
        (b"\xef\xbb\xbfa\r\n", "b\n", b"\xef\xbb\xbfb\n", "The line ends were CRLF and are now LF."),
        (b"\xef\xbb\xbfa\n", "\ufeffb\n", b"\xef\xbb\xbfb\n", ""),
        ("ä\n".encode("utf-16"), "ö\n", "ö\n".encode("utf-16"), ""),
        (b"caf\xe9\n", "café\n", "café\n".encode(), "The file was not UTF-8; it is now."),
        (b"a\r\n", "b\r\n", b"b\r\n", ""),
    ],
)
async def test_encoding_and_mark_stay_and_line_ends_are_as_sent(
    case: ToolCase, before: bytes, content: str, after: bytes, remark: str
) -> None:
    (case.project / "a.txt").write_bytes(before)
    await case.run(read, filePath="a.txt")
    result = await case.run(write, filePath="a.txt", content=content)
    assert (case.project / "a.txt").read_bytes() == after
    assert result.output == f"Wrote a.txt: 1 line. {remark}".strip()


async def test_writing_through_a_link_keeps_the_link(case: ToolCase) -> None:
    lay_out(case.project, {"real.txt": "old\n", "l.txt": {"link": "real.txt"}, "gone.txt": {"link": "later.txt"}})
    await case.run(read, filePath="l.txt")
    assert (await case.run(write, filePath="l.txt", content="new\n")).error is None
    assert (await case.run(write, filePath="gone.txt", content="made\n")).error is None
    assert (case.project / "l.txt").is_symlink()
    assert (case.project / "real.txt").read_text() == "new\n"
    assert (case.project / "later.txt").read_text() == "made\n"


@pytest.mark.parametrize(("path", "kind"), [("f.txt/x.txt", "missing"), ("new/", "is_folder"), ("d", "is_folder")])
async def test_what_cannot_be_a_file(case: ToolCase, path: str, kind: str) -> None:
    lay_out(case.project, {"f.txt": "x", "d/": ""})
    result = await case.run(write, filePath=path, content="x")
    assert result.error is not None
    assert result.error.kind == kind


async def test_a_name_that_begins_with_dots_is_inside(case: ToolCase) -> None:
    case.rules = [("external_directory", "*", "deny")]
    assert (await case.run(write, filePath="..foo", content="x")).error is None


async def test_the_home_folder_is_outside(case: ToolCase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    case.rules = [("external_directory", "*", "deny")]
    result = await case.run(write, filePath="~/zz.txt", content="x")
    assert result.error is not None
    assert result.error.kind == "denied"


async def test_the_difference_of_long_texts_is_not_made_on_the_loop(
    case: ToolCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case.project / "a.txt").write_text("old\n" * 100)
    await case.run(read, filePath="a.txt")
    threads: set[threading.Thread] = set()

    def noting(name: str, before: str, after: str) -> str:
        threads.add(threading.current_thread())
        return unified(name, before, after)

    monkeypatch.setattr("toolwright.tools.write.unified", noting)
    result = await case.run(write, filePath="a.txt", content="new\n" * 200_000)
    assert result.error is None
    assert threads
    assert threading.main_thread() not in threads


async def test_both_kinds_of_event_are_told(case: ToolCase) -> None:
    told: list[tuple[str, str]] = []
    case.files.on_edited.append(lambda path, event: told.append((path.name, event)))
    await case.run(write, filePath="a.txt", content="x")
    await case.run(write, filePath="a.txt", content="y")
    assert told == [("a.txt", "add"), ("a.txt", "change")]


def _save(path: Path, text: str) -> None:
    path.write_text(text)
