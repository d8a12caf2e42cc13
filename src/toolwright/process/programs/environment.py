"""The environment that a command learns from us, and the shell that reads it."""

import os
import re
import sys
from collections.abc import Mapping
from contextvars import ContextVar

from toolwright.process.programs.lookup import Lookup
from toolwright.record import record
from toolwright.text.wildcard import matches

SECRETS = ("*KEY*", "*TOKEN*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*CREDENTIAL*")
"""Names of variables that are secrets more often than not."""
HARMLESS = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "SHLVL", "PWD", "OLDPWD", "_", "HOSTNAME", "HOSTTYPE", "OSTYPE"),
    *(
        "LANG",
        "LANGUAGE",
        "LC_*",
        "LOCPATH",
        "LOCALE_ARCHIVE",
        "TZ",
        "TZDIR",
        "TERM",
        "TERM_*",
        "TERMINFO*",
        "COLORTERM",
    ),
    *("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR*", "LS_COLORS", "LSCOLORS", "GREP_COLOR*", "LESS*"),
    *(
        "PAGER",
        "MANPAGER",
        "GIT_PAGER",
        "EDITOR",
        "VISUAL",
        "GIT_EDITOR",
        "TMPDIR",
        "TEMP",
        "TMP",
        "INFOPATH",
        "MANPATH",
    ),
    *("XDG_*_HOME", "XDG_*_DIRS", "DEBIAN_FRONTEND", "DEBUG", "CI", "EMAIL", "GIT_AUTHOR_*", "GIT_COMMITTER_*"),
    *(
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "FTP_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "SSL_CERT_*",
        "*_CA_BUNDLE",
        "*_EXTRA_CA_CERTS",
    ),
    *("CC", "CXX", "CPP", "AR", "LD", "*FLAGS", "CMAKE_*", "PKG_CONFIG*", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH"),
    *(
        "*_INCLUDE_PATH",
        "DYLD_*",
        "PYTHON*",
        "VIRTUAL_ENV*",
        "CONDA_*",
        "PYENV_*",
        "PIP_*",
        "UV_*",
        "POETRY_*",
        "PIPX_*",
    ),
    *("NODE_ENV", "NODE_PATH", "NODE_OPTIONS", "NVM_*", "FNM_*", "VOLTA_*", "NPM_CONFIG_*", "COREPACK_*", "PNPM_HOME"),
    *("BUN_INSTALL", "DENO_*", "GO*", "CGO_*", "CARGO*", "RUST*", "JAVA_*", "JDK_*", "MAVEN_*", "M2_*", "GRADLE_*"),
    *("SDKMAN_*", "KOTLIN_*", "SCALA_*", "ANDROID_*", "DOTNET_*", "NUGET_*", "GEM_*", "BUNDLE_*", "RUBY*", "RBENV_*"),
    *("RAILS_ENV", "RACK_ENV", "PERL*", "PHP_*", "COMPOSER_*", "MIX_*", "ERL_*", "OPAM*", "OCAML*", "GHC*", "STACK_*"),
    *(
        "NIX_*",
        "GUIX_*",
        "ASDF_*",
        "MISE_*",
        "DIRENV_DIR",
        "BREW_*",
        "HOMEBREW_*",
        "CUDA_*",
        "QT_*",
        "ZDOTDIR",
        "BASH_ENV",
    ),
    *(
        "WSL_*",
        "MSYSTEM",
        "SOURCE_DATE_EPOCH",
        "PRE_COMMIT_*",
        "PYTEST_*",
        "COVERAGE_*",
        "TOX_*",
        "NOX_*",
        "TOOLWRIGHT_*",
    ),
)
"""Names that programs need and that hold no secret, unless the value looks like one."""
MISLEADING = ("CDPATH", "GLOBIGNORE", "GLOBSORT", "EXECIGNORE", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT")
"""Variables that a shell would take from its environment and read a line otherwise than it was judged."""
UNSUITABLE = ("fish", "nu")
"""Shells that do not read the commands models write."""

_TELLING = re.compile(
    r"(^|_)(pass|passphrase|pwd|pw|pin|auth|pat|dsn|jwt|cred|creds|private|webhook|hook|conn|connection|cookie|session"
    r"|license|licence|access|salt|seed|mnemonic|otp|mfa|login|sas|signature|apikey|sid)(_|$|\d)",
    re.IGNORECASE,
)
"""Parts of a name that speak of something that is not for everybody."""
_PLAIN = re.compile(r"|[\d.,:+-]*|[A-Za-z]{1,24}|[A-Za-z]{1,16}([-_. ][A-Za-z0-9]{1,12}){0,3}|v?\d+(\.\w+){0,4}")
"""Values that are a number, a word or two, or a version."""
_PLACES = re.compile(r"[/~.][\w./~@+%=:, -]*")
"""Values that are paths, or several."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?/?[\w./-]*", re.IGNORECASE)
_SECRET_VALUE = re.compile(
    r"://[^/\s:@]*:[^/\s@]+@|://[^/\s@]+@|-----BEGIN|\b(sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|xox[abposr]|npm|pypi|hf|AKIA|ASIA"
    r"|AIza|eyJ)[-_A-Za-z0-9]{12,}|[A-Fa-f0-9]{32,}|(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[a-z])"
    r"(?=[A-Za-z0-9+/_-]*[A-Z])[A-Za-z0-9+_-]{32,}={0,2}"
)
"""Passwords in addresses, the beginnings that well-known keys have, and long runs without sense."""


_GIT_SETTINGS = re.compile(r"GIT_CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+)")
_PLAIN_GIT_KEY = re.compile(
    r"(?:safe|user|init|core|pull|push|commit|tag|advice|protocol|color|column|diff|merge|rebase|branch|log|status|gc|index"
    r"|fetch|submodule|pack|feature|maintenance)\..+|url\..+\.(?:push)?insteadof|http\.ssl\w+|commit\.gpgsign",
    re.IGNORECASE | re.DOTALL,
)
"""Settings of git that hold no keys; those about `http` and `credential` may."""


ADDED: "ContextVar[Mapping[str, str] | None]" = ContextVar("ADDED", default=None)
"""Variables for the commands of the call under way alone, where an extension has some to add."""


@record(frozen=True, slots=True, kw_only=True)
class Withholding:
    """Variables that a command does not get to see. Names are matched in any case of letters.

    What is not known to be harmless by its name must be so by its value.
    """

    names: tuple[str, ...] = SECRETS
    except_for: tuple[str, ...] = ()
    """Names or patterns that commands need although they look like secrets."""

    def apply(self, environment: Mapping[str, str]) -> dict[str, str]:
        plain = _has_plain_git_settings(environment)
        return {
            name: value
            for name, value in environment.items()
            if (plain if _GIT_SETTINGS.fullmatch(name) else not self.withholds(name, value))
            or _fits(name, self.except_for)
        }

    def withholds(self, name: str, value: str) -> bool:
        if _fits(name, self.except_for):
            return False
        if name in MISLEADING or _fits(name, self.names):
            return True
        if _fits(name, HARMLESS):
            return name not in ("PATH", "LS_COLORS") and _SECRET_VALUE.search(value) is not None
        return _TELLING.search(name) is not None or not _is_plain(value)


def with_git_setting(environment: Mapping[str, str], name: str, value: str) -> dict[str, str]:
    """The variables by which every git that is run has one more setting, after those that are given in the same way."""
    number = environment.get("GIT_CONFIG_COUNT", "")
    count = int(number) if number.isdecimal() else 0
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": name,
        f"GIT_CONFIG_VALUE_{count}": value,
    }


def _has_plain_git_settings(environment: Mapping[str, str]) -> bool:
    """Tell whether settings of git that variables give hold no secret. One without the others would stop every git."""
    number = environment.get("GIT_CONFIG_COUNT", "")
    if number and not (number.isdecimal() and len(number) < 4):
        return False
    numbers = {name.rpartition("_")[2] for name in environment if _GIT_SETTINGS.fullmatch(name)} - {"COUNT"}
    numbers.update(map(str, range(int(number or 0))))
    pairs = [[environment.get(f"GIT_CONFIG_{part}_{one}", "") for part in ("KEY", "VALUE")] for one in numbers]
    return all(_PLAIN_GIT_KEY.fullmatch(key) and not _SECRET_VALUE.search(f"{key} {value}") for key, value in pairs)


def choose_shell(programs: Lookup, own: str, preferred: str = "") -> str:
    """The path of the shell for commands: the one preferred, the user's own, or the system's."""
    for candidate in (preferred, own):
        path = programs.find(candidate)
        if path and os.path.basename(path) not in UNSUITABLE:  # noqa: PTH119 - on text
            return path
    if sys.platform == "darwin":
        return "/bin/zsh"
    return programs.find("bash") or "/bin/sh"


def _is_plain(value: str) -> bool:
    if len(value) > 1000 or _SECRET_VALUE.search(value):
        return False
    return any(kind.fullmatch(value) for kind in (_PLAIN, _PLACES, _ADDRESS))


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(matches(name, pattern, any_case=True) for pattern in patterns)
