"""Files that programs touch: tables for the common ones, a cautious guess for the rest."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.programs.archives import ARCHIVES
from toolwright.shell.programs.arguments import Effects, Handler, after_start
from toolwright.shell.programs.builders import BUILDERS
from toolwright.shell.programs.certificates import CERTIFICATES
from toolwright.shell.programs.containers import CONTAINERS
from toolwright.shell.programs.editors import EDITORS
from toolwright.shell.programs.finder import find
from toolwright.shell.programs.forges import forge, hub
from toolwright.shell.programs.git import git
from toolwright.shell.programs.languages import INTERPRETERS, interpreter, is_agent
from toolwright.shell.programs.network import NETWORK
from toolwright.shell.programs.options import take_options
from toolwright.shell.programs.outputs import OUTPUTS
from toolwright.shell.programs.packagers import PACKAGERS
from toolwright.shell.programs.plain import PLAIN, QUIET
from toolwright.shell.programs.searches import SEARCHES
from toolwright.shell.programs.transfers import TRANSFERS
from toolwright.shell.programs.unlisted import guess
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field, literal

_LOADS = re.compile(r"(?:import|include)\s*\"|(?:load\w*|system)\s*\(")


_ALSO_REMOVE = frozenset({"unlink", "shred", "srm"})
"""Programs that a rule about `rm` is meant for as well."""


def is_listed(name: str) -> bool:
    return name in QUIET or name in PLAIN or name in INTERPRETERS or name in HANDLERS


def effects_of(name: str, arguments: Sequence[Field]) -> Effects:
    """Return the effects of a call of the program `name`."""
    effects = Effects()
    if name in QUIET:
        return effects
    if name in PLAIN:
        kind, skip, known = PLAIN[name]
        if name in ("jq", "yq"):
            arguments = _with_pairs(effects, arguments)
        parsed = take_options(effects, name, arguments, known)
        if parsed.has("-f", "--from-file") and name == "jq":
            skip = 0
        if name in ("less", "more", "man") and any(one.spelled.startswith("+") for one in parsed.operands):
            effects.doubts.append(Contained(f"What `{name}` is told to do at the start is not examined."))
        if name in ("jq", "yq") and any(_LOADS.search(one.spelled) for one in parsed.operands):
            effects.doubts.append(Contained(f"What `{name}` is told may load files that its words do not name."))
        if kind is not None:
            files = after_start(parsed.operands, skip)
            effects.touch(kind, *files)
            if name in _ALSO_REMOVE:
                effects.same_as.append([literal("rm"), *files])
            effects.touch("search", *(files if kind == "read" else ()))
        elif name == "man":
            effects.touch("read", *(one for one in parsed.operands if "/" in one.spelled))
        elif name == "mktemp":
            elsewhere = (one for one in parsed.operands if "/" in one.spelled and not one.spelled.startswith("/tmp/"))  # noqa: S108 - where it is by itself
            effects.touch("write", *elsewhere, *parsed.values("--tmpdir"))
        return effects
    if name in INTERPRETERS:
        interpreter(name, effects, arguments)
        return effects
    if name in HANDLERS:
        HANDLERS[name](effects, arguments)
        return effects
    guess(effects, arguments)
    if name in ("gh", "glab"):
        forge(effects, arguments)
    if is_agent(name) and not any(one.text in ("--version", "--help", "-v", "-h") for one in arguments[:1]):
        effects.doubts.append(f"`{name}` runs commands under rules of its own.")
    return effects


def _with_pairs(effects: Effects, arguments: Sequence[Field]) -> list[Field]:
    """`jq --arg name value` takes two words; with `--rawfile` the second one is a file."""
    kept: list[Field] = []
    position = 0
    while position < len(arguments):
        text = arguments[position].text
        if text in ("--arg", "--argjson", "--slurpfile", "--rawfile"):
            if text in ("--slurpfile", "--rawfile"):
                effects.touch("read", *arguments[position + 2 : position + 3])
            position += 3
            continue
        kept.append(arguments[position])
        position += 1
    return kept


HANDLERS: Mapping[str, Handler] = {
    **ARCHIVES,
    **OUTPUTS,
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
