"""What the rules and the answers open and close for one command: the walls its box is to have."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from toolwright.definition import ToolContext
from toolwright.files.paths import Tree
from toolwright.process.access import Access
from toolwright.process.jobs import Jobs
from toolwright.process.masks import ANY_NAME, Found, Judge, Verdict
from toolwright.process.sight import is_folder, is_there
from toolwright.request import PathPattern, Request
from toolwright.shell import Analysis
from toolwright.shell.reach import works_alone

PROGRAM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
LISTED = 500
"""Files of a folder outside the project that are judged one by one."""

_MAKES_FOLDERS = {
    "mkdir": frozenset[str](),
    "git": frozenset({"clone", "worktree", "init"}),
    "cargo": frozenset({"new", "init"}),
}
"""Programs that make the folders they are told, with the subcommands that do, if only those do."""
_NEAR = 6
"""Among how many words a subcommand is looked for."""
_PROGRAM = re.compile(r"([\w.+-]+)(?: \*|\*|)")
_WILD = re.compile(r"[*?]")
_VERSION = re.compile(r"(?:[-.]?\d[\d.]*)?")


def access_for(ctx: ToolContext, tree: Tree, analysis: Analysis, requests: Iterable[Request]) -> Access:
    """All that a box has to know, once the requests have been granted."""
    rules = _Rules(ctx, tree)
    found = rules.restricted()
    requests = list(requests)
    outside = set(_outside(requests))
    changed = [*_named(requests, tree, "edit"), *_changed_outside(requests)]

    def granted(paths: Iterable[Path]) -> tuple[Path, ...]:
        """Without what nobody was asked about because it is the command's own, as temporary files are."""
        known = (path for path in paths if tree.holds(path) or any(path.is_relative_to(place) for place in outside))
        return tuple(dict.fromkeys(known))

    reads = granted(_named(requests, tree, "read"))
    elsewhere = [place for place in rules.outside() if place not in reads]
    asked = [place for place in found.asked if place not in reads]
    deletes = granted(_canonical(analysis.deletes, tree))
    return replace(
        reach_for(ctx),
        changes=granted(place for place in changed if place not in deletes),
        deletes=deletes,
        new_folders=tuple(_made_folders(analysis, tree)),
        enters=tuple(place for place in _canonical(analysis.enters, tree) if place in outside),
        reads=tuple(dict.fromkeys([*reads, *outside])),
        hidden=(*found.unread, *asked, *elsewhere),
        veiled=rules.veiled(),
        locked=tuple(found.locked),
        spared=tuple(found.spared),
        pinned=tuple(found.pinned),
        repositories=tuple(found.repositories),
        covered=tuple(rules.programs()),
        caches=not works_alone(analysis) or any(_is_at_home(analysis, tree)),
    )


def reach_for(ctx: ToolContext) -> Access:
    """Whether commands of the agent that calls may change anything and reach others, whatever the command."""
    read_only = ctx.decide("edit", "*") == "deny"
    networks = [action for permission, _, action in ctx.rules_about("network") if permission == "network"]
    return Access(
        read_only=read_only,
        network=ctx.decide("network", "*") != "deny",
        better_offline=read_only and not networks,
    )


def veiled_names(ctx: ToolContext, tree: Tree) -> tuple[tuple[str, bool], ...]:
    """The names of files that the rules keep from being read, as patterns; the last that fits counts."""
    return _Rules(ctx, tree).veiled()


