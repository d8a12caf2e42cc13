"""Variables that change what programs do, and assignments to all others."""

import re

from toolwright.shell.state import Field, State

_SPECIAL = re.compile(
    r"PATH|LD_\w+|DYLD_\w+|BASH_ENV|BASH_FUNC_\w+|ENV|GIT_\w+|IFS|PS4|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|CDPATH|HOME"
    r"|SHELL|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESSOPEN|LESSCLOSE|LESSKEY|SSH_ASKPASS|SUDO_ASKPASS|SUDO_EDITOR"
    r"|NODE_OPTIONS|NODE_PATH|PERL5OPT|PERL5LIB|PERL5DB|PERLLIB|RUBYOPT|RUBYLIB|PYTHONSTARTUP|PYTHONHOME"
    r"|PYTHONINSPECT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|GCONV_PATH|LOCPATH|TAR_OPTIONS"
    r"|RIPGREP_CONFIG_PATH|MAKEFLAGS|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|XDG_CONFIG_HOME|INPUTRC|TMOUT|FPATH|fpath"
    r"|path|ZDOTDIR|(?i:npm_config_script_shell)"
)
_HARMLESS = frozenset({"", "0", "1", "cat", "true", "false", ":", "never", "always", "auto"})
_KEEPS_MEANING = frozenset({"PATH", "IFS", "HOME", "CDPATH", "SHELL", "ENV", "BASH_ENV"})


def special(name: str, value: Field | None) -> str:
    """Why setting this variable needs a person's eye, or nothing.

    `GIT_PAGER=cat` and `GIT_TERMINAL_PROMPT=0` are everyday ways of keeping a program quiet.
    """
    if not _SPECIAL.fullmatch(name):
        return ""
    if value is not None and value.exact and value.text in _HARMLESS and name not in _KEEPS_MEANING:
        return ""
    return f"`{name}` is set, which changes what programs run or how words are read."


def assign(name: str, value: Field, state: State, *, append: bool = False) -> None:
    """Give a variable its value, for what follows in the script."""
    if append or not value.known:
        state.forget(name)
    else:
        state.variables[name] = Field(
            f"${name}" if len(value.texts) > 1 or value.glob else value.spelled, *_rest(value)
        )


def _rest(value: Field) -> tuple[tuple[str, ...], bool, bool, bool]:
    return value.texts, value.known, value.glob, value.number
