"""What is wrong with a condition, as far as that can be told before it is run."""

import re
import shlex
from collections.abc import Iterator

from toolwright.errors import UsageError
from toolwright.proof.commands import Step, steps_of
from toolwright.proof.goal import Goal
from toolwright.proof.runs import CANNOT_FAIL

ENDLESS = frozenset(
    (
        *("watch", "yes", "top", "htop", "less", "more", "vi"),
        *("vim", "nano", "emacs", "tmux", "screen", "inotifywait", "entr", "nodemon"),
    )
)
"""Programs that wait for a person, or never end by themselves."""
ENDLESS_WORDS = (
    r"sleep\s+(infinity|inf|\d{4,}|\d+[hd])\b",
    r"tail\s+(.*\s)?(-\w*[fF]|--follow)",
    r"(while|until)\s+(true|:|\[\s*1\s*\]|false)\s*(;|\n|do\b|$)",
    r"for\s*\(\(\s*;\s*;\s*\)\)",
    r"python[\d.]*\s+-m\s+http\.server",
    r"(npm|pnpm|yarn|bun)\s+(run\s+)?(dev|start|serve|watch)\b",
    r"--watch(All)?\b(?!=false)",
    r"(flask|rails|django-admin|manage\.py)\s+(run|server|runserver)\b",
)
"""Words of a command that never ends."""
REMOTE = frozenset(
    (
        *("ssh", "scp", "sftp", "ftp", "telnet", "gh", "glab", "aws"),
        *("gcloud", "az", "kubectl", "terraform", "ansible", "nslookup", "dig", "host"),
    )
)
"""Programs whose outcome is that of another machine."""
REMOTE_WORDS = (
    r"git\s+(.*\s)?(fetch|pull|push|ls-remote)\b",
    r"git\s+clone\s+(.*\s)?(\w+://|\w[\w.-]*@)",
    r"pip[\d.]*\s+(install|download)\b(?!.*--no-index)",
    r"(npm|pnpm|yarn|bun)\s+(install|ci|add|publish)\b(?!.*--offline)",
    r"(docker|podman)\s+(pull|push|login)\b",
    r"(apt|apt-get|dnf|yum|brew|apk)\s+(-\S+\s+)*(install|update|upgrade)\b",
)
"""The same, by what such a program is told to do."""
_FETCHES = frozenset(("curl", "wget", "http", "https", "xh"))
_HERE = re.compile(r"(\w+://)?(localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)(:\d+)?(/|$)|file://")


def check_conditions(goal: Goal, root: str) -> None:
    """Raise UsageError for a condition that never ends, or whose outcome another machine decides."""
    for condition in goal.conditions:
        if not condition.command:
            continue
        if "\0" in condition.command:
            raise UsageError("The condition holds a character that no command can have.")
        if not condition.match and CANNOT_FAIL.search(condition.command.strip()):
            raise UsageError(
                f"The condition {condition.command!r} can never fail: it ends well whatever comes of what it runs."
                " Give one whose exit code says it, or --until-match REGEX."
            )
        for step in steps_of(condition.command, root):
            where = f" ({step.source})" if step.source else ""
            if why := _never_ends(step):
                raise UsageError(
                    f"The condition {condition.command!r} would never end: `{why}`{where}."
                    " Give a command that ends by itself."
                )
            if why := _reaches_out(step):
                raise UsageError(
                    f"The condition {condition.command!r} depends on the network: `{why}`{where}."
                    " Give one that says the same of the same files each time."
                )


def _never_ends(step: Step) -> str:
    words = _words(step.text)
    if words and words[0] in ENDLESS:
        return step.text
    return next((step.text for one in ENDLESS_WORDS if re.search(rf"(^|[\s;&|(]){one}", step.text)), "")


def _reaches_out(step: Step) -> str:
    words = _words(step.text)
    if not words:
        return ""
    if words[0] in REMOTE or any(re.match(one, step.text) for one in REMOTE_WORDS):
        return step.text
    if words[0] in _FETCHES:
        addresses = [word for word in _operands(words[1:]) if "." in word or ":" in word or "/" in word or "$" in word]
        if not addresses or any(not _HERE.match(one) for one in addresses):
            return step.text
    return ""


def _operands(words: list[str]) -> Iterator[str]:
    """The words that are neither options nor the values of the usual ones."""
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = word in ("-o", "-O", "-H", "-d", "-X", "-w", "-u", "--data", "--header", "--max-time", "--retry")
            continue
        yield word


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    while words and (re.fullmatch(r"\w+=.*", words[0]) or words[0] in ("sudo", "env", "exec", "time", "nice", "!")):
        words.pop(0)
    if words:
        words[0] = words[0].rpartition("/")[2]
    return words
