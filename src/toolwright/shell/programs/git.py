"""`git`: its folder, the commands its options and aliases run, the content it shows, the files it changes."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import (
    Arguments,
    Effects,
    after_start,
    at_end,
    at_start,
    before_end,
    looks_like_path,
    paths_in,
)
from toolwright.shell.programs.git_options import EXTRA, KNOWN, OPTIONS, PLAIN_GLOBAL, PLAIN_PARTS, RUNS, STRATEGIES
from toolwright.shell.programs.git_shows import after_dashes, show
from toolwright.shell.programs.options import take_options
from toolwright.shell.programs.unlisted import guess
from toolwright.shell.state.state import Field, literal

_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
_HARMLESS_SETTING = re.compile(
    r"user\.(?:name|email)|color\..+|core\.(?:quotepath|autocrlf|filemode|longpaths|abbrev|ignorecase|eol"
    r"|safecrlf)|advice\..+|safe\.directory|init\.defaultbranch|commit\.gpgsign|tag\.gpgsign|log\.(?:date"
    r"|decorate|follow|showroot|abbrevcommit)|status\..+|diff\.(?:renames|context|algorithm|noprefix"
    r"|mnemonicprefix|colormoved)|column\.ui|pull\.(?:rebase|ff)|push\.default|push\.autosetupremote"
    r"|merge\.(?:conflictstyle|ff)|rebase\.(?:autostash|autosquash)|fetch\.prune|rerere\.enabled|gc\.auto"
    r"|branch\.[\w/.-]+\.(?:merge|remote|rebase|description)|remote\.[\w-]+\.fetch|http\.(?:postbuffer|version"
    r"|lowspeedlimit)",
    re.IGNORECASE | re.DOTALL,
)
_QUIET_SETTING = re.compile(
    r"(?:core\.(?:pager|editor)|sequence\.editor|pager\.\w+)=(?:cat|true|:|false)?", re.IGNORECASE
)
_STASHED = (".git/refs/stash", ".git/logs/refs/stash")
"""Where git remembers what was put aside."""
_CONFIG = ".git/config"
_PARTS: Mapping[str, tuple[frozenset[str], tuple[str, ...]]] = {
    "remote": (frozenset({"add", "remove", "rm", "rename", "set-url", "set-branches"}), (_CONFIG,)),
    "submodule": (
        frozenset({"add", "init", "deinit", "sync", "set-url", "set-branch", "absorbgitdirs"}),
        (_CONFIG, ".git/modules"),
    ),
    "worktree": (frozenset({"remove", "move", "repair"}), (".git/worktrees",)),
}
"""Subcommands whose parts write settings, with those parts, and where the settings lie. In a box they are shut
unless they are asked for, for they say what git runs."""
_ELSEWHERE = ("--global", "--system", "--file", "-f", "--blob", "--worktree")
_READS = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--show-origin", "--get-color")
_REMOVES = ("--unset", "--unset-all", "--remove-section", "--rename-section")


def git(found: Effects, arguments: Sequence[Field]) -> None:
    rest = _global_options(found, arguments)
    if not rest:
        return
    if len(rest) < len(arguments):
        found.same_as.append([literal("git"), *rest])
    name, own = rest[0].text, rest[1:]
    if not rest[0].exact:
        found.doubts.append(f"`{rest[0].spelled}` decides what `git` does, and is only known when it runs.")
        return
    if name not in KNOWN:
        # an alias, or a program that is named like this: judged by its name, as every program is
        guess(found, own)
    found.same_as += [[literal("git"), literal(name), *own]] if rest[0].spelled != name else []
    given = _options_of(found, name, own)
    _run_by(found, name, own, given)
    _files_of(found, name, own, given)
    found.touch("settings", *map(literal, _settings_written(name, given)))
    show(found, name, own, given)


def _global_options(found: Effects, arguments: Sequence[Field]) -> list[Field]:
    """Take the options before the subcommand; return what follows them."""
    position = 0
    while position < len(arguments) and arguments[position].spelled.startswith("-"):
        option, equals, value = arguments[position].spelled.partition("=")
        takes = option in _VALUED and not equals and (option != "--exec-path")
        given = arguments[position + 1] if takes and position + 1 < len(arguments) else literal(value)
        if option == "-C":
            found.folder = given
        elif option == "-c":
            _setting(found, given)
        elif option in ("--exec-path", "--config-env") and (equals or takes):
            found.doubts.append(f"`git {option}` changes which programs `git` runs.")
        elif option in ("--git-dir", "--work-tree", "--namespace"):
            found.touch("write", given)
            found.doubts.append(f"`git {option}` uses the settings of another repository.")
        elif arguments[position].spelled not in PLAIN_GLOBAL:
            found.doubts.append(f"`{option}` is not among the options of `git` known to be harmless.")
        position += 2 if takes else 1
    return list(arguments[position:])


def _setting(found: Effects, given: Field) -> None:
    key, _, value = given.spelled.partition("=")
    if key.lower().startswith("alias.") and value.startswith("!"):
        found.scripts.append(Field(value[1:], (value[1:],), given.known))
    if not given.exact or not _is_harmless(key, value):
        found.doubts.append(f"The setting `{key}` may make `git` run a program.")


def _is_harmless(key: str, value: str) -> bool:
    return _HARMLESS_SETTING.fullmatch(key) is not None or _QUIET_SETTING.fullmatch(f"{key}={value}") is not None


def _options_of(found: Effects, name: str, own: Sequence[Field]) -> Arguments:
    """What the subcommand is given. Words after `--` are paths; submodules and bisect pass theirs on."""
    if name in ("submodule", "bisect", "lfs", "subtree"):
        return Arguments(operands=list(own))
    texts = [one.text for one in own]
    end = texts.index("--") if "--" in texts else len(own)
    given = take_options(found, f"git {name}", own[:end], f"{OPTIONS} {EXTRA.get(name, '')}")
    if name == "rev-parse":
        found.doubts.clear()
    return given


def _run_by(found: Effects, name: str, own: Sequence[Field], given: Arguments) -> None:
    if name == "rebase":
        found.scripts += given.values("-x", "--exec")
    elif name == "bisect" and own and own[0].text == "run":
        found.inner.append(list(own[1:]))
    elif name == "submodule" and "foreach" in [one.text for one in own]:
        after = own[[one.text for one in own].index("foreach") + 1 :]
        words = [one for one in after if one.text not in ("--recursive", "--quiet", "-q")]
        text = " ".join(one.spelled for one in words)
        found.scripts.append(Field(text, (text,), all(one.exact for one in words)))
    elif name in PLAIN_PARTS:
        _part(found, name, own)
    elif name in RUNS or (name in ("difftool", "mergetool") and not given.has("--tool-help")):
        found.doubts.append(f"`git {name}` runs programs that are not examined.")
    elif name == "config":
        _configure(found, given)
    if name in ("merge", "pull", "rebase", "cherry-pick", "revert"):
        for strategy in given.values("-s", "--strategy"):
            if strategy.text not in STRATEGIES or not strategy.exact:
                found.doubts.append(f"`git` runs a program for the strategy `{strategy.spelled}`.")
    if any(re.match(r"ext::|-|fd::", one.spelled) and "::" in one.spelled for one in own):
        found.doubts.append("An `ext::` address makes `git` run a program.")


def _part(found: Effects, name: str, own: Sequence[Field]) -> None:
    """The parts of `git lfs` and the like that are listed do no more than fetch, compare and tidy up."""
    part = next((one for one in own if not one.spelled.startswith("-")), None)
    if part is None or (part.exact and part.text in PLAIN_PARTS[name]):
        return
    if part.text == "push":
        found.same_as.append([literal("git"), *own[own.index(part) :]])
    found.doubts.append(f"`git {name} {part.spelled}` is not among the forms known to be harmless.")


def _configure(found: Effects, given: Arguments) -> None:
    """Reading a setting is plain; writing one may plant a program that a later `git` runs."""
    words = [one for one in given.operands if one.text not in ("set", "get", "list", "unset", "edit")]
    reads = given.has("--get", "--get-all", "--get-regexp", "-l", "--list", "--unset", "--show-origin")
    if given.has("-e", "--edit") or any(one.text == "edit" for one in given.operands[:1]):
        found.doubts.append("`git config --edit` starts an editor.")
    if len(words) > 1 and not reads and not _is_harmless(words[0].text, words[1].text):
        found.doubts.append(f"The setting `{words[0].spelled}` may make `git` run a program later.")


def _files_of(found: Effects, name: str, own: Sequence[Field], given: Arguments) -> None:
    operands, paths = given.operands, after_dashes(own)
    match name:
        case "rm":
            found.touch("look" if given.has("--cached") else "delete", *operands, *paths)
        case "mv":
            sources, targets = before_end(operands), at_end(operands)
            found.touch("delete", *sources)
            found.touch("carry", *sources)
            found.touch("write", *targets)
            found.touch("into", *(_inside(target, one) for target in targets for one in sources))
        case "clean" if given.has("-n", "--dry-run"):
            found.touch("look", *operands, *paths)
        case "clean":
            found.touch("delete", *operands, *paths)
            found.touch("lose", *([] if operands or paths else [literal(".")]))
        case "restore":
            found.touch("write", *operands, *paths)
            found.touch("within", *operands, *paths)
        case "stash" if operands[:1] and operands[0].text in ("drop", "clear"):
            found.touch("delete", *map(literal, _STASHED))
        case "checkout":
            found.touch("discard", *([literal(".")] if given.has("-f", "--force") else []))
            found.touch("lose", *([literal(".")] if _loses_work(name, given) and not paths else []))
            found.touch("write", *paths)
            found.touch("within", *paths)
            found.touch("overwrite", *(one for one in operands if one.known))
        case "checkout-index" | "apply" | "am":
            shows = given.has("--stat", "--check", "--numstat", "--summary")
            found.touch("within", *([] if shows else [literal(".")]))
            found.touch("read", *(operands if name != "checkout-index" else []))
        case "clone":
            found.touch("write", *(after_start(operands) or [_cloned(operands)]))
            found.touch("read", *(path for one in at_start(operands) for path in paths_in(one)))
            found.touch("mention", *(one for one in at_start(operands) if one.known))
        case "init":
            found.touch("write", *(operands[:1] or [literal(".")]))
        case "bundle" if operands[:1] and operands[0].text == "create":
            found.touch("write", *at_start(operands[1:]))
        case "archive" | "format-patch":
            found.touch("write", *given.values("-o", "--output-directory"))
        case "merge-file" if not given.has("-p", "--stdout"):
            found.touch("write", *at_start(operands))
            found.touch("read", *operands)
        case "config":
            found.touch("read", *given.values("-f", "--file"))
        case "reset" | "read-tree" | "stash" | "switch" if _discards(name, given):
            found.touch("discard", literal("."))
            found.touch("lose", *([literal(".")] if _loses_work(name, given) else []))
        case "submodule" if any(one.text == "add" for one in operands):
            found.touch("write", *at_end(operands))
        case "worktree" if operands[:1] and operands[0].text in ("add", "move", "remove"):
            found.touch("write", *at_start(operands[1:]))
        case "check-ignore" | "ls-files" | "status" | "log" | "rev-list" | "ls-tree" | "add" | "stage":
            found.touch("look", *(path for one in (*operands, *paths) for path in _local(one)))
        case _:
            found.touch("mention", *(one for one in operands if one.known))
            for argument in (*operands, *paths):
                found.touch("read", *(path for path in paths_in(argument) if _local(path)))


def _discards(name: str, given: Arguments) -> bool:
    """Whether files of the work tree become what git has, whatever they hold by now."""
    if name == "stash":
        return not given.operands or given.operands[0].text in ("push", "save")
    return given.has(*_DISCARDS[name])


def _loses_work(name: str, given: Arguments) -> bool:
    """Whether what was changed and not committed is lost, in any file that git has."""
    match name:
        case "reset":
            return given.has("--hard")
        case "read-tree":
            return given.has("-u") and given.has("--reset")
        case "checkout" | "switch":
            return given.has("-f", "--force", "--discard-changes")
        case _:
            return False


_DISCARDS = {
    "reset": ("--hard", "--merge", "--keep"),
    "read-tree": ("-u", "--reset"),
    "switch": ("-f", "--force", "--discard-changes", "-C", "--force-create"),
}


def _local(argument: Field) -> list[Field]:
    """The path in a word; branches and remotes such as `origin/main` are paths of the project by their look."""
    return [argument] if looks_like_path(argument.spelled) and ":" not in argument.spelled else []


def _cloned(operands: Sequence[Field]) -> Field:
    """The folder a clone makes: the last part of the address."""
    if not operands or not operands[0].exact:
        return literal(".")
    name = re.split(r"[/:]", operands[0].text.rstrip("/").removesuffix("/.git"))[-1].removesuffix(".git")
    return literal(f"./{name}" if name else ".")


def _inside(target: Field, source: Field) -> Field:
    name = source.spelled.rstrip("/").rpartition("/")[2]
    return Field(f"{target.spelled}/{name}", (f"{target.text}/{name}",), target.exact and source.exact)


def _settings_written(name: str, given: Arguments) -> tuple[str, ...]:
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
