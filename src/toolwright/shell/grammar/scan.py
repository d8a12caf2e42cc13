"""Words of a shell script, read character by character: quotes, expansions, substitutions.

Strict on purpose: what is not known to mean one thing is a SyntaxProblem, never a guess.
"""

import re

from toolwright.shell.grammar.nodes import Arithmetic, Literal, ParameterExpansion, Part, Script, Substitution, Word

DEPTH = 60
"""The deepest that substitutions and groups may nest."""

_ASCII = 0x7F

_PLAIN = re.compile(r"[^ \t\n\\'\"`$|&;()<>]+")
_WHOLE_WORD = re.compile(r"[^ \t\n\\'\"`$|&;()<>]+(?=[ \t\n|&;()]|$)")
_IN_DOUBLE_QUOTES = re.compile(r'[^"\\$`]+')
_IN_DOCUMENT = re.compile(r"[^\\$`]+")
_IN_BRACES = re.compile(r"[^}\\'\"`$]+")
_IN_INDEX = re.compile(r"[^\]\[\\'\"`$]+")
_IN_ARITHMETIC = re.compile(r"[^()\\'\"`$]+")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_CONTINUED = re.compile(r"(?:[^ \t\n\\'\"`$|&;()<>#][^ \t\n\\'\"`$|&;()<>]*|[|&;<>()]+)\\\n")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_IN_QUOTES = re.compile(r"'[^'\"\\`(){}]*'")
"""Single quotes in an expansion that is in quotes itself, which end where they seem to, whether they count or not."""
_TO_DOLLAR = re.compile(r"[^$]+")
_BRACED_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_OPERATOR = re.compile(r":[-=?+]|##?|%%?|/[/#%]?|\^\^?|,,?|@[A-Za-z]|[-=?+:]|[@*](?=\})")
_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.?))",
    re.DOTALL,
)
_ESCAPED = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


class SyntaxProblem(Exception):
    """The text is no script, or one of a form that is not understood; the message says where."""


