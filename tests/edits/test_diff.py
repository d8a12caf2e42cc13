"""Differences: right, minimal, and applicable by others."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from toolwright.text import diff
from toolwright.text.diff import Changed, compare, counts, short, split_lines, unified

LINES = st.sampled_from(["a\n", "b\n", "c\n", "dd\n", "\n", "a\r\n"])
TEXTS = st.builds(
    lambda lines, last: "".join(lines) + last, st.lists(LINES, max_size=14), st.sampled_from(["", "", "z"])
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    before = draw(TEXTS)
    if draw(st.booleans()):
        return before, draw(TEXTS)
    at = draw(st.integers(0, len(before)))
    return before, before[:at] + draw(st.sampled_from(["", "x\n", "y"])) + before[at + draw(st.integers(0, 4)) :]


@given(pairs())
@settings(max_examples=rounds(120, 500))
def test_the_changes_lead_from_one_text_to_the_other_with_the_fewest_lines(pair: tuple[str, str]) -> None:
    before, after = pair
    found = compare(before, after)
    rebuilt, at = [], 0
    for change in found.changes:
        rebuilt += [*found.before[at : change.before_start], *found.after[change.after_start : change.after_end]]
        at = change.before_end
    assert [*rebuilt, *found.before[at:]] == list(found.after)
    common = longest_common(split_lines(before), split_lines(after))
    assert counts(before, after) == (len(split_lines(after)) - common, len(split_lines(before)) - common)


@given(pairs(), st.integers(0, 3), st.integers(0, 3))
def test_who_knows_the_equal_ends_gets_the_same(pair: tuple[str, str], less: int, fewer: int) -> None:
    before, after = f"head\n{pair[0]}tail\n", f"head\n{pair[1]}tail\n"
    known = compare(before, after, head=5 - less, tail=5 - fewer)
    assert known.unified("f") == unified("f", before, after)
    assert known.lines == compare(before, after).lines


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch program")
@pytest.mark.parametrize("seed", range(12))
def test_the_patch_program_understands_us(tmp_path: Path, seed: int) -> None:
    before = [f"line {number}\n" for number in range(60)]
    after = [*before]
    for step in range(4):
        at = (seed * 17 + step * 13) % len(after)
        after[at : at + seed % 3] = [f"new {step}\n"] * (step % 3)
    if seed % 4 == 0:
        after[-1] = "no end"
    path = tmp_path / "f"
    path.write_text("".join(before))
    subprocess.run(
        ["patch", "-s", "f"], input=unified("f", "".join(before), "".join(after)).encode(), cwd=tmp_path, check=True
    )
    assert path.read_text() == "".join(after)


def test_equal_texts_have_no_difference() -> None:
    assert unified("f", "a\n", "a\n") == ""
    assert short("a\n", "a\n") == ""
    assert compare("a\n", "a\n").lines is None


def test_a_missing_line_end_is_marked() -> None:
    assert unified("/p/f", "a\nb", "a\nc\n").splitlines()[4:] == [
        "@@ -1,2 +1,2 @@",
        " a",
        "-b",
        "\\ No newline at end of file",
        "+c",
    ]


def test_changes_far_apart_are_separate_hunks() -> None:
    before = [f"{number}\n" for number in range(40)]
    after = [*before]
    after[3], after[30] = "three\n", "thirty\n"
    text = unified("f", "".join(before), "".join(after))
    assert [line for line in text.splitlines() if line.startswith("@@")] == ["@@ -1,8 +1,8 @@", "@@ -27,9 +27,9 @@"]


def test_the_short_form_is_cut() -> None:
    before = "".join(f"{number}\n" for number in range(100))
    after = "".join(f"{number}{'x' * 500}\n" for number in range(100))
    lines = short(before, after).splitlines()
    assert len(lines) == diff.SHORT_LINES + 1
    assert lines[-1] == "(160 more lines of the difference are left out)"
    assert all(len(line) < 220 for line in lines)


def test_very_long_lists_are_compared_between_lines_that_occur_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "_EXACT", 100)
    before = [f"{number}\n" for number in range(200)]
    after = [line.replace("5", "five") for line in before]
    found = diff.changed_lines(before, after)
    assert all(before[a:b] != after[c:d] for a, b, c, d in found)
    assert sum(b - a for a, b, _, _ in found) == sum("5" in line for line in before)
    assert diff.changed_lines(["x\n"] * 20 + ["a\n"], ["y\n"] * 20 + ["b\n"]) == [Changed(0, 21, 0, 21)]


def longest_common(before: list[str], after: list[str]) -> int:
    row = [0] * (len(after) + 1)
    for line in before:
        above, row = row, [0]
        for number, other in enumerate(after):
            row.append(above[number] + 1 if line == other else max(above[number + 1], row[-1]))
    return row[-1]
