"""Differences as they are laid out on the full screen."""

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from rich.cells import cell_len

from toolwright.text.diff import unified
from toolwright.tui.diffs import ADDED, ADDED_WORD, REMOVED, REMOVED_WORD, diff_rows
from toolwright.tui.page import Line

LONG = "    return sum(price * count for price, count in basket.items() if count > 0 and price is not None)\n"


def rows(before: str, after: str, columns: int = 80, most: int = 100) -> list[Line]:
    return diff_rows(unified("a.py", before, after), columns, most)


def text(lines: list[Line]) -> list[str]:
    return ["".join(piece for piece, _ in line).rstrip() for line in lines]


def coloured(lines: list[Line], code: str) -> str:
    return "".join(piece for line in lines for piece, its in line if its == code)


def test_every_line_has_its_number_and_its_sign() -> None:
    made = rows("one\ntwo\nthree\n", "one\n2\nthree\nfour\n")
    assert text(made) == ["   1   one", "   2 - two", "   2 + 2", "   3   three", "   4 + four"]


def test_a_long_line_is_wrapped_and_nothing_of_it_is_left_out() -> None:
    made = rows(LONG, LONG.replace("> 0", ">= 0"))
    assert all(sum(cell_len(piece) for piece, _ in line) <= 80 for line in made)
    added = "".join(line[7:] for line in text(made) if not line.startswith("   1 -"))
    assert LONG.rstrip().replace("> 0", ">= 0").replace(" ", "") in added.replace(" ", "")
    assert "…" not in "".join(text(made))


def test_the_words_that_differ_are_marked() -> None:
    made = rows("return a - b\n", "return a + b\n")
    assert (coloured(made, REMOVED_WORD), coloured(made, ADDED_WORD)) == ("-", "+")


def test_lines_with_little_in_common_are_marked_as_a_whole() -> None:
    made = rows("import os\n", "def main() -> None:\n")
    assert not coloured(made, REMOVED_WORD) + coloured(made, ADDED_WORD)
    assert coloured(made, REMOVED).split()[-2:] == ["import", "os"]


def test_a_coloured_row_reaches_to_the_edge() -> None:
    assert [sum(cell_len(piece) for piece, _ in line) for line in rows("", "one\n", 80) if line[-1][1] == ADDED] == [80]


def test_two_texts_stand_beside_each_other_where_there_is_room() -> None:
    made = text(rows("one\ntwo\n", "one\n2\nmore\n", 160))
    assert [line.split() for line in made] == [
        ["1", "one", "│", "1", "one"],
        ["2", "-", "two", "│", "2", "+", "2"],
        ["│", "3", "+", "more"],
    ]


def test_what_is_too_much_is_counted() -> None:
    made = text(rows("", "".join(f"{number}\n" for number in range(10)), most=3))
    assert made[3:] == ["… 7 more lines"]


def test_between_two_hunks_the_gap_is_seen_and_numbers_go_on() -> None:
    before = [f"line {number}\n" for number in range(1, 2001)]
    after = ["first\n", *before[1:-1], "last\n"]
    made = text(rows("".join(before), "".join(after)))
    assert "    ⋯" in made
    assert made[-2:] == [" 2000 - line 2000", " 2000 + last"]


def test_a_sentence_in_the_place_of_a_difference_is_shown() -> None:
    assert text(diff_rows("a.png: changed (not text, so no lines are shown)\n", 30, 10)) == [
        "a.png: changed (not text, so",
        "no lines are shown)",
    ]


def test_wide_letters_and_what_cannot_be_seen_keep_to_the_room() -> None:
    made = rows("", "日本" * 60 + "\x1b[2J\t|\n", 40)
    assert all(sum(cell_len(piece) for piece, _ in line) <= 40 for line in made)
    assert "\x1b" not in "".join(text(made))
