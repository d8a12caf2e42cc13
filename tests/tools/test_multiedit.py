"""The multiedit tool, on real files."""

from pathlib import Path
from typing import Any

import pytest

from tests.files.tool_case import ToolCase, make_case
from toolwright.definition import Result
from toolwright.tools.multiedit import multiedit
from toolwright.tools.read import read


@pytest.fixture
async def case(tmp_path: Path) -> ToolCase:
    case = make_case(tmp_path)
    (case.project / "a.txt").write_text("one\ntwo\nthree\n")
    await case.run(read, filePath="a.txt")
    case.asked.clear()
    return case


async def run(case: ToolCase, *edits: tuple[str, str], name: str = "a.txt", **more: Any) -> Result:
    items = [{"oldString": old, "newString": new, **more} for old, new in edits]
    return await case.run(multiedit, filePath=name, edits=items)


async def test_all_edits_are_one_question_one_change_and_one_diff(case: ToolCase) -> None:
    changed: list[Path] = []
    case.files.on_edited.append(lambda path, event: changed.append(path))
    result = await run(case, ("one", "1"), ("three", "3"))
    assert (case.project / "a.txt").read_text() == "1\ntwo\n3\n"
    assert case.permissions() == ["edit"]
    assert "-one\n+1\n two\n-three\n+3\n" in case.asked[0].metadata["diff"]
    assert changed == [case.project / "a.txt"]
    assert result.output.startswith("Edited a.txt, lines 1-3 in 2 places.\n")
    assert result.metadata["strategy"] == ["exact", "exact"]


async def test_each_edit_sees_what_the_ones_before_have_left(case: ToolCase) -> None:
    await run(case, ("one", "uno"), ("uno\ntwo", "UNO\nDOS"))
    assert (case.project / "a.txt").read_text() == "UNO\nDOS\nthree\n"


async def test_if_one_cannot_be_made_none_is_and_its_number_is_told(case: ToolCase) -> None:
    result = await run(case, ("one", "1"), ("nope", "x"), ("three", "3"))
    assert result.error is not None
    assert result.error.kind == "not_found"
    assert result.output.startswith("Edit 2 of 3: oldString is not in the file")
    assert (case.project / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert case.asked == []


@pytest.mark.parametrize(
    ("second", "kind"), [(("two", "two"), "same"), (("t", "T"), "ambiguous"), (("", "x"), "ambiguous")]
)
async def test_every_kind_of_failure_names_its_edit(case: ToolCase, second: tuple[str, str], kind: str) -> None:
    result = await run(case, ("one", "1"), second)
    assert result.error is not None
    assert result.error.kind == kind
    assert result.output.startswith("Edit 2 of 2: ")


async def test_edits_that_undo_each_other_change_nothing(case: ToolCase) -> None:
    result = await run(case, ("one", "1"), ("1", "one"))
    assert result.error is not None
    assert result.error.kind == "same"


async def test_an_empty_list_does_not_fit_the_schema(case: ToolCase) -> None:
    result = await run(case)
    assert result.error is not None
    assert result.error.kind == "schema"


async def test_a_path_inside_an_item_is_ignored(case: ToolCase) -> None:
    result = await run(case, ("one", "1"), filePath="b.txt")
    assert result.error is None
    assert (case.project / "a.txt").read_text() == "1\ntwo\nthree\n"
    assert not (case.project / "b.txt").exists()


async def test_the_first_may_create_the_file(case: ToolCase) -> None:
    result = await run(case, ("", "hello\n"), ("hello", "HELLO"), name="new.txt")
    assert result.output == "Created new.txt: 1 line."
    assert (case.project / "new.txt").read_text() == "HELLO\n"


async def test_every_occurrence_where_asked_for(case: ToolCase) -> None:
    result = await run(case, ("t", "T"), replaceAll=True)
    assert (case.project / "a.txt").read_text() == "one\nTwo\nThree\n"
    assert "in 2 places" in result.output
