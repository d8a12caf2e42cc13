"""Edits with the mistakes models make, made from real files, each with the text that was meant.

A block of a file is changed in a known way, and then the old text is remembered wrongly. What was meant is the change
made in the file as it is. A mistake is either carried into the new text, where that keeps the line, or the new text is
right and only the old one is not.
"""

import random
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.edits.changes import CHANGES, Draft, Row
from tests.edits.mistakes import MISTAKES

_FEW = 5_000
_LINES = (40, 120, 400)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One edit with a mistake in it."""

    id: str
    mistake: str
    change: str
    carried: bool
    """Whether the new text has the mistake too."""
    source: str
    before: str
    old: str
    new: str
    after: str
    """What was meant."""


def cases(count: int, seed: int = 0, kinds: Sequence[str] = ()) -> Iterator[Case]:
    """So many edits, every kind of mistake as often as the others."""
    names = list(kinds) or list(MISTAKES)
    number = made = 0
    while made < count:
        rng = random.Random(f"{seed} {number}")
        case = _case(rng, names[number % len(names)], f"{seed}-{number}")
        number += 1
        if case is not None:
            made += 1
            yield case


def _case(rng: random.Random, mistake: str, identity: str) -> Case | None:
    source = rng.choice(sources())
    lines = _part(rng, source)
    size = rng.choice([3, 4, 5, 5, 6, 7, 8, 10, 12, 16])
    start = rng.randrange(max(1, len(lines) - size))
    block = lines[start : start + size]
    if len(block) < 3 or not block[0].strip() or not block[-1].strip() or sum(1 for x in block if x.strip()) < 3:
        return None
    if "\n".join(lines).count("\n".join(block)) != 1:
        return None
    change = rng.choice(list(CHANGES))
    rows = CHANGES[change](rng, [Row(old=line, new=line) for line in block], lines)
    if rows is None or all(row.kept for row in rows):
        return None
    draft = Draft(
        rng=rng,
        above=lines[:start],
        truth=list(rows),
        below=lines[start + size :],
        carried=rng.random() < 0.5 and change != "twice",
        rows=list(rows),
    )
    if not MISTAKES[mistake](draft):
        return None
    return _finished(draft, mistake, change, source.name, identity)


def _finished(draft: Draft, mistake: str, change: str, source: str, identity: str) -> Case | None:
    old = [row.old for row in draft.rows if row.old is not None]
    new = [row.new for row in draft.rows if row.new is not None]
    if draft.prefix:
        old = [draft.prefix[0](draft.first + number, line) for number, line in enumerate(old)]
        new = [draft.prefix[1](draft.first + number, line) for number, line in enumerate(new)]
    end = "\r\n" if draft.crlf else "\n"
    before = end.join([*draft.above, *(row.old for row in draft.truth if row.old is not None), *draft.below])
    after = end.join([*draft.above, *(row.new for row in draft.truth if row.new is not None), *draft.below])
    if old == new or not old or before == after:
        return None
    if mistake != "none" and draft.joint.join(old) in before and mistake not in ("line ends", "first indentation"):
        return None
    if mistake in ("half of the lines", "an old version", "twin", "look-alikes") and _stripped(old) in _stripped(
        before.split(end)
    ):
        return None
    return Case(
        id=identity,
        mistake=mistake,
        change=change,
        carried=draft.carried,
        source=source,
        before=before,
        old=draft.joint.join(old),
        new=draft.joint.join(new),
        after=after,
    )


@cache
def sources() -> tuple[Path, ...]:
    """Programs and texts that come with Python."""
    home = Path(sysconfig.get_path("stdlib"))
    patterns = ["*.py", "json/*.py", "email/*.py", "asyncio/*.py", "http/*.py", "idlelib/*.txt", "idlelib/*.html"]
    patterns += ["idlelib/*.def", "venv/scripts/common/*", "lib2to3/*.txt", "pydoc_data/*.css", "LICENSE*"]
    found = [path for pattern in patterns for path in sorted(home.glob(pattern))]
    found += sorted(Path(sysconfig.get_path("include")).glob("*.h")) * 2
    return tuple(path for path in found if path.is_file() and path.stat().st_size > _FEW)


def _part(rng: random.Random, source: Path) -> list[str]:
    """Some hundred lines of a file, all of it where it is short."""
    lines = source.read_text("utf-8", "replace").replace("\r", "").replace("\f", "").split("\n")
    most = rng.choice(_LINES)
    start = rng.randrange(max(1, len(lines) - most))
    return lines[start : start + most]


def _stripped(lines: Sequence[str]) -> str:
    return "\n".join(line.strip() for line in lines)
