"""Editors, pagers and other programs of the full screen, for which a command has no terminal: told so at once."""

import re
from collections.abc import Iterable, Mapping

from toolwright.process.programs.environment import with_git_setting

ADVICE = "An editor needs a terminal, and there is none here: use -m, -F or --no-edit, or set GIT_EDITOR."
NO_EDITOR = f"sh -c 'echo \"{ADVICE}\" >&2; exit 1'"
"""A command that stands in for an editor. Programs split it at quotes or hand it to a shell; both work."""
EDITORS = ("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "SVN_EDITOR", "HGEDITOR", "KUBE_EDITOR", "FCEDIT")
PAGERS = ("PAGER", "GIT_PAGER", "MANPAGER")
QUIET = frozenset({"true", ":", "false", "cat"})
"""Programs that need no terminal, and are left as the user has set them."""
FULL_SCREEN = frozenset(
    {
        *("vi", "vim", "nvim", "view", "vimdiff", "rvim", "gvim", "ex", "nano", "pico", "emacs", "emacsclient", "joe"),
        *("jed", "micro", "helix", "hx", "kak", "ne", "mcedit", "sudoedit", "visudo", "vipw", "crontab"),
        *("less", "more", "most", "top", "htop", "btop", "tig", "lazygit", "gitui", "ranger", "mc", "nnn", "k9s"),
        *("tmux", "screen", "watch", "dialog", "whiptail"),
    }
)
_SCREEN = re.compile(r"\x1b\[\?(?:1049|1047|47)[hl]|\x1b\[[0-9;]*[HJ]")
"""Signs by which a program takes the whole screen, or writes somewhere on it."""
_MOVES = re.compile(r"\x1b\[[0-9;]*[ABEFHJf]|\r(?!\n)| {10,}")
"""Signs that go to another line, and that fill one up."""
_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?"
    r"|[\x0e\x0f]"
)


def without_screen(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with stand-ins for editors and pagers that would wait for a terminal."""
    own = {name: value for name, value in environment.items() if name not in (*EDITORS, *PAGERS) or value in QUIET}
    return {"EDITOR": NO_EDITOR, "VISUAL": NO_EDITOR, **dict.fromkeys(PAGERS, "cat"), **own}


def git_editor(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which git knows no editor; what a line says itself (`-c`, GIT_EDITOR) counts for more."""
    return with_git_setting(environment, "core.editor", NO_EDITOR)


def full_screen_programs(names: Iterable[str]) -> list[str]:
    """Return those of the programs that want a terminal."""
    return [name for name in dict.fromkeys(names) if name in FULL_SCREEN]


def screen_note(names: Iterable[str], text: str) -> str:
    """Return a sentence for a command that waited for a terminal; empty if nothing says that it did."""
    programs = full_screen_programs(names)
    if not programs and not is_drawn(text):
        return ""
    what = f"It runs {programs[0]}, which needs a terminal" if programs else "It draws on the screen of a terminal"
    return (
        f"{what}, and there is none here. Do without it: change files with the edit tool or sed, read them with cat,"
        " or use a form that prints and ends, such as top -b -n 1"
    )


def is_drawn(text: str) -> bool:
    """Return whether a program has drawn on the screen rather than printed."""
    return _SCREEN.search(text) is not None


def plain(text: str) -> str:
    """Return what was drawn as lines of text, without the empty ones and those with which editors fill a screen."""
    lines = _ESCAPES.sub("", _MOVES.sub("\n", text)).splitlines()
    kept = [line.strip() for line in lines if line.strip(" \t~")]
    return "".join(f"{line}\n" for line in kept)
