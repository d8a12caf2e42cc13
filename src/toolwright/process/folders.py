"""Folders that matter to a sandbox: package caches to write, git folders and settings to protect, doors to hide."""

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from toolwright.record import record

SETTINGS = ("toolwright.json", "toolwright.jsonc", ".toolwright", "opencode.json", "opencode.jsonc", ".opencode")
"""What tells us what is allowed is not for a command to write."""
GIT_CODE = ("hooks", "config", "config.worktree")
"""What in a git folder can make git run programs."""


@record(frozen=True, slots=True, kw_only=True)
class Cache:
    """A folder in the home folder that a package manager fills."""

    folder: str
    program: str = ""
    """Who needs it: the folder is made if that program is there. Without one it is always made."""
    protected: tuple[str, ...] = ()
    """Parts of it that are programs or settings, not cache."""


CACHES = (
    Cache(folder=".cache"),
    Cache(folder=".npm", program="npm"),
    Cache(folder=".yarn", program="yarn", protected=("bin", "switch")),
    Cache(folder=".local/share/pnpm/store", program="pnpm"),
    Cache(folder=".bun/install/cache", program="bun"),
    Cache(folder=".local/share/uv", program="uv", protected=("tools",)),
    Cache(
        folder=".cargo",
        program="cargo",
        protected=("bin", "env", "config", "config.toml", "credentials", "credentials.toml"),
    ),
    Cache(folder="go/pkg", program="go"),
    Cache(folder=".m2/repository", program="mvn"),
    Cache(folder=".gradle/caches", program="gradle"),
    Cache(folder=".nuget/packages", program="dotnet"),
    Cache(folder=".bundle/cache", program="bundle"),
)

CONTROL_SOCKETS = (
    "/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
    "/run/systemd/private",
    "/run/dbus/system_bus_socket",
    "/run/screen",
)
"""Whoever reaches these has somebody outside run programs, walls or no walls."""
USER_SOCKETS = ("docker.sock", "podman/podman.sock", "systemd/private", "bus")
"""The same in the folder that a user has below /run/user."""


def control_sockets() -> tuple[str, ...]:
    """The doors out of every box that this user could open."""
    own = Path("/run/user", str(os.getuid())) if hasattr(os, "getuid") else Path("/run/user")
    return (*CONTROL_SOCKETS, *(str(own / name) for name in USER_SOCKETS))


def cache_folders(home: Path) -> tuple[list[Path], list[Path]]:
    """The caches there are or should be, and what in them is protected."""
    writable, protected = list[Path](), list[Path]()
    for cache in CACHES:
        folder = home / cache.folder
        if not folder.is_dir() and (not cache.program or shutil.which(cache.program)):
            _make(folder)
        if folder.is_dir() and os.access(folder, os.W_OK):
            writable.append(folder.resolve())
            protected += [part.resolve() for name in cache.protected if (part := folder / name).exists()]
    return writable, protected


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except OSError:
        return


def settings_of(directory: Path, root: Path) -> list[Path]:
    """Every place from the folder opened up to its root where settings are looked for, there or not."""
    folders = [directory, *(parent for parent in directory.parents if parent.is_relative_to(root))]
    return [folder / name for folder in folders for name in SETTINGS]


def git_folder(root: Path) -> Path | None:
    """Where git keeps what belongs to the work tree at `root`."""
    entry = root / ".git"
    if entry.is_dir():
        return entry.resolve()
    try:
        kind, _, named = entry.read_text("utf-8").partition(":")
    except (OSError, UnicodeDecodeError):
        return None
    folder = (root / named.strip()).resolve()
    return folder if kind == "gitdir" and folder.is_dir() and _belongs(folder, root) else None


def _belongs(folder: Path, root: Path) -> bool:
    """Whether a git folder elsewhere names this work tree as its own.

    The `.git` file alone proves nothing: a command could write one, to have any folder opened to the next command.
    """
    back = _first_line(folder / "gitdir")
    if back:
        return (folder / back).resolve() == (root / ".git").resolve() and folder.parent.name == "worktrees"
    lines = _lines(folder / "config")
    named = [line.partition("=")[2].strip() for line in lines if line.strip().startswith("worktree")]
    return any((folder / name).resolve() == root.resolve() for name in named)


def common_folder(folder: Path) -> Path:
    """The folder that linked work trees share; of any other the folder itself."""
    common = _first_line(folder / "commondir")
    shared = (folder / common).resolve() if common else folder
    return shared if folder.parent.parent == shared else folder


def git_code(folders: Iterable[Path]) -> list[Path]:
    """What in these git folders, and in those of submodules, can make git run programs."""
    found = list[Path]()
    for folder in folders:
        for place in (folder, *_modules(folder)):
            found += [part for name in GIT_CODE if (part := place / name).exists()]
    return found


def _modules(folder: Path) -> Sequence[Path]:
    """A submodule's folder is named by its path, which is mostly one or two parts long."""
    modules = folder / "modules"
    return [head.parent for depth in ("*", "*/*") for head in modules.glob(f"{depth}/HEAD")]


def _first_line(path: Path) -> str:
    return next(iter(_lines(path)), "").strip()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
