"""Regular expressions in ripgrep's dialect (that of Rust), made into Python's for when ripgrep is not there.

What Rust refuses is refused, so that a pattern means the same everywhere. The little that Python cannot say is
refused too, as a pattern that needs ripgrep.
"""

import functools
import re
import sys
import unicodedata
from collections.abc import Mapping

_CLASSES: Mapping[str, str] = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\x0B\x0C\r ",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
_BOUNDARIES: Mapping[str, str] = {
    "start": r"\b(?=\w)",
    "end": r"\b(?<=\w)",
    "start-half": r"(?<!\w)",
    "end-half": r"(?!\w)",
}
_QUANTIFIER = re.compile(r"[*+?]|\{\s*\d+\s*(?:,\s*\d*\s*)?\}")
_GROUP = re.compile(r"\((?:\?(?:P?<(?P<name>[A-Za-z_][\w.\[\]]*)>|(?P<flags>[A-Za-z-]*)(?P<end>[:)]))|(?!\?))")
_HEX = re.compile(
    r"x\{([0-9A-Fa-f]{1,8})\}|u\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})"
)
_CATEGORY = re.compile(r"[pP](?:\{\^?(\w+)\}|(\w))")


class PatternError(ValueError):
    """The pattern cannot be used; the message says why, `at` where (counted from 0)."""

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.at = at


def translate(pattern: str) -> re.Pattern[str]:
    """The pattern for use on single lines, or PatternError."""
    source = _Translator(pattern).translate()
    try:
        return re.compile(source)
    except re.error as error:
        raise PatternError(error.msg) from error
    except (OverflowError, RecursionError) as error:
        raise PatternError(str(error)) from error


