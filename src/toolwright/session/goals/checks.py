"""Runs the conditions of a goal: the user's own commands, in the sandbox, outside of the conversation."""

import asyncio
import errno
import inspect
import os
import re
import shutil
import stat
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import field, replace
from pathlib import Path

from toolwright.deadline import time_limit, to_the_end
from toolwright.definition import Call, Result
from toolwright.events import Bus
from toolwright.files.held import hold
from toolwright.files.store import Files
from toolwright.inbox import Inbox, Reply
from toolwright.permission.gate import Gate
from toolwright.permission.rules import Rule
from toolwright.process.jobs.jobs import Jobs
from toolwright.proof.goal import SHOWN, CheckRun, Condition, Status
from toolwright.proof.tree import TreeScanner, tree_hash
from toolwright.record import record
from toolwright.session.records.call_record import CallRecord
from toolwright.session.session import Session, SessionOwner
from toolwright.text.ids import new_id, now

NOT_RUN = (126, 127)
"""Exit code of a shell if a program is not there or cannot be started."""
_NO_COMMAND = re.compile(
    r"^\S*sh: (-c: )?line \d+: (syntax error|unexpected EOF)"
    r"|^\S+: No module named (pytest|nose2?|tox|nox|mypy|ruff|coverage|flake8|pylint|black|behave|green|stestr)$",
    re.MULTILINE,
)
"""Message of a shell on a line that is no command at all, and of Python if a program for checks is not installed."""
_ALL = (Rule("*", "*", "allow"),)
MOST_NOTES = 1000
LARGEST_NOTE = 8 * 1024 * 1024
"""Bytes of a note of what was executed, and of a file in which lines are broken."""
LARGEST_OUTPUT = 16 * 1024 * 1024
"""Characters of an output that a pattern is looked for in."""


@record(frozen=True, slots=True, kw_only=True)
class CheckPlace:
    """A copy of the project that commands find in their temporary folder.

    What is in it belongs to them from then on: we reach it by no path that they could lead elsewhere.
    """

    hidden: Path
    """Path where it is made, which no command sees."""
    above: Path
    """Path where commands find it."""
    inside: str
    """The same as they see it."""

    def show(self) -> None:
        """Bring it to where commands find it."""
        self.hidden.rename(self.above)

    def exchange(self, path: str, data: bytes) -> bytes:
        """Give a file of the copy another content, and return the one it had; OSError if it is none any more."""
        *folders, name = Path("project", path).parts
        with hold(self.above) as above, above.enter(folders) as folder:
            handle = folder.open(name, os.O_RDWR)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_NOTE:
                raise OSError(errno.EINVAL, "Not a file to be changed", path)
            was = os.pread(handle, LARGEST_NOTE, 0)
            os.ftruncate(handle, 0)
            os.pwrite(handle, data, 0)
            return was
        finally:
            os.close(handle)

    def take(self, folder: str) -> Iterator[bytes]:
        """Remove the files of a folder beside the copy, and yield what they held, no more than is sensible of each."""
        with suppress(OSError), hold(self.above / folder) as held:
            for name in sorted(held.names(MOST_NOTES)):
                with suppress(OSError):
                    handle = held.open(name, os.O_RDONLY)
                    try:
                        held.remove(name)
                        if stat.S_ISREG(os.fstat(handle).st_mode):
                            yield os.read(handle, LARGEST_NOTE)
                    finally:
                        os.close(handle)

    def line(self, command: str) -> str:
        """Return a command as it is run there, with our own notes of what Python does."""
        probe = f'export PYTHONPATH="{self.inside}/probe${{PYTHONPATH:+:$PYTHONPATH}}"'
        return f'cd "{self.inside}/project" || exit 127\n{probe}\n{command}'


