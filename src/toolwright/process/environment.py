"""What a command learns from our environment, and which shell reads it."""

import os
import shutil
import sys
from collections.abc import Mapping
from contextvars import ContextVar

from toolwright.record import record
from toolwright.wildcard import matches

SECRETS = ("*KEY*", "*TOKEN*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*CREDENTIAL*")
"""Names of variables that are secrets more often than not."""
UNSUITABLE = ("fish", "nu")
"""Shells that do not read the commands models write."""


ADDED: "ContextVar[Mapping[str, str] | None]" = ContextVar("ADDED", default=None)
"""Variables for the commands of the call under way alone, where an extension has some to add."""


@record(frozen=True, slots=True, kw_only=True)
class Withholding:
    """Which variables a command does not get to see. Names are matched in any case of letters."""

    names: tuple[str, ...] = SECRETS
    except_for: tuple[str, ...] = ()
    """Names or patterns that commands need although they look like secrets."""

    def apply(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in environment.items() if not self._withholds(name)}

    def _withholds(self, name: str) -> bool:
        return _fits(name, self.names) and not _fits(name, self.except_for)


def choose_shell(environment: Mapping[str, str], preferred: str = "") -> str:
    """The path of the shell for commands: the one preferred, the user's own, or the system's."""
    for candidate in (preferred, environment.get("SHELL", "")):
        path = shutil.which(candidate, path=environment.get("PATH")) if candidate else None
        if path and os.path.basename(path) not in UNSUITABLE:  # noqa: PTH119 - on text
            return path
    if sys.platform == "darwin":
        return "/bin/zsh"
    return shutil.which("bash", path=environment.get("PATH")) or "/bin/sh"


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(matches(name, pattern, any_case=True) for pattern in patterns)
