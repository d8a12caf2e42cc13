"""Faults of a condition, as far as they can be told before it is run."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from toolwright.errors import UsageError
from toolwright.machine.plain_files import read_start
from toolwright.proof.commands import LARGEST, CheckStep, steps_of
from toolwright.proof.goal import Goal
from toolwright.proof.runs import CANNOT_FAIL

ENDLESS = frozenset(
    (
        *("watch", "yes", "top", "htop", "less", "more", "vi"),
        *("vim", "nano", "emacs", "tmux", "screen", "inotifywait", "entr", "nodemon"),
        *("uvicorn", "gunicorn", "hypercorn", "daphne", "http-server", "live-server", "ptw", "pytest-watch"),
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
    r"(tsc|rollup|webpack|mocha|tailwindcss)\s+(.*\s)?-w\b",
    r"pytest\s+(.*\s)?(-f|--looponfail)(\s|$)",
    r"cargo\s+watch\b",
    r"(mkdocs|jekyll|hugo|ng|next|vite|webpack|streamlit|jupyter)\s+(serve|server|dev|preview|run|lab|notebook)\b",
    r"php\s+-S\b",
    r"docker(-compose|\s+compose)\s+(.*\s)?up\b(?!.*(\s-d\b|--detach|--exit-code-from|--abort-on|--wait))",
    r"(logs|journalctl)\s+(.*\s)?(-f|--follow)\b",
    r"(cat|dd\s+(.*\s)?if=|wc|sha\w+sum|md5sum)\s*(-\S+\s+)*/dev/(zero|u?random|full)\b(?!.*\b(count=|head))",
    r"(while|until)\s+sleep\s",
    r"(python[\d.]*|pypy3?)\s+-\w*c\s.*\bwhile\s*\(?\s*(True|1)\s*\)?\s*:",
    r"(node|deno|bun|ruby|perl)\s+(-e|--eval|-p|eval)\s.*(\bwhile\s*\(\s*(true|1)\s*\)|for\s*\(\s*;\s*;|\bloop\b)",
    r"(flask|rails|django-admin|manage\.py)\s+(run|server|runserver)\b",
)
"""Words of a command that never ends."""
REMOTE = frozenset(
    (
        *("ssh", "scp", "sftp", "ftp", "telnet", "gh", "glab", "aws"),
        *("gcloud", "az", "kubectl", "terraform", "ansible", "nslookup", "dig", "host", "ping", "ping6", "traceroute"),
        *("whois", "helm", "pip-audit"),
    )
)
"""Programs whose outcome is that of another machine."""
REMOTE_WORDS = (
    r"git\s+(.*\s)?(fetch|pull|push|ls-remote)\b",
    r"git\s+clone\s+(.*\s)?(\w+://|\w[\w.-]*@)",
    r"pip[\d.]*\s+(install|download)\b(?!.*--no-index)",
    r"(npm|pnpm|yarn|bun)\s+(install|ci|add|publish)\b(?!.*--offline)",
    r"(docker|podman)\s+(pull|push|login)\b",
    r"(poetry|pdm|uv|gem|composer|bundle)\s+(install|add|publish|push|sync|update|pip\s+install)\b(?!.*--offline|.*--local)",
    r"(go\s+(get|install)|cargo\s+(install|publish|update|add|login)|npm\s+audit)\b(?!.*--offline)",
    r"rsync\s+(.*\s)?([\w.-]+@)?\w[\w.-]*:",
    r"(nc|ncat|netcat|telnet|psql|mysql|redis-cli)\s+(.*\s)?(-h\s*)?(?!localhost)[a-z][\w-]*(\.[\w-]+)+\b",
    r".*/dev/(tcp|udp)/(?!localhost|127\.)",
    r"(apt|apt-get|dnf|yum|brew|apk)\s+(-\S+\s+)*(install|update|upgrade)\b",
)
"""The same, by what such a program is told to do."""
_CODE = re.compile(r"(python[\d.]*|pypy3?|node|deno|bun|ruby|perl|php|tsx|ts-node)$")
_CALLS_OUT = re.compile(
    r"(urlopen|urlretrieve|requests\.\w+|httpx\.\w+|fetch|axios(\.\w+)?|https?\.(get|request)|Net::HTTP\.\w+|URI\.open)\s*\(\s*"
    r"\w?[\"'`]\w+://(?!localhost|127\.|\[::1\]|0\.0\.0\.0)"
    r"|(create_connection|gethostbyname|getaddrinfo|HTTPS?Connection)\(\s*\(?\s*[\"'](?!localhost|127\.|::1)"
)
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
            if why := _reaches_out(step) or _calls_out(step, root):
                raise UsageError(
                    f"The condition {condition.command!r} depends on the network: `{why}`{where}."
                    " Give one that says the same of the same files each time."
                )


def _never_ends(step: CheckStep) -> str:
    if re.search(r"(^|[\s;&|(])g?timeout\s+(-\S+\s+)*[\d.]+[smhd]?\s", step.text):
        return ""
    words = _words(step.text)
    if words and words[0] in ENDLESS:
        return step.text
    return next((step.text for one in ENDLESS_WORDS if re.search(rf"(^|[\s;&|(]){one}", step.text)), "")


def _reaches_out(step: CheckStep) -> str:
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


def _calls_out(step: CheckStep, root: str) -> str:
    """Return the call of a given program, on the line or in a file, that needs another machine."""
    words = _words(step.text)
    if not words or not _CODE.fullmatch(words[0]) or "-m" in words:
        return ""
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    inside = (
        read_start(Path(root, script), LARGEST).decode("utf-8", "replace") if "/" in script or "." in script else ""
    )
    call = _CALLS_OUT.search(step.text) or _CALLS_OUT.search(inside)
    return call[0] if call else ""


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
