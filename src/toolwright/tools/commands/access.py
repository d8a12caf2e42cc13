"""Access of one command: all that rules and answers open and close for it, the walls its box is to have."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Protocol, TypeVar

from toolwright.calls.request import PathPattern, Request
from toolwright.definition import Action, ToolContext
from toolwright.files.paths import Tree
from toolwright.network.verdict import names_destinations
from toolwright.process.box.access import Access
from toolwright.process.jobs.jobs import Jobs
from toolwright.process.paths.masks import Judge, RestrictedPaths, Restriction
from toolwright.process.paths.safe_stat import ANY_NAME, is_folder, is_there
from toolwright.shell import Analysis
from toolwright.shell.analysis.reach import works_alone
from toolwright.text.wildcard import longest_piece

T = TypeVar("T")
PROGRAM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
LISTED = 500
"""Files of a folder outside the project that are judged one by one."""

_PROGRAM = re.compile(r"([\w.+-]+)(?: \*|\*|)")
_WILD = re.compile(r"[*?]")
_VERSION = re.compile(r"(?:[-.]?\d[\d.]*)?")


def access_for(ctx: ToolContext, tree: Tree, analysis: Analysis, requests: Iterable[Request]) -> Access:
    """All that a box has to know, once the requests have been granted."""
    rules = _Rules(ctx, tree)
    restricted = rules.restricted()
    requests = list(requests)
    outside = set(_outside(requests))
    changed = [*_named(requests, "edit"), *_outside(requests, changed=True)]

    def granted(paths: Iterable[Path]) -> tuple[Path, ...]:
        """Without what nobody was asked about because it is the command's own, as temporary files are."""
        known = (path for path in paths if tree.holds(path) or any(path.is_relative_to(place) for place in outside))
        return tuple(dict.fromkeys(known))

    reads = granted(_named(requests, "read"))
    elsewhere = [place for place in rules.outside() if place not in reads]
    asked = [place for place in restricted.asked if place not in reads]
    deletes = granted(filter(rules.lets_edit, _canonical(analysis.paths("delete"), tree)))
    return replace(
        reach_for(ctx),
        changes=granted(place for place in changed if place not in deletes and rules.lets_edit(place)),
        deletes=deletes,
        enters=tuple(place for place in _canonical(analysis.paths("enter"), tree) if place in outside),
        reads=tuple(dict.fromkeys([*reads, *filter(rules.lets_read, outside)])),
        hidden=(*restricted.unread, *asked, *elsewhere),
        replaceable=tuple(filter(rules.leaves_free, (*restricted.unread, *asked))),
        veiled=rules.veiled(),
        locked=tuple(restricted.locked),
        locked_elsewhere=tuple(rules.locked_elsewhere()),
        spared=tuple(restricted.spared),
        pinned=tuple(restricted.pinned),
        repositories=tuple(restricted.repositories),
        covered=tuple(rules.programs()),
        caches=not works_alone(analysis) or any(_is_at_home(analysis, tree)),
    )


class AgentRules(Protocol):
    """The questions that the rules of an agent are asked."""

    def decide(self, permission: str, pattern: str) -> Action: ...
    def rules_about(self, permission: str) -> tuple[tuple[str, str, Action], ...]: ...
    def use(self, kind: type[T]) -> T: ...


def access_for_programs(ruled: AgentRules, tree: Tree) -> Access:
    """Return what the rules hide from programs that no call has started; they change nothing."""
    rules = _Rules(ruled, tree)
    restricted = rules.restricted()
    return Access(
        hidden=(*restricted.unread, *restricted.asked, *rules.outside()),
        veiled=rules.veiled(),
        repositories=tuple(restricted.repositories),
        read_only=True,
    )


def reach_for(ctx: ToolContext) -> Access:
    """Return the access of the calling agent, whatever the command: whether it may change anything and reach others."""
    read_only = ctx.decide("edit", "*") == "deny"
    return Access(
        read_only=read_only,
        network=ctx.decide("network", "*") != "deny",
        better_offline=read_only and not names_destinations(ctx),
    )


def veiled_names(ctx: ToolContext, tree: Tree) -> tuple[tuple[str, bool], ...]:
    """The names of files that the rules keep from being read, as patterns; the last that fits counts."""
    return _Rules(ctx, tree).veiled()


def is_hidden_by(ctx: ToolContext, tree: Tree, place: Path) -> bool:
    """Tell whether the rules keep a file from being read."""
    return not _Rules(ctx, tree).lets_read(place)


