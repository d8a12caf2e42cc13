"""What models remember wrongly of the lines they edit."""

import re
from collections.abc import Callable
from dataclasses import replace

from tests.edits.changes import Draft, Row, another_word, indent_of

_WORD = re.compile(r"[^\W\d]\w{2,}")


def _remember(draft: Draft, number: int, wrong: Callable[[str], str | None]) -> bool:
    """One line of the old text made wrong, in the new text too where the mistake is carried and does not hide it."""
    row = draft.rows[number]
    line = None if row.old is None else wrong(row.old)
    if line is None or line == row.old:
        return False
    new = row.new
    if draft.carried and row.kept:
        new = line
    elif draft.carried and row.modified:
        new = _carry(row.old or "", line, row.new or "")
        if new is None:
            return False
    draft.rows[number] = Row(old=line, new=new)
    return True


def _carry(true: str, wrong: str, new: str) -> str | None:
    """The mistake made in the new line as well, where that keeps the words it concerns."""
    head = next((i for i, (a, b) in enumerate(zip(true, wrong, strict=False)) if a != b), min(len(true), len(wrong)))
    tail = 0
    while tail < min(len(true), len(wrong)) - head and true[-1 - tail] == wrong[-1 - tail]:
        tail += 1
    if new.startswith(true[: len(true) - tail]):
        return wrong[: len(wrong) - tail] + new[len(true) - tail :]
    if new.endswith(true[head:]):
        return new[: len(new) - len(true) + head] + wrong[head:]
    return None


def _somewhere(draft: Draft, wrong: Callable[[str], str | None]) -> bool:
    filled = [n for n, row in enumerate(draft.rows) if row.old and row.old.strip()]
    return _remember(draft, draft.rng.choice(filled), wrong)


def _case_wrong(draft: Draft) -> bool:
    """Letters of the other case, in one line."""
    how = draft.rng.choice([str.upper, str.lower, str.title, str.swapcase])
    return _somewhere(draft, how)


def _word_wrong(draft: Draft) -> bool:
    other = draft.rng.choice(["value", "entry", "thing", "data", "node", "get_item", "old_name"])
    return _somewhere(draft, lambda line: another_word(draft.rng, line, other))


def _letter_wrong(draft: Draft) -> bool:
    def typo(line: str) -> str | None:
        words = list(_WORD.finditer(line))
        if not words:
            return None
        at = draft.rng.randrange(*draft.rng.choice(words).span())
        return line[:at] + draft.rng.choice(["", "e", line[at] * 2]) + line[at + 1 :]

    return _somewhere(draft, typo)


