"""A program that tries everything on files that are not its own; run in a box, it prints what it has read.

Its arguments are a file with a list of paths, each a file or a folder, and a folder: should nothing hold it, it does no
harm outside of that.
"""

import ctypes
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

NEW_USER, NEW_MOUNTS, DETACH = 0x10000000, 0x00020000, 2
BASE = Path(sys.argv[2])
libc = ctypes.CDLL(None)


def up_from(path: Path) -> Iterator[Path]:
    """The place and the folders above it, as far as they may be harmed."""
    for place in (path, *path.parents):
        if place.name and Path(os.path.realpath(place.parent), place.name).is_relative_to(BASE):
            yield place


def spellings(path: Path) -> Iterator[Path]:
    """Ways to the same place: as it is, by the root and the folders of processes, by a link."""
    yield path
    yield from (Path(f"/proc/{process}/root{path}") for process in ("self", "1", str(os.getppid())))
    yield Path(f"/proc/self/cwd/{os.path.relpath(path)}")
    with suppress(OSError):
        handle = os.open(path.parent, os.O_RDONLY)
        yield Path(f"/proc/self/fd/{handle}", path.name)
    with suppress(OSError):
        link = Path(f"link-{path.name}-{os.urandom(4).hex()}")
        link.symlink_to(path)
        yield link


def read(path: Path) -> None:
    names = [one.name for one in path.iterdir()] if path.is_dir() else []
    sys.stdout.write(f"{names or path.read_text(errors='replace')[:200]}\n")


def write(path: Path) -> None:
    for flags in (os.O_WRONLY, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREAT, os.O_WRONLY | os.O_TRUNC):
        with suppress(OSError):
            os.write(os.open(path, flags), b"HOSTILE")


def make(path: Path) -> None:
    with suppress(OSError):
        path.mkdir(parents=True)
    for place in (path / "evil.pth", path / "toolwright.json", path.parent / "evil.pth", path):
        with suppress(OSError):
            place.write_text("HOSTILE")


def rename(path: Path) -> None:
    for place in up_from(path):
        with suppress(OSError):
            moved = place.with_name(f"{place.name}-moved")
            place.rename(moved)
            place.mkdir()
    with suppress(OSError):
        path.rename("carried-off")


def replace(path: Path) -> None:
    for number, other in enumerate((Path("mine"), Path("/tmp/mine"))):
        with suppress(OSError):
            other.write_text(f"HOSTILE {number}")
            other.replace(path)
    with suppress(OSError):
        Path("folder").mkdir()
        Path("folder").replace(path)


def link(path: Path) -> None:
    with suppress(OSError):
        os.link(path, "hard")
        Path("hard").write_text("HOSTILE")
        read(Path("hard"))
    with suppress(OSError):
        path.symlink_to("/etc/hostname")


def change(path: Path) -> None:
    with suppress(OSError):
        path.chmod(0o777)
    with suppress(OSError):
        os.utime(path, (0, 0))
    with suppress(OSError):
        os.truncate(path, 0)


def delete(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    for act in (os.unlink, os.rmdir):
        with suppress(OSError):
            act(path)


def uncover(path: Path) -> None:
    for place in up_from(path):
        libc.umount2(os.fsencode(place), DETACH)


ACTS: tuple[Callable[[Path], None], ...] = (read, write, make, link, change, rename, replace, delete)


def everything(targets: list[Path]) -> None:
    for target in targets:
        for path in spellings(target):
            for act in ACTS:
                with suppress(OSError):
                    act(path)


def main() -> None:
    targets = [Path(name) for name in json.loads(Path(sys.argv[1]).read_text())]
    if not all(target.is_relative_to(BASE) for target in targets):
        raise SystemExit("that would harm the machine")
    everything(targets)
    for target in targets:
        uncover(target)
    libc.unshare(NEW_USER | NEW_MOUNTS)
    for target in targets:
        uncover(target)
    everything(targets)
    sys.stdout.write("TRIED\n")


if __name__ == "__main__":
    main()
