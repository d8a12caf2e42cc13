"""What holds for every text and every edit."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from toolwright.edits.chunks import apply_chunks
from toolwright.edits.patch import parse
from toolwright.edits.replacement import replace
from toolwright.errors import ToolError
from toolwright.files.text import decode
from toolwright.text.diff import changed_lines

Line = tuple[str, str]
"""A line and its end."""

SPELLINGS: dict[str, Callable[[Sequence[str]], str]] = {
    "exact": "\n".join,
    "other line ends": "\r\n".join,
    "stripped": lambda lines: "\n".join(line.strip() for line in lines),
    "indented": lambda lines: "\n".join(f"   {line}" for line in lines),
    "blanks at line ends": lambda lines: "\n".join(f"{line} \t" for line in lines),
    "blanks inside": lambda lines: "\n".join(line.replace(" ", "   ") for line in lines),
    "with the last line end": lambda lines: "".join(f"{line}\n" for line in lines),
    "blank lines around": lambda lines: "\n".join(["", *lines, "", ""]),
    "escaped": lambda lines: "\\n".join(line.replace("'", "\\'") for line in lines),
    "one line forgotten": lambda lines: "\n".join([*lines[:1], *lines[2:]]),
    "one line wrong": lambda lines: "\n".join([*lines[:2], "unheard of", *lines[3:]]),
}


@st.composite
def documents(draw: st.DrawFn, ends: Sequence[str] = ("\n", "\r\n")) -> list[Line]:
    """Lines that all differ, with indentation and line ends of every kind; the last may have no end."""
    words = st.sampled_from(["x", "if (a) {", "}", "return a b", "'q'", "é ü", "#"])
    indents = st.sampled_from(["", "  ", "    ", "\t", "\t\t"])
    blanks = st.sampled_from(["", "", "", " ", "\t"])
    count = draw(st.integers(1, 12))
    lines = [
        (f"{draw(indents)}{draw(words)} {number};{draw(blanks)}", draw(st.sampled_from(ends)))
        for number in range(count)
    ]
    if draw(st.booleans()):
        lines[-1] = (lines[-1][0], "")
    return lines


@st.composite
def places(draw: st.DrawFn, ends: Sequence[str] = ("\n", "\r\n")) -> tuple[list[Line], int, int]:
    """A document, and the first and the last line of a block in it."""
    lines = draw(documents(ends))
    first = draw(st.integers(0, len(lines) - 1))
    return lines, first, draw(st.integers(first, len(lines) - 1))


def text_of(lines: Sequence[Line]) -> str:
    return "".join(line + end for line, end in lines)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("spelling", SPELLINGS)
@given(places(), st.sampled_from(["NEW", "NEW\nLINES", "", "  NEW\n", "NEW\r\nLINES\r\n", "\n"]))
@settings(max_examples=40, deadline=None)
def test_bytes_outside_of_the_block_meant_stay(
    encoding: str, spelling: str, place: tuple[list[Line], int, int], new: str
) -> None:
    lines, first, last = place
    old = SPELLINGS[spelling]([line for line, _ in lines[first : last + 1]])
    text = decode(text_of(lines).encode(encoding))
    assert text.encode(text.content) == text_of(lines).encode(encoding)
    try:
        done = replace(text.content, old, new)
    except ToolError as error:
        assert error.kind in ("not_found", "same", "ambiguous")  # noqa: PT017 - both ways are fine
        return
    data = text.encode(done.text)
    mark = text.encode("")
    above, below = decode(text_of(lines[:first]).encode()), decode(text_of(lines[last + 1 :]).encode())
    assert data.startswith(text.encode(above.content))
    assert data.endswith(text.encode(below.content)[len(mark) :])
    assert done.text[: done.head] == text.content[: done.head]
    assert done.text[len(done.text) - done.tail :] == text.content[len(text.content) - done.tail :]


@pytest.mark.parametrize("spelling", ["exact", "stripped", "indented", "blanks at line ends", "with the last line end"])
@given(places())
@settings(max_examples=rounds(50, 100), deadline=None)
def test_a_block_that_is_there_twice_is_refused_however_it_is_spelt(
    spelling: str, place: tuple[list[Line], int, int]
) -> None:
    lines, first, last = place
    block = lines[first : last + 1]
    text = text_of([*lines[: last + 1], ("between", "\n"), *block])
    if not lines[last][1]:
        return
    old = SPELLINGS[spelling]([line for line, _ in block])
    with pytest.raises(ToolError) as caught:
        replace(text, old, "NEW")
    assert caught.value.kind == "ambiguous"


@given(st.sampled_from(["\n", "\r\n"]).flatmap(lambda end: st.tuples(st.just(end), places([end]))), st.booleans())
@settings(max_examples=rounds(50, 200), deadline=None)
def test_an_edit_and_its_inverse_give_the_text_again(
    case: tuple[str, tuple[list[Line], int, int]], several: bool
) -> None:
    end, (lines, first, last) = case
    text = text_of(lines)
    old = text_of(lines[first : last + 1]).removesuffix(end)
    new = f"NEW{end}LINES" if several else "NEW"
    there = replace(text, old, new)
    assert replace(there.text, new, old).text == text


@given(places())
@settings(max_examples=rounds(50, 200), deadline=None)
def test_in_the_manner_of_the_reference_too_whatever_the_line_ends(place: tuple[list[Line], int, int]) -> None:
    lines, first, last = place
    text, old = text_of(lines), text_of(lines[first : last + 1])
    there = replace(text, old, "NEW", drift="replace")
    assert replace(there.text, "NEW", old, drift="replace").text == text


@given(documents(), st.data())
@settings(max_examples=rounds(50, 200), deadline=None)
def test_the_order_of_edits_of_different_lines_does_not_matter(lines: list[Line], data: st.DataObject) -> None:
    if len(lines) < 2:
        return
    one, other = data.draw(st.lists(st.integers(0, len(lines) - 1), min_size=2, max_size=2, unique=True))
    spelling = SPELLINGS[data.draw(st.sampled_from(["exact", "stripped", "indented", "blanks at line ends"]))]
    edits = [(spelling([lines[number][0]]), f"NEW {number}\nLINE") for number in (one, other)]
    results = []
    for order in (edits, edits[::-1]):
        text = text_of(lines)
        for old, new in order:
            text = replace(text, old, new).text
        results.append(text)
    assert results[0] == results[1]


@given(places(["\n"]), st.sampled_from(["", "  ", "    ", "\t"]), st.integers(0, 11))
@settings(max_examples=rounds(70, 300), deadline=None)
def test_a_text_moved_sideways_has_the_effect_of_the_text_in_place(
    place: tuple[list[Line], int, int], shift: str, number: int
) -> None:
    """Old and new text both carry an indentation more than the file: the result is as if neither had it."""
    lines, first, last = place
    block = [line for line, _ in lines[first : last + 1]]
    changed = [*block]
    at = number % len(block)
    changed[at] = changed[at].replace(";", "; // changed")
    moved_old, moved_new = ("\n".join(shift + line for line in side) for side in (block, changed))
    exact = replace(text_of(lines), "\n".join(block), "\n".join(changed))
    assert replace(text_of(lines), moved_old, moved_new).text == exact.text


@given(documents(["\n"]), st.data())
@settings(max_examples=rounds(70, 300), deadline=None)
def test_a_patch_and_its_inverse_give_the_text_again(lines: list[Line], data: st.DataObject) -> None:
    before = [line for line, _ in lines]
    after = [*before]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(after)))
        after[at : at + data.draw(st.integers(0, 2))] = data.draw(st.sampled_from([[], ["new"], ["new", "more"]]))
    there, back = patched(before, after), patched(after, before)
    assert there == "".join(f"{line}\n" for line in after)
    assert back == "".join(f"{line}\n" for line in before)


def patched(before: Sequence[str], after: Sequence[str]) -> str:
    """The text of the first lines, changed to the second ones by one chunk with all lines in it."""
    body, at = [], 0
    for change in changed_lines(before, after):
        body += [f" {line}" for line in before[at : change.before_start]]
        body += [f"-{line}" for line in before[change.before_start : change.before_end]]
        body += [f"+{line}" for line in after[change.after_start : change.after_end]]
        at = change.before_end
    body += [f" {line}" for line in before[at:]]
    patch = parse("\n".join(["*** Begin Patch", "*** Update File: f", "@@", *body, "*** End Patch"]))
    [section] = patch.sections
    text = "".join(f"{line}\n" for line in before)
    return apply_chunks(text, getattr(section, "chunks")).text  # noqa: B009 - of an Update, which it is
