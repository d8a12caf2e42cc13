"""A server at work: its folders, who listens, and what is under way."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.app.branch import branch_of
from toolwright.app.logins import ProviderLogins
from toolwright.app.shown import looks_of
from toolwright.deadline import time_limit
from toolwright.events import Event
from toolwright.http_server.refusal import not_found
from toolwright.inbox import Inbox, Question
from toolwright.protocols.json_types import Json
from toolwright.server.dialects import Dialect
from toolwright.server.listeners import Channel
from toolwright.server.projects import Projects
from toolwright.server.terminals import ServerTerminals
from toolwright.session.events import MessageUpdated, SessionIdle, SessionStatus
from toolwright.session.session import SERVER_STOPPED
from toolwright.workspace import Workspace

if TYPE_CHECKING:
    from toolwright.server.own_runs import OwnRuns

PATIENCE = 1.5
"""Seconds that turns are given to come to their end when the server is stopped."""


class Serving:
    """Everything the routes share."""

    def __init__(
        self,
        folders: Sequence[Path],
        make: Callable[[Path], Workspace],
        *,
        protected: bool = True,
        page_key: str = "",
        after_kill: bool = False,
        anywhere: bool = False,
    ) -> None:
        """`page_key` is what the page brings in place of the secret.

        `after_kill` says that a server of the same address was killed, whose clients come back; `anywhere` lets
        clients name every folder.
        """
        loop = asyncio.get_running_loop()
        self._after_kill = after_kill
        self.protected = protected
        """True if clients have to bring the secret."""
        self.page_key = page_key
        self.opened = asyncio.Event()
        """Set once a page has been opened."""
        self.channels: dict[Dialect, Channel] = {
            "whole": Channel("whole", loop.call_later),
            "deltas": Channel("deltas", loop.call_later),
        }
        self.projects = Projects(folders=folders, make=make, opened=self._follow, anywhere=anywhere)
        self.statuses: dict[str, dict[str, Json]] = {}
        """Status of the sessions of each folder; idle ones are not in it."""
        self.controls: asyncio.Queue[Json] = asyncio.Queue(100)
        """Requests to a terminal client, for one that fetches them."""
        self.terminals = ServerTerminals(self.tell)
        self._logins: dict[str, ProviderLogins] = {}
        self.ending = False
        self.own: OwnRuns | None = None
        """The runs in the background, where this is the user's own server."""
        self._tasks: set[asyncio.Task[Any]] = set()

    async def _follow(self, workspace: Workspace) -> None:
        directory = str(workspace.directory)
        statuses = self.statuses.setdefault(directory, {})
        branch = branch_of(workspace.config.root)
        looks = looks_of(workspace)

        def hear(event: Event) -> None:
            nonlocal branch
            if isinstance(event, SessionIdle) and (now := branch_of(workspace.config.root)) != branch:
                branch = now
                self.tell(directory, "vcs.branch.updated", {"branch": now} if now else {})
            if isinstance(event, SessionStatus):
                if event.status.get("type") == "idle":
                    statuses.pop(event.session_id, None)
                else:
                    statuses[event.session_id] = event.status
            views = looks.event(event)
            for channel in self.channels.values():
                channel.hear(directory, views)

        workspace.bus.subscribe(hear)
        if self._after_kill:
            await self._close_turns(workspace)

    async def _close_turns(self, workspace: Workspace) -> None:
        """Close the turns that a killed server left open, for those who saw them begin."""
        before = {channel: channel.number for channel in self.channels.values()}
        closed: dict[str, None] = {}

        def hear(event: Event) -> None:
            if isinstance(event, MessageUpdated):
                closed[event.info.session_id] = None

        leave = workspace.bus.subscribe(hear)
        await workspace.sessions.repair_abandoned()
        leave()
        for session_id in closed:
            workspace.bus.publish(SessionStatus(session_id=session_id, status={"type": "idle"}))
            workspace.bus.publish(SessionIdle(session_id=session_id))
        for channel, number in before.items():
            channel.close_turns(number)

    def tell(self, directory: str, kind: str, properties: Json) -> None:
        """An event of the server's own."""
        for channel in self.channels.values():
            channel.tell(directory, {"type": kind, "properties": properties})

    def begin(self, work: Awaitable[Any]) -> "asyncio.Task[Any]":
        """Work that goes on whether or not the client waits for it."""

        async def carry_out() -> Any:
            return await work

        task = asyncio.create_task(carry_out())
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def logins(self, workspace: Workspace) -> ProviderLogins:
        """The logins of a folder that are under way."""
        return self._logins.setdefault(str(workspace.directory), ProviderLogins(workspace))

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # looked at; whoever waits for it hears of it

    @property
    def questions(self) -> list[tuple[Inbox, Question]]:
        """Everything that waits for an answer, in all folders."""
        inboxes = [workspace.inbox for workspace in self.projects.workspaces.values()]
        return [(inbox, question) for inbox in inboxes for question in inbox.pending]

    def question(self, question_id: str, kind: str) -> tuple[Inbox, Question]:
        for inbox, question in self.questions:
            if question.id == question_id and question.kind == kind:
                return inbox, question
        raise not_found(
            f"{question_id[:80]!r} does not wait for an answer: it was already answered, or its turn ended."
        )

    async def dispose(self, workspace: Workspace) -> None:
        """Close a folder; its clients load everything anew, and the next request opens it again."""
        directory = str(workspace.directory)
        self.projects.workspaces.pop(workspace.directory, None)
        if (logins := self._logins.pop(directory, None)) is not None:
            await logins.close()
        self.terminals.close(workspace.directory)
        await workspace.close()
        self.statuses.pop(directory, None)
        self.tell(directory, "server.instance.disposed", {"directory": directory})

    async def end(self) -> None:
        """Stop what is under way, tell the listeners first, however long the rest takes, and close everything."""
        self.ending = True
        workspaces = list(self.projects.workspaces.values())
        at_work = [session for one in workspaces for session in list(one.sessions_open.values())]
        with suppress(TimeoutError):
            async with time_limit(PATIENCE):
                await asyncio.gather(*(session.abort(SERVER_STOPPED) for session in at_work))
        for workspace in workspaces:
            directory = str(workspace.directory)
            self.tell(directory, "server.instance.disposed", {"directory": directory})
        self.terminals.close()
        for channel in self.channels.values():
            channel.flush()
            for listener in channel.listeners:
                listener.end()
        await asyncio.gather(*(one.close() for one in self._logins.values()))
        await self.projects.close()


def answered_later(_: Question) -> None:
    """Every answer comes by a request, in its own time."""
