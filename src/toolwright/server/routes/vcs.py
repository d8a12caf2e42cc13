"""Git in a folder: which files have changed, and how."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from toolwright.app.branch import branch_of
from toolwright.http_server.refusal import HttpRefusal, bad_request, forbidden
from toolwright.machine.plain_files import read_start
from toolwright.process.running.child import run_child
from toolwright.record import record
from toolwright.server.asking import RouteCall, Routes
from toolwright.text.diff import unified
from toolwright.workspace import Workspace

routes = Routes()

SECONDS = 20.0
MOST_FILES = 2000
MOST_BYTES = 1_000_000
"""Of a file that git does not know yet."""
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_PLAIN = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotepath=false")
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--ignore-submodules=dirty")
"""To know whether a repository within is dirty, git would run there what that one is set up with."""
_STATES = {"A": "added", "D": "deleted"}


@record(frozen=True, slots=True, kw_only=True)
class GitChange:
    """A file that differs from a commit."""

    name: str
    status: str
    additions: int
    deletions: int
    tracked: bool = True


@routes.get("/vcs", "vcs.get")
async def branch(ask: RouteCall) -> Any:
    """The branch that is checked out; nothing without git."""
    name = await asyncio.to_thread(branch_of, (await ask.workspace()).config.root)
    return {"branch": name} if name else {}


@routes.get("/vcs/status", "vcs.status")
async def status(ask: RouteCall) -> Any:
    """The files that differ from the last commit, and those that git does not know yet."""
    git = Git(await ask.workspace())
    return [
        {"file": one.name, "additions": one.additions, "deletions": one.deletions, "status": one.status}
        for one in await git.changed(await git.last())
    ]


@routes.get("/vcs/diff", "vcs.diff")
async def diff(ask: RouteCall) -> Any:
    """The same with the changes: since the last commit, or since the branch began (`mode=branch`)."""
    mode = ask.query("mode", "git")
    if mode not in ("git", "branch"):
        raise bad_request(f"mode is git or branch, not {mode[:40]!r}.")
    git = Git(await ask.workspace())
    base = await git.last() if mode == "git" else await git.beginning()
    files = await git.changed(base)
    patches = await git.patches(base, files, ask.query_int("context", 3, 10_000))
    return [
        {
            "file": one.name,
            "patch": patches.get(one.name, ""),
            "additions": one.additions,
            "deletions": one.deletions,
            "status": one.status,
        }
        for one in files
    ]


class Git:
    """Questions to git about one folder. It is asked only where the user trusts what git itself is set up to run."""

    def __init__(self, workspace: Workspace) -> None:
        if not workspace.trusted:
            raise forbidden("Git is not asked in a project that is not trusted. Run `tw trust` in it first.")
        self.root = workspace.config.root
        self._may_read = workspace.config.may_read
        self._program = workspace.lookup.find("git")
        kept = {key: value for key, value in workspace.environment.items() if not key.startswith("GIT_")}
        self._environment = kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}

    async def last(self) -> str:
        """The last commit; the empty tree where there is none yet."""
        return (await self._output("rev-parse", "--verify", "-q", "HEAD", may_fail=True)).strip() or _EMPTY_TREE

    async def beginning(self) -> str:
        """Return the commit at which the branch left the main one."""
        named = await self._output("rev-parse", "--abbrev-ref", "-q", "origin/HEAD", may_fail=True)
        for name in (named.strip(), "main", "master"):
            base = await self._output("merge-base", "HEAD", name, may_fail=True) if name else ""
            if base.strip():
                return base.strip()
        return await self.last()

    async def changed(self, base: str) -> list[GitChange]:
        """The files that differ from a commit, without those that may not be read."""
        if self._program is None or not (self.root / ".git").exists():
            return []
        states = _pairs(await self._output(*_DIFF, "--name-status", "-z", base, "--"))
        counts = _counts(await self._output(*_DIFF, "--numstat", "-z", base, "--"))
        untracked = (await self._output("ls-files", "-z", "--others", "--exclude-standard")).split("\0")
        names = [*states, *filter(None, untracked)][:MOST_FILES]
        readable = await asyncio.to_thread(lambda: [name for name in names if self._may_read(self.root / name)])
        files = [
            GitChange(
                name=name,
                status=_STATES.get(states[name], "modified") if name in states else "added",
                additions=counts[name][0] if name in counts else len(_text_of(self.root / name).splitlines()),
                deletions=counts[name][1] if name in counts else 0,
                tracked=name in states,
            )
            for name in readable
        ]
        return sorted(files, key=lambda file: file.name)

    async def patches(self, base: str, files: Iterable[GitChange], context: int) -> Mapping[str, str]:
        """The unified difference of each file, by name."""
        patches: dict[str, str] = {}
        names = [one.name for one in files if one.tracked]
        if names:
            text = await self._output(*_DIFF, f"-U{context}", base, "--", *(f":(literal,top){name}" for name in names))
            pieces = [f"diff --git {piece.rstrip()}\n" for piece in f"\n{text}".split("\ndiff --git ")[1:]]
            patches = dict(zip(sorted(names, key=str.encode), pieces, strict=False))
        new = (one.name for one in files if not one.tracked)
        return patches | {name: unified(name, "", _text_of(self.root / name)) for name in new}

    async def run(self, *words: str) -> str:
        """Return what git prints for a command; a refusal where it fails, or where there is no repository."""
        if self._program is None or not (self.root / ".git").exists():
            raise bad_request("This folder is no repository of git.")
        return await self._output(*words)

    async def _output(self, *words: str, may_fail: bool = False) -> str:
        if self._program is None:
            return ""
        argv = [self._program, *_PLAIN, *words]
        try:
            ran = await run_child(argv, cwd=self.root, env=self._environment, seconds=SECONDS)
        except (OSError, TimeoutError) as error:
            raise HttpRefusal(500, "UnknownError", f"git {words[0]} failed: {error}.") from error
        if ran.code and not may_fail:
            reason = ran.err.decode("utf-8", "replace").strip().splitlines()
            raise HttpRefusal(500, "UnknownError", f"git {words[0]} failed: {' '.join(reason[-1:])}")
        return ran.out.decode("utf-8", "replace") if not ran.code else ""


def _pairs(text: str) -> dict[str, str]:
    pieces = iter(text.split("\0"))
    return {name: state for state, name in zip(pieces, pieces, strict=False) if name}


def _counts(text: str) -> dict[str, tuple[int, int]]:
    def rows() -> Iterator[tuple[str, tuple[int, int]]]:
        for row in filter(None, text.split("\0")):
            added, removed, name = row.split("\t", 2)
            yield name, (_number(added), _number(removed))

    return dict(rows())


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0  # `-` for what is no text


def _text_of(file: Path) -> str:
    """A file that git does not know yet; empty for what is no text."""
    data = b"" if file.is_symlink() else read_start(file, MOST_BYTES)
    return "" if b"\0" in data else data.decode("utf-8", "replace")
