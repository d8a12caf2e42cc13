"""Glob patterns as ripgrep and `.gitignore` read them, made into regular expressions over relative paths."""

import re

from toolwright.record import record

_BELOW_ANY = "(?:/?|.*/)"
"""A leading `**/`."""
_BETWEEN = "(?:/|/.*/)"
"""`/**/` in the middle."""
_INSIDE = "/.*"
"""A closing `/**`."""
_SOME = "[^/]*"


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
        """Whether the pattern, taken without its `!`, names this path (relative, without a leading slash)."""
        return (folder or not self.only_folders) and self.regex.fullmatch(path) is not None

    def selects(self, path: str) -> bool:
        """Whether a file is among those asked for; after a `!` these are the files that it does not name."""
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
    anchored = pattern.startswith("/")
    only_folders = pattern.endswith("/")
    body = pattern.removeprefix("/").removesuffix("/")
    if not anchored and "/" not in body and body != "**":
        body = f"**/{body}"
    if body.endswith("/**"):
        body += "/*"
    regex = re.compile(_Reader(body).read(), re.DOTALL)
    return Glob(regex=regex, negated=negated, only_folders=only_folders)


class _Reader:
    """Walks over a pattern once, piece by piece."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._depth = 0

    def read(self) -> str:
        regex = self._branch()
        if self._at < len(self._pattern):
            raise self._bad("a closing } without its {", self._at)
        return ".*" if regex == _BELOW_ANY else regex

    def _branch(self) -> str:
        """Up to the end, or inside braces up to the comma or brace that ends the alternative."""
        pieces: list[str] = []
        while self._at < len(self._pattern):
            char = self._pattern[self._at]
            if char == "}" or (char == "," and self._depth):
                break
            self._at += 1
            match char:
                case "?":
                    pieces.append("[^/]")
                case "*":
                    self._star(pieces)
                case "[":
                    pieces.append(self._set())
                case "{":
                    pieces.append(self._alternatives())
                case "\\":
                    pieces.append(re.escape(self._escaped()))
                case _:
                    pieces.append(re.escape(char))
        return "".join(pieces)

    def _star(self, pieces: list[str]) -> None:
        if self._next() != "*":
            pieces.append(_SOME)
            return
        self._at += 1
        following = self._next()
        if not pieces:
            self._leading_stars(pieces, following)
        elif pieces[-1] not in ("/", _BELOW_ANY, _BETWEEN) or following not in ("", "/", *self._closers()):
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

    def _closers(self) -> tuple[str, ...]:
        return (",", "}") if self._depth else ()

    def _set(self) -> str:
        """`[a-z]`, `[!a-z]`; a `]` right at the start stands for itself, a backslash too."""
        start = self._at - 1
        negated = self._next() in ("!", "^")
        first = self._at + negated
        end = self._pattern.find("]", first + 1)
        if not self._pattern[first:] or end < 0:
            raise self._bad("a [ that is never closed", start)
        self._at = end + 1
        inner = self._pattern[first:end]
        members = "".join(f"\\{char}" if char in "\\[]^&~|" else char for char in inner)
        try:
            re.compile(f"[{members}]")
        except re.error as error:
            raise self._bad(f"a set of characters that cannot be read ({error.msg})", start) from error
        return f"[{'^' if negated else ''}{members}]"

    def _alternatives(self) -> str:
        start = self._at - 1
        self._depth += 1
        branches = [self._branch()]
        while self._next() == ",":
            self._at += 1
            branches.append(self._branch())
        if self._next() != "}":
            raise self._bad("a { that is never closed", start)
        self._at += 1
        self._depth -= 1
        branches = [branch for branch in branches if branch]
        return f"(?:{'|'.join(branches)})" if branches else ""

    def _escaped(self) -> str:
        if self._at == len(self._pattern):
            raise self._bad("a backslash with nothing after it", self._at - 1)
        self._at += 1
        return self._pattern[self._at - 1]

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _bad(self, what: str, at: int) -> GlobError:
        return GlobError(f"{what}, at {self._pattern[at : at + 20]!r}")
