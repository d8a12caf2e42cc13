"""The apply_patch tool, on real files: every recorded row, the known weaknesses, and all or nothing."""

from pathlib import Path

import pytest

from tests.files.tool_case import ToolCase, lay_out, rows
from toolwright.calls.request import Request
from toolwright.definition import Result
from toolwright.files.store import Event
from toolwright.protocols.json_types import Json
from toolwright.tools.apply_patch import apply_patch
from toolwright.tools.edit import edit

ROWS = list(rows("apply_patch"))

BETTER: dict[str, tuple[str, Json]] = {
    "patch-0047": ("blank context lines need no mark", {"a.txt": "one\n\nTWO\n"}),
    "patch-0083": ("sections see those before them", {"n.txt": "two\n"}),
    "patch-0100": ("numbered headers are understood", {"a.txt": "one\nTWO\nthree\n"}),
}
"""Rows without a quirk that come out otherwise, because the reference's outcome is one of its known weaknesses."""

KEPT_CONTEXT = ("patch-0027", "patch-0119", "patch-0129", "patch-0130", "patch-0139", "patch-0140", "patch-0144")
"""Rows in which the reference rewrites lines that the patch keeps; we do so only where `edit.drift` is `replace`."""

LAST_LINE_ENDED = ("patch-0041",)
"""Rows in which the reference ends a last line that had no end; we do so only where `edit.drift` is `replace`."""

QUIRKS: dict[str, Json] = {
    "patch-0007": {"a.txt": "one\none and a half\ntwo\nthree\n"},
    "patch-0011": {"a.txt": "one\nTWO\nthree\n"},
    "patch-0037": {"a.txt": "x\nend\ny\nEND\n"},
    "patch-0042": {"a.txt": "one\nTWO\n\n\n"},
    "patch-0043": {"a.txt": "one\n\ntwo\n"},
    "patch-0045": {"a.txt": "\nfirst\n"},
    "patch-0050": {"a.txt": "one\r\nTWO\r\nthree\r\n"},
    "patch-0051": {"a.txt": "one\nTWO\nthree\n"},
    "patch-0062": {"od:d.txt": "x\n"},
    "patch-0076": {"a.txt": "one\nTWO\nthree\n"},
    "patch-0082": {"a.txt": "ONE\ntwo\nTHREE\n"},
    "patch-0115": {"a.txt": b"one \xff\nTWO\nthree\n"},
}
"""Rows that record an accident, and the files as we leave them."""


def label(row: Json) -> str:
    return f"{row['id']} {row['note']}"


@pytest.mark.parametrize("row", [row for row in ROWS if "quirk" not in row and row["id"] not in BETTER], ids=label)
async def test_recorded_rows(case: ToolCase, row: Json) -> None:
    case.files.drift = "replace" if row["id"] in (*KEPT_CONTEXT, *LAST_LINE_ENDED) else "merge"
    result = await play(case, row)
    if row["outcome"] == "error":
        assert result.error is not None
        assert result.error.kind == row["error_kind"], result.output
        assert held(case.project) == held_as(row["files"])
        return
    assert result.error is None, result.output
    assert held(case.project, case.project.parent / "esc2.txt") == held_as(row["files_after"])
    assert [described(file) for file in result.metadata["files"]] == row["changes"]
    external = [request for request in case.asked if request.permission == "external_directory"]
    assert [list(request.patterns) for request in external] == [
        [pattern.replace("{parent}", str(case.project.parent)) for pattern in asked["patterns"]]
        for asked in row["asked"]
    ]


@pytest.mark.parametrize("row", [row for row in ROWS if row["id"] in KEPT_CONTEXT], ids=label)
async def test_lines_that_a_patch_keeps_stay_as_the_file_has_them(case: ToolCase, row: Json) -> None:
    result = await play(case, row)
    assert result.error is None, result.output
    [(name, before)] = row["files"].items()
    after = (case.project / name).read_text("utf-8")
    wanted = sum(line.startswith("+") for line in row["patch"].splitlines())
    entry = result.metadata["files"][0]
    assert (entry["additions"], entry["deletions"]) == (wanted, wanted)
    assert len(set(before.split("\n")) - set(after.split("\n"))) <= wanted


@pytest.mark.parametrize("row", [row for row in ROWS if row["id"] in BETTER], ids=label)
async def test_rows_that_come_out_better(case: ToolCase, row: Json) -> None:
    result = await play(case, row)
    assert result.error is None, result.output
    assert held(case.project) == held_as(BETTER[row["id"]][1])