class _Rules:
    """The rules of the agent that calls, asked about files and programs."""

    def __init__(self, ctx: AgentRules, tree: Tree) -> None:
        self._ctx, self._tree = ctx, tree
        self._jobs = ctx.use(Jobs)
        self._rules = {name: ctx.rules_about(name) for name in ("read", "edit", "bash")}
        # Where everything is asked about, nothing stands out: the yes to the command is the yes to what it reads.
        self._asks = ctx.decide("read", self._pattern(f"{tree.root}/{ANY_NAME}")) == "allow"

    def restricted(self) -> RestrictedPaths:
        """Return the restricted places of the project."""
        needles = {name: _needles(self._rules[name]) for name in ("read", "edit")}
        everywhere = "" not in (*needles["read"], *needles["edit"])
        key = (self._rules["read"], self._rules["edit"])
        return self._jobs.sandbox.masks.find(key, self._judge(needles), everywhere=everywhere)

    def outside(self) -> Iterator[Path]:
        """Yield files and folders elsewhere that a rule with a fixed beginning does not let be read, and the names that
        such files have in the project."""
        for fixed in _fixed_places(self._rules["read"]):
            for place in () if self._tree.holds(fixed) else self._below(fixed, self._reading):
                yield place
                yield from map(Path, self._jobs.sandbox.masks.listings.names_of(place))

    def locked_elsewhere(self) -> Iterator[Path]:
        """Yield files and folders elsewhere that a rule with a fixed beginning does not let be changed."""
        denials = tuple(rule for rule in self._rules["edit"] if rule[2] == "deny")
        for place in _fixed_places(denials):
            if not self._tree.holds(place):
                yield from self._below(place, lambda path: not self.lets_edit(Path(path)))

    def lets_edit(self, place: Path) -> bool:
        return self._ctx.decide("edit", self._pattern(str(place))) != "deny"

    def leaves_free(self, place: Path) -> bool:
        """Tell whether a place may be changed without a question."""
        return self._ctx.decide("edit", self._pattern(str(place))) == "allow"

    def lets_read(self, place: Path) -> bool:
        """Tell whether a place may be read, and if it is a folder just anything in it."""
        return not (self._reading(str(place)) or (is_folder(place) and self._reading(f"{place}/{ANY_NAME}")))

    def veiled(self) -> tuple[tuple[str, bool], ...]:
        """Return the rules for the name of a file alone, which count for what git has of it as well."""
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
            match = _PROGRAM.fullmatch(pattern)
            if action == "deny" and match is not None:
                name = match[1]
                if all(self._ctx.decide("bash", f"{name}{rest}") == "deny" for rest in ("", " x", " -x y")):
                    yield name

    def _judge(self, needles: dict[str, tuple[str, ...]]) -> Judge:
        def judge(path: str) -> Restriction:
            lower = path.lower()
            verdict = Restriction.FREE
            if any(needle in lower for needle in needles["read"]):
                verdict |= self._reading(path)
            if any(needle in lower for needle in needles["edit"]):
                denied = self._ctx.decide("edit", self._pattern(path)) == "deny"
                verdict |= Restriction.LOCKED if denied else Restriction.FREE
            return verdict

        return judge

    def _reading(self, path: str) -> Restriction:
        action = self._ctx.decide("read", self._pattern(path))
        if action == "deny":
            return Restriction.UNREAD
        return Restriction.ASKED if action == "ask" and self._asks else Restriction.FREE

    @staticmethod
    def _below(place: Path, restricts: Callable[[str], object]) -> Iterator[Path]:
        """Yield the place, if it is restricted with all that is in it, or else what is in it and restricted."""
        if not is_folder(place):
            if is_there(place) and restricts(str(place)):
                yield place
        elif restricts(f"{place}/{ANY_NAME}"):
            yield place
        else:
            try:
                names = sorted(os.listdir(place))[:LISTED]  # noqa: PTH208 - names are all that is needed
            except OSError:
                return
            yield from (place / name for name in names if restricts(f"{place}/{name}"))

    def _pattern(self, path: str) -> PathPattern:
        root, directory = f"{self._tree.root}/", f"{self._tree.directory}/"
        return PathPattern(path, (path.removeprefix(root), path.removeprefix(directory)))


@lru_cache(maxsize=64)
def _fixed_places(rules: tuple[tuple[str, str, str], ...]) -> tuple[Path, ...]:
    """Return the places of restricting rules with a fixed beginning; what is too near the top to be meant is left."""
    restricting = [pattern for _, pattern, action in rules if action != "allow" and pattern.startswith("/")]
    fixed = ((pattern, _WILD.split(pattern)[0]) for pattern in restricting)
    places = (Path(start if start == pattern else start.rpartition("/")[0] or "/") for pattern, start in fixed)
    return tuple(place for place in dict.fromkeys(places) if len(place.parts) > 2)


@lru_cache(maxsize=64)
def _needles(rules: tuple[tuple[str, str, str], ...]) -> tuple[str, ...]:
    """For each rule that restricts, something that must occur in whatever it fits; nothing if it fits everything."""
    restricting = [pattern for _, pattern, action in rules if action != "allow"]
    return tuple(dict.fromkeys(map(longest_piece, restricting)))


def _is_called(file: str, name: str) -> bool:
    """Tell whether a program has this name, or that and its version, as `python3.11` that `python3` is a link to."""
    return file.startswith(name) and _VERSION.fullmatch(file, len(name)) is not None


def _is_at_home(analysis: Analysis, tree: Tree) -> Iterator[bool]:
    """Of each path it names, whether it lies in the home folder and not in the project."""
    home = f"{analysis.home}/"
    for path in (*analysis.order, *analysis.paths("enter")):
        yield f"{path}/".startswith(home) and not tree.holds(Path(path))


def _canonical(paths: Iterable[str], tree: Tree) -> Iterator[Path]:
    yield from (tree.place(path).path for path in paths)


def _named(requests: Iterable[Request], permission: str) -> Iterator[Path]:
    return (place for request in requests if request.permission == permission for place in request.places)


def _outside(requests: Iterable[Request], *, changed: bool = False) -> Iterator[Path]:
    """Yield what lies outside and was granted, to be read at least; only what is `changed`, if that is asked."""
    for request in requests:
        if request.permission == "external_directory":
            names = (*request.patterns, *request.implied)
            yield from (Path(name) for name in names if not (changed and name in request.only_read))
