"""The permissions that a command line needs: for folders outside, for files read and changed, and for its commands."""

import itertools
import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from toolwright.calls.request import Below, PathPattern, Request
from toolwright.machine.git_index import index_around
from toolwright.shell.analysis.analysis import Analysis
from toolwright.shell.requests.commands import JudgedPath, PlaceOf, about_commands
from toolwright.shell.requests.matching import MOST, is_wild, matched
from toolwright.shell.requests.public_files import is_open_to_all
from toolwright.shell.state.findings import Touch

_PROGRAMS = ("/bin", "/sbin", "/usr", "/opt", "/nix/store", "/snap/bin", "/Applications", "/Library", "/System")
"""Folders of the machine's own programs; running one of them is not leaving the project."""
OFFERED = 12
"""Places that are offered to be allowed for longer; a list that nobody reads is none."""
_TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp")  # noqa: S108 - folders that a command line names


def requests_for(analysis: Analysis, place: PlaceOf) -> list[Request]:
    """Everything that has to be allowed before the line may run, in the order in which it is asked."""
    paths = _Paths(analysis, place)
    return [*paths.external(), *paths.read(), *paths.edit(), *about_commands(analysis, place)]


def checks_for(analysis: Analysis, place: PlaceOf) -> list[Request]:
    """Return the requests that no rule may forbid but nobody needs to be asked about.

    `> file` runs no command, and whether the file may be written is settled by `edit`; but where commands are
    forbidden altogether, it must not slip through. Nor must a file of the machine that everybody may read, where
    nothing outside may be touched. In a box that is complete, what lies outside may be listed by any program.
    """
    requests = [Request(permission="bash", patterns=analysis.bare, always=())] if analysis.bare else []
    paths = _Paths(analysis, place)
    read = [path for path in analysis.paths("read", "take", "carry", "look") if paths.is_open(path, path)]
    listed = paths.listed() if analysis.confinement.complete else []
    outside = [(path, str(place(path).path)) for path in (*read, *listed) if not place(path).inside]
    if outside:
        patterns = tuple(dict.fromkeys(itertools.chain.from_iterable(outside)))
        requests.append(Request(permission="external_directory", patterns=patterns, always=()))
    return requests