@pytest.mark.parametrize("row", [row for row in ROWS if "quirk" in row], ids=label)
async def test_rows_that_record_an_accident_come_out_as_we_chose(case: ToolCase, row: Json) -> None:
    result = await play(case, row)
    assert result.error is None, result.output
    assert held(case.project) == held_as(QUIRKS[row["id"]])


async def play(case: ToolCase, row: Json) -> Result:
    lay_out(case.project, row["files"])
    patch = row["patch"]
    if isinstance(patch, str):
        patch = patch.replace("{project}", str(case.project))
    return await case.run(apply_patch, patchText=patch)


def described(file: Json) -> Json:
    return {
        "type": file["type"],
        "path": file["relativePath"],
        "additions": file["additions"],
        "deletions": file["deletions"],
    }


def held(project: Path, *more: Path) -> Json:
    """All files by name, relative to the project."""
    paths = [path for path in project.rglob("*") if path.is_file()]
    found: Json = {str(path.relative_to(project)): path.read_bytes() for path in paths}
    return found | {f"../{path.name}": path.read_bytes() for path in more if path.exists()}


def held_as(files: Json) -> Json:
    return {name: value.encode() if isinstance(value, str) else value for name, value in files.items()}


async def run(case: ToolCase, *body: str) -> Result:
    return await case.run(apply_patch, patchText="\n".join(["*** Begin Patch", *body, "*** End Patch"]))


# --- the format


async def test_several_files_in_one_patch_are_one_question(case: ToolCase) -> None:
    lay_out(case.project, {"modify.txt": "line1\nline2\n", "delete.txt": "obsolete\n"})
    result = await run(
        case,
        *("*** Add File: nested/new.txt", "+created"),
        *("*** Delete File: delete.txt", "*** Update File: modify.txt", "@@", "-line2", "+changed"),
    )
    assert result.output == (
        "The patch is applied:\n"
        "A nested/new.txt\n"
        "D delete.txt\n"
        "M modify.txt\n"
        "modify.txt now:\n"
        "    1   line1\n"
        "    2 - line2\n"
        "    2 + changed"
    )
    assert held(case.project) == {"nested/new.txt": b"created\n", "modify.txt": b"line1\nchanged\n"}
    [question] = case.asked
    assert question.permission == "edit"
    assert question.patterns == ("nested/new.txt", "delete.txt", "modify.txt")
    assert question.always == ("*",)
    assert "+changed" in question.metadata["diff"]


async def test_a_chunk_without_its_header_line_and_chunks_after_the_end_of_file_mark_are_applied(
    case: ToolCase,
) -> None:
    lay_out(case.project, {"a.txt": "a\nb\nc\nd\n"})
    result = await run(case, "*** Update File: a.txt", "-a", "+A", "@@", "-d", "+D", "*** End of File")
    assert result.error is None
    assert (case.project / "a.txt").read_text() == "A\nb\nc\nD\n"


async def test_a_chunk_behind_the_end_of_file_mark_must_still_follow_the_order(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "a\nb\nc\nd\n"})
    result = await run(case, "*** Update File: a.txt", "@@", "-d", "+D", "*** End of File", "@@", "-b", "+B")
    assert result.error is not None
    assert result.error.kind == "lines_not_found"
    assert "They are at line 2, above the chunk before" in result.output
    assert (case.project / "a.txt").read_text() == "a\nb\nc\nd\n"


async def test_the_end_of_file_mark_takes_the_last_place(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "x\nm\nx\n"})
    await run(case, "*** Update File: a.txt", "@@", "-x", "+X", "*** End of File")
    assert (case.project / "a.txt").read_text() == "x\nm\nX\n"


async def test_only_added_lines_go_below_their_header(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "fn a\n1\nfn b\n2\n"})
    await run(case, "*** Update File: a.txt", "@@ fn a", "+inserted")
    assert (case.project / "a.txt").read_text() == "fn a\ninserted\n1\nfn b\n2\n"


async def test_a_part_of_a_line_as_header_is_refused_with_the_whole_line(case: ToolCase) -> None:
    lay_out(case.project, {"a.py": "class A:\n    def b(self):\n        return 1\n"})
    result = await run(case, "*** Update File: a.py", "@@ def b", "-        return 1", "+        return 2")
    assert result.error is not None
    assert result.error.kind == "context_header_not_found"
    assert "Did you mean 'def b(self):'?" in result.output


async def test_an_ambiguous_chunk_changes_the_first_place_and_says_so(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "x\ny\nx\n"})
    result = await run(case, "*** Update File: a.txt", "@@", "-x", "+Z")
    assert (case.project / "a.txt").read_text() == "Z\ny\nx\n"
    assert "Chunk 1 fits line 1 and line 3; the first was changed." in result.output


