"""The table of settings in the guide is the one that the record gives."""

import os

from tests.pages import ROOT
from toolwright.settings.table import table_lines, without_effect

PAGE = ROOT / "docs" / "configuration.md"


def expected(page: str) -> str:
    names = ", ".join(f"`{name}`" for name in without_effect())
    for mark, text in (
        ("settings", "\n".join(table_lines())),
        ("without effect", f"Checked, and without effect so far: {names}."),
    ):
        start, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
        assert page.count(start) == page.count(end) == 1
        before, _, rest = page.partition(start)
        page = f"{before}{start}{text}\n{end}{rest.partition(end)[2]}"
    return page


def test_the_guide_has_the_table_of_the_record() -> None:
    page = PAGE.read_text("utf-8")
    if "TOOLWRIGHT_UPDATE_DOCS" in os.environ:
        PAGE.write_text(expected(page), "utf-8")
    assert PAGE.read_text("utf-8") == expected(page)
