"""What a lasting approval of a command may cover: its kind, or only the very same words again."""

from collections.abc import Sequence

from toolwright.shell.arguments import names
from toolwright.shell.arity import prefix
from toolwright.shell.findings import Called, Draft
from toolwright.shell.languages import INTERPRETERS, plain_name
from toolwright.shell.shells import SHELLS
from toolwright.shell.wrappers import RUNNERS, WRAPPERS
from toolwright.wildcard import matches

_DESTRUCTIVE = names(
    "rm rmdir unlink shred srm dd mkfs fdisk parted wipefs kill killall pkill reboot shutdown halt poweroff"
    " truncate eval source . trap alias exec mount umount iptables crontab at chroot userdel passwd visudo"
)
_FORCED = {
    ("git", "push"): frozenset({"-f", "--force", "--force-with-lease", "--delete", "-d", "--mirror", "--prune"}),
    ("git", "reset"): frozenset({"--hard", "--merge", "--keep"}),
    ("git", "checkout"): frozenset({"-f", "--force", "--"}),
    ("git", "branch"): frozenset({"-D", "-d", "--delete"}),
    ("git", "stash"): frozenset({"drop", "clear"}),
    ("docker", "system"): frozenset({"prune"}),
}
_ALWAYS_EXACT = frozenset(
    {("git", "clean"), ("git", "filter-branch"), ("git", "config"), ("git", "restore"), ("git", "rm")}
)
_RECURSIVE = frozenset({"chmod", "chown", "chgrp"})


def proposals(draft: Draft) -> tuple[str, ...]:
    """The patterns that, once allowed, let exactly this kind of command run again; none if that cannot be said.

    A command may come down to others, and each of those needs its own leave.
    """
    shown = Called(draft.shown, draft.words or tuple(draft.shown.split(" ")))
    itself, *others = draft.called or [shown]
    offered: list[str] = []
    for called in (shown, itself, *others):
        if any(matches(called.text, pattern) for pattern in offered):
            continue
        same = called is shown or called is itself or called.words[1:] == itself.words[1:]
        pattern = _wide(called) if same else _exact(called)
        if not pattern:
            return ()
        offered.append(pattern)
    return tuple(offered)


def hands_over(words: Sequence[str]) -> bool:
    """Whether a command that begins like this runs whatever follows, because no program or script of it is named."""
    name = plain_name(words[0])
    runner = tuple(words[:2]) in RUNNERS
    if not runner and name not in WRAPPERS and name not in SHELLS and name not in (*INTERPRETERS, "eval"):
        return False
    return not any(word[0] not in "-0123456789" for word in words[1 + runner :])


def _wide(called: Called) -> str:
    start = prefix(called.words)
    fixed = all(not set(word) & set("$`*?") for word in start)
    if fixed and not start[-1].startswith("-") and not _is_exact_only(called.words):
        return " ".join(start) + " *"
    return _exact(called)


def _exact(called: Called) -> str:
    """Rules know no escape, so a text with wildcards in it would allow more than itself."""
    return "" if set(called.text) & set("*?") else called.text


def _is_recursive(word: str) -> bool:
    return word == "--recursive" or (word[:1] == "-" and word[:2] != "--" and "R" in word)


def _is_exact_only(words: Sequence[str]) -> bool:
    """Whether a wider approval would hand over more than the person has seen."""
    name = plain_name(words[0].strip("\\\"'"))
    if name in WRAPPERS or name in SHELLS or name in INTERPRETERS or name in _DESTRUCTIVE or name.startswith("mkfs"):
        return True
    if name in _RECURSIVE and any(_is_recursive(word) for word in words):
        return True
    if name == "find" and any(word in ("-delete", "-exec", "-execdir", "-ok", "-okdir") for word in words):
        return True
    start = (name, words[1] if len(words) > 1 else "")
    return start in _ALWAYS_EXACT or bool(_FORCED.get(start, frozenset()) & set(words))
