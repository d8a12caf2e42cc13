"""Small programs of ours that begin at once: searches, workers, a question to git. Whatever ends us ends them.

What runs other people's code has a scope instead (scope.py). A child is a process group of its own that the kernel
kills once we are gone: it holds the reading end of a pipe whose writing end only we have, and Linux sends a signal when
that is closed. On other systems the child of a toolwright that was killed runs to its own end.
"""

import asyncio
import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from toolwright.deadline import to_the_end

_HELD_BACK = {
    False: ("/bin/sh", "-c", 'read -r _ && exec "$@" </dev/null', "sh"),
    True: ("/bin/sh", "-c", 'read -r _ && exec "$@"', "sh"),
}
"""Begins a program once a line has come, with the rest of the input or with none."""


class Ran(NamedTuple):
    """The end of a program, and what it printed."""

    code: int
    """Negative for the signal that ended it."""
    out: bytes
    err: bytes


class Child(subprocess.Popen[bytes]):
    """A program and what it starts. Leaving `with` kills what still runs. OSError if it cannot be started."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        takes_input: bool = False,
        merged: bool = False,
        at_once: bool = False,
        terminal: int | None = None,
    ) -> None:
        """`merged` sends what it writes to stderr where its output goes; a `terminal` is all three of its streams.

        Only what soon ends by itself may begin `at_once`: it is spared half a millisecond in which any other is held
        back, until it is sure to end with us.
        """
        reading, self._held = os.pipe()
        try:
            super().__init__(
                argv if at_once else [*_HELD_BACK[takes_input], _located(argv[0], env), *argv[1:]],
                cwd=cwd,
                env=env,
                stdin=terminal or (subprocess.PIPE if takes_input or not at_once else subprocess.DEVNULL),
                stdout=terminal or subprocess.PIPE,
                stderr=terminal or (subprocess.STDOUT if merged else subprocess.PIPE),
                start_new_session=True,
                pass_fds=(reading,),
            )
            self._tie(reading)
            if not at_once:
                self._begin(takes_input=takes_input)
        except BaseException:
            self._let_go()
            raise
        finally:
            os.close(reading)

    def __exit__(self, *reason: object) -> None:
        self.kill()
        super().__exit__(None, None, None)

    def kill(self) -> None:
        """Kill all of its group. Any thread may do so."""
        if self.poll() is None:
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        self._let_go()

    def finish(self, data: bytes | None = None, seconds: float | None = None) -> Ran:
        """Hand it its input and wait for its end. TimeoutError, and it is killed, if that takes longer."""
        with self:
            try:
                out, err = self.communicate(data, seconds)
            except subprocess.TimeoutExpired as error:
                raise TimeoutError(f"it took longer than {seconds:g} seconds") from error
            return Ran(self.returncode, out, err or b"")

    def leave(self) -> None:
        """Let go of one that has ended. What it has left running in the background ends with us."""
        try:
            os.killpg(self.pid, 0)
        except OSError:
            self._let_go()

    def _tie(self, reading: int) -> None:
        if sys.platform == "linux":
            import fcntl

            with suppress(OSError):  # a system that has no such signals
                fcntl.fcntl(reading, fcntl.F_SETOWN, -self.pid)
                fcntl.fcntl(reading, fcntl.F_SETSIG, signal.SIGKILL)
                fcntl.fcntl(reading, fcntl.F_SETFL, fcntl.fcntl(reading, fcntl.F_GETFL) | os.O_ASYNC)

    def _begin(self, *, takes_input: bool) -> None:
        assert self.stdin is not None
        with suppress(BrokenPipeError):
            os.write(self.stdin.fileno(), b"\n")
        if not takes_input:
            self.stdin.close()
            self.stdin = None

    def _let_go(self) -> None:
        held, self._held = self._held, -1
        if held >= 0:
            os.close(held)


def _located(program: str, env: Mapping[str, str] | None) -> str:
    path = shutil.which(program, path=None if env is None else env.get("PATH", os.defpath))
    if path is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
    return path


def run_child_sync(
    argv: Sequence[str],
    *,
    seconds: float | None,
    data: bytes | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Ran:
    """Run a program to its end. OSError if it cannot be started, TimeoutError if it takes longer."""
    return Child(argv, cwd=cwd, env=env, takes_input=data is not None).finish(data, seconds)


async def run_child(
    argv: Sequence[str],
    *,
    seconds: float | None,
    data: bytes | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Ran:
    """Do the same beside the loop. A caller that is cancelled ends the program."""
    child = Child(argv, cwd=cwd, env=env, takes_input=data is not None)
    work = asyncio.ensure_future(asyncio.to_thread(child.finish, data, seconds))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        child.kill()
        await to_the_end(_over(work))
        raise


async def _over(work: "asyncio.Future[Ran]") -> None:
    await asyncio.wait([work])
    if not work.cancelled():
        work.exception()  # looked at, since nobody is told of it


def leave_to_user(argv: Sequence[str], *, env: Mapping[str, str], has_terminal: bool) -> "subprocess.Popen[bytes]":
    """Start what the user has asked for and goes on with after us; it gets the terminal only if it needs it."""
    stream = None if has_terminal else subprocess.DEVNULL
    return subprocess.Popen(
        argv, env=env, stdin=stream, stdout=stream, stderr=stream, start_new_session=not has_terminal
    )


def run_at_terminal(argv: Sequence[str], cwd: Path | None = None, more: Mapping[str, str] | None = None) -> int:
    """Run what the user has asked for at their own terminal, and wait; its exit code. It is theirs to end.

    `more` are variables beside those of this program.
    """
    return subprocess.run(argv, cwd=cwd, env={**os.environ, **more} if more else None, check=False).returncode
