"""The grammar of the shell: text in, statements out. Covers bash; refuses what it is not sure of."""

import re
from collections.abc import Callable

from toolwright.shell.grammar.nodes import (
    Calculation,
    Case,
    Chain,
    CountedFor,
    For,
    Function,
    Group,
    If,
    LoopStatement,
    Pipeline,
    Script,
    Simple,
    Statement,
    Word,
)
from toolwright.shell.grammar.scan import SyntaxProblem
from toolwright.shell.grammar.simple import SimpleParser

_END = r"(?=[ \t\n;&|()<>]|$)"
_RESERVED = re.compile(
    rf"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|coproc|\[\[|[{{}}!]){_END}"
)
_RESERVED_WORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "for", "select", "while", "until", "do", "done", "case", "esac", "function"}
) | frozenset({"[[", "{", "}", "!"})
_TIMED_COMPOUND = re.compile(rf"time[ \t]+(?:-p[ \t]+)?(?=\(|(?:if|for|select|while|until|case|\[\[|\{{){_END})")
_IN = re.compile(rf"in{_END}")
_NAME = re.compile(rf"([A-Za-z_][A-Za-z0-9_]*){_END}")
_FUNCTION_NAME = re.compile(r"[^ \t\n;&|()<>$`'\"\\]+")
_CALLED = re.compile(r"[ \t]*\([ \t]*\)")
_CASE_END = re.compile(r";;&|;;|;&")


