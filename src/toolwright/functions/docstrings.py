"""Descriptions of arguments in docstrings, in the styles of Google, NumPy and Sphinx, and the text without them."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from textwrap import dedent

from toolwright.record import record


@record(frozen=True, slots=True)
class Docstring:
    """A docstring taken apart."""

    text: str
    """What is left for the model to read."""
    parameters: Mapping[str, str]


_SECTIONS = "Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters"
_GOOGLE = re.compile(rf"({_SECTIONS}):\s*")
_NUMPY = re.compile(rf"({_SECTIONS})\s*")
_RULE = re.compile(r"-{3,}\s*")
_GOOGLE_ENTRY = re.compile(r"\*{0,2}(?P<names>\w+)\s*(?:\((?P<type>.*?)\))?\s*:(?:\s+(?P<text>.*))?$")
_NUMPY_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::(?P<text>)\s*.*)?$")
_SPHINX = re.compile(
    r":(?P<kind>param|parameter|arg|argument|key|keyword|type)\s+(?:[^:]*\s)?(?P<name>\w+):\s*(?P<text>.*)"
)
_ANY = re.compile(rf"^\s*(?:({_SECTIONS}):?\s*$|:(?:param|parameter|arg|argument|key|keyword|type)\s)", re.MULTILINE)


def read_docstring(text: str, names: Collection[str]) -> Docstring:
    """Return a docstring's words on the named parameters; entries of other names stay in the text."""
    if not _ANY.search(text):
        return Docstring(text.strip(), {})
    descriptions: dict[str, str] = {}
    kept: list[str] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        taken = _section(lines, at, names, descriptions, kept) or _field(lines, at, names, descriptions)
        if not taken:
            kept.append(lines[at])
        at += taken or 1
    return Docstring(re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip(), descriptions)


def _section(lines: Sequence[str], at: int, names: Collection[str], found: dict[str, str], kept: list[str]) -> int:
    """Read the section that begins here, if one does: how many lines it has."""
    numpy = _NUMPY.fullmatch(lines[at]) and at + 1 < len(lines) and _RULE.fullmatch(lines[at + 1])
    if not numpy and not _GOOGLE.fullmatch(lines[at]):
        return 0
    head = 2 if numpy else 1
    end = _numpy_end(lines, at + head) if numpy else _google_end(lines, at + head)
    entries = list(_entries(lines[at + head : end], _NUMPY_ENTRY if numpy else _GOOGLE_ENTRY))
    if not any(entry.names for entry in entries):
        return 0
    others: list[str] = []
    for entry in entries:
        if entry.names and all(name in names for name in entry.names):
            found.update({name: entry.text for name in entry.names if entry.text})
        else:
            others.extend(entry.lines)
    if any(line.strip() for line in others):
        kept.extend([*lines[at : at + head], *others])
    kept.append("")
    return end - at


@record(frozen=True, slots=True)
class _Entry:
    names: tuple[str, ...]
    text: str
    lines: Sequence[str]


def _entries(lines: Sequence[str], pattern: re.Pattern[str]) -> Iterator[_Entry]:
    """Each entry begins at the indentation of the first; what is further in goes on with it."""
    filled = [line for line in lines if line.strip()]
    margin = _indent(filled[0]) if filled else 0
    starts = [index for index, line in enumerate(lines) if line.strip() and _indent(line) <= margin]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        match = pattern.match(lines[start].strip())
        names = tuple(name.strip(" *") for name in match["names"].split(",")) if match else ()
        first = (match["text"] or "") if match else ""
        yield _Entry(names, _joined(first, lines[start + 1 : end]), lines[start:end])


def _field(lines: Sequence[str], at: int, names: Collection[str], found: dict[str, str]) -> int:
    """Read the `:param name: text` that begins here, if it is about one of the names."""
    match = _SPHINX.match(lines[at].strip())
    if match is None or match["name"] not in names:
        return 0
    margin = _indent(lines[at])
    end = _end(lines, at + 1, lambda line: _indent(line) <= margin)
    while not lines[end - 1].strip():
        end -= 1
    if match["kind"] != "type" and (text := _joined(match["text"], lines[at + 1 : end])):
        found[match["name"]] = text
    return end - at


def _joined(first: str, rest: Sequence[str]) -> str:
    """One description: its lines flow together, unless there are paragraphs or lists to keep."""
    more = dedent("\n".join(rest)).strip()
    if re.search(r"^\s*([-*]|\d+\.)\s|\n\n", more, re.MULTILINE):
        return f"{first}\n{more}".strip()
    return " ".join([first, *more.split()]).strip()


def _google_end(lines: Sequence[str], start: int) -> int:
    return _end(lines, start, lambda line: _indent(line) == 0)


def _numpy_end(lines: Sequence[str], start: int) -> int:
    for index in range(start, len(lines) - 1):
        if lines[index].strip() and _indent(lines[index]) == 0 and _RULE.fullmatch(lines[index + 1]):
            return index
    return len(lines)


def _end(lines: Sequence[str], start: int, ends: Callable[[str], bool]) -> int:
    return next(
        (index for index in range(start, len(lines)) if lines[index].strip() and ends(lines[index])), len(lines)
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
