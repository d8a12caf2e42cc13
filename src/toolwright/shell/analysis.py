"""A command line understood before it runs: what it calls, which files it touches, and what cannot be told."""

import re
from collections.abc import Mapping
from typing import Literal

from toolwright.record import record
from toolwright.shell.approval import proposals
from toolwright.shell.findings import Draft, Findings, TooMuch
from toolwright.shell.nodes import Script
from toolwright.shell.parse import Parser
from toolwright.shell.scan import SyntaxProblem
from toolwright.shell.state import State, dialect_of, literal
from toolwright.shell.walk import Walker, doubt_dialect

LONGEST = 100_000
"""Command lines beyond this many characters are not looked at but shown."""

_NOTHING = re.compile(r"(?:[ \t\n;]|#[^\n]*(?:\n|$))*")
_NO_TEXT = re.compile("[\\0\\ud800-\\udfff]")
_PIECES = re.compile(r"[;&|\n(){}`$]+")


@record(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of the line, as it is shown and as it is judged."""

    words: tuple[str, ...]
    """As the program would get them; what is only known later stays as written."""
    shown: str
    """As written, without redirections and assignments."""
    implied: tuple[str, ...] = ()
    """What it comes down to: the same without quotes and paths, and every command that it runs in turn."""
    always: tuple[str, ...] = ()
    """What a lasting approval would store; empty where none may be offered."""


@record(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Paths are absolute and follow the line's own `cd`; links are not resolved, so `..` after a name stays."""

    command: str
    verdict: Literal["understood", "partly", "no"]
    commands: tuple[Command, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    enters: tuple[str, ...] = ()
    """Folders it goes to."""
    runs: tuple[str, ...] = ()
    """Programs that are named by their path."""
    bare: tuple[str, ...] = ()
    """Statements that write files without running a command, such as `> file`."""
    reasons: tuple[str, ...] = ()
    """Why it is not fully understood, one sentence each."""
    spellings: Mapping[str, str]
    """For paths that stand for several, such as `out/$f`: how to show them."""


def analyse(command: str, *, cwd: str, home: str, shell: str = "bash") -> Analysis:
    """Say what the command line would do if `shell` ran it in the folder `cwd`. Touches nothing."""
    findings = Findings()
    state = State(folders=(cwd,), variables={"HOME": literal(home)}, dialect=dialect_of(shell))
    if _NOTHING.fullmatch(command):
        return _result(command, findings, "understood")
    if len(command) > LONGEST:
        return _not_understood(command, findings, "It is too long to be examined.")
    if _NO_TEXT.search(command):
        return _not_understood(command, findings, "It holds a character that no command can have.")
    parser = Parser(command)
    problem = ""
    try:
        parser.script_until("")
    except SyntaxProblem as error:
        problem = f"It is not understood as a whole: {error}."
    except RecursionError:
        problem = "It is nested too deeply."
    doubt_dialect(parser, state, findings)
    try:
        Walker(findings, parser.functions).walk(Script(parser.finished), state)
    except (TooMuch, RecursionError):
        problem = "It does too much to be followed to its end."
    if problem:
        return _not_understood(command, findings, problem)
    return _result(command, findings, "partly" if findings.reasons else "understood")


def _not_understood(command: str, findings: Findings, reason: str) -> Analysis:
    """The raw text is what a person is shown; every piece of it that may be a command meets the rules."""
    findings.reasons = {reason: None, **findings.reasons}
    draft = findings.draft(-1, (), command.strip()[:LONGEST])
    for piece in _PIECES.split(command[:LONGEST]):
        words = piece.split()
        if words:
            draft.add([literal(word) for word in words])
    return _result(command, findings, "no")


def _result(command: str, findings: Findings, verdict: Literal["understood", "partly", "no"]) -> Analysis:
    drafts = sorted(findings.drafts.values(), key=lambda draft: draft.start)
    touched = findings.touched
    spellings = {path: shown for paths in touched.values() for path, shown in paths.items() if path != shown}
    return Analysis(
        command=command,
        verdict=verdict,
        commands=tuple(_command(draft, offer=verdict == "understood") for draft in drafts),
        reads=tuple(touched.get("read", ())),
        writes=tuple(touched.get("write", ())),
        deletes=tuple(touched.get("delete", ())),
        enters=tuple(touched.get("enter", ())),
        runs=tuple(touched.get("run", ())),
        bare=tuple(findings.bare),
        reasons=tuple(findings.reasons),
        spellings=spellings,
    )


def _command(draft: Draft, *, offer: bool) -> Command:
    texts = dict.fromkeys(called.text for called in draft.called)
    texts.pop(draft.shown, None)
    words = draft.called[0].words if draft.called else draft.words
    return Command(words=words, shown=draft.shown, implied=tuple(texts), always=proposals(draft) if offer else ())
