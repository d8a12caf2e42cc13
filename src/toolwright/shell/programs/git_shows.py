"""Contents of files that git shows, now or of the past: those that it is told of, or else any that it has."""

import re
from collections.abc import Sequence

from toolwright.shell.programs.arguments import Arguments, Effects, looks_like_path, names, tail
from toolwright.shell.state.state import Field, literal

_SHOWS = names(
    "annotate archive blame bundle cat-file checkout-index difftool fast-export format-patch grep merge-file merge-tree"
    " range-diff"
)
"""Subcommands that show what files hold, with few options that change it."""
_COMPARES = names("diff diff-files diff-index diff-tree show whatchanged")
"""Those that show it unless they are told to be short."""
_LISTS = names("log reflog rev-list shortlog")
"""Those that show it only if they are told to."""
_PATCH = (
    *("-p", "-u", "--patch", "-c", "--cc", "-L", "-U", "--unified", "--patch-with-stat", "--patch-with-raw", "-W"),
    *("--word-diff", "--binary", "--remerge-diff", "--diff-merges"),
)
_SHORT = (
    *("--stat", "--numstat", "--shortstat", "--name-only", "--name-status", "--summary", "--dirstat", "--raw"),
    *("-s", "--no-patch", "--quiet"),
)
_ASKS = {
    **dict.fromkeys(("add", "checkout", "commit", "reset", "restore"), ("-p", "--patch", "-i", "--interactive")),
    "stash": tuple(option for option in _PATCH if option != "-u"),
    "status": ("-v", "--verbose"),
    **dict.fromkeys(("am", "rebase"), ("--show-current-patch",)),
    "request-pull": ("-p",),
    "cat-file": ("-p", "--batch", "--batch-command", "--textconv", "--filters"),
}
"""Options with which a subcommand shows what files hold."""
_ONLY_NAMES = {
    "grep": ("-l", "--files-with-matches", "--name-only", "-L", "--files-without-match", "-c", "--count", "-q"),
    "cat-file": ("-e", "-s", "-t"),
}
_TO_COME = ("--dry-run", "--short", "--porcelain", "--long")
"""With these a commit is only told of, and with `-v` in full."""
_WHATEVER = ("cat-file", "fast-export", "bundle")
"""Subcommands that show contents without regard to the attributes that keep some of them back."""
_AS_TEXT = ("-a", "--text", "--binary", "--textconv")
_PATHSPEC = re.compile(r":[(!^/]|.*[*?\[]|:$")
_COMMIT = re.compile(r"(?:HEAD|@)(?:[~^]\d*)*|[\w./-]+(?:[~^]\d*)+|[\w./~^-]*\.\.[\w./~^-]*|[\w./-]+\^\{commit\}")
"""Words that can be nothing but a commit; any other may be the name of a file's contents."""
_STAGE = re.compile(r":(?:\d:)?(?![/:!^(])")
_OF_COMMIT = re.compile(r"(?:@|(?![0-9a-f]{4,}[:~^@])[\w./-]+)(?:[~^]\d*|@\{\d+\})*:")
"""`HEAD~1:`, `main:`; a number may be that of a folder, whose files then go by shorter names."""
_NAMES_CONTENTS = names("commit-tree mktree notes read-tree replace tag update-ref")
"""Subcommands that give contents another name, by which they can be shown later."""


def show(effects: Effects, name: str, own: Sequence[Field], parsed: Arguments) -> None:
    """Note what is shown of files as read, whichever version it is; without a path it may be any that is tracked."""
    if _carries_off(name, parsed):
        effects.touch("history", literal("."))
    if name == "clone":
        effects.touch("history", *(one for one in parsed.operands[:1] if looks_like_path(one.spelled)))
    if name == "config":
        blobs = [blob for one in parsed.values("--blob") if (blob := _blob(one)) is not None]
        effects.touch("blob", *blobs)
        effects.touch("read", *blobs)
    if not _shows(name, parsed):
        return
    if name in _WHATEVER or parsed.has(*_AS_TEXT):
        effects.touch("past", *([] if _names_files(own, parsed) else [literal(".")]))
    operands = parsed.operands[1 if name == "grep" and not parsed.has("-e") else 0 :]
    named, anything = after_dashes(own), False
    for argument in operands:
        blob = _blob(argument)
        if blob is not None:
            named += [blob] if name in ("show", "cat-file") else []
            effects.touch("blob", blob)
            effects.touch("read", blob)
        elif ":" in argument.spelled:
            anything = True
        elif looks_like_path(argument.spelled) and name != "cat-file":
            effects.touch("read", argument)
        elif argument.known:
            effects.touch("mention", argument)
    paths = after_dashes(own)
    effects.touch("read", *(one for one in paths if not _PATHSPEC.match(one.spelled)))
    spans = parsed.values("-L") if name in ("log", "blame", "annotate") else []
    effects.touch("read", *(tail(one, one.spelled.index(":") + 1) for one in spans if ":" in one.spelled))
    if name == "blame":
        effects.touch("read", *parsed.operands[-1:])
    elif anything or not named or any(_PATHSPEC.match(one.spelled) or not one.exact for one in named):
        effects.touch("history", literal("."))
    else:
        effects.touch("history", *paths)


def after_dashes(own: Sequence[Field]) -> list[Field]:
    """The words after `--`, which are paths."""
    texts = [one.text for one in own]
    return list(own[texts.index("--") + 1 :]) if "--" in texts else []


def _shows(name: str, parsed: Arguments) -> bool:
    if name in _ONLY_NAMES and parsed.has(*_ONLY_NAMES[name]) and not parsed.has(*_ASKS.get(name, ())):
        return False
    if name in _SHOWS or (name in _LISTS and parsed.has(*_PATCH)) or parsed.has(*_ASKS.get(name, ())):
        return True
    if name == "commit":
        return parsed.has("-v", "--verbose") and parsed.has(*_TO_COME)
    if name in ("rerere", "stash"):
        return any(one.text == "diff" or (one.text == "list" and parsed.has("-u")) for one in parsed.operands[:1])
    short = parsed.has(*_SHORT) and not parsed.has(*_PATCH)
    if name == "show" and short:
        return not all(_COMMIT.fullmatch(one.spelled) for one in parsed.operands)
    return name in _COMPARES and not short


def _carries_off(name: str, parsed: Arguments) -> bool:
    """Tell whether contents come to lie under other names, in a folder or in git's store."""
    if name == "worktree":
        return any(one.text == "add" for one in parsed.operands[:1])
    if name in ("read-tree", "checkout-index") and parsed.has("--prefix"):
        return True
    return name in _NAMES_CONTENTS and any(":" in one.spelled for one in parsed.operands)


def _blob(argument: Field) -> Field | None:
    """The path in `HEAD:path` and `:path`; None for all that is not plainly of this form."""
    match = _STAGE.match(argument.spelled) or _OF_COMMIT.match(argument.spelled)
    return tail(argument, match.end()) if match is not None and len(argument.spelled) > match.end() else None


def _names_files(own: Sequence[Field], parsed: Arguments) -> bool:
    return bool(after_dashes(own)) or any(":" in one.spelled for one in parsed.operands)
