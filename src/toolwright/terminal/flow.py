"""Words of a model as they come: laid out in lines that break between words, Markdown shown as what it means."""

import re
from dataclasses import field

from toolwright.record import record
from toolwright.terminal.columns import columns
from toolwright.terminal.screen import BOLD, CYAN, DIM, Screen
from toolwright.text.display import visible

LONGEST = 4_000
"""Characters without a line feed that are waited for where a line must be seen whole."""
_PIECE = re.compile(r"\n|[ \t]+(?=[^ \t])|[^\s]+(?=\s)")
_WHOLE = ("```", "~~~", "|")
"""Beginnings of lines that can only be shown when they are complete."""
_BULLET = re.compile(r"[-*+]$")
_NUMBER = re.compile(r"\d{1,3}[.)]$")
_MARK = re.compile(r"(\*\*|\*|`+)")
_LINK = re.compile(r"(?P<before>[(\"']?)\[(?P<label>[^\]\n]{1,200})\]\((?P<address>[^\s()]{1,400})\)(?P<behind>\S*)")
_LINK_BEGINS = re.compile(r"[(\"']?\[[^\]\n]{0,200}(?:\](?:\([^\s()]{0,400}(?:\)\S*)?)?)?\Z")
"""Text that may become a link when more of it has come."""
_SLANTED = re.compile(r"[(\"']?\*[^\s*]")
_CLOSES = re.compile(r"(?<![\s*])\*(?=[^\w*])")
_CLOSES_OR_ENDS = re.compile(r"(?<![\s*])\*(?![\w*])")
SLANTED = 300
"""Characters that may be slanted at once."""
ITALIC = "3"
_RULE = re.compile(r"(-{3,}|\*{3,}|_{3,})$")


