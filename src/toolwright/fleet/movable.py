"""One run of a task that may be moved: after every step it tells what is new, and waits until that is safe."""

import asyncio
import errno
import logging
import shutil
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolwright.deadline import to_the_end
from toolwright.errors import ToolwrightError
from toolwright.evaluate.copies import TaskCopy, begin, fill
from toolwright.evaluate.places import place
from toolwright.evaluate.results import TaskResult
from toolwright.evaluate.running import Course, run_in_copy, worker_name
from toolwright.evaluate.tasks import Task
from toolwright.extension import Hook
from toolwright.files.disk import Stamp, digest_of_file
from toolwright.files.seen import SeenState
from toolwright.fleet.folders import Look, TooLarge, apply, changes, look_at, pack, unpack
from toolwright.fleet.recorder import Recorder, restore
from toolwright.fleet.saved import Saved, SavedStep
from toolwright.messages import Assistant
from toolwright.models.formats.sizes import size_of, tools_size
from toolwright.models.hooked import ModelRequest, Stream
from toolwright.models.info import Usage
from toolwright.models.model import AssistantMessage, Event, ModelError
from toolwright.record import record
from toolwright.session.session import Session
from toolwright.workspace import Workspace

log = logging.getLogger(__name__)

FULL = 1024 * 1024
"""Bytes below which a disk counts as full."""
_ATTEMPTS = 10
"""Failures in a row that a written conversation may have before a reply."""


