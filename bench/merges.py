"""Pairs of edits on real packages, merged by us and by `git merge-file`, and judged by the packages' own suites.

    python bench/merges.py --packages DIR --pairs 200 --out merges.json

Each pair is two changes of one module, made by rule from a seed, each green alone. What both together are is known, for
the same rules make it one after the other: a merge that is green and not that is a silent wrong one. Sources are
fetched with `pip download`; the suites run with this interpreter, which needs pytest.
"""

import argparse
import ast
import json
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolwright.merge.blocks import Conflict
from toolwright.merge.texts import merge_texts

PACKAGES = {
    "sqlparse": "0.5.1",
    "blinker": "1.9.0",
    "pluggy": "1.5.0",
    "h11": "0.14.0",
    "cachetools": "5.5.0",
    "parse": "1.20.2",
    "inflection": "0.5.1",
    "idna": "3.10",
    "toolz": "0.12.1",
    "mistune": "3.0.2",
}
SUITE_SECONDS = 120

Edit = Callable[[str], str | None]
"""Makes another text of a module; None where it does not fit."""


# Edits, each by a number of its own, so that no two make the same names.


def functions(text: str) -> list[ast.FunctionDef]:
    return [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef) and len(one.body) > 1]


def top(text: str) -> list["Named"]:
    return [one for one in ast.parse(text).body if isinstance(one, Named) and not one.decorator_list]


def insert(text: str, at: int, lines: str) -> str:
    kept = text.splitlines(keepends=True)
    return "".join([*kept[:at], lines, *kept[at:]])


Named = ast.FunctionDef | ast.ClassDef


@dataclass
class Choice:
    """A definition that is chosen in the first text that an edit is made in, and found by its name in others."""

    pick: int
    key: str = ""

    def among(self, nodes: Sequence[Named]) -> Named | None:
        seen = Counter[str]()
        by_key = dict[str, Named]()
        for node in nodes:
            seen[node.name] += 1
            by_key[f"{node.name} {seen[node.name]}"] = node
        if by_key and not self.key:
            self.key = list(by_key)[self.pick % len(by_key)]
        return by_key.get(self.key)


def add_function(number: int, pick: int) -> Edit:
    choice = Choice(pick)

    def edit(text: str) -> str | None:
        place = choice.among(top(text))
        if place is None:
            return None
        end = place.end_lineno or 0
        return insert(text, end, f"\n\ndef added_{number}(value):\n    return (value, {number})\n")

    return edit


def add_at_end(number: int) -> Edit:
    return lambda text: text.rstrip("\n") + f"\n\n\ndef last_{number}(value):\n    return [value] * {number}\n"


def add_import(number: int) -> Edit:
    def edit(text: str) -> str | None:
        imports = [one for one in ast.parse(text).body if isinstance(one, ast.Import | ast.ImportFrom)]
        plain = [one for one in imports if not (isinstance(one, ast.ImportFrom) and one.module == "__future__")]
        if not plain:
            return None
        return insert(text, plain[-1].end_lineno or 0, f"import math as math_{number}\n")

    return edit


def add_statement(number: int, pick: int) -> Edit:
    choice = Choice(pick)

    def edit(text: str) -> str | None:
        found = choice.among(functions(text))
        if found is None:
            return None
        first = found.body[1]
        return insert(text, first.lineno - 1, f"{' ' * first.col_offset}note_{number} = {number}\n")

    return edit


