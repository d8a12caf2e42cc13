"""Work left to the editor, where it offers that: the texts of files it has open, and commands in its terminals."""

import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from toolwright.acp.editor import FAILED, Editor
from toolwright.acp.open_session import OpenSession
from toolwright.definition import Call, Result, ToolContext
from toolwright.errors import ToolError
from toolwright.extension import Extension
from toolwright.process.jobs.editor_terminals import TerminalCommand, TerminalEnd
from toolwright.process.running.scope import ProgramEnd
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import RpcClosed, RpcError
from toolwright.workspace import Workspace

log = logging.getLogger(__name__)

READING = 5.0
"""Seconds an editor has to tell the text of a file, before the disk is asked instead."""
WRITING = 30.0
BEGINNING = 10.0
"""Seconds it has to open a terminal."""
ENDING = 5.0
OUTPUT = 1024 * 1024
"""Bytes of a command's output that the editor is to keep."""

Find = Callable[[str], OpenSession | None]
"""The session that the editor knows, of a session or of one below it."""
_CALLING: ContextVar[str] = ContextVar("session whose call is under way", default="")


def delegation(editor: Editor, find: Find) -> Extension:
    """The extension by which a workspace leaves to the editor what it offers and the settings allow."""
    files, terminals = EditorFiles(editor, find), EditorTerminals(editor, find)

    @asynccontextmanager
    async def start(workspace: Workspace) -> AsyncIterator[None]:
        files.wanted = workspace.settings.acp.files == "editor"
        terminals.wanted = workspace.settings.acp.terminal and not _box_is_demanded(workspace)
        yield

    return Extension(name="editor", start=start, hooks=[_note_session], buffers=files, terminals=terminals)


def _box_is_demanded(workspace: Workspace) -> bool:
    """Return whether an administrator has set how commands are boxed in: then no editor runs them."""
    sandboxes = (one.value.get("sandbox") for one in workspace.config.sources if one.level == "managed")
    return any(one not in (None, "off", {"mode": "off"}) for one in sandboxes)


async def _note_session(proceed: Callable[[Call], Awaitable[Result]], call: Call, ctx: ToolContext) -> Result:
    """Note the session, so that a read of a file within a call need not name it."""
    before = _CALLING.set(ctx.session_id)
    try:
        return await proceed(call)
    finally:
        _CALLING.reset(before)


class EditorFiles:
    """The files that the editor has open: implements Buffers."""

    def __init__(self, editor: Editor, find: Find) -> None:
        self.wanted = False
        self._editor, self._find = editor, find
        self._silent = False
        """It has once not answered at all, and is not waited for again."""

    async def read(self, path: Path, session_id: str = "") -> str | None:
        known = self._find(session_id or _CALLING.get())
        if known is None or not self.wanted or not self._editor.can.reads or self._silent:
            return None
        try:
            answer = await self._editor.ask("fs/read_text_file", known.about(path), READING)
        except (RpcError, RpcClosed):
            return None
        except TimeoutError:
            self._silent = True
            log.warning("the editor does not say what it has of %s: files are read from the disk from now on", path)
            return None
        content = answer.get("content") if isinstance(answer, dict) else None
        return content if isinstance(content, str) else None

    async def write(self, path: Path, text: str, session_id: str) -> bool:
        known = self._find(session_id)
        if known is None or not self.wanted or not self._editor.can.writes:
            return False
        try:
            await self._editor.ask("fs/write_text_file", known.about(path) | {"content": text}, WRITING)
        except RpcError as error:
            log.warning("the editor does not write %s: %s", path, error)
            return False
        except (RpcClosed, TimeoutError) as error:
            raise ToolError(
                f"The editor was to write {path} and has not said that it did. Look at the file before you go on."
            ) from error
        return True


class EditorTerminals:
    """Terminals of the editor: implements Terminals."""

    def __init__(self, editor: Editor, find: Find) -> None:
        self.wanted = False
        self._editor, self._find = editor, find

    @property
    def ready(self) -> bool:
        return self.wanted and self._editor.can.terminal

    async def run(self, command: TerminalCommand, seconds: float) -> TerminalEnd | None:
        known = self._find(command.session_id)
        if known is None:
            return None
        terminal = await self._opened(known, command)
        if terminal is None:
            return None
        if command.session_id == known.session.id:
            known.updates.terminals[command.call_id] = str(terminal["terminalId"])
            content = [{"type": "terminal", "terminalId": terminal["terminalId"]}]
            update = {"sessionUpdate": "tool_call_update", "toolCallId": command.call_id, "status": "in_progress"}
            self._editor.tell(known.session.id, update | {"content": content})
        try:
            end = await self._followed(terminal, seconds)
        except BaseException:
            # Whatever happens, also that nobody waits any longer: nothing of it is left in the editor.
            self._editor.begin(self._closed(terminal, kill=True))
            raise
        await self._closed(terminal, kill=False)
        return end

    async def _opened(self, known: OpenSession, command: TerminalCommand) -> Json | None:
        program, *arguments = command.arguments
        asked = {
            "sessionId": known.session.id,
            "command": program,
            "args": arguments,
            "cwd": known.editor_path(command.cwd),
            "outputByteLimit": OUTPUT,
        }
        try:
            terminal = await self._editor.ask("terminal/create", asked, BEGINNING)
        except RpcError as error:
            log.warning("the editor opens no terminal: %s", error)
            return None
        except (RpcClosed, TimeoutError) as error:
            raise ToolError(
                "The editor has not said whether it opened a terminal, so nobody knows whether the command ran."
            ) from error
        name = terminal.get("terminalId") if isinstance(terminal, dict) else None
        if not isinstance(name, str):
            raise ToolError("The editor has named no terminal, so nobody knows whether the command ran.")
        return {"sessionId": known.session.id, "terminalId": name}

    async def _followed(self, terminal: Json, seconds: float) -> TerminalEnd:
        timed_out = False
        ended: Any = {}
        try:
            ended = await self._editor.ask("terminal/wait_for_exit", terminal, seconds)
        except TimeoutError:
            timed_out = True
            with suppress(*FAILED):
                await self._editor.ask("terminal/kill", terminal, ENDING)
        except (RpcError, RpcClosed) as error:
            raise ToolError(f"The editor has lost the terminal of the command: {error}") from error
        try:
            answer = await self._editor.ask("terminal/output", terminal, ENDING)
        except FAILED as error:
            raise ToolError(f"The editor does not tell what the command printed: {error}") from error
        answer = answer if isinstance(answer, dict) else {}
        return TerminalEnd(
            end=_end_of(ended if isinstance(ended, dict) else {}),
            output=str(answer.get("output") or ""),
            truncated=answer.get("truncated") is True,
            timed_out=timed_out,
        )

    async def _closed(self, terminal: Json, *, kill: bool) -> None:
        for method in ("terminal/kill", "terminal/release") if kill else ("terminal/release",):
            with suppress(*FAILED):
                await self._editor.ask(method, terminal, ENDING)


def _end_of(answer: Json) -> ProgramEnd:
    code, name = answer.get("exitCode"), answer.get("signal")
    number = signal.Signals.__members__.get(str(name)) if name else None
    return ProgramEnd(code=code if isinstance(code, int) else None, signal=int(number) if number else None)