class _Translator:
    """Goes through the pattern once and writes the same for Python."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._atom = -1
        """Where in the output the thing begins that a quantifier would repeat; -1 if there is none."""
        self._out: list[str] = []
        self._names: set[str] = set()

    def translate(self) -> str:
        self._alternatives()
        if self._at < len(self._pattern):
            raise PatternError("a closing ) without its (", self._at)
        return "".join(self._out)

    def _alternatives(self) -> None:
        """A group's inside. Flags set on the way hold to its end, across its `|`."""
        flags: list[str] = []
        self._atom = -1
        while self._at < len(self._pattern) and self._pattern[self._at] != ")":
            if self._pattern[self._at] == "|":
                self._out.append(")" * len(flags) + "|" + "".join(flags))
                self._at, self._atom = self._at + 1, -1
            else:
                flags += self._piece()
        self._out.append(")" * len(flags))

    def _piece(self) -> list[str]:
        """One element; the flags it sets for all that follow."""
        char = self._pattern[self._at]
        if quantifier := _QUANTIFIER.match(self._pattern, self._at):
            self._quantify(quantifier[0])
        elif char == "{":
            raise PatternError("a { that is no repetition; write \\{ for the character", self._at)
        elif char == "(":
            return self._group()
        else:
            self._atom = len(self._out)
            self._out.append(self._simple(char))
        return []

    def _simple(self, char: str) -> str:
        start = self._at
        self._at += 1
        match char:
            case "[":
                return self._set(start)
            case "\\":
                return self._escape(in_set=False)
            case "\n":
                raise PatternError("a line break, which no single line holds", start)
            case "^" | "$" | ".":
                return char
        return re.escape(char)

    def _quantify(self, quantifier: str) -> None:
        if self._atom < 0:
            raise PatternError("a repetition with nothing to repeat", self._at)
        self._at += len(quantifier)
        lazy = "?" if self._pattern.startswith("?", self._at) else ""
        self._at += len(lazy)
        self._out[self._atom :] = ["(?:", *self._out[self._atom :], ")", quantifier.replace(" ", ""), lazy]

    def _group(self) -> list[str]:
        start = self._at
        head = _GROUP.match(self._pattern, start)
        if head is None or head[0] == "(?)":
            raise PatternError("look-around, or a group of a kind that is not known", start)
        if head["name"] in self._names:
            raise PatternError(f"a second group with the name {head['name']}", start)
        self._names |= {head["name"]} if head["name"] else set()
        self._at = head.end()
        flags = head["flags"] or ""
        if head["end"] is not None and not re.fullmatch("[ims]*(-[ims]+)?", flags):
            raise _needs_ripgrep(f"the flags {flags}", start)
        if head["end"] == ")":
            self._atom = -1
            self._out.append(f"(?{flags}:")
            return [f"(?{flags}:"]
        at = len(self._out)
        self._out.append(f"(?{flags}:" if head["end"] else "(?:")
        self._alternatives()
        if not self._pattern.startswith(")", self._at):
            raise PatternError("a ( that is never closed", start)
        self._at += 1
        self._out.append(")")
        self._atom = at
        return []

    def _set(self, start: int) -> str:
        """`[...]` without sets inside sets, which Python does not have."""
        negated = self._pattern.startswith("^", self._at)
        self._at += negated
        members: list[str] = []
        while not self._pattern.startswith("]", self._at) or not members:
            if self._at >= len(self._pattern):
                raise PatternError("a [ that is never closed", start)
            members.append(self._member(start))
        self._at += 1
        source = f"[{'^' if negated else ''}{''.join(members)}]"
        try:
            re.compile(source)
        except re.error as error:
            raise PatternError(error.msg, start) from error
        return source

    def _member(self, start: int) -> str:
        char = self._pattern[self._at]
        named = re.compile(r"\[:(\^?)(\w+):\]").match(self._pattern, self._at)
        if named and named[2] in _CLASSES and not named[1]:
            self._at = named.end()
            return _CLASSES[named[2]]
        if char == "[" or self._pattern[self._at : self._at + 2] in ("&&", "--", "~~"):
            raise _needs_ripgrep("a set made of other sets", start)
        self._at += 1
        if char == "\\":
            return self._escape(in_set=True)
        return f"\\{char}" if char in "]^&~|" else char

    def _escape(self, *, in_set: bool) -> str:
        at = self._at - 1
        rest = self._pattern[self._at :]
        if code := _HEX.match(rest):
            self._at += code.end()
            return re.escape(_character(next(filter(None, code.groups())), at))
        if category := _CATEGORY.match(rest):
            self._at += category.end()
            return self._category(category, at, in_set=in_set)
        if not in_set and (boundary := re.match(r"b\{([a-z-]+)\}", rest)) and boundary[1] in _BOUNDARIES:
            self._at += boundary.end()
            return _BOUNDARIES[boundary[1]]
        self._at += 1
        return _plain_escape(rest[:1], at, in_set=in_set)

    def _category(self, found: re.Match[str], at: int, *, in_set: bool) -> str:
        members = _members(found[1] or found[2])
        if not members:
            raise _needs_ripgrep(f"\\{found[0]}", at)
        negated = (found[0][0] == "P") != found[0].startswith(("p{^", "P{^"))
        if in_set:
            if negated:
                raise _needs_ripgrep(f"\\{found[0]} inside of [ ]", at)
            return members
        return f"[{'^' if negated else ''}{members}]"


def _plain_escape(char: str, at: int, *, in_set: bool) -> str:
    if char in ("n", "\n"):
        raise PatternError("a line break, which no single line holds", at)
    if char in tuple("dDsSwWtrfva") or (char in tuple("bA") and not in_set):
        return f"\\{char}"
    if char == "B" and not in_set:
        return r"(?!\b)"  # Python's own does not fit an empty line
    if char == "z" and not in_set:
        return r"\Z"
    if char in tuple("<>") and not in_set:
        return _BOUNDARIES["start" if char == "<" else "end"]
    if not char or char.isalnum() or not char.isascii():
        raise PatternError(f"\\{char}, an escape that does not exist", at)
    return f"\\{char}"


def _character(code: str, at: int) -> str:
    number = int(code, 16)
    if number > sys.maxunicode or 0xD800 <= number < 0xE000:
        raise PatternError(f"the number {code}, which is no character", at)
    if number == ord("\n"):
        raise PatternError("a line break, which no single line holds", at)
    return chr(number)


@functools.lru_cache(maxsize=32)
def _members(category: str) -> str:
    """All characters of a general category such as `L` or `Lu`, as the inside of a set."""
    if len(category) > 2:
        return ""
    ranges: list[tuple[int, int]] = []
    for code in range(sys.maxunicode + 1):
        if not unicodedata.category(chr(code)).startswith(category):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def _needs_ripgrep(what: str, at: int) -> PatternError:
    return PatternError(f"{what}, which can only be searched for where ripgrep is installed", at)