def rename_local(number: int, pick: int) -> Edit:
    choice, names = Choice(pick), list[str]()

    def edit(text: str) -> str | None:
        fitting = dict[ast.FunctionDef, list[str]]()
        for one in functions(text):
            own = {node.id for node in ast.walk(one) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            outer = {
                name for node in ast.walk(one) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
            }
            inner = any(
                isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef)
                for node in ast.walk(one)
                if node is not one
            )
            calls = any(isinstance(node, ast.Name) and node.id in ("locals", "vars", "eval") for node in ast.walk(one))
            if own - outer and not inner and not calls:
                fitting[one] = sorted(own - outer)
        function = choice.among(list(fitting))
        if not isinstance(function, ast.FunctionDef):
            return None
        if not names:
            names.append(fitting[function][pick % len(fitting[function])])
        name = names[0]
        if name not in fitting[function]:
            return None
        lines = text.splitlines(keepends=True)
        places = [(n.lineno, n.col_offset) for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
        for line, column in sorted(places, reverse=True):
            raw = lines[line - 1].encode()
            lines[line - 1] = (raw[:column] + f"{name}_{number}".encode() + raw[column + len(name.encode()) :]).decode()
        return "".join(lines)

    return edit


def move(number: int, pick: int) -> Edit:
    choice, place = Choice(pick), Choice(pick + 1 + number % 3)

    def edit(text: str) -> str | None:
        one, behind = choice.among(top(text)), place.among(top(text))
        if not isinstance(one, ast.FunctionDef) or behind is None:
            return None
        start = min([one.lineno, *(each.lineno for each in one.decorator_list)]) - 1
        lines = text.splitlines(keepends=True)
        end, target = one.end_lineno or 0, behind.end_lineno or 0
        if end >= target:
            return None
        body = "".join(lines[start:end])
        return "".join([*lines[:start], *lines[end:target], "\n\n", body, *lines[target:]])

    return edit


def add_method(number: int, pick: int) -> Edit:
    choice = Choice(pick)

    def edit(text: str) -> str | None:
        one = choice.among([one for one in ast.parse(text).body if isinstance(one, ast.ClassDef)])
        if one is None:
            return None
        last = one.body[-1]
        return insert(
            text,
            last.end_lineno or 0,
            f"\n{' ' * last.col_offset}def extra_{number}(self):\n{' ' * last.col_offset}    return {number}\n",
        )

    return edit


KINDS: tuple[tuple[str, Callable[[int, int], Edit]], ...] = (
    ("function", add_function),
    ("end", lambda number, _: add_at_end(number)),
    ("import", lambda number, _: add_import(number)),
    ("statement", add_statement),
    ("rename", rename_local),
    ("move", move),
    ("method", add_method),
)


def changed(text: str, seed: random.Random, number: int) -> tuple[str, list[str], list[Edit]]:
    """Return a text after one to three edits, and what they were."""
    names, edits = list[str](), list[Edit]()
    for index in range(seed.randint(1, 3)):
        name, kind = seed.choice(KINDS)
        edit = kind(number * 10 + index, seed.randrange(6))
        if (other := edit(text)) is not None and parses(other):
            text = other
            names.append(name)
            edits.append(edit)
    return text, names, edits


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def pieces(text: str) -> Counter[str]:
    """Return what a module is made of, whatever the order of its definitions."""
    found = Counter[str]()
    for one in ast.parse(text).body:
        if isinstance(one, ast.ClassDef):
            head = ast.dump(ast.ClassDef(one.name, one.bases, one.keywords, [], one.decorator_list))
            found.update(f"{head}.{ast.dump(each)}" for each in one.body)
        else:
            found[ast.dump(one)] += 1
    return found


# Packages and their suites.


def fetch(folder: Path) -> dict[str, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, version in PACKAGES.items():
        target = folder / name
        if not target.exists():
            wanted = ("--no-deps", "--no-binary", ":all:", "-q", "-d", str(folder / "sdist"), f"{name}=={version}")
            subprocess.run([sys.executable, "-m", "pip", "download", *wanted], check=True)
            [archive] = (folder / "sdist").glob(f"{name}-*.tar.gz")
            with tarfile.open(archive) as tar:
                tar.extractall(folder / "unpacked" / name, filter="data")
            [inner] = (folder / "unpacked" / name).iterdir()
            shutil.move(inner, target)
        found[name] = target
    return found


def modules(root: Path) -> list[Path]:
    """Return the modules worth editing, the largest first."""
    every = [
        one
        for one in root.rglob("*.py")
        if not {"tests", "testing", "docs", "test", "bench", "examples", "profiling", "fuzz"}
        & set(one.relative_to(root).parts)
    ]
    every = [
        one
        for one in every
        if "test" not in one.name and one.name not in ("setup.py", "conf.py", "idnadata.py", "uts46data.py")
    ]
    fitting = [one for one in every if len(top(one.read_text("utf-8"))) >= 2]
    return sorted(fitting, key=lambda one: -one.stat().st_size)[:3]


def green(root: Path) -> bool:
    places = [str(one) for one in (root / "src", root) if one.is_dir()]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(places), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-o",
        "addopts=",
        "-W",
        "ignore",
    ]
    try:
        return (
            subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=SUITE_SECONDS).returncode
            == 0
        )
    except subprocess.TimeoutExpired:
        return False