@record(slots=True, kw_only=True)
class Checker:
    """Checks conditions in one project, and knows what its files were each time."""

    home: SessionOwner
    tree: TreeScanner
    last: Mapping[str, str] = field(default_factory=dict[str, str])
    """The files after the last check."""
    _checked: dict[str, str] = field(default_factory=dict[str, str])
    """The files at the last check."""
    _session: Session | None = None
    """Session of its commands: rules are put together once, and what each of them started is ended with it."""

    async def check(self, condition: Condition, seconds: float) -> CheckRun:
        """Run one condition within its time; what goes wrong with it is part of what it comes to."""
        before = await self.files()
        await asyncio.to_thread(self._drop_bytecode, before)
        when, started = now(), time.monotonic()
        status, code, output = await self._run(condition, seconds)
        after = self.last = await self.files()
        return CheckRun(
            command=condition.name,
            status=status,
            tree=tree_hash(before),
            tree_after=tree_hash(after),
            rewrote=tuple(sorted(name for name, digest in before.items() if after.get(name) != digest)),
            when=when,
            exit=code,
            output=output[-SHOWN:],
            match=condition.match,
            seconds=time.monotonic() - started,
        )

    @asynccontextmanager
    async def place(self) -> AsyncIterator[CheckPlace]:
        """A folder for a copy of the project, removed afterwards."""
        sandbox = self.home.use(Jobs).sandbox
        temp = await asyncio.to_thread(sandbox.temp.resolve)
        above = temp / f"check-{new_id('call')[-8:]}"
        boxed = await sandbox.ready() != "none"
        hidden = await asyncio.to_thread(sandbox.new_folder)
        try:
            inside = f"${{TMPDIR:-/tmp}}/{above.name}" if boxed else str(above)
            yield CheckPlace(hidden=hidden, above=above, inside=inside)
        finally:
            for place in (hidden, above):
                await to_the_end(asyncio.to_thread(shutil.rmtree, place, ignore_errors=True))

    async def files(self) -> dict[str, str]:
        """Return the files of the project by their hashes."""
        return await asyncio.to_thread(self.tree.look)

    async def check_in(self, place: CheckPlace, condition: Condition, seconds: float) -> tuple[Status, str]:
        """Run a condition in a copy of the project, and return what came of it."""
        if condition.function is not None:
            status, _, output = await self._call(condition, seconds, place.above / "project")
        else:
            status, _, output = await self._run(replace(condition, command=place.line(condition.command)), seconds)
        return status, output[-SHOWN:]

    def _drop_bytecode(self, files: Mapping[str, str]) -> None:
        """Remove what Python keeps of files that changed: it takes an edit within a second for none."""
        self.drop_bytecode(path for path, digest in files.items() if self._checked.get(path, digest) != digest)
        self._checked = dict(files)

    def drop_bytecode(self, paths: Iterable[str]) -> None:
        """Remove what Python keeps of some files beside them."""
        for path in paths:
            if path.endswith(".py"):
                place = self.tree.root.resolve() / path
                # A command may have put a link in its place.
                with suppress(OSError), hold(place.parent / "__pycache__") as folder:
                    for name in folder.names(MOST_NOTES):
                        if name.startswith(f"{place.stem}.") and name.endswith(".pyc"):
                            folder.remove(name)

    async def _run(self, condition: Condition, seconds: float) -> tuple[Status, int | None, str]:
        if condition.function is not None:
            return await self._call(condition, seconds, self.tree.root)
        command = f"export PYTHONDONTWRITEBYTECODE=1\n{condition.command}"
        self._session = self._session or Session(self.home, rules=_ALL)
        try:
            result = await _run_in(self._session, command, seconds, "Check the goal")
        finally:
            await self.home.end_session(self._session.id)
        if result.error is not None:
            return "not_run", None, result.output
        output = await asyncio.to_thread(_whole_output, result)
        if result.metadata.get("timedOut"):
            return "timed_out", None, output
        code = result.metadata.get("exit")
        if (code in NOT_RUN and not condition.match) or (code and _NO_COMMAND.search(output)):
            return "not_run", code, output
        held = re.search(condition.match, output, re.MULTILINE) is not None if condition.match else code == 0
        return "held" if held else "failed", code, output

    async def _call(self, condition: Condition, seconds: float, folder: Path) -> tuple[Status, int | None, str]:
        """Ask a function of the program's. An assertion it makes is an answer; whatever else it raises is told."""
        assert condition.function is not None
        try:
            async with time_limit(seconds):
                if inspect.iscoroutinefunction(condition.function):
                    answer = await condition.function(folder)
                else:
                    answer = await asyncio.to_thread(condition.function, folder)
        except TimeoutError:
            return "timed_out", None, ""
        except AssertionError as error:
            return "failed", None, str(error)
        except Exception as error:  # noqa: BLE001 - a condition is the caller's code, and its failure is a result
            return "not_run", None, f"{type(error).__name__}: {error}"
        return "held" if answer else "failed", None, "" if answer else f"it returned {answer!r:.200}"


async def run_quietly(home: SessionOwner, command: str, seconds: float, description: str) -> Result:
    """Run a command of the user's own, so nobody is asked; like those of the agent it runs in the sandbox."""
    async with Session(home, rules=_ALL) as session:
        return await _run_in(session, command, seconds, description)


async def _run_in(session: Session, command: str, seconds: float, description: str) -> Result:
    home = session.home
    arguments = {"command": command, "description": description, "timeout": max(1, int(seconds * 1000))}
    call = Call(id=new_id("call"), tool="bash", arguments=arguments)
    quiet = CallRecord.begin(call, session_id=session.id, message_id=new_id("msg"), store=None, bus=Bus())
    gate = Gate(Inbox(home.bus, lambda _: Reply(kind="once")), home.gate.approvals)
    try:
        return await session.run_call(call, journal=quiet, gate=gate)
    finally:
        home.use(Files).journal.forget(session.id)


def _whole_output(result: Result) -> str:
    """All that a command has printed, also where the model would see a part of it."""
    path = result.metadata.get("outputPath")
    if isinstance(path, str):
        try:
            with Path(path).open(encoding="utf-8", errors="replace") as file:
                return file.read(LARGEST_OUTPUT)
        except OSError:
            pass
    return result.output
