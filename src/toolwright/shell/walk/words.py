"""Words while they are expanded: substitutions run, calculations are made, variables get values."""

import re
from collections.abc import Sequence

from toolwright.shell.grammar.nodes import (
    Arithmetic,
    Assignment,
    Literal,
    ParameterExpansion,
    Part,
    Script,
    Substitution,
    Word,
)
from toolwright.shell.state.findings import Findings
from toolwright.shell.state.state import Field, ShellState, is_number, unknown
from toolwright.shell.state.variables import assign, exported, special
from toolwright.shell.walk.arithmetic import calculate, is_identifier, subscript
from toolwright.shell.walk.builtins import FILE_TESTS
from toolwright.shell.walk.expand import expand, value_of

_ZSH = re.compile(r"\$[~=^+:]|\$\w+[:\[]|\$\{?\w*\[|\[.*\$|\$.*\[|\$\{[^}]*:[A-Za-z]|^-$|^%|^<->")
"""Words that zsh reads otherwise: flags and modifiers of variables, subscripts, jobs, its own wildcards."""
_CALCULATES = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


class Visitor:
    """Goes through the parts of words. The statements inside substitutions are the Walker's."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def script(self, script: Script, state: ShellState, *, top: bool = False) -> ShellState:
        """The statements inside a substitution, and what holds after them. Walker implements it."""
        raise NotImplementedError

    def word(self, word: Word, state: ShellState) -> None:
        for part in word.parts:
            if not isinstance(part, Literal):
                self._part(part, state)
        if state.dialect == "zsh" and (word.source[:1] == "=" or _ZSH.search(word.source)):
            self.findings.doubt(f"`{word.source}` may mean something else to zsh than to bash.")

    def _part(self, part: Part, state: ShellState) -> None:
        match part:
            case Substitution(script=script):
                self.script(script, state.copy())
            case ParameterExpansion():
                self._parameter(part, state)
            case Arithmetic():
                self.arithmetic(part, state)
            case _:
                pass

    def _parameter(self, part: ParameterExpansion, state: ShellState) -> None:
        if part.index is not None:
            self.word(part.index, state)
            self.doubt_if(subscript(part.index, state))
        if part.argument is not None:
            self.word(part.argument, state)
        if part.opaque and state.dialect != "bash":
            self.findings.doubt(f"`{part.source}` has quotes in quotes, of which shells make different things.")
        indirect = part.operator.startswith("!") and part.operator not in ("!*", "!@")
        if part.operator == "@P":
            self.findings.doubt(f"`{part.source}` runs commands that its value holds.")
        elif indirect and (part.operator != "!" or (part.index is None and not self._names_variable(part.name, state))):
            self.findings.doubt(f"`{part.source}` looks up a variable whose name is only known when it runs.")
        elif part.operator in (":=", "="):
            self.doubt_if(special(part.name, None, dialect=state.dialect))
            state.forget(part.name)
        elif part.operator == ":" and part.argument is not None:
            self.doubt_if(calculate(Arithmetic(part.argument.source, part.argument.parts), state))

    def _names_variable(self, name: str, state: ShellState) -> bool:
        return is_identifier(state.variables.get(name, unknown("")).text)

    def doubt_if(self, reason: str) -> None:
        if reason:
            self.findings.doubt(reason)

    def look_for(self, fields: Sequence[Field], state: ShellState) -> None:
        """A wildcard in a path has the shell list folders, whatever its command does with their names."""
        for field in fields:
            if field.glob and field.known and any("/" in text for text in field.texts):
                self.findings.touch("look", field, state)

    def arithmetic(self, arithmetic: Arithmetic, state: ShellState) -> None:
        self.word(Word("", arithmetic.parts), state)
        self.doubt_if(calculate(arithmetic, state))

    def assignments(
        self,
        assignments: Sequence[Assignment],
        state: ShellState,
        *,
        lasting: bool,
        command: str = "",
        hands_on: bool = False,
    ) -> None:
        """Variables set in front of a command or on their own; `lasting` if they keep their value.

        `hands_on` says that programs get them, as they do those in front of a `command`.
        """
        for assignment in assignments:
            for word in (assignment.value, *(assignment.elements or ())):
                self.word(word, state)
            if assignment.index is not None:
                self.word(assignment.index, state)
                self.doubt_if(subscript(assignment.index, state))
            for element in assignment.elements or ():
                self.look_for(expand(element, state), state)
                if element.source.startswith("["):
                    self.findings.doubt(f"`{element.source}` may calculate a subscript.")
            value = value_of(assignment.value, state)
            single = assignment.index is None and assignment.elements is None
            if not (command == "read" and assignment.name == "IFS"):
                judge = exported if hands_on else special
                source = assignment.value.source
                self.doubt_if(judge(assignment.name, value if single else None, source=source, dialect=state.dialect))
            plain = assignment.index is None and assignment.elements is None and lasting
            if plain:
                assign(assignment.name, value, state, append=assignment.append)
            else:
                state.forget(assignment.name)


def judge_test(words: Sequence[Word], state: ShellState, findings: Findings) -> None:
    """`[[ … ]]`: files are looked at, `-eq` calculates on both sides, `-v` calculates a subscript."""
    for position, word in enumerate(words):
        following = words[position + 1] if position + 1 < len(words) else None
        if following is None:
            return
        if word.bare in ("-v", "-R") and not is_identifier(following.bare):
            findings.doubt(f"`{word.source} {following.source}` may calculate a subscript.")
        elif word.bare in FILE_TESTS:
            for target in expand(following, state)[:1]:
                findings.touch("look", target, state)
        elif word.bare in _CALCULATES and position:
            for side in (words[position - 1], following):
                if not is_number(value_of(side, state)):
                    findings.doubt(f"`{side.source}` is calculated with, and its value is not known to be a number.")
