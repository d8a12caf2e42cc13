"""The strategies beside their plain description: the same candidates, whatever the text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.edits import oracle
from tests.rounds import rounds
from toolwright.edits import strategies
from toolwright.edits.blanks import BLANKS, squeeze, strip, units, words
from toolwright.edits.replacement import replace
from toolwright.edits.views import TextForms
from toolwright.errors import ToolError

PIECES = [
    "a",
    "b",
    "ab",
    "foo(",
    ")",
    "{",
    "}",
    " ",
    "  ",
    "\t",
    "\\",
    "\\n",
    "\\t",
    "\\'",
    '"',
    "$",
    "🍲",
    "é",
    "\u00a0",
    "\ufeff",
    "\x1c",
    "\x85",
    "\r",
]
LINES = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
TEXTS = st.lists(LINES, max_size=10).map("\n".join)


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and another that is a part of it with some lines written otherwise, or has nothing to do with it."""
    text = draw(TEXTS)
    if draw(st.integers(0, 5)) == 0:
        return text, draw(TEXTS)
    start = draw(st.integers(0, len(text)))
    wanted = text[start : draw(st.integers(start, len(text)))]
    lines = wanted.split("\n")
    for number in draw(st.lists(st.integers(0, len(lines) - 1), max_size=3)):
        lines[number] = draw(
            st.sampled_from(
                [lines[number].strip(), f"  {lines[number]}", f"{lines[number]} ", "zz", lines[number] + "\\n"]
            )
        )
    return text, "\n".join(lines) + draw(st.sampled_from(["", "", "\n", " \n "]))


@given(cases(), st.booleans())
@settings(max_examples=rounds(70, 300), deadline=None)
def test_in_the_manner_of_the_reference_every_text_comes_out_as_described(
    case: tuple[str, str], everywhere: bool
) -> None:
    compare_with_description(*case, everywhere=everywhere)


@pytest.mark.slow
@given(cases(), st.booleans())
@settings(max_examples=rounds(400, 5000), deadline=None)
def test_in_the_manner_of_the_reference_very_many_texts_come_out_as_described(
    case: tuple[str, str], everywhere: bool
) -> None:
    compare_with_description(*case, everywhere=everywhere)


def compare_with_description(text: str, old: str, *, everywhere: bool) -> None:
    if not old:
        return
    try:
        got = "ok", replace(text, old, "<NEW>", everywhere=everywhere, drift="replace").text
    except ToolError as error:
        got = error.kind, text
    assert got == oracle.outcome(text, old, "<NEW>", everywhere=everywhere)


@pytest.mark.parametrize(
    ("ours", "plain"),
    [
        ("line_trimmed", "trimmed"),
        ("block_anchor", "anchored"),
        ("indentation", "dedented"),
        ("context", "contextual"),
    ],
)
@given(cases())
@settings(max_examples=rounds(50, 150), deadline=None)
def test_candidates_come_in_the_described_order(ours: str, plain: str, case: tuple[str, str]) -> None:
    text, old = case
    spans = strategies.STRATEGIES[ours](TextForms(text), old)
    assert [text[span.start : span.end] for span in spans] == list(getattr(oracle, plain)(text, old))


@given(st.text(st.sampled_from([*BLANKS, "\x1c", "\x85", "a", "\u200b"])))
def test_blanks_are_those_of_ecmascript(text: str) -> None:
    assert strip(text) == oracle.trim(text)
    assert words(text) == oracle.normal(text)
    assert TextForms(text).strip(text) == oracle.trim(text)
    assert squeeze(strip(text)).replace("\n", " ").split() == oracle.normal(text).split()


def test_the_set_of_blanks_is_complete() -> None:
    described = [chr(code) for code in range(0x10000) if re.fullmatch(f"[{oracle.BLANK}]", chr(code))]
    assert sorted(BLANKS) == described


@given(st.text())
def test_lengths_count_utf16_units(text: str) -> None:
    assert len(units(text)) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@given(TEXTS, st.data())
def test_a_view_finds_its_way_between_its_forms(text: str, data: st.DataObject) -> None:
    view = TextForms(text)
    lines = text.split("\n")
    assert view.line_count == len(lines)
    line = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(line, len(lines) - 1))
    [stripped] = view.flat_lines(view.flat_start(line), 1)
    assert stripped == oracle.trim(lines[line])
    assert view.is_blank(line) == (not stripped)
    assert view.line_at(view.flat_start(line)) == line
    span = view.span(line, last)
    assert text[span.start : span.end].split("\n") == lines[line : last + 1]
    assert view.line_of(span.start) == line
    assert [number for number, _ in view.lines_like(stripped)] == [
        number for number, other in enumerate(lines) if oracle.trim(other) == stripped
    ]


def test_a_view_of_many_lines_has_marks_on_the_way() -> None:
    lines = [f"  line {number} " for number in range(5000)]
    view = TextForms("\n".join(lines))
    for line in (0, 1, 999, 2500, 4999):
        span = view.span(line, line)
        assert view.text[span.start : span.end] == lines[line]
        assert view.line_of(span.start + 3) == line
        assert next(view.find_lines(f"line {line}")) == view.flat_start(line)
