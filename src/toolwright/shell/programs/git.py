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
"""Files in which git remembers what was put aside."""
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


def git(effects: Effects, arguments: Sequence[Field]) -> None:
    rest = _global_options(effects, arguments)
    if not rest:
        return
    if len(rest) < len(arguments):
        effects.same_as.append([literal("git"), *rest])
    name, own = rest[0].text, rest[1:]
    if not rest[0].exact:
        effects.doubts.append(f"`{rest[0].spelled}` decides what `git` does, and is only known when it runs.")
        return
    if name not in KNOWN:
        # an alias, or a program that is named like this: judged by its name, as every program is
        guess(effects, own)
    effects.same_as += [[literal("git"), literal(name), *own]] if rest[0].spelled != name else []
    parsed = _options_of(effects, name, own)
    _run_by(effects, name, own, parsed)
    _files_of(effects, name, own, parsed)
    effects.touch("settings", *map(literal, _settings_written(name, parsed)))
    show(effects, name, own, parsed)


def _global_options(effects: Effects, arguments: Sequence[Field]) -> list[Field]:
    """Take the options before the subcommand; return what follows them."""
    position = 0
    while position < len(arguments) and arguments[position].spelled.startswith("-"):
        option, equals, value = arguments[position].spelled.partition("=")
        takes = option in _VALUED and not equals and (option != "--exec-path")
        value_given = arguments[position + 1] if takes and position + 1 < len(arguments) else literal(value)
        if option == "-C":
            effects.folder = value_given
        elif option == "-c":
            _setting(effects, value_given)
        elif option in ("--exec-path", "--config-env") and (equals or takes):
            effects.doubts.append(f"`git {option}` changes which programs `git` runs.")
        elif option in ("--git-dir", "--work-tree", "--namespace"):
            effects.touch("write", value_given)
            effects.doubts.append(f"`git {option}` uses the settings of another repository.")
        elif arguments[position].spelled not in PLAIN_GLOBAL:
            effects.doubts.append(f"`{option}` is not among the options of `git` known to be harmless.")
        position += 2 if takes else 1
    return list(arguments[position:])


def _setting(effects: Effects, setting: Field) -> None:
    key, _, value = setting.spelled.partition("=")
    if key.lower().startswith("alias.") and value.startswith("!"):
        effects.scripts.append(Field(value[1:], (value[1:],), setting.known))
    if not setting.exact or not _is_harmless(key, value):
        effects.doubts.append(f"The setting `{key}` may make `git` run a program.")


def _is_harmless(key: str, value: str) -> bool:
    return _HARMLESS_SETTING.fullmatch(key) is not None or _QUIET_SETTING.fullmatch(f"{key}={value}") is not None


def _options_of(effects: Effects, name: str, own: Sequence[Field]) -> Arguments:
    """Parse the words of the subcommand. Those after `--` are paths; submodules and bisect pass theirs on."""
    if name in ("submodule", "bisect", "lfs", "subtree"):
        return Arguments(operands=list(own))
    texts = [one.text for one in own]
    end = texts.index("--") if "--" in texts else len(own)
    parsed = take_options(effects, f"git {name}", own[:end], f"{OPTIONS} {EXTRA.get(name, '')}")
    if name == "rev-parse":
        effects.doubts.clear()
    return parsed


def _run_by(effects: Effects, name: str, own: Sequence[Field], parsed: Arguments) -> None:
    if name == "rebase":
        effects.scripts += parsed.values("-x", "--exec")
    elif name == "bisect" and own and own[0].text == "run":
        effects.inner.append(list(own[1:]))
    elif name == "submodule" and "foreach" in [one.text for one in own]:
        after = own[[one.text for one in own].index("foreach") + 1 :]
        words = [one for one in after if one.text not in ("--recursive", "--quiet", "-q")]
        text = " ".join(one.spelled for one in words)
        effects.scripts.append(Field(text, (text,), all(one.exact for one in words)))
    elif name in PLAIN_PARTS:
        _part(effects, name, own)
    elif name in RUNS or (name in ("difftool", "mergetool") and not parsed.has("--tool-help")):
        effects.doubts.append(f"`git {name}` runs programs that are not examined.")
    elif name == "config":
        _configure(effects, parsed)
    if name in ("merge", "pull", "rebase", "cherry-pick", "revert"):
        for strategy in parsed.values("-s", "--strategy"):
            if strategy.text not in STRATEGIES or not strategy.exact:
                effects.doubts.append(f"`git` runs a program for the strategy `{strategy.spelled}`.")
    if any(re.match(r"ext::|-|fd::", one.spelled) and "::" in one.spelled for one in own):
        effects.doubts.append("An `ext::` address makes `git` run a program.")


def _part(effects: Effects, name: str, own: Sequence[Field]) -> None:
    """The parts of `git lfs` and the like that are listed do no more than fetch, compare and tidy up."""
    part = next((one for one in own if not one.spelled.startswith("-")), None)
    if part is None or (part.exact and part.text in PLAIN_PARTS[name]):
        return
    if part.text == "push":
        effects.same_as.append([literal("git"), *own[own.index(part) :]])
    effects.doubts.append(f"`git {name} {part.spelled}` is not among the forms known to be harmless.")


