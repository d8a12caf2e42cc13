"""The read tool, on real files."""

import base64
import hashlib
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.files.tool_case import ToolCase, lay_out, make_case, rows
from tests.waiting import patience
from toolwright.definition import Result
from toolwright.protocols.json_types import Json
from toolwright.testing import make_workspace
from toolwright.tools.read import BYTES, LINES, WIDTH, read

ROWS = list(rows("read"))

CHOICES = {
    "read-0030": None,  # digits as text are read as the number they are
    "read-0031": "schema",
    "read-0036": "schema",
}
"""What becomes of the rows whose recorded outcome is an accident."""

FOLDED = {"no_folder": "not_found"}
"""A missing folder is a missing file to us; the sentence says which."""


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "quirk" not in row], ids=lambda row: f"{row['id']} {row['note']}"
)
async def test_recorded_rows(case: ToolCase, row: Json) -> None:
    lay_out(case.project, row["files"])
    arguments = _arguments(row, case.project)
    expected = row["result"]
    result = await case.run(read, **arguments)
    if expected["status"] == "error":
        _check_error(result, expected, case.project)
    elif "attachment" in expected:
        _check_attachment(result, expected["attachment"])
    else:
        _check_text(result, expected)


@pytest.mark.parametrize("row", [row for row in ROWS if "quirk" in row], ids=lambda row: f"{row['id']} {row['note']}")
async def test_rows_that_record_an_accident_come_out_as_we_chose(case: ToolCase, row: Json) -> None:
    lay_out(case.project, row["files"])
    result = await case.run(read, **_arguments(row, case.project))
    assert (result.error.kind if result.error else None) == CHOICES[row["id"]]


def _arguments(row: Json, project: Path) -> Json:
    """Recorded offsets count from 0, ours from 1."""
    arguments = dict(row["args"])
    arguments["filePath"] = arguments["filePath"].replace("{project}", str(project))
    if type(arguments.get("offset")) is int and arguments["offset"] >= 0:
        arguments["offset"] += 1
    return arguments


def _check_error(result: Result, expected: Json, project: Path) -> None:
    assert result.error is not None
    assert result.error.kind == FOLDED.get(expected["error_kind"], expected["error_kind"])
    _, _, offered = result.output.partition("Did you mean one of these?\n")
    assert sorted(Path(line).name for line in offered.splitlines()) == expected.get("suggestions", [])


def _check_attachment(result: Result, expected: Json) -> None:
    assert result.error is None
    (attachment,) = result.attachments
    assert attachment.mime == expected["mime"]
    assert len(base64.b64decode(attachment.url.partition(",")[2])) == expected["bytes"]
    assert result.metadata["truncated"] is False


def _check_text(result: Result, expected: Json) -> None:
    assert result.error is None, result.output
    shown = numbered(result.output)
    assert result.metadata["truncated"] is expected["truncated"] is result.truncated
    assert result.metadata["stoppedBy"] == expected["stopped_by"]
    if expected["stopped_by"] == "end":
        assert result.metadata["totalLines"] == expected["total_lines"]
        assert f"total {expected['total_lines']} line{'' if expected['total_lines'] == 1 else 's'}" in result.output
    else:
        assert result.metadata["nextOffset"] == expected["next_offset"] + 1
        assert f"Use offset {expected['next_offset'] + 1} " in result.output
    assert (
        len(result.metadata["preview"].split("\n") if result.metadata["preview"] else []) == expected["preview_lines"]
    )
    _check_lines(shown, expected["shown"])


def _check_lines(shown: list[tuple[int, str]], expected: Json) -> None:
    if "lines" in expected:
        assert [[number, _described(text)] for number, text in shown] == expected["lines"]
        return
    assert len(shown) == expected["line_count"]
    assert [[number, _described(text)] for number, text in shown[:2]] == expected["first"]
    assert [[number, _described(text)] for number, text in shown[-2:]] == expected["last"]
    joined = "\n".join(f"{number}|{text}" for number, text in shown)
    assert hashlib.sha256(joined.encode()).hexdigest() == expected["sha256"]


def _described(text: str) -> Any:
    if len(text) <= 200:
        return text
    return {"chars": len(text), "starts": text[:8], "ends": text[-8:]}