def git_merge(base: str, ours: str, theirs: str) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / one for one in ("ours", "base", "theirs")]
        for place, text in zip(names, (ours, base, theirs), strict=True):
            place.write_text(text, "utf-8")
        ran = subprocess.run(["git", "merge-file", "-p", *map(str, names)], capture_output=True)
        return ran.stdout.decode() if ran.returncode == 0 else None


def judge(root: Path, module: Path, merged: str | None, expected: Sequence[str | None]) -> str:
    """Return conflict, green, wrong (green, and not what both sides made), or red (which the check has caught)."""
    if merged is None:
        return "conflict"
    module.write_text(merged, "utf-8")
    if not parses(merged) or not green(root):
        return "red"
    meant = [pieces(one) for one in expected if one is not None]
    return "green" if pieces(merged) in meant else "wrong"


def both(base: str, first: list[Edit], second: list[Edit]) -> str | None:
    text: str | None = base
    for edit in (*first, *second):
        text = edit(text) if text is not None else None
    return text


def main() -> None:
    made = argparse.ArgumentParser()
    made.add_argument("--packages", type=Path, required=True)
    made.add_argument("--pairs", type=int, default=200)
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--out", type=Path, required=True)
    options = made.parse_args()
    roots = {name: root for name, root in fetch(options.packages).items() if green(root)}
    print("suites that are green:", ", ".join(roots), flush=True)
    rows: list[dict[str, object]] = []
    number = 0
    while len(rows) < options.pairs:
        number += 1
        seed = random.Random(options.seed * 100_000 + number)
        name = list(roots)[number % len(roots)]
        root = roots[name]
        module = seed.choice(modules(root))
        base = module.read_text("utf-8")
        try:
            ours, mine, first = changed(base, seed, number * 2)
            theirs, other, second = changed(base, seed, number * 2 + 1)
            if not mine or not other:
                continue
            module.write_text(ours, "utf-8")
            if not green(root):
                continue
            module.write_text(theirs, "utf-8")
            if not green(root):
                continue
            # Both of two notes at one place may come first; either order is what both sides meant.
            expected = [both(base, first, second), both(base, second, first)]
            is_clear = None not in expected
            try:
                merged: str | None = merge_texts(module.name, base, ours, theirs)
            except Conflict:
                merged = None
            by_git = git_merge(base, ours, theirs)
            row = {
                "package": name,
                "module": module.name,
                "ours": mine,
                "theirs": other,
                "clear": is_clear,
                "number": number,
            }
            row["we"] = judge(root, module, merged, expected)
            row["git"] = row["we"] if by_git == merged else judge(root, module, by_git, expected)
            rows.append(row)
        finally:
            module.write_text(base, "utf-8")
        options.out.write_text(json.dumps(rows, indent=1))
        if len(rows) % 10 == 0:
            print(summary(rows), flush=True)
    print(summary(rows))


def summary(rows: list[dict[str, object]]) -> str:
    clear = [one for one in rows if one["clear"]]
    parts = [f"{len(rows)} pairs, {len(clear)} of them with one meaning"]
    for who in ("we", "git"):
        counted = Counter(str(one[who]) for one in clear)
        unclear = Counter(str(one[who]) for one in rows if not one["clear"])
        share = 100 * counted["green"] / max(1, len(clear))
        told = ", ".join(f"{kind} {counted[kind]}" for kind in ("conflict", "red", "wrong"))
        parts.append(f"{who}: green {counted['green']} ({share:.1f} %), {told}; of the others {dict(unclear)}")
    return "\n  ".join(parts)


if __name__ == "__main__":
    main()