async def test_a_numbered_header_tells_equal_places_apart(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "x\ny\nx\n"})
    result = await run(case, "*** Update File: a.txt", "@@ -3,1 +3,1 @@", "-x", "+Z")
    assert (case.project / "a.txt").read_text() == "x\ny\nZ\n"
    assert "fits" not in result.output


@pytest.mark.parametrize(
    ("header", "changed"),
    [
        ("@@ -9,3 +9,3 @@", 6),
        ("@@ -1,3 +1,3 @@", 2),
        ("@@ -4,3 +4,3 @@", 2),  # as far from the one as from the other
        ("@@ -1,3 +1,3 @@ def g():", 6),
        ("@@ -6,2 +6,2 @@ def f():", 6),
    ],
)
async def test_a_numbered_header_that_is_not_exact_means_the_nearest_place_or_the_one_in_its_function(
    case: ToolCase, header: str, changed: int
) -> None:
    lay_out(case.project, {"a.py": "def f():\n    x = 1\n    return x\n\ndef g():\n    x = 1\n    return x\n"})
    await run(case, "*** Update File: a.py", header, "-    x = 1", "+    x = 2")
    lines = (case.project / "a.py").read_text().splitlines()
    assert [number for number, line in enumerate(lines, 1) if line == "    x = 2"] == [changed]


async def test_a_move_to_nowhere_is_an_update_and_lines_of_no_section_are_told(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\ntwo\n"})
    result = await run(
        case, "*** Update File: a.txt", "*** Move to:", "@@", "-two", "+2", "*** Rename File: b.txt", "@@", "-one"
    )
    assert (case.project / "a.txt").read_text() == "one\n2\n"
    assert "7, 8, 9" in result.output


async def test_a_numbered_header_places_added_lines(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "1\n2\n3\n"})
    await run(case, "*** Update File: a.txt", "@@ -1,0 +2,1 @@", "+1.5")
    assert (case.project / "a.txt").read_text() == "1\n1.5\n2\n3\n"


async def test_blank_lines_that_are_only_for_the_eye_do_not_hinder(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\ntwo\n"})
    result = await run(case, "*** Update File: a.txt", "@@", " one", "", "-two", "+TWO", "")
    assert result.error is None
    assert (case.project / "a.txt").read_text() == "one\nTWO\n"


async def test_lines_without_a_mark_are_left_out_and_named(case: ToolCase) -> None:
    result = await run(case, "*** Add File: n.txt", "+one", "two", "+three")
    assert (case.project / "n.txt").read_text() == "one\nthree\n"
    assert "Lines of the patch without a mark or a file were left out, counted from its first: 4." in result.output


async def test_marks_inside_an_added_file_are_content(case: ToolCase) -> None:
    await run(case, "*** Add File: n.txt", "+*** End Patch", "+*** Add File: x")
    assert (case.project / "n.txt").read_text() == "*** End Patch\n*** Add File: x\n"


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ("*** Begin Patch\n*** End Patch", "empty_patch"),
        ("*** Begin Patch\n\n*** End Patch", "empty_patch"),
        ("*** Begin Patch\n*** Frob File: x\n*** End Patch", "no_operations"),
        ("*** Begin Patch\n*** Update File:\n*** End Patch", "no_operations"),
        ("hello", "markers"),
        ("", "schema"),
    ],
)
async def test_patches_that_ask_for_nothing_are_refused_by_kind(case: ToolCase, patch: str, kind: str) -> None:
    result = await case.run(apply_patch, patchText=patch)
    assert result.error is not None
    assert result.error.kind == kind


async def test_what_does_not_fit_is_shown_with_how_far_it_does(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\ntwo\nthree\n"})
    result = await run(case, "*** Update File: a.txt", "@@", " one", " two", "-drei", "+four")
    assert "They fit from line 1 on, but where the patch has 'drei' the file has 'three' (line 3)." in result.output


# --- bytes that were not meant


async def test_context_found_loosely_keeps_indentation_quotes_and_line_ends(case: ToolCase) -> None:
    lay_out(case.project, {"a.py": "    say(“hi”)  \r\n    x = 1\r\n    y = 2"})
    result = await run(case, "*** Update File: a.py", "@@", ' say("hi")', "-x = 1", "+x = 3")
    assert result.error is None
    assert (case.project / "a.py").read_bytes().decode() == "    say(“hi”)  \r\n    x = 3\r\n    y = 2"


async def test_a_last_line_without_end_gets_none(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "a\nb", "b.txt": "a\nb", "c.txt": "a\nb"})
    await run(
        case,
        *("*** Update File: a.txt", "@@", "-a", "+A"),
        *("*** Update File: b.txt", "@@", "-b", "+B"),
        *("*** Update File: c.txt", "@@", "+c"),
    )
    assert held(case.project) == {"a.txt": b"A\nb", "b.txt": b"a\nB", "c.txt": b"a\nb\nc"}


