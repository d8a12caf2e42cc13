"""Which of its own settings git writes: they say what git runs, so in a box they are shut unless they are asked for."""

from collections.abc import Mapping

from toolwright.shell.arguments import Arguments

_CONFIG = ".git/config"
_PARTS: Mapping[str, tuple[frozenset[str], tuple[str, ...]]] = {
    "remote": (frozenset({"add", "remove", "rm", "rename", "set-url", "set-branches"}), (_CONFIG,)),
    "submodule": (
        frozenset({"add", "init", "deinit", "sync", "set-url", "set-branch", "absorbgitdirs"}),
        (_CONFIG, ".git/modules"),
    ),
    "worktree": (frozenset({"remove", "move", "repair"}), (".git/worktrees",)),
}
"""Subcommands whose parts write settings, with those parts, and where the settings lie."""
_ELSEWHERE = ("--global", "--system", "--file", "-f", "--blob", "--worktree")
_READS = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--show-origin", "--get-color")
_REMOVES = ("--unset", "--unset-all", "--remove-section", "--rename-section")


def settings_written(name: str, given: Arguments) -> tuple[str, ...]:
    """The settings that `git name` writes, from the top of the work tree; nothing if it only reads or writes none."""
    words = [one.text for one in given.operands]
    first = next((word for word in words if not word.startswith("-")), "")
    if name in _PARTS:
        parts, places = _PARTS[name]
        # the options of `submodule` are among its words
        return places if first in parts or (first == "update" and "--init" in words) else ()
    if name == "branch":
        return (_CONFIG,) if given.has("-m", "-M", "--move", "-u", "--set-upstream-to", "--unset-upstream") else ()
    if name != "config" or given.has(*_ELSEWHERE) or given.has(*_READS) or first in ("get", "list"):
        return ()
    sets = len(given.operands) > 1 or given.has(*_REMOVES) or first in ("set", "unset")
    return (_CONFIG,) if sets else ()
