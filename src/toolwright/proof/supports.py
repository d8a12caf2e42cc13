"""Files that serve nothing but tests, whatever they are called: what tests expect, and what asserts for them."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from toolwright.proof.baseline import Before
from toolwright.proof.kinds import kind_of
from toolwright.proof.weakened import asserts_in

CODE = frozenset(("py", "js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx", "go", "rs", "rb", "java", "kt", "php"))
MOST = 5_000
"""Files of the work that are asked whether they use a file, too. Of more, it counts as used."""

Read = Callable[[str], str | None]


def supports(changed: Iterable[str], baseline: Before, files: Mapping[str, str], read: Read) -> set[str]:
    """Return which changed files only tests named before: data, and code of which an assertion has gone.

    What the work itself names is its own. Only files that are as they were are asked: a new mention proves nothing.
    """
    candidates = {path for path in changed if path in baseline.files and kind_of(path) == "work"}
    candidates = {path for path in candidates if not _is_code(path) or _asserts_less(path, baseline, read)}
    if not candidates:
        return set()
    tests = [text for path in baseline.files if kind_of(path) == "test" if (text := baseline.text(path))]
    named = {path for path in candidates if any(_names(path, text) for text in tests)}
    same = [path for path, digest in baseline.files.items() if _is_code(path) and files.get(path) == digest]
    works = [path for path in same if kind_of(path) == "work"]
    if not named or len(works) > MOST:
        return set()
    return named - _used(named, works, read)


def _used(named: Collection[str], works: Sequence[str], read: Read) -> set[str]:
    texts: Iterator[tuple[str, str]] = ((path, text) for path in works if (text := read(path)))
    return {path for work, text in texts for path in named if work != path and _names(path, text)}


def _asserts_less(path: str, baseline: Before, read: Read) -> bool:
    return not asserts_in(baseline.text(path) or "") <= asserts_in(read(path) or "")


def _is_code(path: str) -> bool:
    return PurePosixPath(path).suffix.lstrip(".") in CODE


def _names(path: str, text: str) -> bool:
    """Tell whether a text speaks of a file: code by the name it is imported by, anything else by its whole name."""
    place = PurePosixPath(path)
    if not _is_code(path):
        return place.name in text
    return re.search(rf"(?m)^.*\b(import|from|require|use|include)\b.*\b{re.escape(place.stem)}\b", text) is not None
