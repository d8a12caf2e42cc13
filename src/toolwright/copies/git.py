"""Git as we run it on folders of other people: with no settings, hooks or filters but ours.

Repositories within such a folder have settings of their own, which name programs, and `git add` and `git diff` would
run `git status` in each. So files are compared and kept by what looks no deeper than the commit checked out there.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from toolwright.config.places import own_programs
from toolwright.errors import UsageError
from toolwright.process.running.child import run_child
from toolwright.record import record

LONGEST = 1800.0
"""Seconds for one command of git, such as a clone."""
AS_THEY_ARE = "* -text !eol -filter -ident !working-tree-encoding !merge !diff\n"
"""Attributes by which every byte of a file is kept, whatever the project's own attributes say."""
_SETTINGS = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.autocrlf=false", "core.attributesFile=/dev/null"),
    "diff.submodule=short",
)
_DIFFERENT = ("ls-files", "-z", "-t", "--others", "--modified", "--deleted", "--exclude-standard")
_REMOVED = "R"
_IDENTITY = ("user.name=toolwright", "user.email=toolwright@localhost", "commit.gpgsign=false", "gc.auto=0")


@record(frozen=True, slots=True, kw_only=True)
class Repository:
    """A bare repository of ours, and a folder whose files it knows."""

    base: Path
    folder: Path

    async def begin(self, excluded: str = "") -> str:
        """Make the repository, keep the files of the folder in it, and return the tree."""
        await run_git("init", "--quiet", "--bare", "--template=", str(self.base), cwd=self.folder)
        info = self.base / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(AS_THEY_ARE)
        (info / "exclude").write_text(excluded)
        tree = await self.snapshot(self.folder)
        commit = (await self.git(*_set(_IDENTITY), "commit-tree", "-m", "base", tree)).strip()
        await self.git("update-ref", "HEAD", commit)
        return tree

    async def snapshot(self, folder: Path) -> str:
        """Keep what is in a folder now, but for what its ignore files name; return the tree."""
        index = str(self.base / f"index-{'copy' if folder == self.folder else 'other'}")
        more = {"GIT_INDEX_FILE": index}
        listed = await self.git(*_DIFFERENT, folder=folder, more=more)
        removed, there, nested = _sorted(listed, folder)
        for how, paths in (("--force-remove", removed), ("--add --remove --replace", there)):
            if paths:
                await self.git("update-index", "-z", *how.split(), "--stdin", folder=folder, more=more, paths=paths)
        for path in nested:
            with suppress(UsageError):  # without a commit it is nothing yet
                await self.git("update-index", "--add", "--replace", "--", path, folder=folder, more=more)
        return (await self.git("write-tree", folder=folder, more=more)).strip()

    async def git(
        self,
        *arguments: str,
        folder: Path | None = None,
        more: Mapping[str, str] | None = None,
        paths: Iterable[str] = (),
    ) -> str:
        """Run one command of git, which may be given paths, and return what it prints."""
        work = folder or self.folder
        where = (f"--git-dir={self.base}", f"--work-tree={work}")
        data = b"".join(os.fsencode(one) + b"\0" for one in paths) or None
        out = await _run(*_set(_SETTINGS), *where, *arguments, cwd=work, more=more, data=data)
        return out.decode("utf-8", "surrogateescape")

    async def answer(self, *arguments: str, asked: bytes) -> bytes:
        """Run one command of git that is asked by its input, and return what it prints."""
        return await _run(*_set(_SETTINGS), f"--git-dir={self.base}", *arguments, cwd=self.base, data=asked)


def _sorted(listed: str, folder: Path) -> tuple[set[str], list[str], list[str]]:
    """Sort what git lists as different: files that are gone, those that are there, and repositories within."""
    states = [(one[0], one[2:].removesuffix("/")) for one in listed.split("\0") if one]
    removed = {path for state, path in states if state == _REMOVED}
    there, nested = list[str](), list[str]()
    for path in dict.fromkeys(path for _, path in states if path not in removed):
        place = folder / path
        if place.is_symlink() or place.is_file():
            there.append(path)
        elif os.path.lexists(place / ".git"):
            nested.append(path)
        else:
            removed.add(path)  # a folder in the place of a file, or a pipe
    return removed, there, nested


async def run_git(*arguments: str, cwd: Path, more: Mapping[str, str] | None = None) -> str:
    """Run our git and return what it prints; UsageError with its last words if it fails."""
    return (await _run(*arguments, cwd=cwd, more=more)).decode("utf-8", "surrogateescape")


async def _run(*arguments: str, cwd: Path, more: Mapping[str, str] | None = None, data: bytes | None = None) -> bytes:
    programs = own_programs(Path.cwd(), cwd)
    git = programs.find("git")
    if git is None:
        reason = programs.why_not("git") or "git is not installed"
        raise UsageError(f"{reason}; copies of a project need it.")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "PATH": programs.path}
    environment |= more or {}
    try:
        ran = await run_child([git, *arguments], cwd=cwd, env=environment, seconds=LONGEST, data=data)
    except FileNotFoundError as error:
        raise UsageError(f"{cwd} is not there, or {git} is not any more.") from error
    except TimeoutError as error:
        raise UsageError(f"git {_verb(arguments)} failed: {error}.") from error
    if ran.code:
        reason = " ".join(ran.err.decode("utf-8", "replace").strip().splitlines()[-2:])
        raise UsageError(f"git {_verb(arguments)} failed: {reason}")
    return ran.out


def _set(settings: Sequence[str]) -> list[str]:
    return [word for setting in settings for word in ("-c", setting)]


def _verb(arguments: Sequence[str]) -> str:
    words = iter(arguments)
    for word in words:
        if word == "-c":
            next(words, "")
        elif not word.startswith("-"):
            return word
    return ""
