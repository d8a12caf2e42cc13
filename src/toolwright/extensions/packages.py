"""Plugins that are packages: installed once into a folder of ours, held to what was looked at, then used offline."""

import asyncio
import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.errors import ToolError
from toolwright.extensions.environments import alone, in_time, run_step
from toolwright.machine.private_files import make_folder, open_private
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.process.programs.lookup import Lookup
from toolwright.process.programs.nodejs import EXTRA, npm_command

_NAME = re.compile(r"(?:@[a-z0-9~][\w.~-]*/)?[a-z0-9~][\w.~-]*", re.IGNORECASE)
_ELSEWHERE = ("git+", "git:", "github:", "gitlab:", "bitbucket:", "http://", "https://")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ALIAS = "plugin"
"""Name of a package in its folder that does not come from the registry."""
_ENTRY = """\
// {name} {version} {integrity}
import * as all from "{main}"
export * from "{main}"
export default all.default
"""
_CONDITIONS = ("./server", ".", "import", "default", "node", "require")


@record(frozen=True, slots=True, kw_only=True)
class Package:
    """A package as settings name it."""

    spec: str
    name: str
    """In the registry, or in its folder."""
    wanted: str
    """A version, a range, a tag, or the address it is fetched from."""


@record(frozen=True, slots=True, kw_only=True)
class Lock:
    """The release of a package that counts."""

    spec: str
    name: str
    version: str
    integrity: str
    """The hash of its archive, or the commit."""

    def __str__(self) -> str:
        return f"{self.name} {self.version} {self.integrity}"


def package_of(spec: str) -> Package | None:
    """The package that an entry of the settings names; None for what names none."""
    if spec.startswith(_ELSEWHERE):
        return Package(spec=spec, name=_ALIAS, wanted=spec)
    name, at, wanted = spec[1:].partition("@")
    name = spec[:1] + name
    if not _NAME.fullmatch(name) or (at and not wanted):
        return None
    return Package(spec=spec, name=name, wanted=wanted or "latest")


