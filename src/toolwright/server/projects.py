"""The folders a server works in: each opened when it is first asked for, none beyond those that were named."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import field
from pathlib import Path

from toolwright.errors import ToolwrightError
from toolwright.http_server.refusal import HttpRefusal, forbidden, not_found, refusal_of
from toolwright.messages import SessionInfo
from toolwright.record import record
from toolwright.session.session import Session
from toolwright.text.ids import is_id
from toolwright.workspace import Workspace

OPEN_SESSIONS = 100
"""Sessions of a workspace held in memory; of more, those at rest are let go."""


@record(slots=True, kw_only=True)
class Projects:
    """Workspaces by their canonical folder."""

    folders: Sequence[Path]
    """The folders that may be opened, with what lies inside them; the first is the one meant if none is named."""
    make: Callable[[Path], Workspace]
    opened: Callable[[Workspace], Awaitable[None]]
    """Told of every workspace that is opened."""
    anywhere: bool = False
    """True if clients may name every folder: the user's own do."""
    workspaces: dict[Path, Workspace] = field(default_factory=dict[Path, Workspace])
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, folder: str) -> Workspace:
        """The workspace of a folder; a Refusal if it is not one of ours."""
        path = self.resolve(folder)
        if path in self.workspaces:
            return self.workspaces[path]
        async with self._opening:
            if path not in self.workspaces:
                self.workspaces[path] = await self._open(path)
            return self.workspaces[path]

    async def _open(self, path: Path) -> Workspace:
        """A workspace that cannot be used is closed again."""
        try:
            async with AsyncExitStack() as opening:
                workspace = await opening.enter_async_context(self.make(path))
                await self.opened(workspace)
                opening.pop_all()
                return workspace
        except ToolwrightError as error:
            raise refusal_of(error) from error

    def resolve(self, folder: str) -> Path:
        if not folder and self.folders:
            return self.folders[0]
        if "\0" in folder or len(folder) > 4096:
            raise forbidden("This is not a folder.")
        try:
            path = (self.folders[0] / folder if self.folders else Path(folder)).resolve()
            inside = self.anywhere or any(path == one or path.is_relative_to(one) for one in self.folders)
            inside = inside and bool(folder) and path.is_absolute() and path.is_dir()
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside:
            raise forbidden(f"{folder[:200]} is not open here. Start the server with --directory for it.")
        return path

    def admit(self, folder: Path) -> None:
        """Let a folder be opened as well."""
        self.folders = tuple(dict.fromkeys((*self.folders, folder.resolve())))

    async def of_session(self, session_id: str, named: str = "") -> tuple[Workspace, SessionInfo]:
        """The workspace a session belongs to, and what is known of the session."""
        workspace = await self.of(named)
        if not is_id(session_id, "ses"):
            raise _unknown(session_id)
        try:
            info = await workspace.sessions.info(session_id)
        except ToolwrightError:
            raise _unknown(session_id) from None
        if info.project_id == workspace.sessions.project_id:
            return workspace, info
        if named:
            raise _unknown(session_id)
        try:
            return await self.of(info.directory), info
        except HttpRefusal:
            raise _unknown(session_id) from None

    async def session(self, session_id: str, named: str = "") -> tuple[Workspace, Session]:
        """A session to work on."""
        workspace, _ = await self.of_session(session_id, named)
        session = await workspace.sessions.open(session_id)
        # The one used last stands last.
        workspace.sessions_open[session_id] = workspace.sessions_open.pop(session_id)
        await self._let_go(workspace)
        return workspace, session

    async def _let_go(self, workspace: Workspace) -> None:
        spare = len(workspace.sessions_open) - OPEN_SESSIONS
        for session in list(workspace.sessions_open.values())[:-1]:
            if spare <= 0:
                return
            if not session.turns.busy:
                await session.close()
                spare -= 1

    async def close(self) -> None:
        for workspace in list(self.workspaces.values()):
            await workspace.close()
        self.workspaces.clear()


def _unknown(session_id: str) -> HttpRefusal:
    return not_found(f"There is no session {session_id[:80]!r} here. GET /session lists those there are.")
