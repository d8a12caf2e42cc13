"""A program that changes files at random, by a seed: run as `python programs.py SEED` in the folder it is to change."""

import ctypes
import mmap
import os
import random
import shutil
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

NAMES = ("a", "b", "c", "d", "e", "odd name", "ü")
EXCHANGE, HERE, EMPTY = 2, -100, 0x400
RENAME_AT = {"x86_64": 316, "aarch64": 276}[os.uname().machine]
STEPS = 25


class Program:
    """So many steps, each of which may fail."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.kinds: tuple[Callable[[], object], ...] = (
            self.write,
            self.write,
            self.append,
            self.truncate,
            self.rename,
            self.rename,
            self.exchange,
            self.link,
            self.symlink,
            self.remove,
            self.remove_all,
            self.make_folder,
            self.remove_folder,
            self.mode,
            self.map,
            self.nameless,
            self.replace,
            self.database,
            self.threads,
            self.child,
            self.enter,
        )

    def run(self, steps: int = STEPS) -> None:
        for _ in range(steps):
            with suppress(OSError, ValueError, sqlite3.Error, shutil.Error):
                self.random.choice(self.kinds)()

    def path(self) -> str:
        return "/".join(self.random.choice(NAMES) for _ in range(self.random.choice((1, 1, 2, 2, 3))))

    def data(self) -> bytes:
        return self.random.randbytes(self.random.choice((0, 3, 5_000, 300_000)))

    def write(self) -> None:
        Path(self.path()).write_bytes(self.data())

    def append(self) -> None:
        with Path(self.path()).open("ab") as file:
            file.write(self.data())

    def truncate(self) -> None:
        os.truncate(self.path(), self.random.choice((0, 1, 10)))

    def rename(self) -> None:
        Path(self.path()).rename(self.path())

    def exchange(self) -> None:
        paths = [os.fsencode(self.path()) for _ in range(2)]
        self.libc.syscall(RENAME_AT, HERE, paths[0], HERE, paths[1], EXCHANGE)

    def link(self) -> None:
        os.link(self.path(), self.path())

    def symlink(self) -> None:
        Path(self.path()).symlink_to(self.path())

    def remove(self) -> None:
        Path(self.path()).unlink()

    def remove_all(self) -> None:
        shutil.rmtree(self.path())

    def make_folder(self) -> None:
        Path(self.path()).mkdir(parents=self.random.random() < 1 / 2)

    def remove_folder(self) -> None:
        Path(self.path()).rmdir()

    def mode(self) -> None:
        Path(self.path()).chmod(self.random.choice((0o600, 0o644, 0o755, 0o700)))

    def map(self) -> None:
        with Path(self.path()).open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
            memory[0] = self.random.randrange(256)

    def nameless(self) -> None:
        handle = os.open(".", os.O_TMPFILE | os.O_WRONLY)
        os.write(handle, self.data())
        name = f"/proc/self/fd/{handle}".encode()
        self.libc.linkat(HERE, name, HERE, os.fsencode(self.path()), EMPTY)
        os.close(handle)

    def replace(self) -> None:
        """As most programs that write safely."""
        path = self.path()
        Path(f"{path}.new").write_bytes(self.data())
        Path(f"{path}.new").replace(path)

    def database(self) -> None:
        with sqlite3.connect(f"{self.path()}.db", timeout=0) as connection:
            connection.execute("pragma journal_mode=wal")
            connection.execute("create table if not exists t(a)")
            connection.execute("insert into t values(1)")

    def threads(self) -> None:
        """Each has paths of its own, for a shared one could be exchanged while it is looked at."""
        others = [Program(self.random.randrange(1 << 30)) for _ in range(3)]
        for one in others:
            one.kinds = (one.write, one.replace, one.remove, one.make_folder)
        running = [threading.Thread(target=one.run, args=(4,)) for one in others]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    def child(self) -> None:
        """One that goes on beside us, and may be ended at any point."""
        if not (pid := os.fork()):
            self.random.seed(self.random.random())
            signal.setitimer(signal.ITIMER_REAL, self.random.choice((0, 0.002, 0.01)))
            self.run(10)
            os._exit(0)
        if self.random.random() < 1 / 2:
            os.waitpid(pid, 0)

    def enter(self) -> None:
        os.chdir(self.random.choice((*NAMES[:3], "..")) if len(Path.cwd().parts) > self.depth else NAMES[0])

    depth = len(Path.cwd().parts)


if __name__ == "__main__":
    Program(int(sys.argv[1])).run()
