"""Lasting approvals of a command: its kind, only the very same words again, or nothing."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import names
from toolwright.shell.programs.arity import ARITY, is_whole, kind, prefix
from toolwright.shell.programs.files_of import is_listed
from toolwright.shell.programs.languages import INTERPRETERS, plain_name
from toolwright.shell.programs.wrappers import RUNNERS, WRAPPERS
from toolwright.shell.state.findings import Called, Draft
from toolwright.shell.walk.shells import SHELLS
from toolwright.text.wildcard import matches

_WORD_FOR_WORD = names(
    "rm rmdir unlink shred srm trash dd mkfs fdisk parted wipefs kill killall pkill reboot shutdown halt"
    " poweroff truncate eval source . trap alias exec mount umount iptables crontab at batch chroot userdel"
    " passwd visudo ssh scp sftp rsync tmux screen ed ex vi vim nvim emacs gdb lldb sqlite3 psql mysql"
    " mongosh redis-cli bwrap firejail systemd-run nix-shell tw toolwright opencode claude codex gemini aider"
    " goose ansible ansible-playbook fab"
)
_RECURSIVE = frozenset({"chmod", "chown", "chgrp"})
_FIND_ACTS = ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls")

_ANY = re.compile(r".*", re.DOTALL)
_COMMON = re.compile(
    r"-(?:[vqhaljwnkxsV]{1,4}|j\s*\d+|#\d+|\d+|o=?\w*|p\d*)|--(?:verbose|quiet|help|version|json|all|watch"
    r"|dry-run|no-color|color(?:=\w+)?|output(?:=\w+)?|format(?:=\S+)?|limit(?:=\d+)?|since(?:=\S+)?"
    r"|tail(?:=\d+)?|follow|namespace(?:=\S+)?|workspace|release|debug|no-cache|silent|parallel|offline|locked"
    r"|frozen|check|fix|coverage|ci|production|save|save-dev|no-audit|no-fund|if-present|state(?:=\w+)?"
    r"|repo(?:=\S+)?|web|jobs(?:=\d+)?|keep-going|tests?|lib|bins?|features(?:=\S+)?|package(?:=\S+)?|upgrade"
    r"|user|all-targets|all-features|workspace|message-format=\w+|nocapture|race|run(?:=\S+)?|count(?:=\d+)?"
    r"|cover|short|timeout(?:=\S+)?)|-(?:run|count|race|cover|short|timeout|bench|tags|v)(?:=\S+)?"
)
_READS = (
    *(
        [
            "status",
            "log",
            "diff",
            "show",
            "blame",
            "shortlog",
            "describe",
            "rev-parse",
            "rev-list",
            "ls-files",
            "ls-tree",
            "ls-remote",
            "grep",
            "cat-file",
        ]
    ),
    *(
        [
            "for-each-ref",
            "merge-base",
            "name-rev",
            "check-ignore",
            "count-objects",
            "reflog",
            "whatchanged",
            "var",
            "version",
            "help",
        ]
    ),
)
_GIT: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(_READS, _ANY),
    "reflog": re.compile(r"-(?!-expire|-delete)\S*"),
    "fetch": re.compile(
        r"-[vqptan46]+|--(?:all|prune|tags|no-tags|verbose|quiet|dry-run|progress|unshallow|multiple)"
        r"|-j\d*|--(?:depth|deepen|jobs|shallow-since)=\S+"
    ),
    "add": re.compile(r"-[AunvNp]+|--(?:all|update|verbose|dry-run|intent-to-add|patch)"),
    "commit": re.compile(
        r"-[amsqvS]+|--(?:all|message(?:=.*)?|signoff|quiet|verbose|allow-empty|author=.*|date=.*|fixup=.*)", re.DOTALL
    ),
    "push": re.compile(r"-[uvqn46]+|--(?:set-upstream|tags|follow-tags|verbose|quiet|dry-run|progress|all)"),
    "pull": re.compile(
        r"-[vqrn]+|--(?:rebase|no-rebase|ff|ff-only|no-ff|verbose|quiet|tags|no-edit|autostash|no-tags)"
    ),
    "branch": re.compile(
        r"-[arv]+|--(?:all|remotes|list|verbose|show-current|contains|merged|no-merged|sort=.*|format=.*|no-color)"
    ),
    "switch": re.compile(r"-[cqtd]+|--(?:create|quiet|track|detach|guess)"),
    "merge": re.compile(r"-[nqve]+|-m|--(?:no-ff|ff|ff-only|no-edit|edit|squash|stat|quiet|abort|continue|no-commit)"),
    "rebase": re.compile(r"-[qv]+|--(?:abort|continue|skip|quiet|onto|autostash|autosquash|stat)"),
    "reset": re.compile(r"-[qN]+|--(?:soft|mixed|quiet)"),
    "cherry-pick": re.compile(r"-[xnse]+|--(?:abort|continue|skip|no-commit|signoff)"),
    "revert": re.compile(r"-[nse]+|--(?:abort|continue|skip|no-commit|no-edit)"),
    "tag": re.compile(r"-[alnm]\d*|--(?:list|annotate|message(?:=.*)?|sort=.*|contains|points-at)", re.DOTALL),
    "mv": re.compile(r"-[vn]+"),
    "init": re.compile(r"-[qb]|--(?:quiet|initial-branch(?:=.*)?)"),
    "clone": re.compile(r"-[qvbn]|--(?:depth(?:=\d+)?|branch(?:=\S+)?|single-branch|quiet|verbose|recursive|no-tags)"),
}
"""For each subcommand the options with which its kind stays what it is; those not listed go word for word."""
_GIT_THIRD = {"stash": names("list show push save pop apply"), "remote": names("-v show get-url add update")}

_VERBS: Mapping[str, frozenset[str]] = {
    "docker": names("ps images logs inspect version info build pull stats top port history search diff events"),
    "docker compose": names("ps logs build pull config images top version ls"),
    "docker container": names("ls ps inspect logs stats top port"),
    "docker image": names("ls inspect history pull build"),
    "docker system": names("df info events"),
    "docker network": names("ls inspect"),
    "docker volume": names("ls inspect"),
    "docker builder": names("du"),
    "podman": names("ps images logs inspect version info build pull stats top port history search diff"),
    "kubectl": names("get describe logs top version explain api-resources api-versions cluster-info diff"),
    "kubectl rollout": names("status history"),
    "helm": names("list status history get show search template lint version"),
    "terraform": names("plan validate fmt show output providers version graph"),
    "gh": names("list view status diff checks"),
    "systemctl": names("status list-units show is-active is-enabled cat list-timers"),
    "npm": names("test run install ci ls list outdated view audit start build run-script i pack info why explain"),
    "pnpm": names("test run install ls list outdated audit start build add i why"),
    "yarn": names("test run install list outdated audit start build add why info"),
    "bun": names("test run install build add i"),
    "cargo": names("build test check clippy fmt doc bench run tree metadata search update fetch add"),
    "go": names("build test vet fmt list version env mod doc run get"),
    "make": frozenset(),
    "pip": names("list show freeze check install index download"),
    "poetry": names("install add show check lock build"),
    "brew": names("list info search outdated deps install"),
    "openssl": names("version x509 s_client dgst genrsa rand rsa req"),
}
"""Subcommands that neither delete, force nor run what they are told; those of a listed program not named here go word
for word. An empty list leaves the second word open, as the targets of `make` are."""
MOST = 100
"""A line that comes down to more commands than this gets no lasting approval."""
LONGEST = 4000
"""Nor does one of more letters than this."""
_FORCES = re.compile(
    r"--(?:force|delete|destroy|prune|purge|hard|prod|overwrite|no-verify|auto-approve|yes|assume-yes|wipe|reset)"
    r"(?!-with-|d\b)(?:[=-].*)?"
)
"""Options that force or delete, whatever program has them."""
_DELETES = re.compile(
    r"(?:[a-z]+[:_-])*(?:delete|deploy|destroy|disable|down|drop|erase|flush\w*|kill|prune|publish|purge|remove|reset|revoke"
    r"|rm|rollback|stop|terminate|undo|uninstall|unpublish|wipe)(?:[:_-][a-z]+)*"
)
"""Subcommands that delete, end or publish, of programs that no table has."""
_SENDS = ("-X", "--request", "-d", "--data", "-F", "--form", "-T", "--upload", "--json", "-K", "--config")
_ELSEWHERE = re.compile(r"^\+|^[./~]|:")
"""An address or folder in the place of a remote's name, or a branch that goes by another name there."""
_CLOUD = re.compile(
    r"--(?:region|profile|output|query|max-items|no-paginate|no-cli-pager|project|zone|subscription|resource-group"
    r"|format|filter|limit|sort-by)(?:=.*)?"
)
_OPEN = re.compile(r"[$`*?\[\]{}~]")
"""Characters that may stand for something else the next time."""


