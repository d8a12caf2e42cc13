"""`git`: its folder, the commands its options and aliases run, the files it takes away."""

import re
from collections.abc import Sequence

from toolwright.shell.arguments import Effects, paths_in, sort_arguments
from toolwright.shell.state import Field, literal

_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
_HARMLESS_SETTING = re.compile(
    r"(?:user\.(?:name|email)|color\..+|core\.(?:quotepath|autocrlf|filemode|longpaths|abbrev)|advice\..+|safe\.directory"
    r"|init\.defaultbranch|commit\.gpgsign|tag\.gpgsign|log\..+|status\..+|diff\.(?:renames|context)|column\.ui"
    r"|core\.(?:pager|editor)=(?:cat|true|:)?)(?:=.*)?",
    re.IGNORECASE | re.DOTALL,
)
_RUNS_OPTION = {
    "grep": ("-O", "--open-files-in-pager"),
    "difftool": ("-x", "--extcmd", "-t", "--tool"),
    "mergetool": ("-t", "--tool"),
    "clone": ("-u", "--upload-pack", "-c", "--config", "--template"),
    "fetch": ("--upload-pack",),
    "pull": ("--upload-pack",),
    "push": ("--receive-pack", "--exec"),
    "ls-remote": ("--upload-pack", "--exec"),
    "archive": ("--exec", "--remote"),
    "diff": ("--ext-diff",),
    "log": ("--ext-diff",),
    "show": ("--ext-diff",),
    "init": ("--template",),
}


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
    _run_by(found, name, own)
    _files_of(found, name, own)


def _global_options(found: Effects, arguments: Sequence[Field]) -> list[Field]:
    """Take the options before the subcommand; return what follows them."""
    position = 0
    while position < len(arguments) and arguments[position].spelled.startswith("-"):
        option, equals, value = arguments[position].spelled.partition("=")
        takes = option in _VALUED and not equals
        given = arguments[position + 1] if takes and position + 1 < len(arguments) else literal(value)
        if option == "-C":
            found.folder = given
        elif option == "-c":
            _setting(found, given)
        elif option in ("--exec-path", "--config-env") and (equals or takes):
            found.doubts.append(f"`git {option}` changes which programs `git` runs.")
        elif option in ("--git-dir", "--work-tree"):
            found.touch("write", given)
            found.doubts.append(f"`git {option}` uses the settings of another repository.")
        position += 2 if takes else 1
    return list(arguments[position:])


def _setting(found: Effects, given: Field) -> None:
    key, _, value = given.spelled.partition("=")
    if key.lower().startswith("alias.") and value.startswith("!"):
        found.scripts.append(Field(value[1:], (value[1:],), given.known))
    if not given.exact or not _HARMLESS_SETTING.fullmatch(given.text):
        found.doubts.append(f"The setting `{key}` may make `git` run a program.")


def _run_by(found: Effects, name: str, own: Sequence[Field]) -> None:
    given = sort_arguments(own, "-x --exec --extcmd --upload-pack --receive-pack -m --message -F --file")
    if given.has(*_RUNS_OPTION.get(name, ())):
        found.doubts.append(f"`git {name}` is told to run a program of its own.")
    if name == "rebase":
        found.scripts += given.values("-x", "--exec")
    elif name == "bisect" and own and own[0].text == "run":
        found.inner.append(list(own[1:]))
    elif name == "submodule" and "foreach" in [one.text for one in own]:
        after = own[[one.text for one in own].index("foreach") + 1 :]
        words = [one for one in after if one.text not in ("--recursive", "--quiet", "-q")]
        text = " ".join(one.spelled for one in words)
        found.scripts.append(Field(text, (text,), all(one.exact for one in words)))
    elif name in ("filter-branch", "credential", "hook", "daemon", "shell", "p4", "svn"):
        found.doubts.append(f"`git {name}` runs programs that are not examined.")
    elif name == "config":
        _configure(found, given.operands)
    elif any(one.spelled.startswith("ext::") for one in own):
        found.doubts.append("An `ext::` address makes `git` run a program.")


def _configure(found: Effects, operands: Sequence[Field]) -> None:
    """Reading a setting is plain; writing one may plant a program that a later `git` runs."""
    words = [one for one in operands if one.text not in ("set", "get", "list", "unset")]
    if len(words) > 1 and not _HARMLESS_SETTING.fullmatch(f"{words[0].text}={words[1].text}"):
        found.doubts.append(f"The setting `{words[0].spelled}` may make `git` run a program later.")


def _files_of(found: Effects, name: str, own: Sequence[Field]) -> None:
    given = sort_arguments(own, "-m --message -F --file -b -B --branch -o --output --output-directory --depth -n -s")
    found.touch("write", *given.values("--output", "--output-directory"))
    operands = given.operands
    match name:
        case "rm":
            found.touch("delete", *operands)
        case "mv":
            found.touch("delete", *operands[:-1])
            found.touch("write", *operands[-1:])
        case "clean":
            found.touch("delete", *(operands or [literal(".")]))
        case "restore":
            found.touch("write", *operands)
        case "checkout" if any(one.text == "--" for one in own):
            texts = [one.text for one in own]
            found.touch("write", *own[texts.index("--") + 1 :])
        case "clone":
            found.touch("write", *(operands[1:2] or [literal(".")]))
            found.touch("read", *(path for one in operands[:1] for path in paths_in(one)))
        case "init":
            found.touch("write", *(operands[:1] or [literal(".")]))
        case "worktree" if operands[:1] and operands[0].text in ("add", "move", "remove"):
            found.touch("write", *operands[1:2])
        case "commit" | "tag" | "notes":
            found.touch("read", *given.values("-F", "--file"))
        case _:
            for argument in own:
                found.touch("read", *paths_in(argument))
