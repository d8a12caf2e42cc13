"""Commands of a check: its own, those of the scripts, Makefiles and packages it names, and their files."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from toolwright.protocols.json_text import read_json
from toolwright.record import record

DEEP = 6
"""Longest chain of things that run another which is followed."""
LARGEST = 256 * 1024
"""Bytes of a script that are looked at."""
_APART = re.compile(r"\s*(?:&&|\|\||;|\n|\||&(?!>|\d))\s*")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "source", ".")
_RUNNERS = ("npm", "pnpm", "yarn", "bun")
_LEADS = ("sudo", "env", "exec", "time", "nice", "nohup", "command", "xvfb-run", "!")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


@record(frozen=True, slots=True)
class CheckStep:
    """One command, and the file that holds it; none for what the line itself says."""

    text: str
    source: str = ""


def steps_of(command: str, root: str | Path, source: str = "", depth: int = 0) -> Iterator[CheckStep]:
    """Every command that a line comes down to, as far as the files of the project tell."""
    yield CheckStep(command, source)
    for text in _pieces(command):
        if text != command:
            yield CheckStep(text, source)
        if depth < DEEP:
            yield from _below(text, Path(root), depth)


def files_of(command: str, root: str | Path) -> list[str]:
    """The files of the project that a check names or is made of, by their paths from the root."""
    files = dict[str, None]()
    for step in steps_of(command, root):
        if step.source:
            files[step.source] = None
        for word in _split(step.text):
            name = word.partition("::")[0]
            if name and not name.startswith("-") and _is_file(Path(root), name):
                files[_relative(Path(root), name)] = None
    return list(files)


def _below(text: str, root: Path, depth: int) -> Iterator[CheckStep]:
    words = _leading(_split(text))
    if not words:
        return
    name = words[0].rpartition("/")[2]
    if name == "make" or name == "gmake":
        yield from _recipes(words[1:], root, depth)
    elif name in _RUNNERS:
        yield from _package_script(words[1:], root, depth)
    elif name in _SHELLS and "-c" in words:
        inner = words[words.index("-c") + 1 :]
        if inner:
            yield from steps_of(inner[0], root, "", depth + 1)
    elif name in _SHELLS:
        script = next((word for word in words[1:] if not word.startswith("-")), "")
        yield from _script(script, root, depth)
    elif "/" in words[0] or words[0].endswith(".sh"):
        yield from _script(words[0], root, depth)


def _script(name: str, root: Path, depth: int) -> Iterator[CheckStep]:
    """The commands of a shell script; of another program its file alone."""
    if not name or not _is_file(root, name):
        return
    text, source = _read_text(root / name), _relative(root, name)
    first = text.partition("\n")[0]
    if first.startswith("#!") and not re.search(r"\b(ba|da|z|k)?sh\b", first):
        yield CheckStep(f"./{source}", source)
        return
    for line in map(str.strip, text.replace("\\\n", " ").splitlines()):
        if line and not line.startswith("#"):
            yield from steps_of(line, root, source, depth + 1)


def _recipes(words: list[str], root: Path, depth: int) -> Iterator[CheckStep]:
    """The recipes of the targets, and of those they need."""
    folder, file, targets = root, "", list[str]()
    rest = iter(words)
    for word in rest:
        if word in ("-C", "--directory"):
            folder = root / next(rest, ".")
        elif word in ("-f", "--file", "--makefile"):
            file = next(rest, "")
        elif not word.startswith("-") and "=" not in word:
            targets.append(word)
    path = folder / file if file else next((folder / one for one in _MAKEFILES if (folder / one).is_file()), None)
    if path is None or not path.is_file():
        return
    rules, source = _rules(_read_text(path)), _relative(root, str(path))
    yield CheckStep(f"make {' '.join(words)}".strip(), source)
    waiting, seen = targets or list(rules)[:1], set[str]()
    while waiting:
        target = waiting.pop(0)
        if target in seen or target not in rules:
            continue
        seen.add(target)
        needs, lines = rules[target]
        waiting += needs
        for line in lines:
            yield from steps_of(line, folder, source, depth + 1)


def _rules(text: str) -> dict[str, tuple[list[str], list[str]]]:
    """The targets of a Makefile, each with what it needs and its recipe."""
    rules: dict[str, tuple[list[str], list[str]]] = {}
    variables: dict[str, str] = {}
    current: list[list[str]] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for recipe in current:
                recipe.append(_expanded(line.strip().lstrip("@-+ "), variables))
        elif assigned := re.match(r"(?:export\s+)?([\w.]+)\s*[:?+]?=\s*(.*)", line):
            variables[assigned[1]] = assigned[2].strip()
        elif rule := re.match(r"([^\s:#=][^:=#]*):(?!=)([^;#=]*)(?:;(.*))?$", line):
            current = []
            for target in rule[1].split():
                if target.startswith(".") and target.isupper():
                    continue
                needs, recipe = rules.setdefault(target, ([], []))
                needs += _expanded(rule[2], variables).split()
                if rule[3]:
                    recipe.append(_expanded(rule[3].strip(), variables))
                current.append(recipe)
    return rules


def _expanded(text: str, variables: dict[str, str]) -> str:
    return re.sub(r"\$[({]([\w.]+)[)}]", lambda name: variables.get(name[1], name[0]), text).replace("$$", "$")


def _package_script(words: list[str], root: Path, depth: int) -> Iterator[CheckStep]:
    plain = [word for word in words if not word.startswith("-")]
    wanted = plain[1] if plain[:1] == ["run"] and len(plain) > 1 else plain[0] if plain else ""
    wanted = {"t": "test", "tst": "test"}.get(wanted, wanted)
    path = root / "package.json"
    try:
        scripts = read_json(_read_text(path)).get("scripts", {}) if path.is_file() else {}
    except (ValueError, AttributeError):
        return
    for name in (f"pre{wanted}", wanted, f"post{wanted}"):
        if isinstance(scripts, dict) and isinstance(scripts.get(name), str):
            yield from steps_of(scripts[name], root, "package.json", depth + 1)


def _pieces(command: str) -> list[str]:
    """The commands of a line, apart; what stands in quotes stays together."""
    held = list[str]()

    def hold(quoted: "re.Match[str]") -> str:
        held.append(quoted[0])
        return f"\x01{len(held) - 1}\x02"

    plain = re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", hold, command)
    pieces = (piece.strip("(){} \t") for piece in _APART.split(plain))
    return [re.sub(r"\x01(\d+)\x02", lambda at: held[int(at[1])], piece) for piece in pieces if piece]


def _leading(words: list[str]) -> list[str]:
    """The words from the program's name on."""
    start = 0
    while start < len(words) and (words[start] in _LEADS or re.fullmatch(r"\w+=.*", words[start], re.DOTALL)):
        start += 1
    return words[start:]


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def _is_file(root: Path, name: str) -> bool:
    try:
        return (root / name).is_file() and (root / name).resolve().is_relative_to(root.resolve())
    except (OSError, ValueError):
        return False


def _relative(root: Path, name: str) -> str:
    try:
        return str((root / name).resolve().relative_to(root.resolve()))
    except ValueError:
        return name


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
