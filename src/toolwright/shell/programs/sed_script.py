"""`sed` scripts: which files they read and write, and whether they run anything. Text in, facts out."""

import re
from dataclasses import field

from toolwright.record import record

_ADDRESS = re.compile(r"(?:\d+(?:~\d+)?|\$|[+~]\d+)")
_ALONE = frozenset("=dDgGhHnNpPxzF")
_NUMBERED = frozenset("lLqQ")
_LABELLED = frozenset("btT:")
_FLAGS = re.compile(r"[gpiIm0-9M]*")


@record(slots=True)
class SedScript:
    """Acts of a script beyond changing the text that passes through."""

    reads: list[str] = field(default_factory=list[str])
    writes: list[str] = field(default_factory=list[str])
    runs: bool = False


def read_sed(script: str) -> SedScript | None:
    """Return what the script does; None if it is not understood.

    Whether a delimiter ends an expression inside square brackets is a matter of sed's version, so it is read both
    ways, and one that is broken the one way is taken the other.
    """
    readings = [found for brackets in (True, False) if (found := _Reader(script, brackets=brackets).read()) is not None]
    if not readings:
        return None
    return SedScript(
        reads=[name for one in readings for name in one.reads],
        writes=[name for one in readings for name in one.writes],
        runs=any(one.runs for one in readings),
    )


class _Broken(Exception):
    """The script is not one, read this way."""


class _Reader:
    def __init__(self, text: str, *, brackets: bool) -> None:
        self.text = text
        self.position = 0
        self.brackets = brackets
        self.found = SedScript()

    def read(self) -> SedScript | None:
        try:
            while self.position < len(self.text):
                self._command()
        except (_Broken, IndexError):
            return None
        return self.found

    def _skip(self, letters: str) -> None:
        while self.position < len(self.text) and self.text[self.position] in letters:
            self.position += 1

    def _command(self) -> None:
        self._skip(" \t\n;")
        if self.position >= len(self.text):
            return
        if self._address():
            self._skip(" \t")
            if self.text[self.position] == ",":
                self.position += 1
                self._skip(" \t")
                if not self._address():
                    raise _Broken
        self._skip(" \t!")
        command = self.text[self.position]
        self.position += 1
        if command in "{}":
            return
        if command == "#":
            self._rest_of_line()
        elif command in _ALONE:
            self._end()
        elif command in _NUMBERED:
            self._skip(" \t0123456789")
            self._end()
        elif command in _LABELLED:
            self._label()
        elif command in "aic":
            self._added_lines()
        elif command in "sy":
            self._substitute(command)
        elif command in "rRwW":
            name = self._rest_of_line().strip()
            (self.found.reads if command in "rR" else self.found.writes).append(name)
        elif command == "e":
            self._rest_of_line()
            self.found.runs = True
        else:
            raise _Broken

    def _address(self) -> bool:
        char = self.text[self.position]
        if char in "/\\":
            delimiter = char
            if char == "\\":
                self.position += 1
                delimiter = self.text[self.position]
            self.position += 1
            self._until(delimiter, brackets=self.brackets)
            self._skip("IM")
            return True
        match = _ADDRESS.match(self.text, self.position)
        if match is None:
            return False
        self.position = match.end()
        return True

    def _until(self, delimiter: str, *, brackets: bool) -> None:
        """Over an expression and the delimiter that ends it."""
        if delimiter in "\n\\":
            raise _Broken
        while (char := self.text[self.position]) != delimiter:
            if char == "\\":
                self.position += 1
            elif char == "\n":
                raise _Broken
            elif char == "[" and brackets:
                self._bracket()
            self.position += 1
        self.position += 1

    def _bracket(self) -> None:
        """To the bracket that closes the one here."""
        self.position += 1
        if self.text[self.position] == "^":
            self.position += 1
        start = self.position
        while self.text[self.position] != "]" or self.position == start:
            if self.text[self.position] == "\n":
                raise _Broken
            if self.text.startswith(("[:", "[.", "[="), self.position):
                end = self.text.find(self.text[self.position + 1] + "]", self.position + 2)
                if end < 0:
                    raise _Broken
                self.position = end + 1
            self.position += 1

    def _substitute(self, command: str) -> None:
        delimiter = self.text[self.position]
        self.position += 1
        self._until(delimiter, brackets=self.brackets and command == "s")
        self._replacement(delimiter)
        if command == "y":
            self._end()
            return
        match = _FLAGS.match(self.text, self.position)
        self.position = match.end() if match else self.position
        char = self.text[self.position : self.position + 1]
        if char == "e":
            self.found.runs = True
            self._rest_of_line()
        elif char == "w":
            self.position += 1
            self.found.writes.append(self._rest_of_line().strip())
        else:
            self._end()

    def _replacement(self, delimiter: str) -> None:
        while self.text[self.position] != delimiter:
            self.position += 2 if self.text[self.position] == "\\" else 1
        self.position += 1

    def _label(self) -> None:
        while self.position < len(self.text) and self.text[self.position] not in "\n;}":
            self.position += 1

    def _added_lines(self) -> None:
        """The lines that `a`, `i` and `c` add: up to a line end that no backslash stands before."""
        self._skip(" \t")
        if self.text.startswith("\\\n", self.position):
            self.position += 2
        while self.position < len(self.text) and self.text[self.position] != "\n":
            self.position += 2 if self.text[self.position] == "\\" else 1

    def _rest_of_line(self) -> str:
        end = self.text.find("\n", self.position)
        end = len(self.text) if end < 0 else end
        rest = self.text[self.position : end]
        self.position = end
        return rest

    def _end(self) -> None:
        self._skip(" \t")
        if self.position < len(self.text) and self.text[self.position] not in "\n;}#":
            raise _Broken
