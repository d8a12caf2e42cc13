"""A command line understood before it runs: what it calls, which files it touches, and what cannot be told."""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from toolwright.record import record
from toolwright.shell.analysis.approval import offers
from toolwright.shell.grammar.nodes import Script
from toolwright.shell.grammar.parse import ShellParser
from toolwright.shell.grammar.scan import SyntaxProblem
from toolwright.shell.state.findings import OPEN, Confinement, Draft, Findings, TooMuch, Touch
from toolwright.shell.state.state import ShellState, dialect_of, literal
from toolwright.shell.walk.command import suspect, suspect_text
from toolwright.shell.walk.statements import Walker, doubt_dialect

LONGEST = 100_000
"""Command lines beyond this many characters are not looked at but shown."""

_NOTHING = re.compile(r"(?:[ \t\n;]|#[^\n]*(?:\n|$))*")
_NO_TEXT = re.compile("[\\0\\ud800-\\udfff]")
_PIECES = re.compile(r"[;&|\n(){}`$]+")


@record(frozen=True, slots=True, kw_only=True)
class AnalysedCommand:
    """One command of the line, as it is shown and as it is judged."""

    words: tuple[str, ...]
    """As the program would get them; what is only known later stays as written."""
    shown: str
    """As written, without redirections and assignments."""
    implied: tuple[str, ...] = ()
    """Texts it comes down to: the same without quotes and paths, and every command that it runs in turn."""
    always: tuple[str, ...] = ()
    """Patterns that a lasting approval would store; empty where none may be offered."""
    exact: tuple[str, ...] = ()
    """Of the texts, those that only an approval of the very same words covers."""
    suspected: tuple[str, ...] = ()
    """Texts among its words that may be commands which it runs."""
    folders: tuple[str, ...] = ()
    """The folders it may run in."""
    fed: bool = False
    """True if the line gives it input that its words do not show."""
    calls: tuple[tuple[str, ...], ...] = ()
    """Every program that it comes down to, by its words."""
    stdin: str | None = None
    """The text that the line feeds it; empty where that is not known."""


@record(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Paths are absolute and follow the line's own `cd`; links are not resolved, so `..` after a name stays."""

    command: str
    verdict: Literal["understood", "partly", "no"]
    commands: tuple[AnalysedCommand, ...] = ()
    touched: Mapping[Touch, Mapping[str, str]] = field(default_factory=dict[Touch, dict[str, str]])
    """Every kind of touch, with the paths and how each is shown."""
    order: tuple[str, ...] = ()
    """All these paths as the line names them, one after the other."""
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names that the line itself makes for other places."""
    bare: tuple[str, ...] = ()
    """Statements that write files without running a command, such as `> file`."""
    reasons: tuple[str, ...] = ()
    """Why it is not fully understood, one sentence each."""
    contained: bool = False
    """True if a complete box takes care of all these reasons."""
    confinement: Confinement = OPEN
    home: str = ""
    top: str = ""
    """The top folder of the project's git work tree."""

    def paths(self, *kinds: Touch) -> tuple[str, ...]:
        """Return the paths that are touched in one of these ways."""
        return tuple(dict.fromkeys(path for kind in kinds for path in self.touched.get(kind, ())))

    def shown(self, path: str) -> str:
        """Return how to show a path: one that stands for several, such as `out/$f`, is written otherwise."""
        return next((shown for one in self.touched.values() if (shown := one.get(path, path)) != path), path)


def analyse(
    command: str,
    *,
    cwd: str,
    home: str,
    shell: str = "bash",
    confinement: Confinement = OPEN,
    top: str = "",
) -> Analysis:
    """Say what the command line would do if `shell` ran it in the folder `cwd`. Touches nothing.

    `top` is the top folder of the project's git work tree.
    """
    # In a box it is set, by us.
    own = {"TMPDIR": literal("/tmp")} if confinement.private_tmp else {}  # noqa: S108 - a folder of the command's own
    state = ShellState(folders=(cwd,), variables={"HOME": literal(home), **own}, dialect=dialect_of(shell), top=top)
    findings = Findings(confinement=confinement, home=home, top=top, start=cwd)
    if _NOTHING.fullmatch(command):
        return _result(command, findings, "understood")
    if len(command) > LONGEST:
        return _not_understood(command, findings, "It is too long to be examined.")
    if _NO_TEXT.search(command):
        return _not_understood(command, findings, "It holds a character that no command can have.")
    parser = ShellParser(command)
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
    _suspect_what_is_made_and_run(command, findings)
    if problem:
        return _not_understood(command, findings, problem)
    return _result(command, findings, "partly" if findings.reasons else "understood")


def _suspect_what_is_made_and_run(command: str, findings: Findings) -> None:
    """A line that makes a file and runs it may have copied any program it names, or written any command it holds.

    In a box there is nothing to be had: the programs that are denied are covered.
    """
    if findings.confinement.complete:
        return
    touched = findings.touched
    new_files = {*touched.get("write", ()), *touched.get("into", ()), *touched.get("overwrite", ()), *findings.links}
    scripts = new_files.intersection(touched.get("script", ()))
    if not scripts and not new_files.intersection(touched.get("run", ())):
        return
    for draft in findings.drafts.values():
        for called in draft.called:
            suspect(draft, called.words)
        suspect_text(draft, command)
    if scripts:
        findings.doubt("A shell runs a file that the line itself writes, which is not examined.")


def _not_understood(command: str, findings: Findings, reason: str) -> Analysis:
    """The raw text is what a person is shown; every piece of it that may be a command meets the rules."""
    findings.reasons = {reason: None, **findings.reasons}
    draft = findings.draft(-1, (), command.strip()[:LONGEST])
    for piece in _PIECES.split(command[:LONGEST].replace("\\\n", "")):
        words = piece.split()
        if words:
            draft.add([literal(word) for word in words])
    return _result(command, findings, "no")


def _result(command: str, findings: Findings, verdict: Literal["understood", "partly", "no"]) -> Analysis:
    drafts = sorted(findings.drafts.values(), key=lambda draft: draft.start)
    return Analysis(
        command=command,
        verdict=verdict,
        commands=tuple(_command(draft, offer=verdict == "understood") for draft in drafts),
        bare=tuple(findings.bare),
        touched=findings.touched,
        order=tuple(findings.order),
        links=findings.links,
        reasons=tuple(findings.reasons),
        confinement=findings.confinement,
        home=findings.home,
        top=findings.top,
        contained=verdict == "partly" and findings.contained,
    )


def _command(draft: Draft, *, offer: bool) -> AnalysedCommand:
    texts = dict.fromkeys(called.text for called in draft.called)
    texts.pop(draft.shown, None)
    words = draft.called[0].words if draft.called else draft.words
    always, exact = offers(draft)
    return AnalysedCommand(
        words=words,
        shown=draft.shown,
        implied=tuple(texts),
        always=always if offer else (),
        exact=exact,
        suspected=tuple(draft.suspected),
        folders=draft.folders or (),
        fed=draft.fed,
        calls=tuple(called.words for called in draft.called),
        stdin=draft.stdin,
    )