def _configure(effects: Effects, parsed: Arguments) -> None:
    """Reading a setting is plain; writing one may plant a program that a later `git` runs."""
    words = [one for one in parsed.operands if one.text not in ("set", "get", "list", "unset", "edit")]
    reads = parsed.has("--get", "--get-all", "--get-regexp", "-l", "--list", "--unset", "--show-origin")
    if parsed.has("-e", "--edit") or any(one.text == "edit" for one in parsed.operands[:1]):
        effects.doubts.append("`git config --edit` starts an editor.")
    if len(words) > 1 and not reads and not _is_harmless(words[0].text, words[1].text):
        effects.doubts.append(f"The setting `{words[0].spelled}` may make `git` run a program later.")


def _files_of(effects: Effects, name: str, own: Sequence[Field], parsed: Arguments) -> None:
    operands, paths = parsed.operands, after_dashes(own)
    match name:
        case "rm":
            effects.touch("look" if parsed.has("--cached") else "delete", *operands, *paths)
        case "mv":
            sources, targets = before_end(operands), at_end(operands)
            effects.touch("delete", *sources)
            effects.touch("carry", *sources)
            effects.touch("write", *targets)
            effects.touch("into", *(_inside(target, one) for target in targets for one in sources))
        case "clean" if parsed.has("-n", "--dry-run"):
            effects.touch("look", *operands, *paths)
        case "clean":
            effects.touch("delete", *operands, *paths)
            effects.touch("lose", *([] if operands or paths else [literal(".")]))
        case "restore":
            effects.touch("write", *operands, *paths)
            effects.touch("within", *operands, *paths)
        case "stash" if operands[:1] and operands[0].text in ("drop", "clear"):
            effects.touch("delete", *map(literal, _STASHED))
        case "checkout":
            effects.touch("discard", *([literal(".")] if parsed.has("-f", "--force") else []))
            effects.touch("lose", *([literal(".")] if _loses_work(name, parsed) and not paths else []))
            effects.touch("write", *paths)
            effects.touch("within", *paths)
            effects.touch("overwrite", *(one for one in operands if one.known))
        case "checkout-index" | "apply" | "am":
            shows = parsed.has("--stat", "--check", "--numstat", "--summary")
            effects.touch("within", *([] if shows else [literal(".")]))
            effects.touch("read", *(operands if name != "checkout-index" else []))
        case "clone":
            effects.touch("write", *(after_start(operands) or [_cloned(operands)]))
            effects.touch("read", *(path for one in at_start(operands) for path in paths_in(one)))
            effects.touch("mention", *(one for one in at_start(operands) if one.known))
        case "init":
            effects.touch("write", *(operands[:1] or [literal(".")]))
        case "bundle" if operands[:1] and operands[0].text == "create":
            effects.touch("write", *at_start(operands[1:]))
        case "archive" | "format-patch":
            effects.touch("write", *parsed.values("-o", "--output-directory"))
        case "merge-file" if not parsed.has("-p", "--stdout"):
            effects.touch("write", *at_start(operands))
            effects.touch("read", *operands)
        case "config":
            effects.touch("read", *parsed.values("-f", "--file"))
        case "reset" | "read-tree" | "stash" | "switch" if _discards(name, parsed):
            effects.touch("discard", literal("."))
            effects.touch("lose", *([literal(".")] if _loses_work(name, parsed) else []))
        case "submodule" if any(one.text == "add" for one in operands):
            effects.touch("write", *at_end(operands))
        case "worktree" if operands[:1] and operands[0].text in ("add", "move", "remove"):
            effects.touch("write", *at_start(operands[1:]))
        case "check-ignore" | "ls-files" | "status" | "log" | "rev-list" | "ls-tree" | "add" | "stage":
            effects.touch("look", *(path for one in (*operands, *paths) for path in _local(one)))
        case _:
            effects.touch("mention", *(one for one in operands if one.known))
            for argument in (*operands, *paths):
                effects.touch("read", *(path for path in paths_in(argument) if _local(path)))


def _discards(name: str, parsed: Arguments) -> bool:
    """Tell whether files of the work tree become what git has, whatever they hold by now."""
    if name == "stash":
        return not parsed.operands or parsed.operands[0].text in ("push", "save")
    return parsed.has(*_DISCARDS[name])


def _loses_work(name: str, parsed: Arguments) -> bool:
    """Tell whether what was changed and not committed is lost, in any file that git has."""
    match name:
        case "reset":
            return parsed.has("--hard")
        case "read-tree":
            return parsed.has("-u") and parsed.has("--reset")
        case "checkout" | "switch":
            return parsed.has("-f", "--force", "--discard-changes")
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


def _settings_written(name: str, parsed: Arguments) -> tuple[str, ...]:
    """The settings that `git name` writes, from the top of the work tree; nothing if it only reads or writes none."""
    words = [one.text for one in parsed.operands]
    first = next((word for word in words if not word.startswith("-")), "")
    if name in _PARTS:
        parts, places = _PARTS[name]
        # the options of `submodule` are among its words
        return places if first in parts or (first == "update" and "--init" in words) else ()
    if name == "branch":
        return (_CONFIG,) if parsed.has("-m", "-M", "--move", "-u", "--set-upstream-to", "--unset-upstream") else ()
    if name != "config" or parsed.has(*_ELSEWHERE) or parsed.has(*_READS) or first in ("get", "list"):
        return ()
    sets = len(parsed.operands) > 1 or parsed.has(*_REMOVES) or first in ("set", "unset")
    return (_CONFIG,) if sets else ()
