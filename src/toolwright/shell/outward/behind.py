"""Acts of what a line runs that lies in files: shell scripts, scripts of packages, recipes of make, git's aliases."""

import os
import posixpath
import re
from collections.abc import Iterator
from itertools import pairwise

from toolwright.calls.acts import OUTWARD, RANKS, Act
from toolwright.machine.plain_files import read_start
from toolwright.protocols.json_text import read_json
from toolwright.shell.analysis.analysis import LONGEST, AnalysedCommand, Analysis, analyse
from toolwright.shell.analysis.git_aliases import commands_behind
from toolwright.shell.analysis.scripts import is_for_a_shell
from toolwright.shell.outward.classify import INTERPRETER
from toolwright.shell.outward.line import RUN_TEXTS, acts_of
from toolwright.shell.outward.names import plain_program
from toolwright.shell.walk.shells import SHELLS

TEXTS = 40
"""The most scripts, recipes and aliases that one line is followed through."""
_PACKAGERS = ("npm", "pnpm", "yarn", "bun", "cnpm")
_RUN = ("run", "run-script", "rum", "urn")
FED = 4
"""The most files that are looked at that a shell may be fed."""
_LITERAL = re.compile(r"""(['"`])((?:(?!\1)[^\\\n]){2,400})\1""")
_LIST = re.compile(r"\[[^\[\]]{1,400}\]|\([^()]{1,400}\)")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_RULE = re.compile(r"^([^\s#:=][^:=#]*):(?!=)([^#=]*)$")


def acts_behind(analysis: Analysis) -> dict[str, Act]:
    """Return the strictest act that is behind each command, by the text as it is shown."""
    strictest_acts = dict[str, Act]()
    left = [TEXTS]
    for command in analysis.commands:
        folder = command.folders[0] if len(command.folders) == 1 else ""
        acts = [
            act for text in _texts_behind(command, analysis, folder) for act in _acts_in(text, folder, analysis, left)
        ]
        outward = [act for act in acts if act.kind in OUTWARD]
        if outward:
            strictest_acts[command.shown] = max(outward, key=lambda act: RANKS[act.kind])
    return strictest_acts


def _acts_in(text: str, folder: str, around: Analysis, left: list[int]) -> Iterator[Act]:
    """The acts of a text, and of what that runs in turn."""
    if left[0] == 0:
        return
    left[0] -= 1
    inner = analyse(text, cwd=folder or "/", home=around.home, top=around.top)
    yield from (one.act for one in acts_of(inner))
    for command in inner.commands:
        for further in _texts_behind(command, inner, folder):
            yield from _acts_in(further, folder, around, left)


def _texts_behind(command: AnalysedCommand, analysis: Analysis, folder: str) -> Iterator[str]:
    words = {word for call in command.calls for word in call}
    for path in analysis.paths("script", "run"):
        named = any(posixpath.basename(word) == posixpath.basename(path) for word in words)
        if named and (path in analysis.touched.get("script", ()) or is_for_a_shell(path)):
            yield _file_text(path)
    for call in command.calls:
        name = plain_program(call[0]) if call and call[0] else ""
        if name in SHELLS and command.stdin == "":
            yield from map(_file_text, analysis.paths("read", "take", "carry")[:FED])
        if name in (*SHELLS, "eval") and any("$(" in word or "`" in word for word in call):
            yield from _printed(analysis)
        if INTERPRETER.fullmatch(name) and name not in SHELLS:
            yield from _texts_in_code(call[1:])
        elif name in RUN_TEXTS:
            yield from (text for word in call[1:] for text in _texts_in_word(word))
        elif name == "git":
            yield from commands_behind(" ".join(call), home=analysis.home, top=analysis.top)
        elif folder and name in _PACKAGERS:
            yield from _scripts_of_package(call[1:], folder)
        elif folder and name in ("make", "gmake"):
            yield from _recipes(call[1:], folder)


def _printed(analysis: Analysis) -> Iterator[str]:
    """Yield the texts that the line prints, of which a shell may be made to run any."""
    for command in analysis.commands:
        for call in command.calls:
            if call and call[0] in ("echo", "printf"):
                yield " ".join(call[1:])


def _texts_in_code(arguments: tuple[str, ...]) -> Iterator[str]:
    """The texts in code on the command line that may be commands which it runs: `os.system("git push")`."""
    for option, code in pairwise(arguments):
        if option in ("-c", "-e", "--eval", "-r"):
            yield from (match[2] for match in _LITERAL.finditer(code) if " " in match[2])
            for listed in _LIST.finditer(code):
                yield " ".join(match[2] for match in _LITERAL.finditer(listed[0]))


def _texts_in_word(word: str) -> Iterator[str]:
    """Yield what in a word may be a command: what is quoted in it, what follows `=`, and what a `!` stands before."""
    yield from (match[2] for match in _LITERAL.finditer(word) if " " in match[2])
    _, _, value = word.partition("=")
    yield from (text for text in (value.strip("'\""), word.lstrip(":!")) if " " in text)


def _scripts_of_package(arguments: tuple[str, ...], folder: str) -> Iterator[str]:
    named = [word for word in arguments if word[:1] != "-"]
    if not named:
        return
    name = named[1] if named[0] in _RUN and len(named) > 1 else named[0]
    try:
        scripts = read_json(_file_text(posixpath.join(folder, "package.json"))).get("scripts")
    except (ValueError, AttributeError):
        return
    for script in (f"pre{name}", name, f"post{name}") if isinstance(scripts, dict) else ():
        if isinstance(text := scripts.get(script), str):
            yield text


def _recipes(arguments: tuple[str, ...], folder: str) -> Iterator[str]:
    """The recipes of the targets that are named, or of the first one, and of what those need."""
    if any(word in ("-C", "-f", "-n", "--dry-run", "--file", "--directory") for word in arguments):
        return
    texts = (_file_text(posixpath.join(folder, name)) for name in _MAKEFILES)
    rules = _rules_in(next(filter(None, texts), ""))
    first = next((name for name in rules if not name.startswith(".")), "")
    wanted = [word for word in arguments if word[:1] != "-" and "=" not in word] or [first]
    seen = set[str]()
    while wanted:
        target = wanted.pop(0)
        if target in seen or target not in rules:
            continue
        seen.add(target)
        needed, lines = rules[target]
        wanted += needed
        if lines:
            yield "\n".join(lines)


def _rules_in(makefile: str) -> dict[str, tuple[list[str], list[str]]]:
    """Return the needs of each target, and its lines without the marks of make; `$$` is the shell's `$`."""
    rules = dict[str, tuple[list[str], list[str]]]()
    current = list[tuple[list[str], list[str]]]()
    for line in makefile.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for _, lines in current:
                lines.append(line.strip().lstrip("@-+").replace("$$", "$"))
        elif match := _RULE.match(line):
            current = [rules.setdefault(target, ([], [])) for target in match[1].split()]
            for needed, _ in current:
                needed.extend(match[2].split())
        elif line.strip() and not line.startswith("#"):
            current = []
    return rules


def _file_text(path: str) -> str:
    real = os.path.realpath(path)
    return read_start(real, LONGEST).decode("utf-8", "replace").replace("\0", "")