def offers(draft: Draft) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns that, once allowed, let exactly this kind of command run again, and its texts that go word for word.

    A command may come down to others, and each of those needs its own permission; there is no offer where one of them
    cannot be put in words that mean the same the next time.
    """
    whole = Called(draft.shown, draft.words or tuple(draft.shown.split(" ")))
    itself, *others = draft.called or [whole]
    offered: dict[str, None] = {}
    exact: dict[str, None] = {}
    possible = len(draft.called) <= MOST and len(draft.shown) <= LONGEST
    for called in (whole, *others) if itself.text == whole.text else (whole, itself, *others):
        only_exact = bool(called.words) and _is_exact_only(called.words)
        if only_exact:
            exact[called.text] = None
        if not possible:
            continue
        if not only_exact and any(matches(called.text, pattern) for pattern in offered):
            continue
        same = called is whole or called is itself or called.words[1:] == itself.words[1:]
        pattern = _exact(called) if only_exact or not same else _wide(called)
        possible = bool(pattern) and not (draft.fed and only_exact)
        offered[pattern] = None
    return tuple(offered) if possible else (), tuple(exact)


def can_be_kept(text: str) -> bool:
    """Tell whether the words say all: nothing in them stands for something that may be another the next time."""
    return _OPEN.search(text) is None


def _wide(called: Called) -> str:
    if called.words[:2] == ("git", "push"):
        return _to_one_remote(called)
    start = kind(called.words, listed=is_listed(plain_name(called.words[0])))
    fixed = all(not set(word) & set("$`*?") for word in start)
    if fixed and not start[-1].startswith("-") and is_whole(called.words):
        return " ".join(start) + " *"
    return _exact(called)


def _to_one_remote(called: Called) -> str:
    """Pushing goes by the remote that it is to."""
    remote = next((at for at, word in enumerate(called.words[2:], 2) if not word.startswith("-")), 0)
    start = " ".join(called.words[: remote + 1])
    return f"{start} *" if remote and can_be_kept(start) else _exact(called)


def _exact(called: Called) -> str:
    """Rules know no escape, so a text with wildcards in it would allow more than itself; so would a variable."""
    return called.text if can_be_kept(called.text.replace("{}", "")) else ""


def _is_recursive(word: str) -> bool:
    return word == "--recursive" or (word[:1] == "-" and word[:2] != "--" and "R" in word)


def _is_exact_only(words: Sequence[str]) -> bool:
    """Tell whether a wider approval would hand over more than the person has seen."""
    name = plain_name(words[0].strip("\\\"'"))
    if name in WRAPPERS or name in SHELLS or name in INTERPRETERS or name in _WORD_FOR_WORD or name.startswith("mkfs"):
        return True
    if name == "curl":
        return any(word.startswith(_SENDS) for word in words)
    if name in _RECURSIVE:
        return any(_is_recursive(word) for word in words)
    if name == "find":
        return any(word in _FIND_ACTS for word in words)
    if name == "git":
        return _is_exact_git(words)
    if any(map(_FORCES.fullmatch, words[1:])) or (not is_listed(name) and any(map(_DELETES.fullmatch, words[1:4]))):
        return True
    if any((name, word) in RUNNERS for word in words[1:4]):
        return True
    return name in ARITY and _is_exact_by_verb(name, words)


def _is_exact_git(words: Sequence[str]) -> bool:
    if len(words) < 2:
        return False
    verb, rest = words[1], words[2:]
    if verb in _GIT_THIRD:
        return bool(rest) and rest[0] not in _GIT_THIRD[verb] and not (verb == "stash" and rest[0].startswith("-"))
    plain = _GIT.get(verb)
    if plain is None:
        return True
    elsewhere = verb in ("push", "pull", "fetch") and any(map(_ELSEWHERE.search, rest))
    ends = verb == "reflog" and any(word in ("delete", "expire", "drop") for word in rest[:1])
    return elsewhere or ends or any(word.startswith("-") and not plain.fullmatch(word) for word in rest)


def _is_exact_by_verb(name: str, words: Sequence[str]) -> bool:
    """Tools with subcommands: by what they are told to do, and by every option they are given for it."""
    start = prefix(words)
    family = " ".join(start[:2]) if " ".join(start[:2]) in _VERBS and len(start) > 2 else name
    verbs = _VERBS.get(family)
    verb = start[-1] if (len(start) > 1 and family != name) or name == "gh" else (words[1] if len(words) > 1 else "")
    if verbs is None and name in ("aws", "az", "gcloud", "doctl"):
        own = [word for word in words if word.startswith("-") and not _CLOUD.fullmatch(word)]
        return bool(own) or not re.match(r"(?:list|describe|get|show|ls)\b", start[-1])
    if verbs and verb not in verbs:
        return True
    own = list(words[len(start) :])
    own = own[: own.index("--")] if "--" in own and name in ("npm", "pnpm", "yarn", "bun", "cargo") else own
    assigns = name == "make" and any("=" in word for word in words)
    return assigns or any(word.startswith("-") and not _COMMON.fullmatch(word) for word in own)