class _Paths:
    """The paths of a line by what is done to them, with wildcards and the line's own links resolved."""

    def __init__(self, analysis: Analysis, place: PlaceOf) -> None:
        self.analysis = analysis
        self.place = place
        self.unjudged = False
        """True if a wildcard names more files than were looked at."""
        self._known: dict[str, JudgedPath] = {}
        self._ranks = {path: rank for rank, path in enumerate(analysis.order)}
        self._wild: dict[str, str] = {}
        """For each file that a wildcard names at the moment, the wildcard."""

    def at(self, path: str) -> JudgedPath:
        if path not in self._known:
            self._known[path] = self.place(path)
        return self._known[path]

    def named(self, *kinds: Touch) -> list[str]:
        """The paths, those they are by the line's own links, and for wildcards the files they name at the moment."""
        named: dict[str, None] = {}
        for kind in kinds:
            for path in self.analysis.touched.get(kind, ()):
                for alias in self._aliases(path):
                    named[alias] = None
                    if is_wild(alias):
                        more, complete = matched(alias)
                        named.update(dict.fromkeys(more))
                        self._wild.update(dict.fromkeys((name for name in more if name != alias), alias))
                        contained = _is_some_below(alias) and self.analysis.confinement.complete
                        self.unjudged = self.unjudged or not (complete or contained)
        return list(named)

    def _aliases(self, path: str) -> Iterator[str]:
        yield path
        for name, leads in self.analysis.links.items():
            if path == name or path.startswith(f"{name}/"):
                yield leads + path[len(name) :]

    def existing(self, *kinds: Touch) -> list[str]:
        return [path for path in self.named(*kinds) if os.path.lexists(path)]

    def external(self) -> Iterator[Request]:
        """One question for all paths outside, with the folder that holds each as the lasting approval."""
        changed = [*self.named("delete", "write", "within", "lose"), *self.existing("overwrite", "into")]
        looked: list[Touch] = [] if self.analysis.confinement.complete else ["look"]
        read = [*self.named("read", "take", "carry", *looked), *self.existing("mention"), *self._run()]
        visible: dict[str, None] = {}
        real: dict[str, None] = {}
        written: set[str] = set()
        for path in sorted(itertools.chain(self._worked_in(), changed, read), key=self._rank):
            there = self.at(path)
            is_read = path not in changed
            if there.inside or self._is_own(str(there.path)) or (is_read and self.is_open(path, str(there.path))):
                continue
            spelled = self.analysis.shown(path)
            texts = (str(there.path), str(self.at(spelled if "…" not in spelled else path).path))
            written |= set() if is_read else set(texts)
            real[texts[0]] = None
            if not self._is_told(path):
                visible[texts[1]] = None
        if not visible:
            return
        named = dict.fromkeys((*visible, *real))
        only_read = tuple(path for path in named if path not in written)
        offered = dict.fromkeys(pattern for path in named for pattern in _lasting(path))
        changing = {pattern for path in named if path in written for pattern in _lasting(path)}
        yield Request(
            permission="external_directory",
            patterns=tuple(visible),
            implied=tuple(path for path in real if path not in visible),
            always=tuple(offered),
            always_reading=tuple(pattern for pattern in offered if pattern not in changing),
            only_read=only_read,
        )

    def _worked_in(self) -> list[str]:
        """The folders entered. `cd sub && make; cd ..` leads out only if `sub` is not there, and does nothing then."""
        entered = self.named("enter")
        folders = [command.folders for command in self.analysis.commands]
        back = any(path.endswith("/..") and self.at(path).inside for path in entered)
        if not back or not all(folders) or any(map(is_wild, itertools.chain(*folders))):
            return entered
        used = {one for place in itertools.chain(*folders) for one in (place, posixpath.normpath(place))}
        return [path for path in entered if not path.endswith("/..") or posixpath.normpath(path) in used]

    def listed(self) -> list[str]:
        """Return the paths where it is only looked what is there."""
        return [path for path in self.named("look") if not self._is_own(str(self.at(path).path))]

    def _rank(self, path: str) -> int:
        """Return the place in the line of a path, or of what stands for it."""
        return self._ranks.get(self._wild.get(path, path), len(self._ranks))

    def _is_told(self, path: str) -> bool:
        """Tell whether a wildcard that is shown says it all: one of a folder outside, fitting what lies right there."""
        wildcard = self._wild.get(path)
        if wildcard is None or path in self._ranks:
            return False
        return not self.at(wildcard).inside and str(self.at(path).path) == path

    def _is_own(self, path: str) -> bool:
        """Tell whether it lies in a folder for temporary files that is the command's own."""
        private = self.analysis.confinement.private_tmp
        return private and any(path == folder or path.startswith(f"{folder}/") for folder in _TEMPORARY)

    def is_open(self, path: str, canonical: str) -> bool:
        """Tell whether everybody may read it, or git shows it anyway."""
        settings = (".gitconfig", ".config/git/config", ".config/git/ignore")
        if path in (f"{self.analysis.home}/{name}" for name in settings):
            return True
        return path not in self.analysis.touched.get("run", ()) and is_open_to_all(path, canonical)

    def _run(self) -> Iterator[str]:
        """Programs that lie outside; the folder counts, for the program itself is often a link to the machine's own."""
        for path in self.analysis.touched.get("run", ()):
            folder = self.at(posixpath.dirname(path))
            if not folder.inside and not str(folder.path).startswith(_PROGRAMS):
                yield path

    def read(self) -> Iterator[Request]:
        """Yield requests for what is shown of files, or carried off with its folder, as a later name would not tell."""
        self.unjudged = False
        named = [*self.named("read", "take", "carry"), *self.existing("mention")]
        whole: list[Touch] = ["carry", "take"]
        named, listed = self._without_listed(named)
        if self.analysis.confinement.complete:
            # What may not be read is hidden there: some file of a folder, or of very many, is none of those.
            whole, listed, self.unjudged = ["carry"], [], False
        below = [*self._below(whole, absolute=True), *self._history(), *self._searched()]
        below += self._some_of(listed, absolute=True)
        patterns = tuple(dict.fromkeys(self.at(path).absolute_pattern for path in named))
        yield from self._files("read", patterns, (), below, ())

    def edit(self) -> Iterator[Request]:
        self.unjudged = False
        named = [*self.named("write", "delete"), *self.existing("overwrite")]
        contained = self.analysis.confinement.complete
        named, listed = self._without_listed(named) if contained else (named, [])
        patterns = tuple(dict.fromkeys(self.at(path).pattern for path in named))
        implied = tuple(dict.fromkeys(self.at(path).pattern for path in self.named("into") if _may_be_in(path)))
        below = [*self._below(["delete"]), *self._below(["within", "overwrite"], certain=False)]
        below += self._some_of(listed)
        # No box keeps work that is not committed.
        below += [replace(one, guarded=False) for one in self._below(["lose"], certain=False)]
        discarded = () if contained else self._tracked("discard", absolute=False)
        below += [replace(one, grows=False) for one in discarded]
        below += self._filled()
        suspected = (
            () if contained else tuple(dict.fromkeys(self.at(path).pattern for path in self.existing("mention")))
        )
        yield from self._files("edit", patterns, tuple(one for one in implied if one not in patterns), below, suspected)

    def _files(
        self,
        permission: str,
        patterns: tuple[PathPattern, ...],
        implied: tuple[PathPattern, ...],
        below: list[Below],
        suspected: tuple[PathPattern, ...],
    ) -> Iterator[Request]:
        if not (patterns or implied or below or suspected):
            return
        reasons = ["A wildcard names more files than are judged one by one."] if self.unjudged else []
        reasons += [f"Something in {one.folder} may be among it." for one in below if not one.certain][:1]
        reasons += [f"It may change {one}." for one in suspected if one not in patterns][:3]
        yield Request(
            permission=permission,
            patterns=patterns or tuple(dict.fromkeys(one.folder for one in below)),
            implied=implied,
            below=tuple(below),
            suspected=suspected,
            always=_narrow((*patterns, *implied, *(one.folder for one in below), *suspected)),
            must_ask=self.unjudged,
            contained=self.unjudged,
            metadata={"reasons": reasons} if reasons else {},
        )

    def _below(self, kinds: Iterable[Touch], *, absolute: bool = False, certain: bool = True) -> Iterator[Below]:
        for path in self.named(*kinds):
            there = self.at(path)
            pattern = there.absolute_pattern if absolute else there.pattern
            names, complete = _content(str(there.path))
            # a box keeps what may not be touched, whether it was counted or not
            complete = complete or self.analysis.confinement.complete
            guarded = self.analysis.confinement.complete and not certain
            yield Below(folder=pattern, names=names, complete=complete, certain=certain, guarded=guarded)

    def _without_listed(self, paths: Sequence[str]) -> tuple[list[str], list[str]]:
        """Those that are named, and those that are only some of what a listing names."""
        named_and_listed: tuple[list[str], list[str]] = ([], [])
        for path in paths:
            named_and_listed[_is_some_below(self._wild.get(path, ""))].append(path)
        return named_and_listed

    def _some_of(self, paths: Sequence[str], *, absolute: bool = False) -> Iterator[Below]:
        by_folder = dict[str, list[str]]()
        for path in paths:
            folder = self._wild[path].partition("/**")[0] or "/"
            by_folder.setdefault(folder, []).append(path[len(folder) :].lstrip("/"))
        for folder, names in by_folder.items():
            there = self.at(folder)
            pattern = there.absolute_pattern if absolute else there.pattern
            guarded = self.analysis.confinement.complete
            yield Below(folder=pattern, names=tuple(names), certain=False, grows=False, listed=True, guarded=guarded)

    def _filled(self) -> Iterator[Below]:
        """A folder that is written to may get or lose anything; what a box keeps need not be looked for."""
        written = () if self.analysis.confinement.complete else (*self.named("write"), *self.existing("mention"))
        for path in dict.fromkeys(written):
            there = self.at(path)
            if there.inside and str(there.pattern) != "." and there.path.is_dir():
                names, complete = _content(str(there.path))
                yield Below(folder=there.pattern, names=names, complete=complete, certain=False, broad=not complete)

    def _searched(self) -> Iterator[Below]:
        """A folder that is read is read with all that is in it; a box hides there what may not be read.

        Of very much, or the whole project, only places that a rule names count, and the project is shown only by what
        is there to show things: else every other command would be asked about.
        """
        if self.analysis.confinement.complete:
            return
        searched = set(self.named("search"))
        for path in dict.fromkeys((*self.named("read"), *self.existing("mention"))):
            there = self.at(path)
            whole = str(there.pattern) == "."
            if there.inside and there.path.is_dir() and (path in searched or not whole):
                names, complete = _content(str(there.path))
                broad = whole or not complete
                pattern = there.absolute_pattern
                yield Below(folder=pattern, names=names, complete=complete, certain=False, broad=broad)

    def _history(self) -> Iterator[Below]:
        """Yield what git shows without being told of which file: any that is tracked."""
        yield from self._tracked("history")
        for folder in self.named("past"):
            yield Below(folder=self.at(folder).absolute_pattern, complete=False, certain=False)

    def _tracked(self, kind: Touch, *, absolute: bool = True) -> Iterator[Below]:
        """Yield what git has there, below the folder that was named."""
        for path in self.named(kind):
            real = str(self.at(path).path)
            index = index_around(real)
            if index is not None and not index.files:
                continue
            top, files = (index.top, index.files) if index is not None else (path, {})
            start = posixpath.relpath(real, top)
            names = tuple(one for one in files if start == "." or f"{one}/".startswith(f"{start}/"))
            pattern = self.at(top).absolute_pattern if absolute else self.at(top).pattern
            yield Below(folder=pattern, names=names, complete=index is not None, certain=False)