@record(frozen=True, slots=True, kw_only=True)
class PackageStore:
    """The folder of packages. Each has one of its own, with all that it depends on."""

    folder: Path
    lookup: "Lookup"
    environment: Mapping[str, str]

    def entry(self, package: Package) -> Path:
        """The file by which a package is loaded; it is there once the package is."""
        return self._place(package) / "plugin.mjs"

    def lock(self, package: Package) -> Lock | None:
        """Return the release of it that is installed, or is to be."""
        return _read_lock(self._place(package) / "lock.json")

    def locks(self) -> list[Lock]:
        """The packages that are installed, or are to be."""
        locks = (_read_lock(file) for file in sorted(self.folder.glob("*/lock.json")))
        return [lock for lock in locks if lock is not None]

    async def resolve(self, package: Package) -> Lock:
        """Return the release that is meant, by registry or repository; of an archive it is known once it is there."""
        if (known := self.lock(package)) is not None:
            return known
        if package.name == _ALIAS:
            commit = await self._commit(package)
            return Lock(spec=package.spec, name=package.spec, version="", integrity=commit)
        query = f"{package.name}@{package.wanted}"
        async with in_time(f"The packages of {package.spec}"):
            text = await self._npm(["view", "--json", query, "version", "dist.integrity"], None)
        try:
            releases: Any = read_json(text)
        except ValueError:
            releases = None
        newest = releases[-1] if isinstance(releases, list) and releases else releases
        if not isinstance(newest, dict) or not newest.get("version") or not newest.get("dist.integrity"):
            raise ToolError(f"The registry has no release {query!r}. Correct the entry in `plugin`.", "not_found")
        version, integrity = str(newest["version"]), str(newest["dist.integrity"])
        return Lock(spec=package.spec, name=package.name, version=version, integrity=integrity)

    async def _commit(self, package: Package) -> str:
        """The commit that is meant by the address of a repository; empty for what is none, or none of its branches."""
        address, _, wanted = package.spec.partition("#")
        if address.startswith("github:"):
            address = f"git+https://github.com/{address.removeprefix('github:')}.git"
        git = self.lookup.find("git")
        if git is None or not address.startswith("git+"):
            return ""
        words = [git, "ls-remote", "--", address.removeprefix("git+"), wanted or "HEAD"]
        async with in_time(f"The packages of {package.spec}"):
            refs = await run_step(words, {**self.lookup.around(self.environment), "GIT_TERMINAL_PROMPT": "0"})
        return refs.split()[0] if refs.split() else ""

    def pin(self, package: Package, lock: Lock) -> None:
        """Have this release installed and no other."""
        place = self._place(package)
        make_folder(place)
        _write(place / "lock.json", {key: getattr(lock, key) for key in ("spec", "name", "version", "integrity")})

    async def ensure(self, package: Package) -> None:
        """Have the package there: as it was installed before, as it was pinned, or else as it is now."""
        place = self._place(package)
        async with in_time(f"The packages of {package.spec}"), alone(self.folder / f"{place.name}.lock"):
            if not self.entry(package).is_file():
                await self._install(package, place)

    async def update(self, package: Package) -> Lock | None:
        """Install what the settings name as it is now; the old one stays if that fails."""
        place, kept = self._place(package), self.folder / f"{self._place(package).name}.old"
        async with alone(self.folder / f"{place.name}.lock"):
            await asyncio.to_thread(shutil.rmtree, kept, ignore_errors=True)
            if place.exists():
                place.rename(kept)
            try:
                async with in_time(f"The packages of {package.spec}"):
                    await self._install(package, place)
            except BaseException:
                await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
                if kept.exists():
                    kept.rename(place)
                raise
            await asyncio.to_thread(shutil.rmtree, kept, ignore_errors=True)
        return self.lock(package)

    def remove(self, package: Package) -> bool:
        """Delete the package and forget its release; False if there was none."""
        place = self._place(package)
        there = place.exists()
        shutil.rmtree(place, ignore_errors=True)
        (self.folder / f"{place.name}.lock").unlink(missing_ok=True)
        return there

    def _place(self, package: Package) -> Path:
        slug = re.sub(r"[^A-Za-z0-9.-]+", "-", package.spec).strip("-.")[:60]
        return self.folder / f"{slug}-{hashlib.sha256(package.spec.encode()).hexdigest()[:12]}"

    async def _install(self, package: Package, place: Path) -> None:
        pinned = self.lock(package)
        make_folder(place)
        wanted = package.wanted
        if pinned and package.name != _ALIAS:
            wanted = pinned.version or wanted
        elif pinned and _COMMIT.fullmatch(pinned.integrity):
            wanted = f"{wanted.partition('#')[0]}#{pinned.integrity}"
        _write(place / "package.json", {"private": True, "dependencies": {package.name: wanted}})
        step = "ci" if (place / "package-lock.json").is_file() else "install"
        await self._npm([step, "--ignore-scripts", "--no-audit", "--no-fund"], place)
        installed = _installed(place, package)
        if pinned is not None and pinned.integrity and installed.integrity != pinned.integrity:
            shutil.rmtree(place / "node_modules", ignore_errors=True)
            (place / "package-lock.json").unlink(missing_ok=True)
            raise ToolError(
                f"{package.spec} is not what it was when you looked at it: {installed} instead of {pinned}."
                f" It is not used. tw plugin update {package.spec} takes it as it is now."
            )
        main = main_of(place / "node_modules" / package.name)
        if main is None:
            raise ToolError(f"{package.spec} is no plugin: its package.json names no file to load.")
        self.pin(package, installed)
        relative = f"./{main.relative_to(place.resolve()).as_posix()}"
        text = _ENTRY.format(
            name=installed.name, version=installed.version, integrity=installed.integrity, main=relative
        )
        with open_private(self.entry(package)) as stream:
            stream.write(text.encode())

    async def _npm(self, words: Sequence[str], cwd: Path | None) -> str:
        npm = npm_command(self.lookup)
        if not npm:
            raise ToolError(
                f"npm is not on the PATH, which installs plugins that are packages. pip install '{EXTRA}' brings it, "
                "and so does node; or put the package into node_modules beside the settings.",
                "missing",
            )
        return await run_step([*npm, *words], self.lookup.around(self.environment), cwd)


def main_of(folder: Path) -> Path | None:
    """The file that a JavaScript package is entered by."""
    try:
        manifest: Any = read_json((folder / "package.json").read_text("utf-8"))
    except (OSError, ValueError):
        manifest = {}
    manifest = manifest if isinstance(manifest, dict) else {}
    entry = manifest.get("exports")
    while isinstance(entry, dict):
        entry = next((entry[key] for key in _CONDITIONS if key in entry), None)
    for name in (entry, manifest.get("main"), "index.js", "index.mjs", "index.ts"):
        if isinstance(name, str) and (folder / name).is_file():
            return (folder / name).resolve()
    return None


def _installed(place: Path, package: Package) -> Lock:
    """Return what npm has installed, as it has noted it."""
    noted: Any = read_json((place / "package-lock.json").read_text("utf-8"))
    entry: Json = noted.get("packages", {}).get(f"node_modules/{package.name}", {})
    commit = str(entry.get("resolved", "")).partition("#")[2]
    name = str(entry.get("name") or (package.spec if package.name == _ALIAS else package.name))
    integrity = commit or str(entry.get("integrity") or "")
    return Lock(spec=package.spec, name=name, version=str(entry.get("version", "")), integrity=integrity)


def _read_lock(file: Path) -> Lock | None:
    try:
        lock: Any = read_json(file.read_text("utf-8"))
        return Lock(**{key: str(lock[key]) for key in ("spec", "name", "version", "integrity")})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(file: Path, value: Json) -> None:
    with open_private(file) as stream:
        stream.write((json.dumps(value, indent=2) + "\n").encode())
