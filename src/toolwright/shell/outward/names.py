"""Programs and scripts by their names: what is not in the data may still be called `deploy`."""

import posixpath
import re
from collections.abc import Sequence
from typing import Final

from toolwright.calls.acts import ActClass
from toolwright.shell.outward.rows import Fit
from toolwright.shell.programs.arguments import names
from toolwright.shell.programs.files_of import is_listed
from toolwright.shell.programs.wrappers import WRAPPERS
from toolwright.shell.walk.builtins import BUILTINS
from toolwright.shell.walk.shells import SHELLS

_VERSION = re.compile(r"(?<=\w)@[\w.^~-]+$")
_SCRIPT = re.compile(r".+\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|php)")
_WORDS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")
_FINAL = names("publish release unpublish destroy undeploy teardown purge ship nuke")
_CHANGES = names("deploy redeploy rollback promote provision upload")
_UNKNOWN: Final[dict[str, ActClass]] = {
    **dict.fromkeys(("publish", "unpublish", "destroy", "teardown", "terminate", "decommission"), "final"),
    **dict.fromkeys(("deploy", "redeploy", "undeploy", "upload", "promote", "provision", "rollback"), "changes"),
}
_DEEPEST = 3
"""Among how many words of an unknown program a verb is looked for."""
_LOOKS = names(
    "check checks test tests dry plan diff preview status list lint log logs notes note build local localhost dev docs"
    " config configure template generate render show view verify validate prepare draft changelog info version"
    " types typecheck"
)
_DRY = ("--dry-run", "--check", "--help", "-h", "--list", "-n", "--dryrun", "--plan")
_RUNNERS = names(
    "make gmake just task rake invoke inv doit mage gulp grunt jake earthly npm-run-all run-s run-p poe nox tox"
    " composer ninja turbo nx wireit moon mise rtx"
)


def plain_program(text: str) -> str:
    """The name without its folder, and without the version that package runners take."""
    name = posixpath.basename(text).removesuffix(".exe")
    return _VERSION.sub("", name) or name


def is_script(text: str) -> bool:
    """Tell whether the name is a script's, which no table has."""
    return _SCRIPT.fullmatch(posixpath.basename(text)) is not None and posixpath.basename(text) != "manage.py"


def by_name_of_script(name: str, arguments: Sequence[str], *, plain: bool = False) -> Fit | None:
    """Judge a script, or a target of a runner such as `make`, by its name: `deploy-prod`, `release`.

    `plain` says that the name is a script's for certain.
    """
    if not plain and posixpath.basename(name) in _RUNNERS:
        if any(one in _DRY for one in arguments):
            return None
        fits = [fit for one in arguments if one[:1] != "-" and "=" not in one and (fit := _told_by(one))]
        return max(fits, key=lambda fit: fit.kind == "final", default=None)
    if not plain and not is_script(name) and "/" not in name:
        return None
    if any(one in _DRY for one in arguments):
        return None
    return _told_by(posixpath.basename(name).partition(".")[0] if not plain else name)


def is_unknown(name: str) -> bool:
    """Tell whether no table of the analysis has a program."""
    return not (is_listed(name) or name in BUILTINS or name in WRAPPERS or name in SHELLS)


def by_verb_of_unknown(name: str, arguments: Sequence[str]) -> Fit | None:
    """Judge a program that no table has, by a subcommand that can hardly mean anything on this machine."""
    if not is_unknown(name) or any(one in _DRY and one != "-n" for one in arguments):
        return None
    for place, word in enumerate(arguments[:_DEEPEST], 1):
        if word[:1] == "-":
            break
        verb, _, rest = word.partition("-")
        if word in _UNKNOWN or (rest and verb in _UNKNOWN):
            return Fit(kind=_UNKNOWN[verb], words=tuple(arguments[:place]))
        if rest and verb in ("delete", "remove"):
            return Fit(kind="final", words=tuple(arguments[:place]))
    return None


def _told_by(name: str) -> Fit | None:
    words = [word.lower() for word in _WORDS.split(name) if word]
    if not words or any(word in _LOOKS for word in words):
        return None
    ends = {words[0], words[-1]}
    if ends & _FINAL:
        return Fit(kind="final", words=(name,))
    return Fit(kind="changes", words=(name,)) if ends & _CHANGES else None