def numbered(output: str) -> list[tuple[int, str]]:
    """The numbered lines of an answer."""
    found = (re.fullmatch(r"(\d{5,})\| (.*)", line, re.DOTALL) for line in output.split("\n"))
    return [(int(match[1]), match[2]) for match in found if match]


async def test_the_whole_answer_for_a_small_file(case: ToolCase) -> None:
    (case.project / "poem.txt").write_text("roses\nviolets\n")
    result = await case.run(read, filePath="poem.txt")
    assert result.output == "<file>\n00001| roses\n00002| violets\n00003| \n\n(End of file: total 3 lines.)\n</file>"
    assert result.title == "poem.txt"
    assert case.permissions() == ["read"]
    assert case.asked[0].patterns == (str(case.project / "poem.txt"),)


async def test_offset_zero_means_the_first_line(case: ToolCase) -> None:
    (case.project / "a.txt").write_text("x\ny\n")
    result = await case.run(read, filePath="a.txt", offset=0, limit=1)
    assert numbered(result.output) == [(1, "x")]


async def test_the_total_is_known_also_when_lines_are_left_out(case: ToolCase) -> None:
    (case.project / "a.txt").write_text("x\n" * 3000)
    result = await case.run(read, filePath="a.txt")
    assert len(numbered(result.output)) == LINES
    assert "Use offset 2001 to read beyond line 2000 of 3001." in result.output


async def test_a_line_that_is_cut_can_be_read_to_its_end(case: ToolCase) -> None:
    line = "".join(chr(ord("a") + number % 26) for number in range(4500))
    (case.project / "a.txt").write_text(f"short\n{line}\nend")
    pieces, column = "", 1
    while column:
        result = await case.run(read, filePath="a.txt", offset=2, limit=1, column=column)
        ((_, text),) = numbered(result.output)
        pieces += text.removesuffix("...")
        more = re.search(r"Use offset 2, limit 1 and column (\d+) to read on", result.output)
        assert result.metadata["cutLines"] == ([2] if more else [])
        column = int(more[1]) if more else 0
    assert pieces == line


async def test_a_cut_never_halves_a_character(case: ToolCase) -> None:
    (case.project / "a.txt").write_text("x" * 1999 + "🍲y")
    result = await case.run(read, filePath="a.txt")
    assert numbered(result.output) == [(1, "x" * 1999 + "...")]
    assert "column 2000 " in result.output


async def test_line_ends_are_reported(case: ToolCase) -> None:
    (case.project / "a.txt").write_bytes(b"a\r\nb\r\n")
    result = await case.run(read, filePath="a.txt")
    assert numbered(result.output) == [(1, "a\r"), (2, "b\r"), (3, "")]
    assert "(The lines end in CRLF.)" in result.output


@pytest.mark.parametrize("data", [b"a\r\nb\n", b"a\nb\r\n", b"a\nb\n"])
async def test_lines_that_do_not_all_end_in_crlf_are_not_said_to(case: ToolCase, data: bytes) -> None:
    (case.project / "a.txt").write_bytes(data)
    assert "CRLF" not in (await case.run(read, filePath="a.txt")).output


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
async def test_other_unicode_encodings_are_readable(case: ToolCase, encoding: str) -> None:
    (case.project / "a.txt").write_bytes("Käse\nmild and creamy\n".encode(encoding))
    if encoding == "utf-16-le":
        (case.project / "a.txt").write_bytes(b"\xff\xfe" + "Käse\nmild and creamy\n".encode(encoding))
    result = await case.run(read, filePath="a.txt")
    assert numbered(result.output) == [(1, "Käse"), (2, "mild and creamy"), (3, "")]


async def test_utf_16_without_a_mark_is_known_by_its_zeros(case: ToolCase) -> None:
    (case.project / "a.txt").write_bytes("plain words in two bytes each\n".encode("utf-16-le"))
    result = await case.run(read, filePath="a.txt")
    assert numbered(result.output)[0] == (1, "plain words in two bytes each")
    assert "UTF-16-LE" in result.output


async def test_bytes_that_are_not_utf_8_are_flagged(case: ToolCase) -> None:
    (case.project / "a.txt").write_bytes(b"caf\xe9\n")
    result = await case.run(read, filePath="a.txt")
    assert numbered(result.output)[0] == (1, "caf\ufffd")
    assert "not all UTF-8" in result.output


