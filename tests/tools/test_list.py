"""The list tool, on real files."""

import pytest

from tests.files.search_rows import entries_in, lay_out_row
from tests.files.tool_case import ToolCase, lay_out, rows
from toolwright.protocols.json_types import Json
from toolwright.tools.list import list_


@pytest.mark.parametrize("row", list(rows("list")), ids=lambda row: f"{row['id']} {row['note']}")
async def test_recorded_rows(case: ToolCase, row: Json) -> None:
    assert "quirk" not in row
    lay_out_row(case, row)
    expected = row["result"]
    result = await case.run(list_, path=row["path"])
    root, _, _ = result.output.partition("\n")
    assert root == expected["root"].replace("{project}", str(case.project))
    assert result.metadata["count"] == expected["file_count"]
    entries = entries_in(result)
    assert len([name for _, name in entries if not name.endswith("/")]) == expected["file_count"]
    assert entries == expected.get("entries", entries)


async def test_the_whole_answer(case: ToolCase) -> None:
    lay_out(case.project, {"src/b.py": "", "src/a/c.py": "", "README.md": "", ".github/w.yml": "", "empty/": None})
    result = await case.run(list_)
    assert result.output == (
        f"{case.project}/\n"
        "  .github/\n    w.yml\n"
        "  src/\n    a/\n      c.py\n    b.py\n"
        "  README.md"
    )  # fmt: skip
    assert result.metadata == {"count": 4, "truncated": False, "total": 4}
    assert result.truncated is False


async def test_exactly_a_hundred_files_are_all_of_them(case: ToolCase) -> None:
    lay_out(case.project, {f"{number:03d}": "" for number in range(100)})
    result = await case.run(list_)
    assert result.metadata == {"count": 100, "truncated": False, "total": 100}
    assert "(" not in result.output


async def test_of_too_many_files_those_near_the_top_are_shown(case: ToolCase) -> None:
    deep = {f"{folder}/deep/{number:03d}": "" for number in range(100) for folder in "az"}
    lay_out(case.project, deep | {"m/near": "", "top": ""})
    result = await case.run(list_)
    entries = entries_in(result)
    assert [1, "top"] in entries
    assert [2, "near"] in entries
    assert result.metadata == {"count": 100, "truncated": True, "total": 202}
    assert result.output.endswith("\n\n(These are 100 of 202 files. List one of the folders to see all of it.)")


async def test_in_a_vast_tree_counting_ends_and_says_so(case: ToolCase) -> None:
    lay_out(case.project, {f"{number // 50}/{number}": "" for number in range(2100)})
    result = await case.run(list_)
    assert "100 of more than 2000 files" in result.output
    assert result.metadata == {"count": 100, "truncated": True, "total": 2000}


async def test_ignored_and_made_files_are_left_out(case: ToolCase) -> None:
    lay_out(case.project, {".gitignore": "secret/\n", "secret/a": "", "dist/b": "", "c": "", "x/dist/d": ""})
    result = await case.run(list_)
    assert entries_in(result) == [[1, "x/"], [2, "dist/"], [3, "d"], [1, ".gitignore"], [1, "c"]]


async def test_names_that_only_begin_like_made_ones_are_shown(case: ToolCase) -> None:
    lay_out(case.project, {".coveragerc": "", "zig-outx/a": "", "builder/b": ""})
    result = await case.run(list_)
    assert entries_in(result) == [[1, "builder/"], [2, "b"], [1, "zig-outx/"], [2, "a"], [1, ".coveragerc"]]


async def test_further_globs_can_be_left_out(case: ToolCase) -> None:
    lay_out(case.project, {"a.log": "", "sub/b.log": "", "sub/c.py": "", "docs/d.md": ""})
    result = await case.run(list_, ignore=["*.log", "docs/"])
    assert entries_in(result) == [[1, "sub/"], [2, "c.py"]]


async def test_a_glob_to_leave_out_that_cannot_be_read_is_an_error(case: ToolCase) -> None:
    result = await case.run(list_, ignore=["[a"])
    assert result.error is not None
    assert result.error.kind == "schema"


async def test_links_are_followed_inside_the_project_but_neither_out_of_it_nor_in_circles(case: ToolCase) -> None:
    lay_out(case.project.parent, {"outside/secret": ""})
    lay_out(case.project, {"real/a": ""})
    for name, target in {"in": "real", "out": "../outside", "loop": ".", "real/up": "..", "real/self": "."}.items():
        (case.project / name).symlink_to(target)
    result = await case.run(list_)
    assert entries_in(result) == [[1, "in/"], [2, "a"], [1, "real/"], [2, "a"]]


async def test_what_is_asked_inside_and_outside_the_project(case: ToolCase) -> None:
    outside = case.project.parent / "outside"
    lay_out(outside, {"a": ""})
    await case.run(list_)
    await case.run(list_, path=str(outside))
    inside, first, second = case.asked
    assert (inside.permission, inside.patterns) == ("list", (str(case.project),))
    assert inside.metadata == {"path": str(case.project)}
    assert (first.permission, first.patterns) == ("external_directory", (f"{outside}/*",))
    assert (second.permission, second.patterns, second.always) == ("list", (str(outside),), ("*",))


@pytest.mark.parametrize("path", ["nowhere", "file.txt"])
async def test_what_is_no_folder_is_an_error(case: ToolCase, path: str) -> None:
    lay_out(case.project, {"file.txt": ""})
    result = await case.run(list_, path=path)
    assert result.error is not None
    assert result.error.kind == "missing"


async def test_links_that_lead_in_circles_or_through_a_file_leave_the_rest_in_place(case: ToolCase) -> None:
    lay_out(case.project, {"a": "", "n/b": "", "z": ""})
    (case.project / "m").symlink_to("m")
    (case.project / "n/to").symlink_to("../o")
    (case.project / "o").symlink_to("n/to")
    (case.project / "through").symlink_to("a/b")
    result = await case.run(list_)
    assert result.output == f"{case.project}/\n  n/\n    b\n  a\n  z"