class _Rules:
    """The rules of the agent that calls, asked about files and programs."""

    def __init__(self, ctx: ToolContext, tree: Tree) -> None:
        self._ctx, self._tree = ctx, tree
        self._jobs = ctx.use(Jobs)
        self._rules = {name: ctx.rules_about(name) for name in ("read", "edit", "bash")}
        # Where everything is asked about, nothing stands out: the yes to the command is the yes to what it reads.
        self._asks = ctx.decide("read", self._pattern(f"{tree.root}/{ANY_NAME}")) == "allow"

    def restricted(self) -> Found:
        """What is restricted in the project."""
        needles = {name: _needles(self._rules[name]) for name in ("read", "edit")}
        everywhere = "" not in (*needles["read"], *needles["edit"])
        key = (self._rules["read"], self._rules["edit"])
        return self._jobs.sandbox.masks.find(key, self._judge(needles), everywhere=everywhere)

    def outside(self) -> Iterator[Path]:
        """Files and folders elsewhere that a rule with a fixed beginning does not let be read."""
        for place in _fixed_places(self._rules["read"]):
            if not self._tree.holds(place):
                yield from self._unread_below(place)

    def veiled(self) -> tuple[tuple[str, bool], ...]:
        """What rules say by the name of a file alone, which counts for what git has of it as well."""
        return self._jobs.sandbox.veils.of(self._rules["read"], self._judged_names)

    def _judged_names(self) -> Iterator[tuple[str, bool]]:
        root = f"{self._tree.root}/"
        for _, pattern, _ in self._rules["read"]:
            name = pattern.removeprefix(root)
            if not name.strip("*?/") or name.startswith("/"):
                continue
            sample = _WILD.sub(ANY_NAME, name)
            yield name, bool(self._reading(f"{root}{sample}"))

    def programs(self) -> Iterator[Path]:
        """Programs that are denied outright, whoever starts them. One that is many programs at once is left alone."""
        shell = os.path.realpath(self._jobs.shell)
        for name in dict.fromkeys(self._denied_names()):
            for folder in dict.fromkeys([*self._jobs.path.split(":"), *PROGRAM_FOLDERS]):
                real = Path(os.path.realpath(os.path.join(folder, name)))  # noqa: PTH118 - folder may be empty
                if _is_called(real.name, name) and real.is_file() and str(real) != shell:
                    yield real

    def _denied_names(self) -> Iterator[str]:
        for _, pattern, action in self._rules["bash"]:
            found = _PROGRAM.fullmatch(pattern)
            if action == "deny" and found is not None:
                name = found[1]
                if all(self._ctx.decide("bash", f"{name}{rest}") == "deny" for rest in ("", " x", " -x y")):
                    yield name

    def _judge(self, needles: dict[str, tuple[str, ...]]) -> Judge:
        def judge(path: str) -> Verdict:
            lower = path.lower()
            verdict = Verdict.FREE
            if any(needle in lower for needle in needles["read"]):
                verdict |= self._reading(path)
            if any(needle in lower for needle in needles["edit"]):
                denied = self._ctx.decide("edit", self._pattern(path)) == "deny"
                verdict |= Verdict.LOCKED if denied else Verdict.FREE
            return verdict

        return judge

    def _reading(self, path: str) -> Verdict:
        action = self._ctx.decide("read", self._pattern(path))
        if action == "deny":
            return Verdict.UNREAD
        return Verdict.ASKED if action == "ask" and self._asks else Verdict.FREE

    def _unread_below(self, place: Path) -> Iterator[Path]:
        if not is_folder(place):
            if is_there(place) and self._reading(str(place)):
                yield place
        elif self._reading(f"{place}/{ANY_NAME}"):
            yield place
        else:
            try:
                names = sorted(os.listdir(place))[:LISTED]  # noqa: PTH208 - names are all that is needed
            except OSError:
                return
            yield from (place / name for name in names if self._reading(f"{place}/{name}"))

    def _pattern(self, path: str) -> PathPattern:
        root, directory = f"{self._tree.root}/", f"{self._tree.directory}/"
        return PathPattern(path, (path.removeprefix(root), path.removeprefix(directory)))


@lru_cache(maxsize=64)
def _fixed_places(rules: tuple[tuple[str, str, str], ...]) -> tuple[Path, ...]:
    """Where the rules that restrict and have a fixed beginning lead; what is too near the top to be meant is left."""
    restricting = [pattern for _, pattern, action in rules if action != "allow" and pattern.startswith("/")]
    fixed = ((pattern, _WILD.split(pattern)[0]) for pattern in restricting)
    places = (Path(start if start == pattern else start.rpartition("/")[0] or "/") for pattern, start in fixed)
    return tuple(place for place in dict.fromkeys(places) if len(place.parts) > 2)


@lru_cache(maxsize=64)
def _needles(rules: tuple[tuple[str, str, str], ...]) -> tuple[str, ...]:
    """For each rule that restricts, something that must occur in whatever it fits; nothing if it fits everything."""
    restricting = [pattern for _, pattern, action in rules if action != "allow"]
    return tuple(dict.fromkeys(max(_WILD.split(pattern.lower()), key=len) for pattern in restricting))


def _is_called(file: str, name: str) -> bool:
    """Whether a program has this name, or this name and its version, as `python3.11` that `python3` is a link to."""
    return file.startswith(name) and _VERSION.fullmatch(file, len(name)) is not None


def _is_at_home(analysis: Analysis, tree: Tree) -> Iterator[bool]:
    """Of each path it names, whether it lies in the home folder and not in the project."""
    home = f"{analysis.home}/"
    for path in (*analysis.order, *analysis.enters):
        yield f"{path}/".startswith(home) and not tree.holds(Path(path))


def _canonical(paths: Iterable[str], tree: Tree) -> Iterator[Path]:
    yield from (tree.place(path).path for path in paths)


def _made_folders(analysis: Analysis, tree: Tree) -> Iterator[Path]:
    """What the words of commands that make folders may name."""
    for command in analysis.commands:
        name, *words = command.words or ("",)
        subcommands = _MAKES_FOLDERS.get(os.path.basename(name))  # noqa: PTH119 - on text
        if subcommands is not None and (not subcommands or subcommands.intersection(words[:_NEAR])):
            yield from (tree.place(word).path for word in words if word and not word.startswith("-"))


def _named(requests: Iterable[Request], tree: Tree, permission: str) -> Iterator[Path]:
    for request in requests:
        if request.permission == permission:
            names = (*request.patterns, *request.implied)
            yield from (tree.place(str(tree.root / name)).path for name in names)


def _changed_outside(requests: Iterable[Request]) -> Iterator[Path]:
    for request in requests:
        if request.permission == "external_directory":
            names = (*request.patterns, *request.implied)
            yield from (Path(name) for name in names if name not in request.only_read)


def _outside(requests: Iterable[Request]) -> Iterator[Path]:
    """What lies outside and was granted, to be read at least."""
    for request in requests:
        if request.permission == "external_directory":
            yield from (Path(name) for name in (*request.patterns, *request.implied))
