"""Apply a unified difference to a text, for an editor that shows both whole."""

import re

from toolwright.text.diff import split_lines

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_NO_NEWLINE = "\\ No newline"


def patched(text: str, patch: str) -> str | None:
    """The text after a difference in it; None if the two do not belong together."""
    lines = split_lines(text)
    result: list[str] = []
    at, mark = 0, ""
    for line in split_lines(patch):
        if match := _HUNK.match(line):
            first, count = int(match[1]), int(match[2] or 1)
            start = first - 1 if count else first
            if not at <= start <= len(lines):
                return None
            result += lines[at:start]
            at, mark = start, "@"
        elif mark and line.startswith(_NO_NEWLINE):
            result[-1:] = [result[-1].removesuffix("\n")] if mark == "+" else result[-1:]
        elif mark and line[0] in "+- ":
            mark = line[0]
            if mark != "+" and (at >= len(lines) or lines[at].rstrip("\n") != line[1:].rstrip("\n")):
                return None
            result += [line[1:]] if mark == "+" else [lines[at]] if mark == " " else []
            at += mark != "+"
    return "".join([*result, *lines[at:]]) if mark else None
