"""Glob patterns as ripgrep and `.gitignore` read them, made into regular expressions over relative paths."""

import re
from itertools import pairwise

from toolwright.record import record

_BELOW_ANY = "(?:/?|.*/)"
"""A leading `**/`."""
_BETWEEN = "(?:/|/.*/)"
"""`/**/` in the middle."""
_INSIDE = "/.*"
"""A closing `/**`."""
_SOME = "[^/]*"
_LAZY = {_BELOW_ANY: "(?:/?|.*?/)", _BETWEEN: "(?:/|/.*?/)"}
"""The same, the shortest first."""
_LONGEST = 10_000
_MOST_ALTERNATIVES = 256
_MOST_SLASH_SETS = 4
_TOKEN = re.compile(r"\\.|\[[!^]?.[^\]]*\]|[{},]|[^\\\[{},]+|.", re.DOTALL)
"""Characters that belong together: an escaped character, a set, a brace or comma, plain text."""


class GlobError(ValueError):
    """The pattern cannot be read; the message says why and where."""


@record(frozen=True, slots=True, kw_only=True)
class Glob:
    """One pattern. Without a slash inside it fits at any depth, with one only from the top."""

    regex: re.Pattern[str]
    negated: bool = False
    """Began with `!`."""
    only_folders: bool = False
    """Ended with `/`."""

    def fits(self, path: str, *, folder: bool) -> bool:
        """Tell whether the pattern, taken without its `!`, names this path (relative, without a leading slash)."""
        return (folder or not self.only_folders) and self.regex.fullmatch(path) is not None

    def selects(self, path: str) -> bool:
        """Tell whether a file is among those asked for; after a `!` these are the files that it does not name."""
        if not self.negated:
            return self.fits(path, folder=False)
        parents = (path[: slash.start()] for slash in re.finditer("/", path))
        return not (self.fits(path, folder=False) or any(self.fits(parent, folder=True) for parent in parents))


def parse_glob(text: str) -> Glob:
    """Read one pattern, or raise GlobError."""
    pattern, negated = text, False
    if pattern.startswith("!"):
        pattern, negated = pattern[1:], True
    return _glob(pattern, negated=negated)


def parse_ignore_line(line: str) -> Glob | None:
    """Read a line of an ignore file. Blank lines, comments and patterns that cannot be read give None."""
    if line.startswith("#"):
        return None
    line = line if line.endswith("\\ ") else line.rstrip()
    negated = line.startswith("!")
    if negated or line.startswith(("\\!", "\\#")):
        line = line[1:]
    try:
        return _glob(line, negated=negated) if line else None
    except GlobError:
        return None


def literal_folders(pattern: str) -> list[str]:
    """The leading folders of a pattern that are plain names: `src/app/*.py` → `["src", "app"]`."""
    *folders, _ = pattern.removeprefix("/").split("/")
    plain: list[str] = []
    for folder in folders:
        if not folder or folder in (".", "..") or re.search(r"[*?\[\]{}\\!,]", folder):
            break
        plain.append(folder)
    return plain


def _glob(pattern: str, *, negated: bool) -> Glob:
    if len(pattern) > _LONGEST:
        raise GlobError(f"{len(pattern)} characters, more than the {_LONGEST} that can be used")
    anchored = pattern.startswith("/")
    only_folders = pattern.endswith("/")
    body = pattern.removeprefix("/").removesuffix("/")
    if not anchored and "/" not in body and body != "**":
        body = f"**/{body}"
    if body.endswith("/**"):
        body += "/*"
    regexes = dict.fromkeys(_Reader(text).read() for text in _without_braces(body))
    return Glob(regex=re.compile("|".join(regexes), re.DOTALL), negated=negated, only_folders=only_folders)


def _without_braces(pattern: str) -> list[str]:
    """The patterns that one with braces stands for: `a{b,c}` is `ab` or `ac`."""
    texts, ended = [""], list[str]()
    around: list[tuple[int, list[str], list[str]]] = []
    """For each brace that is open: where it is, what stands before it, and alternatives ended outside of it."""
    for token in _TOKEN.finditer(pattern):
        match token[0]:
            case "{":
                around.append((token.start(), texts, ended))
                texts, ended = [""], []
            case "," if around:
                ended += texts
                texts = [""]
            case "}":
                if not around:
                    raise _bad("a closing } without its {", pattern, token.start())
                inner = [text for text in (*ended, *texts) if text] or [""]
                _, before, ended = around.pop()
                texts = [start + end for start in before for end in inner]
                if sum(map(len, texts)) > 10 * _LONGEST or len(texts) > _MOST_ALTERNATIVES:
                    raise _bad("braces with too many alternatives", pattern, token.start())
            case plain:
                texts = [text + plain for text in texts]
    if around:
        raise _bad("a { that is never closed", pattern, around[0][0])
    return texts