def _is_some_below(wildcard: str) -> bool:
    """Tell whether it stands for some of what a listing names, nobody knows which."""
    return "**" in wildcard


def _content(folder: str) -> tuple[tuple[str, ...], bool]:
    """The names of all files in a folder and below it, and whether those are all."""
    if not os.path.isdir(folder) or os.path.islink(folder):  # noqa: PTH112, PTH114 - text
        return (), True
    names: list[str] = []
    for parent, folders, files in os.walk(folder):
        start = parent[len(folder) :].strip("/")
        for name in (*files, *folders):
            if len(names) == MOST:
                return tuple(names), False
            names.append(f"{start}/{name}" if start else name)
    return tuple(names), True


def _may_be_in(path: str) -> bool:
    """Tell whether the folder of a name that a copy may get is one, or may become one."""
    folder = posixpath.dirname(path)
    return os.path.isdir(folder) or not os.path.lexists(folder)  # noqa: PTH112 - text


def _narrow(patterns: Sequence[PathPattern]) -> tuple[str, ...]:
    """The places themselves: out of what a command does, no rule for every file is offered."""
    named = tuple(dict.fromkeys(map(str, patterns)))
    broad = any(not one.rstrip("*").strip("./") for one in named)
    return () if broad or len(named) > OFFERED else named


def _lasting(path: str) -> tuple[str, ...]:
    """The folder that holds the path, but never the whole file system."""
    folder = posixpath.dirname(path)
    if path == "/":
        return ("/",)
    return (path, f"{path}/*") if folder == "/" else (f"{folder}/*",)
