"""Runs tasks, several at once, each in a copy and a workspace of its own, and tells each result as it comes."""

import asyncio
import inspect
import logging
import os
import platform
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolwright.calls.parts import Failed, ToolPart
from toolwright.deadline import Deadline
from toolwright.definition import Call
from toolwright.errors import ToolwrightError
from toolwright.evaluate.copies import TaskCopy, copy_of
from toolwright.evaluate.places import sweep
from toolwright.evaluate.results import TaskResult, file_name
from toolwright.evaluate.tasks import Task
from toolwright.inbox import Inbox, Reply
from toolwright.messages import Assistant, Message, StepFinishPart
from toolwright.permission.gate import Gate
from toolwright.record import record
from toolwright.session.session import Session
from toolwright.text.ids import new_id
from toolwright.workspace import Workspace, open_workspace

log = logging.getLogger(__name__)

NOT_RUN = (126, 127)
"""What a shell ends with if a program is not there or cannot be started."""

Run = tuple[Task, int]


async def run(
    tasks: Iterable[Task],
    *,
    parallel: int = 1,
    repeat: int = 1,
    keep: Path | None = None,
    done: Iterable[tuple[str, int]] = (),
    **opening: Any,
) -> AsyncGenerator[TaskResult, None]:
    """`async for result in run(tasks, parallel=8)`: every task as often as `repeat` says, as each is finished.

    There are never more copies than `parallel`. `keep` is a folder in which the copies stay. `done` is left out. The
    rest is for `open_workspace`, such as `rules` or `tools`. To leave the loop early stops what is under way.
    """
    finished, chosen = set(done), list(tasks)
    waiting = [(task, number) for number in range(repeat) for task in chosen if (task.id, number) not in finished]
    results: asyncio.Queue[TaskResult] = asyncio.Queue()
    left = iter(waiting)
    await asyncio.to_thread(sweep)

    async def work() -> None:
        for task, number in left:
            await results.put(await run_one(task, number, keep, opening))

    workers = [asyncio.create_task(work()) for _ in range(max(1, min(parallel, len(waiting))))]
    try:
        for _ in waiting:
            yield await _next(results, workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _next(results: "asyncio.Queue[TaskResult]", workers: Sequence["asyncio.Task[None]"]) -> TaskResult:
    """The next result; a worker that broke is told instead of waited for."""
    getting = asyncio.ensure_future(results.get())
    waiting: set[asyncio.Future[Any]] = {getting, *(one for one in workers if not one.done())}
    try:
        while not getting.done():
            ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for one in ended - {getting}:
                one.result()
        return getting.result()
    finally:
        getting.cancel()


async def run_one(task: Task, number: int, keep: Path | None, opening: Mapping[str, Any]) -> TaskResult:
    """One run of a task. Whatever goes wrong stands in its result."""
    started = time.monotonic()
    result = TaskResult(id=task.id, repeat=number, worker=worker_name())
    place = None if keep is None else keep / file_name(task.id, number)
    try:
        async with copy_of(task, place) as copy:
            result = await run_in_copy(task, copy, result, opening, Course())
    except (ToolwrightError, OSError) as error:
        result = replace(result, passed=False, error=result.error or f"{error}")
    except Exception as error:
        # One of ours, or of code that somebody has given us: the other tasks have nothing to do with it.
        log.exception("%s broke", task.id)
        result = replace(result, passed=False, error=f"The program broke: {type(error).__name__}: {error}")
    return replace(result, seconds=round(time.monotonic() - started, 3))


def worker_name() -> str:
    """Return the name that tells this process from all others that run tasks."""
    return f"{platform.node()}:{os.getpid()}"


async def begin_session(workspace: Workspace) -> Session:
    return workspace.session()


async def ask(session: Session, task: Task) -> str | None:
    """Give the task to the agent; what went wrong, if something did."""
    turn = await session.prompt(task.prompt)
    return None if turn.error is None else str(turn.error)


@record(frozen=True, slots=True, kw_only=True)
class Course:
    """The steps of a run from its beginning; as it stands, all of it here and now."""

    begin: Callable[[Workspace], Awaitable[Session]] = begin_session
    ask: Callable[[Session, Task], Awaitable[str | None]] = ask
    seconds: float = 0.0
    """What it has taken elsewhere."""


async def run_in_copy(
    task: Task, copy: TaskCopy, result: TaskResult, opening: Mapping[str, Any], course: Course
) -> TaskResult:
    """Let the agent work in a copy that is ready, and see what came of it."""
    settings = {"client": "cli", **opening, "model": task.model or opening.get("model", ""), "agent": task.agent}
    settings["budget"] = dict(task.budget) or opening.get("budget")
    deadline = asyncio.get_running_loop().time() + max(0.0, task.timeout - course.seconds)
    async with open_workspace(copy.folder, **settings) as workspace:
        session = await course.begin(workspace)
        try:
            error = await _prompted(session, task, deadline, course)
            result = await _measured(workspace, session, replace(result, error=error))
            if error is None:
                passed, error = await _checked(workspace, task, copy.folder, deadline)
                result = replace(result, passed=passed, error=error)
            return replace(result, patch=await copy.patch(task.files))
        finally:
            workspace.forget_changes(session.id)
            await session.close()


async def _prompted(session: Session, task: Task, deadline: float, course: Course) -> str | None:
    """Answer the prompt; why not, if it did not come to an end."""
    try:
        async with Deadline(deadline):
            return await course.ask(session, task)
    except TimeoutError:
        await session.abort("the time of the task is over")
        return f"The run took longer than the {task.timeout:g} seconds of the task."


async def _checked(workspace: Workspace, task: Task, folder: Path, deadline: float) -> tuple[bool, str | None]:
    """Return whether the task is done. Without a check it is, if the run came to its end."""
    if not task.check:
        return True, None
    late = f"The check took longer than what was left of the {task.timeout:g} seconds of the task."
    try:
        async with Deadline(deadline):
            if isinstance(task.check, str):
                left = max(1, int((deadline - asyncio.get_running_loop().time()) * 1000))
                return await _command(workspace, task.check, left)
            if inspect.iscoroutinefunction(task.check):
                return bool(await task.check(folder)), None
            return bool(await asyncio.to_thread(task.check, folder)), None
    except TimeoutError:
        return False, late
    except Exception as error:  # noqa: BLE001 - a check is the caller's code, and its failure is a result
        return False, f"The check failed: {type(error).__name__}: {error}"


async def _command(workspace: Workspace, command: str, milliseconds: int) -> tuple[bool, str | None]:
    """The check as a command in the sandbox, like those of the agent, but the user's own: nobody is asked."""
    async with workspace.session(rules={"*": "allow"}) as session:
        arguments = {"command": command, "description": "Check the task", "timeout": milliseconds}
        call = Call(id=new_id("call"), tool="bash", arguments=arguments)
        inbox = Inbox(workspace.bus, lambda _: Reply(kind="once"))
        result = await session.run_call(call, gate=Gate(inbox, workspace.gate.approvals))
        workspace.forget_changes(session.id)
    if result.error is not None:
        return False, f"The check could not be run: {result.error}"
    if result.metadata.get("timedOut"):
        raise TimeoutError
    code = result.metadata.get("exit")
    if code in NOT_RUN:
        return False, f"The check could not be run: {' '.join(result.output.split()) or command}"
    return code == 0, None


async def _measured(workspace: Workspace, session: Session, result: TaskResult) -> TaskResult:
    messages = await session.conversation.all_messages()
    everything = [*messages, *await _below(workspace, session.id)]
    replies = [message.info for message in everything if isinstance(message.info, Assistant)]
    tools: dict[str, tuple[int, int]] = {}
    refused = 0
    for part in _calls(everything):
        calls, failures = tools.get(part.tool, (0, 0))
        failed = isinstance(part.state, Failed)
        tools[part.tool] = (calls + 1, failures + failed)
        refused += isinstance(part.state, Failed) and part.state.kind in ("denied", "rejected")
    return replace(
        result,
        session_id=session.id,
        session=await workspace.sessions.exported(session.id),
        steps=sum(isinstance(part, StepFinishPart) for message in everything for part in message.parts.values()),
        tokens=sum(info.tokens.total for info in replies),
        cost=round(sum(info.cost for info in replies), 6),
        refused=refused,
        tools=tools,
    )


async def _below(workspace: Workspace, session_id: str) -> list[Message]:
    """The messages of all subagents, and of theirs."""
    messages: list[Message] = []
    for child in await workspace.sessions.children(session_id):
        messages += [*await workspace.sessions.messages(child.id), *await _below(workspace, child.id)]
    return messages


def _calls(messages: Iterable[Message]) -> Iterable[ToolPart]:
    return (part for message in messages for part in message.parts.values() if isinstance(part, ToolPart))
