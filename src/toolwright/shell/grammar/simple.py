"""Simple commands of a shell script: assignments, words, tests, redirections, here-documents."""

import re

from toolwright.shell.grammar.nodes import Assignment, Literal, Part, Redirect, Simple, Statement, Test, Word
from toolwright.shell.grammar.scan import Scanner

DECLARING = frozenset({"export", "declare", "typeset", "readonly", "local"})

_REDIRECT = re.compile(
    r"((?:[0-9]+|\{[A-Za-z_]\w*(?:\[[0-9]+\])?\})(?![0-9]|&>))?(&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||[<>](?!\())"
)
_INTO_ARRAY = re.compile(r"\{[A-Za-z_]\w*\[[^\]\s]*\]+\}[<>]")
_REDIRECT_START = frozenset("<>&{0123456789")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_TEST_END = re.compile(r"\]\](?=[ \t\n;&|()<>]|$)")
_TEST_OPERATOR = re.compile(r"&&|\|\||[()]|[<>](?!(?:\\\n)*\()|!(?=\s)")
"""`<(` begins a process there too."""
_TAKES_PATTERN = frozenset({"=~", "==", "=", "!="})
_AFTER_ARRAY = re.compile(r"[ \t\n;&|()<>]|$")
_SPACE = re.compile(r"(?:[ \t\n]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")