def _most_wrong(draft: Draft) -> bool:
    """Half of the lines or more are wrong, some of them altogether; the new text is right."""
    draft.carried = False
    there = [n for n, row in enumerate(draft.rows) if row.old]
    for number in draft.rng.sample(there, max(1, len(there) * draft.rng.choice([1, 2]) // 3)):
        row = draft.rows[number]
        other = another_word(draft.rng, row.old or "", "thing") or "something else"
        wrong = other if draft.rng.random() < 0.5 else indent_of(row.old or "") + "something else entirely"
        draft.rows[number] = Row(old=wrong, new=row.new)
    return True


def _capitals(draft: Draft) -> bool:
    draft.carried = False
    return _each_line(draft, str.upper, lambda line: line)


def _blanks_removed(draft: Draft) -> bool:
    draft.carried = False
    return _each_line(draft, lambda line: indent_of(line) + line.replace(" ", ""), lambda line: line)


def _words_swapped(draft: Draft) -> bool:
    def swap(line: str) -> str | None:
        words = list(_WORD.finditer(line))
        if len(words) < 2:
            return None
        one, other = sorted(draft.rng.sample(words, 2), key=lambda match: match.start())
        return line[: one.start()] + other[0] + line[one.end() : other.start()] + one[0] + line[other.end() :]

    return _somewhere(draft, swap)


def _sign_wrong(draft: Draft) -> bool:
    """A comma, colon or bracket left out or added."""

    def change(line: str) -> str | None:
        signs = [match.start() for match in re.finditer(r"[,;:.)(\]\[]", line)]
        if not signs:
            return f"{line};"
        at = draft.rng.choice(signs)
        return line[:at] + line[at + 1 :]

    return _somewhere(draft, change)


def _end_forgotten(draft: Draft) -> bool:
    """The end of a line left out, as a comment behind it."""

    def shorten(line: str) -> str | None:
        at = line.find("  #") if "  #" in line.strip() else line.find(" ", len(line) * 2 // 3)
        return line[:at] if at > 0 and line[:at].strip() else None

    return _somewhere(draft, shorten)


def _line_missing(draft: Draft) -> bool:
    choice = [n for n, row in enumerate(draft.rows) if row.old is not None and row.old.strip() and row.new is not None]
    if not choice or sum(row.old is not None for row in draft.rows) < 3:
        return False
    return _forget(draft, draft.rng.choice(choice))


def _forget(draft: Draft, number: int) -> bool:
    row = draft.rows[number]
    there = [n for n, other in enumerate(draft.rows) if other.old is not None]
    if row.new is None or (not row.kept and (draft.carried or number in (there[0], there[-1]))):
        return False
    if draft.carried and number in (there[0], there[-1]):
        return False
    draft.rows[number] = Row(old=None, new=None if draft.carried else row.new)
    return True


def _line_invented(draft: Draft) -> bool:
    number = draft.rng.randrange(1, len(draft.rows))
    text = draft.rng.choice(["self.check()", "# a note that is not there", "value = None", "return None", "{"])
    if draft.rng.random() < 0.3:
        text = draft.rng.choice(draft.above or draft.below or ["x"]).strip()
    if not text:
        return False
    line = indent_of(draft.rows[number].old or draft.rows[number].new or "") + text
    if draft.carried and not (draft.rows[number - 1].kept and draft.rows[number].kept):
        return False
    draft.rows.insert(number, Row(old=line, new=line if draft.carried else None))
    return True


def _elided(draft: Draft) -> bool:
    """A mark for lines left out, in both texts."""
    runs = [
        (first, last)
        for first in range(len(draft.rows))
        for last in range(first + 2, len(draft.rows) + 1)
        if all(row.kept for row in draft.rows[first:last])
    ]
    if not runs:
        return False
    if any(row.old is None and row.new == draft.rows[0].old for row in draft.rows):
        return False
    draft.carried = True
    first, last = draft.rng.choice(runs)
    marks = ["# ...", "# ... existing code ...", "# ... rest unchanged", "..."]
    if any("//" in line or "/*" in line for line in draft.above):
        marks = ["// ...", "// ... existing code ...", "/* ... */"]
    line = indent_of(draft.rows[first].old or "") + draft.rng.choice(marks)
    draft.rows[first:last] = [Row(old=line, new=line)]
    return True


def _half_forgotten(draft: Draft) -> bool:
    there = [n for n, row in enumerate(draft.rows) if row.old is not None]
    kept = [n for n in there[1:-1] if draft.rows[n].kept]
    gone = draft.rng.sample(kept, min(len(kept), max(2, len(draft.rows) // 2)))
    return len(gone) > 1 and all(_forget(draft, number) for number in gone)


def _context_wrong(draft: Draft) -> bool:
    """The first or the last line is another one altogether."""
    number = draft.rng.choice([0, len(draft.rows) - 1])
    if not draft.rows[number].kept:
        return False
    line = draft.rng.choice(["def something(self):", "}", "# the end", "    return result", "import os"])
    return _remember(draft, number, lambda _: line)


def _stale(draft: Draft) -> bool:
    """Two or three mistakes at once: how the block read some time ago."""
    steps = draft.rng.sample([_word_wrong, _line_missing, _line_invented, _sign_wrong, _end_forgotten], 2)
    return all(step(draft) for step in steps)


def _blank_line_wrong(draft: Draft) -> bool:
    blank = [n for n, row in enumerate(draft.rows) if row.kept and row.old == ""]
    if blank and draft.rng.random() < 0.5:
        return _forget(draft, draft.rng.choice(blank))
    number = draft.rng.randrange(1, len(draft.rows))
    if draft.carried and not (draft.rows[number - 1].kept and draft.rows[number].kept):
        return False
    draft.rows.insert(number, Row(old="", new="" if draft.carried else None))
    return True


def _each_line(draft: Draft, old: Callable[[str], str], new: Callable[[str], str]) -> bool:
    draft.rows = [
        Row(old=None if row.old is None else old(row.old), new=None if row.new is None else new(row.new))
        for row in draft.rows
    ]
    return True


def _indentation_wrong(draft: Draft) -> bool:
    filled = [row.old or "" for row in draft.rows if (row.old or "").strip()]
    depth = min(len(indent_of(line)) for line in filled)
    more = " " * draft.rng.choice([1, 2, 4])
    less = (lambda line: line[depth:]) if depth else (lambda line: more + line if line else line)
    how = draft.rng.choice([less, lambda line: more + line if line else line])
    return _each_line(draft, how, how if draft.carried else lambda line: line)


def _margin(draft: Draft) -> bool:
    """The old text without any indentation, the new one right."""
    draft.carried = False
    return _each_line(draft, str.lstrip, lambda line: line)


def _first_indent_lost(draft: Draft) -> bool:
    number = next(n for n, row in enumerate(draft.rows) if row.old is not None)
    head = next((n for n, row in enumerate(draft.rows) if row.new is not None), None)
    if number != head or not indent_of(draft.rows[number].old or ""):
        return False
    row = draft.rows[number]
    new = row.new or ""
    draft.rows[number] = Row(old=(row.old or "").lstrip(), new=new.lstrip() if draft.carried else new)
    return True


def _tabs_for_spaces(draft: Draft) -> bool:
    def tabs(line: str) -> str:
        indent = indent_of(line)
        return "\t" * (len(indent) // 4) + " " * (len(indent) % 4) + line[len(indent) :]

    if any("\t" in (row.old or "") for row in draft.rows):
        return False
    if draft.rng.random() < 0.5:
        return _each_line(draft, tabs, tabs if draft.carried else lambda line: line)
    # The file has tabs and the model writes spaces.
    for part in (draft.above, draft.below):
        part[:] = [tabs(line) for line in part]
    draft.truth = [replace(row, old=row.old and tabs(row.old), new=row.new and tabs(row.new)) for row in draft.truth]
    if not draft.carried:
        _each_line(draft, lambda line: line, tabs)
    return True


def _trailing_blanks(draft: Draft) -> bool:
    """The file has blanks at the ends of some lines, or the model has."""
    ends = [draft.rng.choice(["", "", "  ", "\t", " "]) if row.old else "" for row in draft.rows]
    if draft.rng.random() < 0.5:
        draft.truth = [
            Row(
                old=None if row.old is None else row.old + end,
                new=None if row.new is None else row.new + (end if row.kept else ""),
            )
            for row, end in zip(draft.truth, ends, strict=True)
        ]
        draft.carried = True
        return any(ends)
    draft.rows = [
        Row(
            old=None if row.old is None else row.old + end,
            new=None if row.new is None else row.new + (end if row.kept and draft.carried else ""),
        )
        for row, end in zip(draft.rows, ends, strict=True)
    ]
    return any(ends)


_CURLY = str.maketrans({'"': "”", "'": "’", "-": "–"})
_STRAIGHT = str.maketrans({"”": '"', "’": "'", "–": "-"})


def _look_alikes(draft: Draft) -> bool:
    """Quotes and dashes that only look like those of the file."""
    if draft.rng.random() < 0.5:
        return _somewhere(draft, lambda line: line.translate(_CURLY))
    number = draft.rng.randrange(len(draft.truth))
    row = draft.truth[number]
    if row.old is None or not row.kept or row.old.translate(_CURLY) == row.old:
        return False
    fancy = row.old.translate(_CURLY)
    draft.truth[number] = Row(old=fancy, new=fancy)
    draft.carried = True
    return True


def _numbered(draft: Draft) -> bool:
    """Line numbers copied from what `read` shows."""

    def numbered(number: int, line: str) -> str:
        return f"{number:05d}| {line}"

    draft.prefix = (numbered, numbered if draft.carried else lambda _, line: line)
    return True


def _escaped(draft: Draft) -> bool:
    """Line breaks written as backslash and n."""
    if any("\\" in (row.old or "") + (row.new or "") for row in draft.rows):
        return False
    draft.joint, draft.carried = "\\n", True
    return True


def _quotes_escaped(draft: Draft) -> bool:
    """Quotes with a backslash before them that the file does not have."""
    if any("\\" in (row.old or "") + (row.new or "") for row in draft.rows):
        return False
    return _each_line(
        draft,
        lambda line: line.replace('"', '\\"'),
        (lambda line: line.replace('"', '\\"')) if draft.carried else lambda line: line,
    )


def _inner_blanks(draft: Draft) -> bool:
    signs = draft.rng.choice([r"\1", r"  \1 "])
    return _somewhere(draft, lambda line: indent_of(line) + re.sub(r" *([=+,]) *", signs, line.lstrip()).rstrip())


def _joined(draft: Draft) -> bool:
    """Two lines remembered as one."""
    number = draft.rng.randrange(len(draft.rows) - 1)
    one, other = draft.rows[number : number + 2]
    if not one.kept or not other.kept or not one.old or not (other.old or "").strip():
        return False
    line = f"{one.old} {(other.old or '').lstrip()}"
    draft.rows[number : number + 2] = (
        [Row(old=line, new=line)] if draft.carried else [Row(old=line, new=one.new), Row(old=None, new=other.new)]
    )
    return True


def _other_ends(draft: Draft) -> bool:
    draft.crlf = True
    return True


def _twin(draft: Draft) -> bool:
    """A block much like this one stands elsewhere in the file, and the memory of this one is wrong."""
    block = [row.old for row in draft.truth if row.old is not None]
    number = draft.rng.randrange(len(block))
    line = another_word(draft.rng, block[number], "other_one")
    if line is None:
        return False
    twin = [*block[:number], line, *block[number + 1 :]]
    part = draft.rng.choice([draft.above, draft.below])
    at = draft.rng.randrange(len(part) + 1)
    part[at:at] = twin
    return draft.rng.choice([_word_wrong, _line_missing, _case_wrong, _letter_wrong, _stale, _indentation_wrong])(draft)


def _right(draft: Draft) -> bool:
    return True


MISTAKES: dict[str, Callable[[Draft], bool]] = {
    "none": _right,
    "letters' case": _case_wrong,
    "a wrong word": _word_wrong,
    "a wrong letter": _letter_wrong,
    "words swapped": _words_swapped,
    "most lines": _most_wrong,
    "all in capitals": _capitals,
    "blanks removed": _blanks_removed,
    "a sign": _sign_wrong,
    "end of a line": _end_forgotten,
    "a line missing": _line_missing,
    "a line invented": _line_invented,
    "lines elided": _elided,
    "half of the lines": _half_forgotten,
    "context": _context_wrong,
    "an old version": _stale,
    "a blank line": _blank_line_wrong,
    "indentation": _indentation_wrong,
    "no indentation": _margin,
    "first indentation": _first_indent_lost,
    "tabs and spaces": _tabs_for_spaces,
    "trailing blanks": _trailing_blanks,
    "look-alikes": _look_alikes,
    "line numbers": _numbered,
    "escaped breaks": _escaped,
    "escaped quotes": _quotes_escaped,
    "inner blanks": _inner_blanks,
    "lines joined": _joined,
    "line ends": _other_ends,
    "twin": _twin,
}
