"""What an edit of some lines may change: a word, a line, several, all of them."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d]\w{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the block before and after the change; None where it is not there."""

    old: str | None
    new: str | None

    @property
    def kept(self) -> bool:
        return self.old == self.new

    @property
    def modified(self) -> bool:
        return self.old is not None and self.new is not None and not self.kept


Rows = list[Row]


@dataclass(slots=True, kw_only=True)
class Draft:
    """An edit while it is made: a mistake may change the rows, the texts made from them, and the file around."""

    rng: random.Random
    above: list[str]
    truth: Rows
    below: list[str]
    carried: bool
    rows: Rows
    prefix: tuple[Callable[[int, str], str], Callable[[int, str], str]] | None = None
    joint: str = "\n"
    crlf: bool = False

    @property
    def first(self) -> int:
        return len(self.above) + 1


def _word_changed(rng: random.Random, rows: Rows, lines: Sequence[str]) -> Rows | None:
    return _renamed(rng, rows, 1)


def _words_changed(rng: random.Random, rows: Rows, lines: Sequence[str]) -> Rows | None:
    return _renamed(rng, rows, rng.choice([2, 3]))


def _renamed(rng: random.Random, rows: Rows, count: int) -> Rows | None:
    changed = [*rows]
    for number in rng.sample(range(len(rows)), min(count, len(rows))):
        line = another_word(rng, rows[number].old or "", rng.choice(["changed", "other_value", "result", "x2"]))
        if line is None:
            return None
        changed[number] = Row(old=rows[number].old, new=line)
    return changed


def _more_added(rng: random.Random, rows: Rows, lines: Sequence[str]) -> Rows | None:
    """Something more at the end of a line."""
    number = rng.randrange(len(rows))
    line = rows[number].old or ""
    if not line.strip():
        return None
    more = rng.choice([" + 1", "  # see above", " or default", ", extra=None"])
    return [*rows[:number], Row(old=line, new=line + more), *rows[number + 1 :]]


def _line_replaced(rng: random.Random, rows: Rows, lines: Sequence[str]) -> Rows | None:
    number = rng.randrange(len(rows))
    line = rows[number].old or ""
    if not line.strip():
        return None
    fresh = [Row(old=None, new=indent_of(line) + text) for text in fresh_lines(rng, rng.choice([1, 1, 2, 3]))]
    return [*rows[:number], Row(old=line, new=None), *fresh, *rows[number + 1 :]]


def _lines_inserted(rng: random.Random, rows: Rows, lines: Sequence[str]) -> Rows | None:
    number = rng.randrange(len(rows) + 1)
    indent = indent_of(next(filter(str.strip, (row.old or "" for row in rows[min(number, len(rows) - 1) :])), ""))
    fresh = [Row(old=None, new=indent + text) for text in fresh_lines(rng, rng.choice([1, 1, 2, 3]))]
    return [*rows[:number], *fresh, *rows[number:]]


def _lines_deleted(rng: random.Random, rows: Rows, lines: Sequence[str]) -> Rows | None:
    count = rng.choice([1, 1, 2])
    if len(rows) < count + 2:
        return None
    number = rng.randrange(len(rows) - count + 1)
    gone = [Row(old=row.old, new=None) for row in rows[number : number + count]]
    return [*rows[:number], *gone, *rows[number + count :]]


def _rewritten(rng: random.Random, rows: Rows, lines: Sequence[str]) -> Rows | None:
    """The first and the last line stay, all between them is new."""
    indent = indent_of(next(filter(str.strip, (row.old or "" for row in rows[1:])), ""))
    gone = [Row(old=row.old, new=None) for row in rows[1:-1]]
    return [rows[0], *gone, *(Row(old=None, new=indent + text) for text in fresh_lines(rng, 2)), rows[-1]]


def _nested(rng: random.Random, rows: Rows, lines: Sequence[str]) -> Rows | None:
    """Some lines moved under a new one."""
    number = rng.randrange(len(rows) - 1)
    last = rng.randrange(number + 1, len(rows))
    if not (rows[number].old or "").strip() or "\t" in str(rows):
        return None
    depth = min(len(indent_of(row.old or "")) for row in rows[number : last + 1] if (row.old or "").strip())
    head = Row(old=None, new=" " * depth + "if enabled:")
    moved = [
        Row(old=row.old, new=f"    {row.old}" if row.old and row.old.strip() else row.old)
        for row in rows[number : last + 1]
    ]
    return [*rows[:number], head, *moved, *rows[last + 1 :]]


def _doubled(rng: random.Random, rows: Rows, lines: Sequence[str]) -> Rows | None:
    return [*rows, *(Row(old=None, new=row.old) for row in rows)]


def _one_for_all(rng: random.Random, rows: Rows, lines: Sequence[str]) -> Rows | None:
    fresh = indent_of(rows[0].old or "") + fresh_lines(rng, 1)[0]
    return [*(Row(old=row.old, new=None) for row in rows), Row(old=None, new=fresh)]


Change = Callable[[random.Random, Rows, Sequence[str]], Rows | None]
CHANGES: dict[str, Change] = {
    "a word": _word_changed,
    "words": _words_changed,
    "more": _more_added,
    "a line": _line_replaced,
    "new lines": _lines_inserted,
    "lines gone": _lines_deleted,
    "rewritten": _rewritten,
    "nested": _nested,
    "twice": _doubled,
    "one for all": _one_for_all,
}


def another_word(rng: random.Random, line: str, word: str) -> str | None:
    found = list(_WORD.finditer(line))
    if not found:
        return None
    match = rng.choice(found)
    return None if match[0] == word else line[: match.start()] + word + line[match.end() :]


def fresh_lines(rng: random.Random, count: int) -> list[str]:
    pool = ["log.debug('new')", "count += 1", "total = compute(total)", "if not ready:", "notify(user, reason)", "pass"]
    return rng.sample(pool, count)


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