async def test_encoding_and_byte_order_mark_stay(case: ToolCase) -> None:
    (case.project / "bom.txt").write_bytes("\ufefföne\ntwo\n".encode())
    (case.project / "wide.txt").write_bytes("\ufefföne\ntwo\n".encode("utf-16-le"))
    (case.project / "old.txt").write_bytes(b"caf\xe9\ntwo\n")
    names = ("bom.txt", "wide.txt", "old.txt")
    chunk = ("@@", "-two", "+TWO")
    result = await run(case, *(line for name in names for line in (f"*** Update File: {name}", *chunk)))
    assert result.error is None, result.output
    assert held(case.project) == {
        "bom.txt": "\ufefföne\nTWO\n".encode(),
        "wide.txt": "\ufefföne\nTWO\n".encode("utf-16-le"),
        "old.txt": b"caf\xe9\nTWO\n",
    }


# --- all or nothing


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        (("*** Update File: missing.txt", "@@", "-a", "+b"), "missing_file"),
        (("*** Delete File: missing.txt",), "missing_file"),
        (("*** Add File: folder", "+x"), "is_folder"),
        (("*** Update File: b.txt", "@@", "-nope", "+x"), "lines_not_found"),
        (("*** Update File: b.txt", "*** Move to: folder", "@@", "-b", "+B"), "is_folder"),
        (("*** Update File: pic.bin", "@@", "-b", "+B"), "binary"),
        (("*** Add File: b.txt/below", "+x"), "missing"),
    ],
)
async def test_when_one_section_fails_nothing_is_written(case: ToolCase, last: tuple[str, ...], kind: str) -> None:
    lay_out(case.project, {"a.txt": "a\n", "b.txt": "b\n", "folder/": None})
    (case.project / "pic.bin").write_bytes(bytes(range(256)))
    before = held(case.project)
    result = await run(case, "*** Add File: n.txt", "+n", "*** Update File: a.txt", "@@", "-a", "+A", *last)
    assert result.error is not None
    assert held(case.project) == before
    assert result.error.kind == kind, result.output


