"""The walk through a script: every statement in every branch, with what is known of the state before it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from toolwright.shell.grammar.nodes import (
    Calculation,
    Case,
    Chain,
    CountedFor,
    For,
    Group,
    If,
    LoopStatement,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Statement,
    Substitution,
    Test,
    Word,
)
from toolwright.shell.grammar.parse import ShellParser
from toolwright.shell.grammar.scan import SyntaxProblem
from toolwright.shell.state.findings import Draft, Findings
from toolwright.shell.state.state import ALTERNATIVES, EndStates, Field, ShellState, always, joined
from toolwright.shell.state.variables import assign, special
from toolwright.shell.walk.builtins import SILENT
from toolwright.shell.walk.call import ShellCall
from toolwright.shell.walk.command import run
from toolwright.shell.walk.expand import expand, expand_all
from toolwright.shell.walk.stdin import InputFeed, fed_by, output_of
from toolwright.shell.walk.words import Visitor, judge_test

_PLAIN_TARGET = re.compile(r"[\w./+@%:=, -]*")
LOCAL = frozenset({"local", "declare", "typeset"})

_NESTING = 12
_LETTERS = 4
"""So many letters of a text that is run count as a word."""
_ROUNDS = 3


class Walker(Visitor):
    """Goes through statements and fills `findings`; inside a text that a command runs, that command's draft."""

    def __init__(
        self,
        findings: Findings,
        functions: dict[str, list[Statement]],
        *,
        within: Draft | None = None,
        depth: int = 0,
    ) -> None:
        super().__init__(findings)
        self.functions = functions
        self.within = within
        self.depth = depth
        self.seen: set[int] = set()
        self._leaving: list[list[ShellState]] = []
        """For each loop and function that is being walked, what holds where it is left early."""
        self._fed: InputFeed | None = None
        """The input that a loop or group that is being walked finds on its standard input."""

    def walk(self, script: Script, state: ShellState) -> ShellState:
        """The whole script, then the functions it defines and never calls."""
        state.functions = self.functions
        after = self.script(script, state, top=True)
        for bodies in list(self.functions.values()):
            for body in bodies:
                if id(body) not in self.seen and self.within is None:
                    self.statement(
                        body,
                        ShellState(folders=after.folders, dialect=after.dialect, calls=("",), functions=self.functions),
                    )
        return after

    def script(self, script: Script, state: ShellState, *, top: bool = False) -> ShellState:
        """Statement after statement. Only at the top is it certain that `set -e` stops at a failure."""
        for chain in script.chains:
            outcome = self._chain(chain, state)
            first = chain.pipelines[0]
            alone = len(chain.pipelines) == 1 and not first.negated and isinstance(first.statements[-1], Simple)
            if outcome.succeeded is None and outcome.failed is None:
                state = replace(state.copy(), ended=True)
            elif top and state.stops_on_error and alone and outcome.succeeded is not None:
                state = outcome.succeeded
            else:
                state = outcome.either(state)
        return state

    def _chain(self, chain: Chain, state: ShellState) -> EndStates:
        if chain.background:
            self._links(chain, state.copy())
            return always(state)
        return self._links(chain, state)

    def _links(self, chain: Chain, state: ShellState) -> EndStates:
        outcome = self._pipeline(chain.pipelines[0], state)
        for link, pipeline in zip(chain.links, chain.pipelines[1:], strict=True):
            before = outcome.succeeded if link == "&&" else outcome.failed
            inner = self._pipeline(pipeline, (before or state).copy())
            if before is None:
                continue
            if link == "&&":
                outcome = EndStates(inner.succeeded, joined(outcome.failed, inner.failed))
            else:
                outcome = EndStates(joined(outcome.succeeded, inner.succeeded), inner.failed)
        return outcome

    def _pipeline(self, pipeline: Pipeline, state: ShellState) -> EndStates:
        if len(pipeline.statements) == 1:
            outcome = self.statement(pipeline.statements[0], state)
            return outcome.negated if pipeline.negated else outcome
        feed: InputFeed | None = None
        after = state
        for statement in pipeline.statements:
            # bash runs each part in a shell of its own, zsh the last one in the script's
            part = self.statement(statement, state.copy(), feed).either(state)
            feed = output_of(statement, state, feed)
            after = after.join(part)
        return always(after)

    def statement(self, node: Statement, state: ShellState, feed: InputFeed | None = None) -> EndStates:
        self.seen.add(id(node))
        self.findings.count_step()
        if isinstance(node, Simple):
            return self._simple(node, state, feed)
        draft_count, doubts = len(self.findings.drafts), self.findings.doubts
        writes = self._redirects(node.redirects, state)
        around, self._fed = self._fed, fed_by(node.redirects, state) or feed or self._fed
        outcome = self._compound(node, state)
        self._fed = around
        silent = len(self.findings.drafts) == draft_count
        if silent and self.findings.doubts > doubts:
            self._draft(node)
        elif silent and (writes or isinstance(node, Calculation)):
            self.findings.bare[node.source] = None
        return outcome

    def _compound(self, node: Statement, state: ShellState) -> EndStates:
        match node:
            case Group(body=body, subshell=True):
                self.script(body, state.copy())
                return always(state)
            case Group(body=body):
                return always(self.script(body, state))
            case If():
                return always(self._if(node, state))
            case LoopStatement(condition=condition, body=body):
                return always(self._repeat(condition, body, state))
            case CountedFor(header=header, body=body):
                self.arithmetic(header, state)
                return always(self._repeat(None, body, state))
            case For():
                return always(self._for(node, state))
            case Case():
                return always(self._case(node, state))
            case Calculation(arithmetic=arithmetic):
                self.arithmetic(arithmetic, state)
            case Test(words=words):
                for word in words:
                    self.word(word, state)
                judge_test(words, state, self.findings)
            case _:
                pass
        return always(state)

    def _if(self, node: If, state: ShellState) -> ShellState:
        after: ShellState | None = None
        for condition, body in node.branches:
            tested = self._conditions(condition, state)
            branch = self.script(body, (tested.succeeded or state).copy())
            after = joined(after, branch)
            state = tested.failed or state
        last = self.script(node.otherwise, state.copy()) if node.otherwise else state
        return joined(after, last) or state

    def _conditions(self, script: Script, state: ShellState) -> EndStates:
        """Walk a list of commands; it ends as its last one does."""
        *before, last = script.chains
        state = self.script(Script(before), state)
        return self._chain(last, state)

    def _repeat(self, condition: Script | None, body: Script, state: ShellState) -> ShellState:
        """Walk a body until going round once more would teach nothing new; then forget what it keeps changing."""
        for _ in range(_ROUNDS):
            after = self._round(condition, body, state)
            if after == state:
                return after
            state = after
        lost = replace(state.copy(), folders=(), variables={}, arguments=None, own=frozenset(), stops_on_error=False)
        return self._round(condition, body, lost)

    def _round(self, condition: Script | None, body: Script, state: ShellState) -> ShellState:
        """Return the state after one more round: the loop ends after its condition, or wherever it is left."""
        self._leaving.append([])
        tested = self.script(condition, state.copy()) if condition else state
        after = state.join(tested).join(self.script(body, tested.copy()))
        for left in self._leaving.pop():
            after = after.join(left)
        return after

    def leave_body(self, state: ShellState) -> None:
        for bodies in self._leaving:
            bodies.append(state.copy())

    def _for(self, node: For, state: ShellState) -> ShellState:
        for word in node.words or ():
            self.word(word, state)
        self.doubt_if(special(node.name, None, dialect=state.dialect))
        fields = expand_all(node.words, state) if node.words is not None else state.arguments
        self.look_for(fields or (), state)
        if node.source.startswith("select"):
            fields = None
        texts = tuple(dict.fromkeys(text for one in fields or () for text in one.texts))
        known = fields is not None and all(one.known for one in fields) and len(texts) <= ALTERNATIVES
        if known:
            glob = any(one.glob for one in fields or ())
            spelled = f"${node.name}" if len(texts) != 1 or glob else texts[0]
            number = bool(fields) and all(one.number for one in fields or ())
            assign(node.name, Field(spelled, texts, glob=glob, number=number), state)
        else:
            state.forget(node.name)
        return self._repeat(None, node.body, state)

    def _case(self, node: Case, state: ShellState) -> ShellState:
        self.word(node.subject, state)
        after = state
        for patterns, body in node.items:
            for pattern in patterns:
                self.word(pattern, state)
            # `;&` goes on into the next body with what this one has done
            after = after.join(self.script(body, after.copy()))
        return after

    def _simple(self, node: Simple, state: ShellState, feed: InputFeed | None) -> EndStates:
        draft_count, doubts = len(self.findings.drafts), self.findings.doubts
        for word in node.words:
            self.word(word, state)
        argv = expand_all(node.words, state)
        self.look_for(argv, state)
        command = argv[0].text if argv else ""
        self.assignments(node.assignments, state, lasting=not argv, command=command, hands_on=bool(argv))
        if node.declared:
            hands_on = command == "export" or any("x" in one.text for one in argv[1:] if one.text.startswith("-"))
            self.assignments(node.declared, state, lasting=True, hands_on=hands_on)
            self._declared(node, argv, state)
        if argv and state.calls and command in LOCAL:
            state.own |= {one.name for one in node.declared} | {one.spelled.partition("=")[0] for one in argv[1:]}
        writes = self._redirects(node.redirects, state)
        silent = not argv or (node.words[0].bare in SILENT and argv[0].text in SILENT)
        draft = self._draft(node) if not silent or self.within is not None else Draft(0, (), "")
        feed = fed_by(node.redirects, state) or feed or (self._fed if command == "read" else None)
        draft.place(state.folders)
        draft.fed = draft.fed or (feed is not None and (feed.text is not None or bool(feed.paths)))
        draft.stdin = _stdin(feed, draft.stdin)
        outcome = run(self, ShellCall(argv=argv, state=state, draft=draft, feed=feed)) if argv else always(state)
        if silent and len(self.findings.drafts) == draft_count:
            if self.findings.doubts > doubts or draft.called:
                self._draft(node).called.extend(draft.called)
            elif writes:
                self.findings.bare[node.source] = None
        return outcome

    def _declared(self, node: Simple, argv: Sequence[Field], state: ShellState) -> None:
        """A value is known only where the plain form gives it: no attribute, and nothing else sets the same name."""
        names = {one.name for one in node.declared}
        command = argv[0].text if argv else ""
        plain = command in ("export", "declare", "typeset") or (command == "local" and bool(state.calls))
        repeated = len(names) < len(node.declared) or any("=" in one.spelled for one in argv[1:])
        if command == "readonly" or any("r" in one.text for one in argv[1:] if one.text.startswith("-")):
            state.fixed |= names
        if not plain or repeated or any(one.text not in ("-x", "-g", "-gx", "-xg") for one in argv[1:]):
            for name in names:
                state.forget(name)

    def _draft(self, node: Statement) -> Draft:
        if self.within is not None:
            return self.within
        if not isinstance(node, Simple) or not node.words or node.words[0].bare in SILENT:
            return self.findings.draft(node.start, (), node.source)
        words = tuple(_source_of(word) for word in node.words[:1])
        words += tuple(_source_of(word) for word in node.words[1:] if not _is_substitution(word))
        return self.findings.draft(node.start, words, " ".join(words))

    def _redirects(self, redirects: Sequence[Redirect], state: ShellState) -> bool:
        """Note the files that are opened; whether any of them is written."""
        writes = False
        for redirect in redirects:
            self.word(redirect.target, state)
            if redirect.body is not None:
                self.word(redirect.body, state)
            if redirect.operator in ("<<", "<<-", "<<<"):
                continue
            if redirect.descriptor.startswith("{"):
                name, subscript, _ = redirect.descriptor.strip("{}").partition("[")
                self.doubt_if(special(name, None, dialect=state.dialect))
                state.forget(name)
                if subscript and state.dialect != "bash":
                    self.findings.doubt(f"`{redirect.descriptor}` is a word to some shells, and a variable to bash.")
            writes = self._opened(redirect, state) or writes
        return writes

    def _opened(self, redirect: Redirect, state: ShellState) -> bool:
        operator = redirect.operator
        targets = expand(redirect.target, state)
        if operator in ("<&", ">&") and all(
            one.number or one.text.rstrip("-").isdecimal() or one.text == "-" for one in targets
        ):
            return False
        if any(isinstance(part, Substitution) and part.opener in ("<(", ">(") for part in redirect.target.parts):
            return False
        if operator == ">&" and not all(_PLAIN_TARGET.fullmatch(text) for one in targets for text in one.texts):
            self.findings.doubt(f"`>&{redirect.target.source}`: what the word comes to is read by the shell once more.")
        if redirect.target.source == "!":
            self.findings.doubt("`>!` means one thing to bash and another to zsh.")
        for target in targets:
            if operator in ("<", "<>", "<&"):
                self.findings.touch("read", target, state)
            if operator not in ("<", "<&"):
                self.findings.touch("write", target, state)
        return operator not in ("<", "<&")

    def nested(self, text: str, state: ShellState, draft: Draft) -> ShellState:
        if self.depth > _NESTING:
            self.findings.doubt("Commands are nested too deeply.")
            return state
        self.findings.count_words(len(text) // _LETTERS)
        parser = ShellParser(text, functions=self.functions)
        try:
            script = parser.script_until("")
        except SyntaxProblem as problem:
            self.findings.doubt(f"`{text}` is run as a command and is not understood: {problem}")
            return state
        doubt_dialect(parser, state, self.findings)
        inner = Walker(self.findings, self.functions, within=draft, depth=self.depth + 1)
        inner.seen, inner._leaving = self.seen, self._leaving
        return inner.script(script, state)

    def call_function(self, name: str, arguments: Sequence[Field], state: ShellState) -> bool:
        bodies = self.functions.get(name)
        if not bodies:
            return False
        if name in state.calls or len(state.calls) > _NESTING:
            self.findings.doubt(f"The function `{name}` calls itself.")
            return True
        after: ShellState | None = None
        for body in bodies:
            inside = state.copy()
            inside.arguments, inside.calls, inside.own = tuple(arguments), (*state.calls, name), frozenset()
            self._leaving.append([])
            end = self.statement(body, inside).either(inside)
            for left in self._leaving.pop():
                end = end.join(left)
            for variable in end.own:
                end.forget(variable)
            after = joined(after, end)
        if after is not None:
            state.variables, state.folders, state.ended = after.variables, after.folders, after.ended
            state.stops_on_error = state.stops_on_error and after.stops_on_error
        return True


def doubt_dialect(parser: ShellParser, state: ShellState, findings: Findings) -> None:
    if state.dialect == "sh" and parser.beyond_posix:
        findings.doubt("It uses forms that mean one thing to bash and another to plain sh.")


def _source_of(word: Word) -> str:
    return word.source.removeprefix("$") if word.source.startswith('$"') else word.source


def _is_substitution(word: Word) -> bool:
    """Tell whether the word is nothing but a substitution: its commands are shown on their own."""
    return len(word.parts) == 1 and isinstance(word.parts[0], Substitution) and not word.parts[0].quoted


def _stdin(feed: InputFeed | None, before: str | None) -> str | None:
    """The text that is fed; empty where it is not known, or another one when the statement comes round again."""
    if feed is None:
        return before
    text = feed.text.text if feed.text is not None and feed.text.exact else ""
    return text if before is None or before == text else ""