@record(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """Order for a worker: the run that it is to do."""

    task: Task
    number: int
    name: str
    """The name of the folder."""
    base: str
    """The id that sets this beginning apart from another; see Step."""
    saved: Saved | None = None
    opening: Mapping[str, Any]
    keep: bool = False


@record(frozen=True, slots=True, kw_only=True)
class RunDone:
    """A run has come to its end."""

    result: TaskResult
    kept: bytes | None = None
    """The copy, packed, where it is to be kept."""


class DiskFull(ToolwrightError):
    """The machine has no room for the run, which says nothing about the task."""


Tell = Callable[[SavedStep], Awaitable[None]]
"""Tells a step and returns when it is safe."""


class MovableRun:
    """Carries one order out."""

    def __init__(self, order: RunOrder, packed: bytes | None, tell: Tell, limits: Any = None) -> None:
        self.order = order
        self.task = order.task
        self.saved = order.saved
        self._packed = packed
        self._tell = tell
        self._limits = limits
        self._before = self.saved.seconds if self.saved else 0.0
        self._started = time.monotonic()
        self._steps = self.saved.steps if self.saved else 0
        self._look: Look = {}
        self._seen: dict[Path, SeenState] = {}
        self._last = ""
        """The newest reply that is saved."""
        self._rewound = self.saved is None
        self._copy: TaskCopy | None = None
        self._recorder: Recorder | None = None
        self._session: Session | None = None

    async def carry_out(self) -> RunDone:
        """DiskFull if this machine is not fit for it; whatever else goes wrong stands in the result."""
        result = TaskResult(id=self.task.id, repeat=self.order.number, worker=worker_name())
        kept = None
        try:
            async with AsyncExitStack() as stack:
                above = await self._place(stack)
                copy = await self._copied(above)
                result = await self._run(copy, result)
                kept = await asyncio.to_thread(pack, copy.folder) if self.order.keep else None
        except (ToolwrightError, OSError) as error:
            if isinstance(error, DiskFull) or _is_full(error):
                raise DiskFull(f"No space left on the disk of {worker_name()}.") from error
            result = replace(result, passed=False, error=result.error or f"{error}")
        return RunDone(result=replace(result, seconds=self._seconds()), kept=kept)

    async def _place(self, stack: AsyncExitStack) -> Path:
        """The session speaks of the path it began in, so it goes on in the same."""
        if self.saved is not None:
            try:
                return await stack.enter_async_context(place(Path(self.saved.folder).parent))
            except OSError as error:
                log.warning(
                    "%s cannot be made here: %s; the paths of the session lead nowhere", self.saved.folder, error
                )
        return await stack.enter_async_context(place())

    async def _copied(self, above: Path) -> TaskCopy:
        copy = TaskCopy(folder=above / self.order.name, base=above / "base.git")
        if self._packed is None:
            await fill(self.task, copy.folder)
        else:
            await to_the_end(asyncio.to_thread(unpack, self._packed, copy.folder))
            self._packed = None
        await begin(self.task, copy)
        if self.saved is not None:
            await to_the_end(asyncio.to_thread(apply, copy.folder, self.saved.files))
        self._look = await asyncio.to_thread(look_at, copy.folder)
        return copy

    async def _run(self, copy: TaskCopy, result: TaskResult) -> TaskResult:
        self._copy = copy
        opening = {**self.order.opening}
        opening["hooks"] = (*opening.get("hooks", ()), Hook(request=self._request))
        course = Course(begin=self._begin, ask=self._ask, seconds=self._before)
        result = await run_in_copy(self.task, copy, result, opening, course)
        _require_room(copy.folder)
        return result

    async def _begin(self, workspace: Workspace) -> Session:
        self._recorder = Recorder(workspace)
        if self.saved is None:
            session = workspace.session()
        else:
            session = await restore(workspace, self.saved.session_id, self.saved.exports())
            for name, (digest, whole) in self.saved.seen.items():
                workspace.files.know(session.id, workspace.directory / name, digest, whole=whole)
            self._last = _last_finished(session)
        self._recorder.listen()
        self._session = session
        return session

    async def _ask(self, session: Session, task: Task) -> str | None:
        if self.saved is not None and self.saved.over:
            return self.saved.error
        if self.saved is None:
            turn = await session.prompt(task.prompt)
        else:
            model = None if session.ruled_agent.agent.model else task.model or self.order.opening.get("model")
            turn = await session.go_on(model=model or None)
        error = None if turn.error is None else str(turn.error)
        await self._save(session, over=True, error=error)
        return error

    # Steps.

    async def _request(self, proceed: Stream, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Around every request to a model: a step that is done is saved first, and the fleet's limits hold."""
        session = self._session
        if session is not None and request.session_id == session.id and request.settings.purpose == "main":
            await self._save(session)
            if not self._rewound:
                self._rewound = True
                await _rewind(proceed, request)
        number = await self._granted(request)
        tokens = 0
        events = proceed(request)
        try:
            async for event in events:
                if isinstance(event, Usage):
                    tokens = event.input + event.output + event.reasoning + event.cache_read + event.cache_write
                yield event
        finally:
            await _close(events)
            if number:
                self._limits.settle.remote(number, tokens)

    async def _granted(self, request: ModelRequest) -> int:
        if self._limits is None:
            return 0
        tokens = sum(map(size_of, request.messages)) + tools_size(request.tools)
        number: int = await self._limits.take.remote(request.info.provider, tokens)
        return number

    async def _save(self, session: Session, *, over: bool = False, error: str | None = None) -> None:
        """Tell what is new since it was last told, and wait until it is safe; nothing if no step was finished."""
        last = _last_finished(session)
        if last == self._last and not over:
            return
        steps = self._steps + (last != self._last)
        recorder, copy = self._recorder, self._copy
        assert recorder is not None
        assert copy is not None
        _require_room(copy.folder)
        look = await asyncio.to_thread(look_at, copy.folder)
        try:
            files = await asyncio.to_thread(changes, copy.folder, self._look, look)
        except (TooLarge, OSError) as problem:
            # What was told before still holds: from there somebody else would go on.
            log.warning("%s: step %d is not saved: %s", self.task.id, steps, problem)
            return
        step = SavedStep(
            session_id=session.id,
            folder=str(copy.folder),
            base=self.order.base,
            sessions=await recorder.take(),
            files=files,
            seen=await asyncio.to_thread(self._newly_seen, session, copy.folder),
            seconds=self._seconds(),
            steps=steps,
            over=over,
            error=error,
        )
        self._look, self._steps, self._last = look, steps, last
        log.info("%s: %s", self.task.id, "the turn is over" if over else f"step {steps} is done")
        await self._tell(step)

    def _newly_seen(self, session: Session, folder: Path) -> dict[str, tuple[str, bool]]:
        assert self._recorder is not None
        seen = {}
        for name, state in self._recorder.workspace.files.seen(session.id).items():
            if name.is_relative_to(folder) and self._seen.get(name) != state:
                self._seen[name] = state
                if digest := state.digest or _digest(name, state):
                    seen[str(name.relative_to(folder))] = (digest, state.whole)
        return seen

    def _seconds(self) -> float:
        return round(self._before + time.monotonic() - self._started, 3)


def _last_finished(session: Session) -> str:
    """The newest reply whose calls are done as well."""
    replies = (one.info for one in reversed(session.conversation.messages) if isinstance(one.info, Assistant))
    return next((info.id for info in replies if info.time.completed is not None), "")


def _digest(name: Path, state: SeenState) -> str:
    """The hash of a file that was too large to be hashed in passing, if it is still the same."""
    try:
        with name.open("rb", buffering=0) as file:
            digest = digest_of_file(file)
        return digest if Stamp.of(name.stat()) == state.stamp else ""
    except OSError:
        return ""


def _is_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return "No space left on device" in str(error)


def _require_room(folder: Path) -> None:
    """A disk that is full makes calls fail that would not fail elsewhere."""
    if shutil.disk_usage(folder).free < FULL:
        raise DiskFull("The disk is full.")


async def _rewind(proceed: Stream, request: ModelRequest) -> None:
    """Let a written conversation pass over the replies that it has given elsewhere."""
    if request.info.provider != "scripted":
        return
    messages: Sequence[Any] = request.messages
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            await _pass_over(proceed, replace(request, messages=messages[:index]))


async def _pass_over(proceed: Stream, request: ModelRequest) -> None:
    for _ in range(_ATTEMPTS):
        events = proceed(request)
        try:
            async for _event in events:
                pass
        except ModelError:
            continue
        finally:
            await _close(events)
        return


async def _close(events: AsyncIterator[Event]) -> None:
    if isinstance(events, AsyncGenerator):
        await events.aclose()