class Scanner:
    """Reads words from `text`, moving `position` along. The grammar around words is Parser's."""

    def __init__(self, text: str, *, offset: int = 0, depth: int = 0) -> None:
        self.text = text
        self.position = 0
        self.offset = offset
        self.depth = depth
        self._continued = "\\\n" in text
        self.beyond_posix = False
        """True if something was read that plain `sh` takes for something else."""
        self._quotes_in_quotes = False
        """True if the expansion that is being read has quotes in it and stands in quotes itself."""
        self._not_arithmetic: set[int] = set()
        """Positions where `((` turned out to open two subshells, so that nothing is tried twice."""

    def script_until(self, closer: str) -> Script:
        """The script up to `closer`, which is taken too. Parser implements it."""
        raise NotImplementedError

    def parse_apart(self, text: str) -> Script:
        """The script in a piece of text that had to be unescaped first. Parser implements it."""
        raise NotImplementedError

    def problem(self, what: str) -> SyntaxProblem:
        near = self.text[max(0, self.position - 12) : self.position + 12].strip()
        return SyntaxProblem(f"{what} near `{near}`" if near else what)

    def peek(self, size: int = 1) -> str:
        return self.text[self.position : self.position + size]

    def skip_blanks(self) -> None:
        """Over blanks; and the token that follows is put together if it is continued on the next line."""
        if match := _BLANKS.match(self.text, self.position):
            self.position = match.end()
        self.join_continued()

    def join_continued(self) -> None:
        """Put the token that starts here together."""
        while self._continued and (match := _CONTINUED.match(self.text, self.position)):
            self._join_lines(match.end() - 2)

    def _join_lines(self, position: int) -> None:
        """Take out a backslash and the line end after it, which the shell does before it looks at anything else."""
        self.text = self.text[:position] + self.text[position + 2 :]

    def word(self) -> Word:
        """The word that starts here; without parts if none does."""
        start, parts = self.position, list[Part]()
        if match := _WHOLE_WORD.match(self.text, start):
            # most words are nothing but plain text
            self.position = match.end()
            return Word(match.group(), [Literal(match.group(), quoted=False)])
        while True:
            if match := _PLAIN.match(self.text, self.position):
                self.position = match.end()
                self._add_plain(parts, match.group())
                continue
            part = self._quote_or_expansion()
            if part is None:
                break
            parts += part
        source = self.text[start : self.position]
        return Word(source.replace("\\\n", "") if "\\\n" in source else source, parts)

    @staticmethod
    def _add_plain(parts: list[Part], text: str) -> None:
        """A line continued in the middle of a word does not make it two pieces."""
        last = parts[-1] if parts else None
        if isinstance(last, Literal) and not last.quoted:
            last.text += text
        else:
            parts.append(Literal(text, quoted=False))

    def _quote_or_expansion(self) -> list[Part] | None:
        match self.peek():
            case "'":
                return [self._single_quoted()]
            case '"':
                return self.double_quoted()
            case "\\":
                return self._escaped()
            case "$":
                return self.dollar(quoted=False)
            case "`":
                return [self._backquoted(quoted=False)]
            case "<" | ">" if self.peek(2) in ("<(", ">("):
                return [self._substitution(self.peek(2), quoted=False)]
            case "<" | ">" if self.text.startswith("\\\n", self.position + 1):
                raise self.problem("An operator that is continued on the next line is not understood")
            case _:
                return None

    def _single_quoted(self) -> Literal:
        end = self.text.find("'", self.position + 1)
        if end < 0:
            raise self.problem("A quote is not closed")
        literal = Literal(self.text[self.position + 1 : end], quoted=True)
        self.position = end + 1
        return literal

    def _escaped(self) -> list[Part]:
        following = self.text[self.position + 1 : self.position + 2]
        if following == "\n":
            self._join_lines(self.position)
            return []
        self.position += 2
        return [Literal(following or "\\", quoted=True)]

    def double_quoted(self) -> list[Part]:
        self.position += 1
        parts: list[Part] = []
        while (char := self.peek()) != '"':
            if not char:
                raise self.problem("A quote is not closed")
            parts += self._quoted_piece(_IN_DOUBLE_QUOTES, escapable='$`"\\')
        self.position += 1
        return parts or [Literal("", quoted=True)]

    def document(self) -> list[Part]:
        """All of the text as the body of a here-document."""
        parts = list[Part]()
        while self.peek():
            parts += self._quoted_piece(_IN_DOCUMENT, escapable="$`\\")
        return parts

    def _quoted_piece(self, plain: re.Pattern[str], *, escapable: str) -> list[Part]:
        if match := plain.match(self.text, self.position):
            self.position = match.end()
            return [Literal(match.group(), quoted=True)]
        match self.peek():
            case "$":
                return self.dollar(quoted=True)
            case "`":
                return [self._backquoted(quoted=True)]
            case _:
                following = self.text[self.position + 1 : self.position + 2]
                self.position += 2
                if following == "\n":
                    return []
                return [Literal(following if following and following in escapable else "\\" + following, quoted=True)]

    def descend(self) -> None:
        self.depth += 1
        if self.depth > DEPTH:
            raise SyntaxProblem("It is nested too deeply")

    def dollar(self, *, quoted: bool) -> list[Part]:
        self.descend()
        parts = self._expansion(quoted=quoted)
        self.depth -= 1
        return parts

    def _expansion(self, *, quoted: bool) -> list[Part]:
        start = self.position
        while self._continued and self.text.startswith("\\\n", start + 1):
            self._join_lines(start + 1)
        following = self.text[start + 1 : start + 2]
        if match := _NAME.match(self.text, start + 1):
            if self._continued and self.text.startswith("\\\n", match.end()):
                self._join_lines(match.end())
                return self._expansion(quoted=quoted)
            self.position = match.end()
            return [ParameterExpansion(match.group(), self.text[start : match.end()], quoted)]
        if following and following in "0123456789@*#?$!-":
            self.position += 2
            return [ParameterExpansion(following, self.text[start : self.position], quoted)]
        if following == "{":
            return [self._braced(quoted=quoted)]
        if following == "[":
            self.position += 2
            return [self._old_arithmetic()]
        if following == "(":
            return [self._parenthesised(quoted=quoted)]
        if following == "'" and not quoted:
            self.beyond_posix = True
            return [self._ansi_quoted()]
        self.position += 1
        if following == '"' and not quoted:
            self.beyond_posix = True
            return self.double_quoted()
        return [Literal("$", quoted=quoted)]

    def _parenthesised(self, *, quoted: bool) -> Part:
        """`$((…))` is a calculation only if it ends in `))`; otherwise a subshell comes first in a substitution."""
        if self.text.startswith("\\\n", self.position + 2):
            raise self.problem("A substitution that is continued on the next line is not understood")
        if self.peek(3) == "$((":
            start = self.position
            self.position += 3
            if (calculation := self.arithmetic()) is not None:
                return calculation
            self.position = start
        return self._substitution("$(", quoted=quoted)

    def _substitution(self, opener: str, *, quoted: bool) -> Substitution:
        start = self.position
        self.position += len(opener)
        script = self.script_until(")")
        if opener != "$(":
            self.beyond_posix = True
            if not script.chains:
                # It leaves nothing in the word, and no pipe.
                raise self.problem("A process without a command is not understood")
        return Substitution(script, self.text[start : self.position], quoted, opener)

    def _backquoted(self, *, quoted: bool) -> Substitution:
        start = self.position
        match = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self.text, start)
        if match is None:
            raise self.problem("A backquote is not closed")
        inner = re.sub(r'\\([`\\$"])' if quoted else r"\\([`\\$])", r"\1", match.group(1))
        script = self.parse_apart(inner)
        self.position = match.end()
        return Substitution(script, match.group(), quoted, "`")

    def arithmetic(self) -> Arithmetic | None:
        """A calculation up to `))`; None if the brackets do not close that way."""
        if self.position in self._not_arithmetic:
            return None
        start, depth, opaque, parts = self.position, 0, False, list[Part]()
        while True:
            if match := _IN_ARITHMETIC.match(self.text, self.position):
                self.position = match.end()
                parts.append(Literal(match.group(), quoted=True))
                continue
            match self.peek():
                case "":
                    raise self.problem("A bracket is not closed")
                case ")" if depth == 0:
                    break
                case "(" | ")" as bracket:
                    depth += 1 if bracket == "(" else -1
                    self.position += 1
                    parts.append(Literal(bracket, quoted=True))
                case _:
                    opaque = opaque or self.peek() in "'\"\\"
                    parts += self._quote_or_expansion() or []
        while self._continued and self.text.startswith("\\\n", self.position + 1):
            self._join_lines(self.position + 1)
        if self.peek(2) != "))":
            self._not_arithmetic.add(start)
            return None
        text = self.text[start : self.position]
        self.position += 2
        return Arithmetic(text, parts, opaque=opaque)

    def _old_arithmetic(self) -> Arithmetic:
        start = self.position
        word = self._until("]", _IN_INDEX)
        return Arithmetic(self.text[start : self.position - 1], word.parts, opaque=True)

    def _braced(self, *, quoted: bool) -> ParameterExpansion:
        start = self.position
        self.position += 2
        before = self._prefix()
        name = _BRACED_NAME.match(self.text, self.position)
        if name is None:
            raise self.problem("An expansion is not understood")
        self.position = name.end()
        index = self.index() if self.peek() == "[" else None
        operator, argument, opaque = "", None, False
        if self.peek() != "}":
            match = _OPERATOR.match(self.text, self.position)
            if match is None:
                raise self.problem("An expansion is not understood")
            operator, self.position = match.group(), match.end()
            around, self._quotes_in_quotes = self._quotes_in_quotes, False
            argument = self._until("}", _IN_BRACES, quoted=quoted)
            opaque, self._quotes_in_quotes = self._quotes_in_quotes, around
        else:
            self.position += 1
        if before == "#" and operator:
            raise self.problem("An expansion is not understood")
        source = self.text[start : self.position]
        return ParameterExpansion(name.group(), source, quoted, before + operator, index, argument, opaque)

    def _prefix(self) -> str:
        """`!` and `#` ask for something about the variable, unless they are the variable."""
        char, following = self.peek(), self.text[self.position + 1 : self.position + 2]
        if char and char in "!#" and following and following not in "}:-=?+%/^,":
            self.position += 1
            return char
        return ""

    def index(self) -> Word:
        """The subscript `[…]` that starts here."""
        self.position += 1
        return self._until("]", _IN_INDEX)

    def _until(self, closer: str, plain: re.Pattern[str], *, quoted: bool = False) -> Word:
        """A word that ends at `closer` instead of a blank; the closer is taken too."""
        start, parts = self.position, list[Part]()
        while (char := self.peek()) != closer:
            if match := plain.match(self.text, self.position):
                continued = match.group()[-1] in "<>" and self.text.startswith("\\\n", match.end())
                if continued or "<(" in match.group() or ">(" in match.group():
                    raise self.problem("A process inside an expansion is not understood")
                self.position = match.end()
                parts.append(Literal(match.group(), quoted=quoted))
                continue
            if not char or char in "[]":
                raise self.problem("Quotes or brackets inside an expansion are not understood")
            if quoted and char in "'\"":
                parts += self._quoted_in_quotes()
                continue
            parts += self.dollar(quoted=quoted) if char == "$" else self._quote_or_expansion() or []
        self.position += 1
        return Word(self.text[start : self.position - 1], parts)

    def _quoted_in_quotes(self) -> list[Part]:
        """Quotes in an expansion that is in quotes itself: what they hold is looked at as if it were expanded."""
        start, parts = self.position, list[Part]()
        if self.peek() == '"':
            parts = self.double_quoted()
            plain = "\\" not in self.text[start : self.position]
        else:
            match = _PLAIN_IN_QUOTES.match(self.text, start)
            plain, end = match is not None, match.end() if match is not None else start
            self.position += 1
            while plain and self.position < end - 1:
                piece = _TO_DOLLAR.match(self.text, self.position, end - 1)
                self.position = piece.end() if piece is not None else self.position
                parts += self.dollar(quoted=True) if piece is None else [Literal(piece.group(), quoted=True)]
            plain = plain and self.position == end - 1
            self.position += 1
        if not plain:
            raise self.problem("Quotes or brackets inside an expansion are not understood")
        self._quotes_in_quotes = True
        return parts

    def _ansi_quoted(self) -> Literal:
        match = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.position)
        if match is None:
            raise self.problem("A quote is not closed")
        text = _ESCAPE.sub(_unescape, match.group(1))
        if "\0" in text:
            raise self.problem("A quoted control character is not understood")
        self.position = match.end()
        return Literal(text, quoted=True)


def _unescape(match: re.Match[str]) -> str:
    letter, *numbers, octal, other = match.groups()
    if letter:
        return _ESCAPED[letter]
    if other is not None:
        raise SyntaxProblem(f"The escape `{match.group()}` is not understood")
    code = int(octal, 8) if octal else int(next(number for number in numbers if number), 16)
    if code > _ASCII:
        raise SyntaxProblem("A quoted character depends on the language of the system.")
    return chr(code)
