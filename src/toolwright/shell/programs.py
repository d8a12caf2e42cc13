"""What programs do with the files they are given: tables for the common ones, a cautious guess for the rest."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.arguments import Effects, Handler, looks_like_path, paths_in, tail
from toolwright.shell.builders import BUILDERS
from toolwright.shell.certificates import CERTIFICATES
from toolwright.shell.containers import CONTAINERS
from toolwright.shell.editors import EDITORS
from toolwright.shell.finder import find
from toolwright.shell.findings import Contained
from toolwright.shell.forges import forge, hub
from toolwright.shell.git import git
from toolwright.shell.languages import INTERPRETERS, interpreter
from toolwright.shell.network import NETWORK
from toolwright.shell.options import take_options
from toolwright.shell.packagers import PACKAGERS
from toolwright.shell.plain import PLAIN, QUIET
from toolwright.shell.searches import SEARCHES
from toolwright.shell.state import Field
from toolwright.shell.transfers import TRANSFERS

AGENTS = frozenset({"tw", "toolwright", "opencode", "claude", "codex", "gemini", "aider", "goose"})
"""Programs that run commands under rules of their own."""


def is_listed(name: str) -> bool:
    return name in QUIET or name in PLAIN or name in INTERPRETERS or name in HANDLERS


def effects_of(name: str, arguments: Sequence[Field]) -> Effects:
    """What a call of the program `name` comes down to."""
    found = Effects()
    if name in QUIET:
        return found
    if name in PLAIN:
        kind, skip, known = PLAIN[name]
        if name in ("jq", "yq"):
            arguments = _with_pairs(found, arguments)
        given = take_options(found, name, arguments, known)
        if given.has("-f", "--from-file") and name == "jq":
            skip = 0
        if name in ("less", "more", "man") and any(one.spelled.startswith("+") for one in given.operands):
            found.doubts.append(Contained(f"What `{name}` is told to do at the start is not examined."))
        if kind is not None:
            found.touch(kind, *given.operands[skip:])
        return found
    if name in INTERPRETERS:
        interpreter(name, found, arguments)
        return found
    if name in HANDLERS:
        HANDLERS[name](found, arguments)
        return found
    guess(found, arguments)
    if name in ("gh", "glab"):
        forge(found, arguments)
    if name in AGENTS and not any(one.text in ("--version", "--help", "-v", "-h") for one in arguments[:1]):
        found.doubts.append(f"`{name}` runs commands under rules of its own.")
    return found


def _with_pairs(found: Effects, arguments: Sequence[Field]) -> list[Field]:
    """`jq --arg name value` takes two words; with `--rawfile` the second one is a file."""
    kept: list[Field] = []
    position = 0
    while position < len(arguments):
        text = arguments[position].text
        if text in ("--arg", "--argjson", "--slurpfile", "--rawfile"):
            if text in ("--slurpfile", "--rawfile"):
                found.touch("read", *arguments[position + 2 : position + 3])
            position += 3
            continue
        kept.append(arguments[position])
        position += 1
    return kept


_OUTPUTS = (
    "-o",
    "-O",
    "--output",
    "--out",
    "--outfile",
    "--output-file",
    "--out-file",
    "-out",
    "--outdir",
    "--out-dir",
)


_MADE_HERE = ("/dev/fd/", "/proc/self/fd/")
"""Where a program finds what the line itself has made for it, as by `<(…)`."""
_EVALUATES = re.compile(r"-[eEcrx]|--?(?:eval|evaluate|exec|execute|expression|command|code|script)")
_CODE = re.compile(r"[(){};`|&$!\\\"']")


def _is_code(before: Field | None, argument: Field) -> bool:
    """Whether a word is what interpreters are given to run: `-e 'f(x)'`, `--eval=f(x)`."""
    head, equals, value = argument.spelled.partition("=")
    if equals and _EVALUATES.fullmatch(head):
        return _CODE.search(value) is not None
    return before is not None and _EVALUATES.fullmatch(before.spelled) is not None and bool(_CODE.search(argument.text))


def guess(found: Effects, arguments: Sequence[Field]) -> None:
    """A program that is not known: what looks like a path is read, `-o` names an output, any word may be a file."""
    output, found.unlisted = False, True
    for before, argument in zip([None, *arguments], arguments, strict=False):
        text = argument.spelled
        if argument.text.startswith(_MADE_HERE) or _is_code(before, argument):
            found.doubts.append(Contained(f"`{text[:80]}` may be a program for what is run, and is not examined."))
        if output:
            found.touch("write", argument)
        output = argument.text in _OUTPUTS
        found.touch("read", *paths_in(argument))
        head, equals, value = text.partition("=")
        if equals and head in _OUTPUTS:
            found.touch("write", tail(argument, len(head) + 1))
        elif equals and argument.known and not looks_like_path(value):
            found.touch("mention", tail(argument, len(head) + 1))
        elif argument.known and not text.startswith("-"):
            found.touch("mention", argument)
        elif argument.known and len(text) > 2 and not text.startswith("--"):
            found.touch("mention", tail(argument, 2))


HANDLERS: Mapping[str, Handler] = {
    **TRANSFERS,
    **SEARCHES,
    **NETWORK,
    **EDITORS,
    **BUILDERS,
    **CERTIFICATES,
    **CONTAINERS,
    **PACKAGERS,
    "find": find,
    "gfind": find,
    "git": git,
    "hub": hub,
}