class SimpleParser(Scanner):
    """Reads what stands between the operators of the grammar."""

    def __init__(self, text: str, *, offset: int = 0, depth: int = 0) -> None:
        super().__init__(text, offset=offset, depth=depth)
        self._documents: list[Redirect] = []
        """Here-documents that were announced and whose bodies are still to come."""
        self.ends_documents = ""
        """Characters that may stand right behind the end of a here-document, in a substitution that ends there."""

    def name_first_word(self, simple: Simple) -> Statement | None:
        """Called once a command has its first word: a function may begin there. Parser implements it."""
        raise NotImplementedError

    def document_parts(self, body: str, offset: int) -> Word:
        """The body of a here-document in which expansions take place. Parser implements it."""
        raise NotImplementedError

    def skip_space(self) -> None:
        """Over blanks, line ends, comments, and the bodies of here-documents that begin after a line end."""
        while True:
            if self._documents and self.peek() == "\n":
                self.read_documents()
            elif match := _COMMENT.match(self.text, self.position):
                self.position = match.end()
            elif self._documents:
                before = self.position
                self.skip_blanks()
                if self.position == before:
                    return
            elif match := _SPACE.match(self.text, self.position):
                self.position = match.end()
            else:
                self.join_continued()
                return

    def simple(self) -> Statement:
        command = Simple(0, "", [], [], [])
        while True:
            self.skip_blanks()
            if self.peek() == "#":
                break
            if (redirect := self.redirect()) is not None:
                command.redirects.append(redirect)
            elif (assignment := self._assignment(command)) is not None:
                (command.declared if command.words else command.assignments).append(assignment)
            else:
                word = self.word()
                if not word.parts:
                    break
                command.words.append(word)
                if len(command.words) == 1 and (function := self.name_first_word(command)) is not None:
                    return function
        if self.peek() == "(" or not (command.words or command.assignments or command.redirects):
            raise self.problem("Something is out of place")
        return command

    def words(self) -> list[Word]:
        words: list[Word] = []
        while True:
            self.skip_blanks()
            word = self.word() if self.peek() != "#" else Word("", [])
            if not word.parts:
                return words
            words.append(word)

    def test(self) -> Test:
        self.beyond_posix = True
        words: list[Word] = []
        while True:
            self.skip_space()
            if _TEST_END.match(self.text, self.position):
                self.position += 2
                return Test(0, "", [], words)
            words.append(self._test_word(after=words[-1].source if words else ""))

    def _test_word(self, *, after: str) -> Word:
        pattern = after in _TAKES_PATTERN
        if not pattern and (match := _TEST_OPERATOR.match(self.text, self.position)):
            self.position = match.end()
            return Word(match.group(), [])
        start, depth, parts = self.position, 0, list[Part]()
        while True:
            word = self.word()
            parts += word.parts
            char = self.peek()
            if char and char in "()|" and pattern and (depth or char == "(" or (char == "|" and after == "=~")):
                depth += {"(": 1, ")": -1}.get(char, 0)
                parts.append(Literal(char, quoted=False))
                self.position += 1
            elif depth and char and char in " \t<>&;":
                parts.append(Literal(char, quoted=False))
                self.position += 1
            else:
                break
        if not parts:
            raise self.problem("A test is not understood")
        return Word(self.text[start : self.position], parts)

    def _assignment(self, command: Simple) -> Assignment | None:
        if command.words and command.words[0].bare not in DECLARING:
            return None
        match = _ASSIGNMENT.match(self.text, self.position)
        if match is None:
            return None
        start, index = self.position, None
        self.position = match.end()
        operator = match.group(2)
        if operator == "[":
            self.position -= 1
            index = self.index()
            operator = "+=" if self.peek(2) == "+=" else "="
            if self.peek(len(operator)) != operator:
                self.position = start
                return None
            self.position += len(operator)
        elements = self._elements() if self.peek() == "(" else None
        value = self.word() if elements is None else Word("", [])
        return Assignment(match.group(1), value, self.text[start : self.position], operator == "+=", index, elements)

    def _elements(self) -> list[Word]:
        self.beyond_posix = True
        self.position += 1
        words: list[Word] = []
        while True:
            self.skip_space()
            if self.peek() == ")":
                self.position += 1
                if not _AFTER_ARRAY.match(self.text, self.position):
                    # Whatever follows at once makes it a plain text, a `#` as well.
                    raise self.problem("An array is not understood")
                return words
            word = self.word()
            if not word.parts:
                raise self.problem("An array is not understood")
            words.append(word)

    def redirect(self) -> Redirect | None:
        if self.peek() not in _REDIRECT_START:
            return None
        match = _REDIRECT.match(self.text, self.position)
        if match is None and _INTO_ARRAY.match(self.text, self.position):
            raise self.problem("A redirection with a subscript is not understood")
        if match is None:
            return None
        self.position = match.end()
        beyond = match.group(2) in ("&>", "&>>", "<<<") or match.group().startswith("{")
        self.beyond_posix = self.beyond_posix or beyond
        self.skip_blanks()
        target = self._closing() if match.group(2) in (">&", "<&") and self.peek() == "-" else self.word()
        if not target.parts:
            raise self.problem("A redirection leads nowhere")
        redirect = Redirect(match.group(2), target, match.group(1) or "")
        if redirect.operator in ("<<", "<<-"):
            if not all(isinstance(part, Literal) for part in target.parts):
                raise self.problem("The end of a here-document is not understood")
            self._documents.append(redirect)
        return redirect

    def _closing(self) -> Word:
        """After `>&` and `<&` a dash is a word of its own, whatever follows it."""
        self.position += 1
        return Word("-", [Literal("-", quoted=False)])

    def trailing_redirects(self, statement: Statement) -> None:
        while True:
            self.skip_blanks()
            redirect = self.redirect()
            if redirect is None:
                return
            statement.redirects.append(redirect)

    def read_documents(self) -> None:
        """The bodies of here-documents begin after the line that announces them."""
        documents, self._documents = self._documents, []
        if documents and self.peek() == "\n":
            self.position += 1
        for redirect in documents:
            closer = self.ends_documents if redirect is documents[-1] else ""
            redirect.body = self._document(redirect, closer)

    def _document(self, redirect: Redirect, closer: str) -> Word:
        literals = [part for part in redirect.target.parts if isinstance(part, Literal)]
        delimiter = "".join(part.text for part in literals)
        quoted = bool(set(redirect.target.source) & set("'\"\\"))
        start, lines = self.offset + self.position, list[str]()
        while self.position < len(self.text):
            before = self.position
            line = self._document_line(joined=not quoted)
            line = line.lstrip("\t") if redirect.operator == "<<-" else line
            if line == delimiter:
                break
            if closer and line.startswith(delimiter + closer):
                self.position = self._end_of_document(delimiter + closer, before, redirect.operator) - len(closer)
                break
            lines.append(line + "\n")
        body = "".join(lines)
        return Word(body, [Literal(body, quoted=True)]) if quoted else self.document_parts(body, start)

    def _end_of_document(self, end: str, start: int, operator: str) -> int:
        """Return the end of a here-document that ends in a line not its own."""
        while operator == "<<-" and self.text[start : start + 1] == "\t":
            start += 1
        if not self.text.startswith(end, start):
            raise self.problem("The end of a here-document is not understood")
        return start + len(end)

    def _document_line(self, *, joined: bool) -> str:
        """One line, together with the next ones where `joined` lines end in a backslash."""
        end = self.text.find("\n", self.position)
        end = len(self.text) if end < 0 else end
        line = self.text[self.position : end]
        self.position = min(end + 1, len(self.text))
        backslashes = len(line) - len(line.rstrip("\\"))
        if joined and backslashes % 2 and self.position < len(self.text):
            return line[:-1] + self._document_line(joined=True)
        return line