async def test_a_configured_encoding_is_used_for_them(tmp_path: Path) -> None:
    case = make_case(tmp_path, encoding="latin-1")
    (case.project / "a.txt").write_bytes(b"caf\xe9\n")
    result = await case.run(read, filePath="a.txt")
    assert numbered(result.output)[0] == (1, "café")
    assert "UTF-8" not in result.output


async def test_text_named_like_a_binary_file_can_be_read_when_asked_for(case: ToolCase) -> None:
    (case.project / "x.dat").write_text("just text\n")
    refused = await case.run(read, filePath="x.dat")
    assert refused.error is not None
    assert refused.error.kind == "binary"
    assert "give offset 1" in refused.output
    result = await case.run(read, filePath="x.dat", offset=1)
    assert numbered(result.output)[0] == (1, "just text")


@pytest.mark.parametrize("content", [b"text\0more", b"\x01" * 31 + b"a" * 69, b"\x7fELF\x02\x01\x01\0\0"])
async def test_binary_content_is_refused(case: ToolCase, content: bytes) -> None:
    (case.project / "a.txt").write_bytes(content)
    result = await case.run(read, filePath="a.txt", offset=1)
    assert result.error is not None
    assert result.error.kind == "binary"


async def test_a_pipe_is_refused_at_once(case: ToolCase) -> None:
    os.mkfifo(case.project / "pipe")
    async with patience():
        result = await case.run(read, filePath="pipe")
    assert result.error is not None
    assert "a named pipe" in result.output


async def test_a_device_is_refused(case: ToolCase) -> None:
    result = await case.run(read, filePath="/dev/zero")
    assert "a device" in result.output
    assert case.permissions() == ["external_directory", "read"]


async def test_a_folder_is_listed(case: ToolCase) -> None:
    lay_out(case.project, {"d/x.txt": "", "d/sub/": "", "d/link": {"link": "sub"}})
    result = await case.run(read, filePath="d")
    assert result.output == "<folder>\nlink/\nsub/\nx.txt\n\n(3 entries.)\n</folder>"
    part = await case.run(read, filePath="d", offset=2, limit=1)
    assert part.output == "<folder>\nsub/\n\n(Use offset 3 to go on; 3 entries in all.)\n</folder>"
    assert part.truncated is True


async def test_a_link_that_leads_in_a_circle_is_an_entry_like_any(case: ToolCase) -> None:
    (case.project / "a").write_text("")
    (case.project / "m").symlink_to("m")
    (case.project / "through").symlink_to("a/b")
    result = await case.run(read, filePath=str(case.project))
    assert "\na\nm\nthrough\n" in result.output
    assert (await case.run(read, filePath=str(case.project / "m"))).error is not None


async def test_a_missing_file_suggests_near_names(case: ToolCase) -> None:
    lay_out(case.project, {"config.json": "", "other.txt": ""})
    result = await case.run(read, filePath="confi.json")
    assert result.output == (
        f"There is no file {case.project}/confi.json. The nearest name is {case.project}/config.json."
    )


async def test_a_missing_folder_suggests_a_near_one(case: ToolCase) -> None:
    lay_out(case.project, {"source/a.py": ""})
    result = await case.run(read, filePath="sourec/a.py")
    assert f"The nearest folder is {case.project}/source." in result.output


async def test_at_most_three_names_are_suggested(case: ToolCase) -> None:
    lay_out(case.project, {f"config{number}.json": "" for number in range(9)})
    result = await case.run(read, filePath="config")
    assert len(result.output.partition("these?\n")[2].splitlines()) == 3


async def test_a_path_with_nul_is_refused(case: ToolCase) -> None:
    result = await case.run(read, filePath="a\0b")
    assert result.error is not None
    assert result.error.kind == "schema"
    assert case.asked == []


async def test_a_denied_file_is_not_read(case: ToolCase) -> None:
    (case.project / ".env").write_text("KEY=1\n")
    case.rules = [("read", "*.env", "deny")]
    result = await case.run(read, filePath=".env")
    assert result.error is not None
    assert result.error.kind == "denied"


