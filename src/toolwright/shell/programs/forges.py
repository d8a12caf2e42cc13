"""`gh`, `glab` and `hub`, which talk to where repositories are kept: what only looks, and what may publish."""

from collections.abc import Sequence

from toolwright.shell.programs.arguments import Effects, names
from toolwright.shell.programs.git import git
from toolwright.shell.programs.git_options import KNOWN
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field, literal

_LOOKS = names("checks checkout clone diff download field-list get list logs ls status trace verify view watch")
"""The second word of what changes nothing where the repository is kept."""
_GROUPS = names(
    "attestation auth browse cache ci codespace completion config gist gpg-key help incident issue job label milestone"
    " mr org pr project release repo ruleset run schedule search secret snippet ssh-key status token user variable"
    " version workflow"
)
"""The first words that mean the same on every machine. Others are aliases and extensions."""
_PLAIN = names("completion help search status version")
_VALUED = ("-R", "--repo", "--hostname", "-g", "--group")
_SENDS = ("-X", "--method", "-f", "--raw-field", "-F", "--field", "--input")


def forge(effects: Effects, arguments: Sequence[Field]) -> None:
    """Note that what is not known to look only may send what `git push` sends, and is judged by the rules for that."""
    words = _words(arguments)
    group, verb = [*(one.text for one in words[:2]), "", ""][:2]
    if not words or group in _PLAIN or (group in _GROUPS and verb in ("", *_LOOKS)):
        return
    if group == "api" and not any(one.spelled.startswith(_SENDS) for one in arguments):
        return
    effects.suspected.append(literal("git push"))
    if group not in (*_GROUPS, "api"):
        effects.doubts.append(Contained(f"`{group}` is an alias or an extension, and is not examined."))


def hub(effects: Effects, arguments: Sequence[Field]) -> None:
    """Git with some more subcommands."""
    effects.same_as.append([literal("git"), *arguments])
    git(effects, arguments)
    if not arguments or arguments[0].text not in KNOWN:
        effects.suspected.append(literal("git push"))


def _words(arguments: Sequence[Field]) -> list[Field]:
    befores = [literal(""), *arguments]
    return [
        one
        for before, one in zip(befores, arguments, strict=False)
        if not one.spelled.startswith("-") and before.text not in _VALUED
    ]