class ShellParser(SimpleParser):
    """Reads statements. `functions` has every function of the script, in substitutions too."""

    def __init__(
        self,
        text: str,
        *,
        offset: int = 0,
        depth: int = 0,
        functions: dict[str, list[Statement]] | None = None,
    ) -> None:
        super().__init__(text, offset=offset, depth=depth)
        if "\0" in text:
            raise SyntaxProblem("It holds a NUL character.")
        self.functions = {} if functions is None else functions
        self.finished: list[Chain] = []
        """The top statements read so far: what is known when a mistake follows."""

    def script_until(self, closer: str) -> Script:
        self.descend()
        outer_documents, self._documents = self._documents, []
        outer_end, self.ends_documents = self.ends_documents, closer
        script = self._script(frozenset())
        if not closer and self.position < len(self.text):
            raise self.problem("Something is out of place")
        if closer and (self.peek() != closer or self._documents):
            raise self.problem(f"`{closer}` is missing")
        self.position += len(closer)
        self.read_documents()
        self._documents, self.ends_documents = outer_documents, outer_end
        self.depth -= 1
        return script

    def parse_apart(self, text: str) -> Script:
        inner = ShellParser(text, offset=self.offset + self.position, depth=self.depth + 1, functions=self.functions)
        script = inner.script_until("")
        self.beyond_posix = self.beyond_posix or inner.beyond_posix
        return script

    def document_parts(self, body: str, offset: int) -> Word:
        inner = ShellParser(body, offset=offset, depth=self.depth + 1, functions=self.functions)
        word = Word(body, inner.document())
        self.beyond_posix = self.beyond_posix or inner.beyond_posix
        return word

    def _script(self, closers: frozenset[str]) -> Script:
        """Statements up to one of the reserved words in `closers`, a closing bracket, or the end."""
        chains = self.finished if self.depth == 1 and not closers else []
        while True:
            self.skip_space()
            if self.peek() in ("", ")") or self._closes(closers) or self.peek(2) in (";;", ";&"):
                return Script(chains)
            chain = self._chain()
            chains.append(chain)
            self.skip_blanks()
            if self.peek(2) in (";;", ";&"):
                return Script(chains)
            chain.background = self.peek() == "&"
            if self.peek() in ("&", ";"):
                self.position += 1
            elif self.peek() not in ("\n", "", ")", "#"):
                raise self.problem("Something is out of place")

    def _closes(self, closers: frozenset[str]) -> bool:
        match = _RESERVED.match(self.text, self.position)
        return match is not None and match.group() in closers

    def _chain(self) -> Chain:
        pipelines, links = [self._pipeline()], list[str]()
        while True:
            self.skip_blanks()
            if self.peek(2) not in ("&&", "||"):
                return Chain(pipelines, links)
            links.append(self.peek(2))
            self.position += 2
            self.skip_space()
            pipelines.append(self._pipeline())

    def _pipeline(self) -> Pipeline:
        negated = False
        while (match := _RESERVED.match(self.text, self.position)) and match.group() == "!":
            negated = not negated
            self.position = match.end()
            self.skip_blanks()
        statements = [self._statement()]
        while True:
            self.skip_blanks()
            if self.peek() != "|" or self.peek(2) == "||":
                return Pipeline(statements, negated)
            both = self.peek(2) == "|&"
            self.beyond_posix = self.beyond_posix or both
            self.position += 2 if both else 1
            self.skip_space()
            statements.append(self._statement())

    def _statement(self) -> Statement:
        if match := _TIMED_COMPOUND.match(self.text, self.position):
            self.position = match.end()
        start = self.position
        self.descend()
        statement = self._compound() or self.simple()
        if not isinstance(statement, Simple):
            self.trailing_redirects(statement)
        self.depth -= 1
        statement.start = self.offset + start
        statement.source = self.text[start : self.position].strip()
        return statement

    def _compound(self) -> Statement | None:
        if self.peek(2) == "((":
            start = self.position
            self.position += 2
            if (arithmetic := self.arithmetic()) is not None:
                self.beyond_posix = True
                return Calculation(0, "", [], arithmetic)
            self.position = start
        if self.peek() == "(":
            self.position += 1
            outer_end, self.ends_documents = self.ends_documents, ""
            body = self._script(frozenset())
            if self.peek() != ")" or not body.chains:
                raise self.problem("`)` is missing")
            self.position += 1
            self.ends_documents = outer_end
            return Group(0, "", [], body, subshell=True)
        match = _RESERVED.match(self.text, self.position)
        if match is None or match.group() == "coproc":
            return None
        readers: dict[str, Callable[[], Statement]] = {
            "{": self._group,
            "if": self._if,
            "while": self._loop,
            "until": self._loop,
            "for": self._for,
            "select": self._for,
            "case": self._case,
            "function": self._function,
            "[[": self.test,
        }
        if match.group() not in readers:
            raise self.problem("Something is out of place")
        self.position = match.end()
        return readers[match.group()]()

    def _expect(self, *words: str) -> str:
        self.skip_space()
        match = _RESERVED.match(self.text, self.position)
        if match is None or match.group() not in words:
            raise self.problem(f"`{words[0]}` is missing")
        self.position = match.end()
        return match.group()

    def _body(self, *closers: str) -> Script:
        body = self._script(frozenset(closers))
        if not body.chains:
            raise self.problem("A command is missing")
        return body

    def _group(self) -> Group:
        body = self._body("}")
        self._expect("}")
        return Group(0, "", [], body, subshell=False)

    def _if(self) -> If:
        branches: list[tuple[Script, Script]] = []
        while True:
            condition = self._body("then")
            self._expect("then")
            branches.append((condition, self._body("elif", "else", "fi")))
            word = self._expect("fi", "elif", "else")
            if word == "elif":
                continue
            otherwise = None
            if word == "else":
                otherwise = self._body("fi")
                self._expect("fi")
            return If(0, "", [], branches, otherwise)

    def _loop(self) -> LoopStatement:
        condition = self._body("do")
        return LoopStatement(0, "", [], condition, self._do_group())

    def _do_group(self) -> Script:
        if self._expect("do", "{") == "{":
            return self._group().body
        body = self._body("done")
        self._expect("done")
        return body

    def _for(self) -> Statement:
        self.skip_blanks()
        if self.peek(2) == "((":
            self.position += 2
            self.beyond_posix = True
            header = self.arithmetic()
            if header is None:
                raise self.problem("A loop is not understood")
            self._skip_separator()
            return CountedFor(0, "", [], header, self._do_group())
        name = _NAME.match(self.text, self.position)
        if name is None:
            raise self.problem("A loop is not understood")
        self.position = name.end()
        self.skip_space()
        words = None
        if match := _IN.match(self.text, self.position):
            self.position = match.end()
            words = self.words()
        self._skip_separator()
        return For(0, "", [], name.group(1), words, self._do_group())

    def _skip_separator(self) -> None:
        self.skip_blanks()
        if self.peek() == ";":
            self.position += 1

    def _case(self) -> Case:
        self.skip_blanks()
        subject = self.word()
        self.skip_space()
        if not _IN.match(self.text, self.position):
            raise self.problem("`in` is missing")
        self.position += 2
        items: list[tuple[list[Word], Script]] = []
        while True:
            self.skip_space()
            if self._closes(frozenset({"esac"})):
                self.position += 4
                return Case(0, "", [], subject, items)
            items.append(self._case_item())

    def _case_item(self) -> tuple[list[Word], Script]:
        if self.peek() == "(":
            self.position += 1
        patterns: list[Word] = []
        while True:
            self.skip_blanks()
            patterns.append(self.word())
            self.skip_blanks()
            separator = self.peek()
            self.position += 1
            if not patterns[-1].parts or separator not in ("|", ")"):
                raise self.problem("A pattern of a case is not understood")
            if separator == ")":
                break
        body = self._script(frozenset({"esac"}))
        if match := _CASE_END.match(self.text, self.position):
            self.beyond_posix = self.beyond_posix or "&" in match.group()
            self.position = match.end()
        return patterns, body

    def _function(self) -> Function:
        self.beyond_posix = True
        self.skip_blanks()
        name = _FUNCTION_NAME.match(self.text, self.position)
        if name is None:
            raise self.problem("A function is not understood")
        self.position = name.end()
        if match := _CALLED.match(self.text, self.position):
            self.position = match.end()
        return self._function_body(name.group())

    def _function_body(self, name: str) -> Function:
        self.skip_space()
        start = self.position
        body = self._compound()
        if body is None:
            raise self.problem("A function is not understood")
        self.trailing_redirects(body)
        body.start, body.source = self.offset + start, self.text[start : self.position]
        self.functions.setdefault(name, []).append(body)
        return Function(0, "", [], name, body)

    def name_first_word(self, simple: Simple) -> Function | None:
        """The function, if the first word of a command turns out to be the name of a new one."""
        name = simple.words[0].bare
        if name in _RESERVED_WORDS:
            raise self.problem("Something is out of place")
        match = _CALLED.match(self.text, self.position)
        if match is None:
            return None
        if not name or simple.assignments or simple.redirects or not _FUNCTION_NAME.fullmatch(name):
            raise self.problem("A function is not understood")
        self.position = match.end()
        return self._function_body(name)