@record(slots=True, kw_only=True)
class Flow:
    """One answer on its way to the screen. Without colours the Markdown stays as it was written."""

    screen: Screen
    _waiting: str = ""
    _space: str = ""
    """White space that is written only if a word follows on the same line."""
    _begins: bool = True
    """True while the next word is the first of its line."""
    _indent: int = 0
    _fence: str = ""
    _language: str = ""
    """Of the block of code that is being written."""
    _heading: bool = False
    _bold: bool = False
    _code: bool = False
    _italic: bool = False
    _closes: bool = False
    """True if a star at the beginning of the word is ended by another one."""
    _ends: bool = False
    """True once nothing more comes: what is incomplete is taken as it is."""
    _table: list[str] = field(default_factory=list[str])

    def add(self, text: str) -> None:
        self._waiting += text
        at = 0
        while at < len(self._waiting):
            if self._needs_line(at):
                end = self._waiting.find("\n", at)
                if end < 0:
                    break
                self._whole_line(self._waiting[at:end])
                at = end + 1
                continue
            if self._waits(at):
                break
            link = _LINK.match(self._waiting, at) if self.screen.colour and not self._code else None
            match = link or _PIECE.match(self._waiting, at)
            if match is None:
                break
            if link:
                self._link(link)
            else:
                self._closes = bool(_SLANTED.match(match[0]) and self._closed(at))
                self._take(match[0])
            at = match.end()
        self._waiting = self._waiting[at:]
        if len(self._waiting) > LONGEST:
            self._take(self._waiting)
            self._waiting = ""

    def _waits(self, at: int) -> bool:
        """Tell whether more must come before it is known what this is: a link, or words that are slanted."""
        if self._ends or self._code or not self.screen.colour:
            return False
        if _LINK_BEGINS.match(self._waiting, at):
            return True
        return bool(_SLANTED.match(self._waiting, at)) and self._closed(at) is None

    def _closed(self, at: int) -> bool | None:
        """Tell whether a star ends on the same line what another has begun here; None where more must come to tell."""
        line, end, _ = self._waiting[at + 2 : at + 2 + SLANTED].partition("\n")
        if _CLOSES.search(line, 0, len(line)) if not end else _CLOSES_OR_ENDS.search(line):
            return True
        if self._ends:
            return bool(_CLOSES_OR_ENDS.search(line))
        return False if end or len(self._waiting) >= at + 2 + SLANTED else None

    def _link(self, link: re.Match[str]) -> None:
        """The words of a link, and where it leads."""
        if self._table:
            self._end_table()
        words = link["label"].split() or [link["label"]]
        self._take(f"{link['before']}{words[0]}")
        for word in words[1:]:
            self._take(" ")
            self._take(word)
        if link["address"] != link["label"]:
            self._take(" ")
            self._address(f"({link['address']})")
        if link["behind"]:
            self._space = ""
            self._word(link["behind"])

    def _address(self, text: str) -> None:
        """Write where a link leads, dim, on the next line if there is no room."""
        address = visible(text, lines=False)
        size = columns(address)
        if self._space and self.screen.column + 1 + size > self.screen.width:
            self.screen.end_line()
            self._out(" " * self._indent, self._indent)
        elif self._space and self.screen.column:
            self._out(" ", 1)
        self._space = ""
        self._out(self.screen.painted(address, DIM), size)

    def end(self) -> None:
        """Nothing more comes: write what waited, and end the line."""
        self._ends = True
        self.add("")
        self._ends = False
        if self._waiting:
            rest, self._waiting = self._waiting, ""
            if self._begins and (self._fence or rest.lstrip().startswith(_WHOLE)):
                self._whole_line(rest)
            else:
                self._take(rest.strip())
        self._end_table()
        self._new_line(blank=False)
        self._end_code()

    def _end_code(self) -> None:
        if self._fence and self.screen.colour:
            self.screen.code_ends(self._language)
        self._fence = self._language = ""

    def _needs_line(self, at: int) -> bool:
        if not self._begins or len(self._waiting) - at > LONGEST:
            return False
        start = self._waiting[at : at + 64].lstrip(" \t")
        return bool(self._fence) or start.startswith(_WHOLE) or start in ("`", "``", "~", "~~")

    def _whole_line(self, line: str) -> None:
        """A line of code, of a table, or the edge of a block of code."""
        stripped = line.strip()
        if not self.screen.colour:
            self.screen.line(line)
            if stripped.startswith(self._fence or ("```", "~~~")):
                self._fence = "" if self._fence else stripped[:3]
        elif self._fence:
            if stripped.startswith(self._fence):
                self._end_code()
            else:
                self.screen.code(line, self._language)
        elif stripped.startswith(("```", "~~~")):
            self._end_table()
            self._fence = stripped[:3]
            self._language = stripped[3:].strip()
            if self._language:
                self.screen.line(f"  {self._language}", DIM)
        else:
            self._table.append(stripped)

    def _take(self, piece: str) -> None:
        if self._table and piece.strip(" \t"):
            self._end_table()
        if piece == "\n":
            self._new_line(blank=self._begins)
        elif piece.isspace():
            if self._begins:
                self._indent = min(12, len(piece.expandtabs(4)))
            self._space = " " if not self._begins else ""
        elif piece and self._begins:
            self._first(piece)
        elif piece:
            self._word(piece)

    def _first(self, word: str) -> None:
        """The first word of a line says what the line is."""
        self._begins = False
        self._bold = self._code = self._italic = False
        start = " " * self._indent
        if not self.screen.colour:
            self._out(start, self._indent)
            self._word(word)
            if _BULLET.match(word) or _NUMBER.match(word):
                self._indent += len(word) + 1
            return
        if set(word) == {"#"} and len(word) <= 6:
            self._heading = True
        elif _BULLET.match(word) or _NUMBER.match(word):
            marker = "•" if _BULLET.match(word) else word
            self._out(f"{start}{marker}", self._indent + len(marker))
            self._indent += len(marker) + 1
            self._space = " "
        elif word == ">":
            self._out(self.screen.painted(f"{start}│", DIM), self._indent + 1)
            self._indent += 2
        elif _RULE.match(word):
            self.screen.line("─" * min(40, self.screen.width), DIM)
        else:
            self._out(start, self._indent)
            self._word(word)

    def _word(self, word: str) -> None:
        painted, size = self._styled(visible(word, lines=False))
        if self._space and self.screen.column + 1 + size > self.screen.width:
            self.screen.end_line()
            self._out(" " * self._indent, self._indent)
        elif self._space and self.screen.column:
            self._out(" ", 1)
        self._space = ""
        self._out(painted, size)

    def _styled(self, word: str) -> tuple[str, int]:
        """The word as it is painted, and its columns; the marks for bold and code take effect and are left out."""
        if not self.screen.colour:
            return word, columns(word)
        painted, size = "", 0
        for at, piece in enumerate(split := _MARK.split(word)):
            before, after = "".join(split[:at]), "".join(split[at + 1 :])
            if piece.startswith("`") and at % 2:
                self._code = not self._code
            elif piece == "**" and at % 2 and not self._code and self._toggles(before, after):
                self._bold = not self._bold
            elif piece == "*" and at % 2 and not self._code and self._slants(before, after):
                self._italic = not self._italic
            else:
                painted += self.screen.painted(piece, self._colour())
                size += columns(piece)
        return painted, size

    def _toggles(self, before: str, after: str) -> bool:
        if self._bold:
            return True
        return (not before or not (before[-1].isalnum() or before[-1] in "/*.")) and after[:1] not in ("", "/", "*")

    def _slants(self, before: str, after: str) -> bool:
        """Tell whether a star begins slanted words, which another one ends on the same line, or ends them."""
        if self._italic:
            return bool(before) and not (after[:1].isalnum() or after[:1] == "_")
        return self._closes and before in ("", "(", '"', "'")

    def _colour(self) -> str:
        if self._code:
            return CYAN
        if self._bold or self._heading:
            return BOLD
        return ITALIC if self._italic else ""

    def _out(self, text: str, size: int) -> None:
        if text:
            self.screen.words(text, size)

    def _new_line(self, *, blank: bool) -> None:
        if self.screen.inside_line:
            self.screen.end_line()
        elif blank:
            self.screen.line()
        self._begins, self._space, self._indent = True, "", 0
        self._heading = self._bold = self._code = self._italic = False

    def _end_table(self) -> None:
        rows, self._table = self._table, []
        if not rows:
            return
        cells = [
            [cell.strip().replace("**", "").replace("`", "") for cell in row.strip("|").split("|")] for row in rows
        ]
        count = max(map(len, cells))
        words = [row for row in cells if not _is_edge(row)]
        sizes = [max((columns(row[at]) for row in words if at < len(row)), default=0) for at in range(count)]
        if not words or sum(sizes) + 3 * count > self.screen.width:
            for line in rows:
                self.screen.line(line)
            return
        edges = [*next((row for row in cells if _is_edge(row)), []), *[""] * count]
        for number, row in enumerate(cells):
            if _is_edge(row):
                self.screen.line("─┼─".join("─" * size for size in sizes), DIM)
            else:
                padded = (_aligned(cell, size, edge) for cell, size, edge in zip(row, sizes, edges, strict=False))
                self.screen.line(" │ ".join(padded).rstrip(), BOLD if number == 0 else "")


def _aligned(cell: str, size: int, edge: str) -> str:
    """A cell filled to its size, at the side that the edge below the head says."""
    room = size - columns(cell)
    if edge.endswith(":"):
        left = room // 2 if edge.startswith(":") else room
        return f"{' ' * left}{cell}{' ' * (room - left)}"
    return cell + " " * room


def _is_edge(row: list[str]) -> bool:
    return all(re.fullmatch(r":?-+:?", cell) for cell in row)