@pytest.mark.parametrize("link", ["notes.txt", "deep/notes.txt"])
async def test_a_rule_sees_through_a_link(case: ToolCase, link: str) -> None:
    (case.project / ".env").write_text("KEY=1\n")
    (case.project / "deep").mkdir()
    (case.project / link).symlink_to(case.project / ".env")
    case.rules = [("read", "*.env", "deny")]
    result = await case.run(read, filePath=link)
    assert result.error is not None
    assert result.error.kind == "denied"


@pytest.mark.parametrize("path", ["out/secret.txt", "secret-link", "out/missing.txt", "../../outside/secret.txt"])
async def test_a_link_to_the_outside_is_outside(case: ToolCase, path: str) -> None:
    outside = case.project.parents[1] / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("s\n")
    (case.project / "out").symlink_to(outside)
    (case.project / "secret-link").symlink_to(outside / "secret.txt")
    case.rules = [("external_directory", "*", "deny")]
    result = await case.run(read, filePath=path)
    assert result.error is not None
    assert result.error.kind == "denied"


async def test_an_outside_folder_is_asked_for_by_itself(case: ToolCase) -> None:
    outside = case.project.parents[1] / "outside"
    outside.mkdir()
    await case.run(read, filePath=str(outside))
    assert case.asked[0].patterns == (f"{outside}/*",)
    assert case.asked[0].metadata == {"filepath": str(outside), "parentDir": str(outside)}


async def test_the_end_of_a_large_file_is_found_and_found_again(case: ToolCase) -> None:
    path = case.project / "big.log"
    with path.open("w") as file:
        file.writelines(f"line {number} {'x' * (number % 50)}\n" for number in range(1, 200_001))
    assert path.stat().st_size > 5_000_000
    for _ in range(2):
        result = await case.run(read, filePath="big.log", offset=199_999, limit=5)
        assert [number for number, _ in numbered(result.output)] == [199_999, 200_000, 200_001]
        assert numbered(result.output)[1][1].startswith("line 200000 ")
        assert result.metadata["totalLines"] == 200_001
    result = await case.run(read, filePath="big.log", offset=100_000, limit=1)
    assert numbered(result.output)[0][1].startswith("line 100000 ")


async def test_a_large_file_that_changed_is_indexed_anew(case: ToolCase) -> None:
    path = case.project / "big.log"
    path.write_text("aaaa\n" * 1_000_000)
    await case.run(read, filePath="big.log", offset=999_999, limit=1)
    path.write_text("b\n" * 2_500_000)
    result = await case.run(read, filePath="big.log", offset=2_000_000, limit=1)
    assert numbered(result.output) == [(2_000_000, "b")]


async def test_of_a_huge_file_only_the_first_lines_are_read(case: ToolCase, monkeypatch: pytest.MonkeyPatch) -> None:
    path = case.project / "huge.log"
    with path.open("wb") as file:
        file.write(b"first\n" * 2000)
        file.truncate(8 * 1024**3)
    monkeypatch.setattr("toolwright.files.disk._SETTLED", -1)  # a file written this very moment is hashed instead
    monkeypatch.setattr("toolwright.files.view.digest_of_file", lambda file: pytest.fail("all of it was read"))
    result = await case.run(read, filePath="huge.log", limit=1)
    assert numbered(result.output) == [(1, "first")]
    assert result.metadata["totalLines"] is None


def test_the_text_states_the_limits() -> None:
    assert str(LINES) in read.description
    assert str(BYTES) in read.description
    assert str(WIDTH) in read.description
    assert read.parameters["required"] == ["filePath"]


async def test_the_newer_form_of_the_reference_is_a_setting(project: Path) -> None:
    (project / "poem.txt").write_text("a\nb\nc\n")
    (project / "sub").mkdir()
    async with make_workspace(project, config={"read": {"form": "path"}}) as workspace:
        shown = await workspace.call("read", filePath="poem.txt", offset=2)
        listed = await workspace.call("read", filePath=".")
        tool = await workspace.registry["read"].for_agent(workspace.session().ruled_agent)
    path = f"<path>{project}"
    assert shown.output == (
        f"{path}/poem.txt</path>\n<type>file</type>\n<content>\n"
        "2: b\n3: c\n4: \n\n(End of file: total 4 lines.)\n</content>"
    )
    assert listed.output == (
        f"{path}</path>\n<type>directory</type>\n<entries>\npoem.txt\nsub/\n\n(2 entries.)\n</entries>"
    )
    assert "`12: text`" in tool.description