async def test_sections_of_one_file_are_folded_in_order(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\ntwo\n"})
    result = await run(
        case,
        *("*** Update File: a.txt", "@@", "-one", "+uno"),
        *("*** Update File: ./a.txt", "@@", "-uno", "+UNO"),
        *("*** Update File: a.txt", "*** Move to: b.txt", "@@", "-two", "+dos"),
        *("*** Update File: b.txt", "@@", "-dos", "+DOS"),
        *("*** Add File: n.txt", "+n", "*** Delete File: n.txt"),
    )
    assert result.error is None, result.output
    assert held(case.project) == {"b.txt": b"UNO\nDOS\n"}


async def test_a_file_that_a_section_before_deleted_cannot_be_updated(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\n"})
    result = await run(case, "*** Delete File: a.txt", "*** Update File: a.txt", "@@", "-one", "+two")
    assert result.error is not None
    assert result.error.kind == "missing_file"
    assert held(case.project) == {"a.txt": b"one\n"}


async def test_delete_and_add_replace_a_file_even_a_binary_one(case: ToolCase) -> None:
    (case.project / "a.bin").write_bytes(bytes(range(256)))
    await run(case, "*** Delete File: a.bin", "*** Add File: a.bin", "+text")
    assert held(case.project) == {"a.bin": b"text\n"}


@pytest.mark.parametrize("target", ["a.txt", "./a.txt", "sub/../a.txt", "{project}/a.txt"])
async def test_a_move_onto_itself_is_an_update(case: ToolCase, target: str) -> None:
    lay_out(case.project, {"a.txt": "one\n", "sub/": None})
    target = target.replace("{project}", str(case.project))
    result = await run(case, "*** Update File: a.txt", f"*** Move to: {target}", "@@", "-one", "+two")
    assert result.error is None
    assert held(case.project) == {"a.txt": b"two\n"}


async def test_a_move_keeps_the_mode_and_makes_folders(case: ToolCase) -> None:
    lay_out(case.project, {"old/run.sh": "echo 1\n"})
    (case.project / "old/run.sh").chmod(0o755)
    result = await run(case, "*** Update File: old/run.sh", "*** Move to: new/dir/run.sh")
    assert result.output == "The patch is applied:\nM new/dir/run.sh"
    assert held(case.project) == {"new/dir/run.sh": b"echo 1\n"}
    assert (case.project / "new/dir/run.sh").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    "section",
    [
        ("*** Add File: kept.txt", "+new"),
        ("*** Update File: a.txt", "*** Move to: kept.txt", "@@", "-one", "+new"),
    ],
)
async def test_what_is_overwritten_is_shown_in_the_question_and_named_after(
    case: ToolCase, section: tuple[str]
) -> None:
    lay_out(case.project, {"a.txt": "one\n", "kept.txt": "precious\n"})
    result = await run(case, *section)
    assert "-precious" in case.asked[-1].metadata["diff"]
    assert "kept.txt was there before and is replaced." in result.output
    assert (case.project / "kept.txt").read_text() == "new\n"


# --- permission, events, change while asking


async def test_the_target_of_a_move_is_asked_for_too(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\n", "secret/k.txt": "key\n"})
    case.rules = [("edit", "secret/*", "deny")]
    result = await run(case, "*** Update File: a.txt", "*** Move to: secret/k.txt", "@@", "-one", "+two")
    assert result.error is not None
    assert result.error.kind == "denied"
    assert case.asked == []
    assert held(case.project) == {"a.txt": b"one\n", "secret/k.txt": b"key\n"}


async def test_a_denied_file_refuses_the_whole_patch_before_any_question(case: ToolCase) -> None:
    lay_out(case.project, {"secret/k.txt": "key\n"})
    case.rules = [("edit", "*", "ask"), ("edit", "secret/*", "deny")]
    result = await run(case, "*** Add File: ok.txt", "+ok", "*** Delete File: secret/k.txt")
    assert result.error is not None
    assert result.error.kind == "denied"
    assert case.asked == []


async def test_two_files_in_one_folder_outside_are_one_question_about_it(case: ToolCase) -> None:
    await run(case, "*** Add File: ../x.txt", "+x", "*** Add File: ../y.txt", "+y")
    assert case.permissions() == ["external_directory", "edit"]
    assert (case.project.parent / "x.txt").exists()


async def test_a_rule_that_denies_tells_nothing_about_the_file(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\n"})
    case.rules = [("edit", "*", "deny")]
    fits = await run(case, "*** Update File: a.txt", "@@", "-one", "+two")
    does_not = await run(case, "*** Update File: a.txt", "@@", "-nope", "+two")
    assert fits.output == does_not.output


async def test_a_file_that_changes_while_the_question_is_open_is_not_overwritten(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\n", "b.txt": "b\n"})

    def change(request: Request) -> None:
        (case.project / "a.txt").write_text("one\nmine\n")

    case.while_asking = change
    result = await run(case, "*** Update File: b.txt", "@@", "-b", "+B", "*** Update File: a.txt", "@@", "-one", "+two")
    assert result.error is not None
    assert result.error.kind == "stale"
    assert held(case.project) == {"a.txt": b"one\nmine\n", "b.txt": b"b\n"}


async def test_events_name_what_happened_to_each_path(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\n", "b.txt": "b\n", "c.txt": "c\n"})
    seen: list[tuple[str, Event]] = []
    case.files.on_edited.append(lambda path, event: seen.append((path.name, event)))
    await run(
        case,
        *("*** Update File: a.txt", "*** Move to: moved.txt", "*** Delete File: b.txt"),
        *("*** Update File: c.txt", "@@", "-c", "+C", "*** Add File: d.txt", "+d"),
    )
    assert sorted(seen) == [
        ("a.txt", "unlink"),
        ("b.txt", "unlink"),
        ("c.txt", "change"),
        ("d.txt", "add"),
        ("moved.txt", "add"),
    ]


async def test_a_patched_file_counts_as_read(case: ToolCase) -> None:
    await run(case, "*** Add File: n.txt", "+one")
    result = await case.run(edit, filePath="n.txt", oldString="one", newString="two")
    assert result.error is None, result.output


async def test_the_metadata_tell_of_each_file(case: ToolCase) -> None:
    lay_out(case.project, {"a.txt": "one\n"})
    result = await run(case, "*** Update File: a.txt", "*** Move to: b.txt", "@@", "-one", "+two")
    [entry] = result.metadata["files"]
    assert entry["filePath"] == str(case.project / "a.txt")
    assert entry["movePath"] == str(case.project / "b.txt")
    assert (entry["relativePath"], entry["type"]) == ("b.txt", "move")
    assert (entry["before"], entry["after"]) == ("one\n", "two\n")
    assert result.metadata["diagnostics"] == {}
    assert result.title == "b.txt"