def _joined(pieces: list[str]) -> str:
    """The pieces as one regular expression whose cost does not grow with the number of its stars.

    What stands between two `*`, or between two `**`, may be taken where it first fits and never looked for again:
    if it fits there, whatever follows can make up the difference. A set that a slash belongs to is the exception, for
    no `*` can make up for a slash; only a few of these may stand in one pattern.
    """
    if sum(map(_takes_slash, pieces)) > _MOST_SLASH_SETS:
        raise GlobError(f"more than {_MOST_SLASH_SETS} sets that a slash belongs to, such as [!a]")
    ends = [at for at, piece in enumerate(pieces) if piece in (_BELOW_ANY, _BETWEEN)]
    if not ends:
        return _joined_stars(pieces)
    regex = _joined_stars(pieces[: ends[0]])
    for start, end in pairwise(ends):
        regex += f"(?>{_LAZY[pieces[start]]}{_joined_stars(pieces[start + 1 : end])}(?=/))"
    return regex + pieces[ends[-1]] + _joined_stars(pieces[ends[-1] + 1 :])


def _joined_stars(pieces: list[str]) -> str:
    ends = [at for at, piece in enumerate(pieces) if piece == _SOME]
    if not ends:
        return "".join(pieces)
    regex = "".join(pieces[: ends[0]])
    for start, end in pairwise(ends):
        between = "".join(pieces[start + 1 : end])
        group = "(?:" if any(map(_takes_slash, pieces[start + 1 :])) else "(?>"
        regex += f"{group}[^/]*?{between})" if between else ""
    return regex + _SOME + "".join(pieces[ends[-1] + 1 :])


def _takes_slash(piece: str) -> bool:
    """Tell whether it is a set that a slash belongs to."""
    return piece not in ("[^/]", _SOME) and piece[:1] == "[" and re.fullmatch(piece, "/") is not None


class _Reader:
    """Walks once over a pattern without braces, piece by piece."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def read(self) -> str:
        pieces: list[str] = []
        while self._at < len(self._pattern):
            char = self._pattern[self._at]
            self._at += 1
            match char:
                case "?":
                    pieces.append("[^/]")
                case "*":
                    self._star(pieces)
                case "[":
                    pieces.append(self._set())
                case "\\":
                    pieces.append(re.escape(self._escaped()))
                case _:
                    pieces.append(re.escape(char))
        return ".*" if pieces == [_BELOW_ANY] else _joined(pieces)

    def _star(self, pieces: list[str]) -> None:
        if self._next() != "*":
            pieces.append(_SOME)
            return
        self._at += 1
        following = self._next()
        if not pieces:
            self._leading_stars(pieces, following)
        elif pieces[-1] not in ("/", _BELOW_ANY, _BETWEEN) or following not in ("", "/"):
            pieces.append(_SOME)
        else:
            self._stars_after_slash(pieces, following)

    def _leading_stars(self, pieces: list[str], following: str) -> None:
        if following not in ("", "/"):
            pieces.append(_SOME)
            return
        self._at += len(following)
        pieces.append(_BELOW_ANY if following else ".*")

    def _stars_after_slash(self, pieces: list[str], following: str) -> None:
        before = pieces.pop()
        if following == "/":
            self._at += 1
            pieces.append(before if before == _BELOW_ANY else _BETWEEN)
        else:
            pieces.append(".*" if before == _BELOW_ANY else _INSIDE)

    def _set(self) -> str:
        """`[a-z]`, `[!a-z]`; a `]` right at the start stands for itself, a backslash too."""
        start = self._at - 1
        negated = self._next() in ("!", "^")
        first = self._at + negated
        end = self._pattern.find("]", first + 1)
        if not self._pattern[first:] or end < 0:
            raise _bad("a [ that is never closed", self._pattern, start)
        self._at = end + 1
        inner = self._pattern[first:end]
        members = "".join(f"\\{char}" if char in "\\[]^&~|" else char for char in inner)
        # Two dashes may come to mean something else in Python one day, and until then it warns.
        head = "\\-" if members.startswith("-") else ""
        members = head + (members[1:] if head else members).replace("--", "-\\-")
        try:
            re.compile(f"[{members}]")
        except re.error as error:
            raise _bad(f"a set of characters that cannot be read ({error.msg})", self._pattern, start) from error
        return f"[{'^' if negated else ''}{members}]"

    def _escaped(self) -> str:
        if self._at == len(self._pattern):
            raise _bad("a backslash with nothing after it", self._pattern, self._at - 1)
        self._at += 1
        return self._pattern[self._at - 1]

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]


def _bad(what: str, pattern: str, at: int) -> GlobError:
    return GlobError(f"{what}, at {pattern[at : at + 20]!r}")
