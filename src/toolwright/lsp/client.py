"""One language server that runs: told of documents by version, asked, and listened to."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

from toolwright.deadline import time_limit, to_the_end
from toolwright.errors import ToolError
from toolwright.lsp.capabilities import capabilities
from toolwright.lsp.diagnostics import DiagnosticsByFile
from toolwright.lsp.positions import path_of, uri_of
from toolwright.lsp.program import RunningServer
from toolwright.lsp.questions import PendingRequest, Survey
from toolwright.lsp.servers import ServerMatch, language_id
from toolwright.lsp.tsserver import COMMAND, file_errors
from toolwright.protocols.jsonrpc import BUSY, LSP, METHOD_NOT_FOUND, Peer, RpcClosed, RpcError
from toolwright.record import record

log = logging.getLogger(__name__)

INITIALIZE = 45.0
"""Seconds a server has to come up."""
OPEN = 100
"""Documents that are open in a server at a time."""
PROJECT = 2.0
"""Seconds a server has to look at all files of a project."""
YOUNG = 5.0
"""Seconds after its start in which an empty answer of a server may be a hasty one."""
FAREWELL = 0.5
"""Seconds a server has to end by itself."""
RETRIES = 5
SERVER_CANCELLED, CONTENT_MODIFIED = -32802, -32801
CREATED, CHANGED, DELETED = 1, 2, 3
_PROJECT = "toolwright-project"
"""The token under which a server tells how far it is with all files."""


@record(slots=True)
class OpenDocument:
    """A file as a server was last told of it."""

    version: int
    text: str
    since: int
    """What the server had said before it was told."""
    stamp: tuple[int, int] | None = None
    """When the file was last known to hold this text."""


class LanguageClient:
    """A server that runs for one root; `begin` says hello to it."""

    def __init__(self, found: ServerMatch, running: RunningServer) -> None:
        self.found = found
        self.diagnostics = DiagnosticsByFile()
        self.documents: dict[Path, OpenDocument] = {}
        """The least recently used first."""
        self.loading: dict[str, str] = {}
        """What it says it is busy with, by token."""
        self.running = running
        self._registered = dict[str, Any]()
        self._capabilities: Mapping[str, Any] = {}
        self._edits: list[Any] | None = None
        """What it asked to be changed while it ran a command; None while it runs none."""
        self.surveyed = False
        """Whether `diagnostics` holds what was found in all files of the project at some time."""
        self._slow = False
        """Whether it takes too long over all files of the project."""
        self._begun = 0.0
        self._settled = asyncio.Event()
        self._settled.set()
        self._peer = Peer(running.reader, running.writer, LSP, answer=self._answer, notified=self._notified)

    @property
    def ended(self) -> asyncio.Event:
        return self._peer.ended

    async def begin(self) -> None:
        """Say hello. ToolError if the server does not."""
        self._peer.start()
        root = uri_of(self.found.root)
        hello = {
            # A server that watches this process would end with it; ours end by their scope, also across namespaces.
            "processId": None,
            "clientInfo": {"name": "toolwright"},
            "rootUri": root,
            "rootPath": str(self.found.root),
            "workspaceFolders": [{"uri": root, "name": self.found.root.name}],
            "capabilities": capabilities(progress=self.found.server.progress),
            "initializationOptions": dict(self.found.init),
        }
        try:
            async with time_limit(INITIALIZE):
                answer = await self._peer.request("initialize", hello)
                self._capabilities = answer.get("capabilities", {}) if isinstance(answer, dict) else {}
                self._begun = asyncio.get_running_loop().time()
                await self._peer.notify("initialized", {})
                if settings := {**self.found.init, **self.found.settings}:
                    await self._peer.notify("workspace/didChangeConfiguration", {"settings": settings})
        except TimeoutError as error:
            raise ToolError(f"{self.name} did not come up within {INITIALIZE:.0f} seconds.", "timeout") from error
        except (RpcError, RpcClosed) as error:
            raise ToolError(f"{self.name} did not come up: {self.running.complaint or error}") from error

    @property
    def is_young(self) -> bool:
        """Return whether it may still be reading the project, although it does not say so."""
        return asyncio.get_running_loop().time() - self._begun < YOUNG

    @property
    def name(self) -> str:
        return self.found.server.id

    def can(self, capability: str, method: str) -> bool:
        """Return whether the server offers something, from the start or since."""
        return bool(self._capabilities.get(capability)) or method in self._registered

    @property
    def prepares_rename(self) -> bool:
        """Return whether it can be asked if there is anything to rename."""
        provider = self._capabilities.get("renameProvider")
        return isinstance(provider, dict) and bool(provider.get("prepareProvider"))

    @property
    def pulls(self) -> bool:
        """Return whether it answers when it is asked for errors; the others tell of them by themselves."""
        return self._is_tsserver or self.can("diagnosticProvider", "textDocument/diagnostic")

    @property
    def _is_tsserver(self) -> bool:
        provider = self._capabilities.get("executeCommandProvider")
        return isinstance(provider, dict) and COMMAND in (provider.get("commands") or ())

    @property
    def pulls_all(self) -> bool:
        """Return whether it can be asked about all files of the project at once."""
        provider = self._capabilities.get("diagnosticProvider") or self._registered.get("textDocument/diagnostic")
        return not self._slow and isinstance(provider, dict) and bool(provider.get("workspaceDiagnostics"))

    # Documents

    async def sync(self, path: Path, text: str, stamp: tuple[int, int] | None = None) -> None:
        """Have the server know this content of a file; nothing is sent if it does."""
        known = self.documents.pop(path, None)
        if known is not None and known.text == text:
            known.stamp = stamp
            self.documents[path] = known
            return
        if self.pulls:
            # What it once said by itself was about another text.
            self.diagnostics.pushed.pop(path, None)
        uri, since = uri_of(path), self.diagnostics.serial
        version = known.version + 1 if known else 1
        self.documents[path] = OpenDocument(version=version, text=text, since=since, stamp=stamp)
        if known is None:
            item = {"uri": uri, "languageId": language_id(path), "version": version, "text": text}
            await self._peer.notify("textDocument/didOpen", {"textDocument": item})
            await self._close_oldest()
        else:
            change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}
            await self._peer.notify("textDocument/didChange", change)

    async def saved(self, path: Path) -> None:
        """Tell the server that what it knows of a file is on disk."""
        sync = self._capabilities.get("textDocumentSync")
        save = sync.get("save") if isinstance(sync, dict) else None
        if not save or path not in self.documents:
            return
        params: dict[str, Any] = {"textDocument": {"uri": uri_of(path)}}
        if isinstance(save, dict) and save.get("includeText"):
            params["text"] = self.documents[path].text
        await self._peer.notify("textDocument/didSave", params)

    def touched(self, kinds: Mapping[Path, int]) -> None:
        """Tell the server which files were created, changed or deleted on disk."""
        changes = [{"uri": uri_of(path), "type": kind} for path, kind in kinds.items()]
        if changes:
            self._peer.tell("workspace/didChangeWatchedFiles", {"changes": changes})

    async def close_document(self, path: Path) -> None:
        if self.documents.pop(path, None) is not None:
            self.diagnostics.forget(path)
            await self._peer.notify("textDocument/didClose", {"textDocument": {"uri": uri_of(path)}})

    async def _close_oldest(self) -> None:
        while len(self.documents) > OPEN:
            await self.close_document(next(iter(self.documents)))

    # Questions

    async def request(self, method: str, params: Any) -> Any:
        """The answer; asked again where the server was interrupted by a change."""
        return await self._answered(self._ask(method, params))

    def _ask(self, method: str, params: Any) -> PendingRequest:
        return PendingRequest(method=method, params=params, answer=self._peer.ask(method, params))

    async def _answered(self, question: PendingRequest) -> Any:
        answer = question.answer
        try:
            for left in reversed(range(RETRIES)):
                try:
                    return await answer
                except RpcError as error:
                    if not left or error.code not in (SERVER_CANCELLED, CONTENT_MODIFIED):
                        raise
                answer = self._peer.ask(question.method, question.params)
        finally:
            answer.cancel()

    async def diagnose(self, path: Path) -> None:
        """Return when `diagnostics` holds what the server finds in the document as it is now."""
        document = self.documents[path]
        if not self.pulls:
            await self._while_it_runs(self.diagnostics.wait(path, version=document.version, since=document.since))
            return
        if self._is_tsserver:
            self.diagnostics.pull(path, await file_errors(self.request, path))
            return
        answer = await self.request("textDocument/diagnostic", {"textDocument": {"uri": uri_of(path)}})
        self.diagnostics.take_report(path, answer)

    async def _while_it_runs(self, waiting: Coroutine[Any, Any, None]) -> None:
        """Wait for what only a server that runs can bring about."""
        tasks = [asyncio.create_task(waiting), asyncio.create_task(self._peer.ended.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not tasks[0].done():
                raise RpcClosed("it ended by itself")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def survey(self, path: Path | None = None) -> Survey:
        """Ask about all files of the project, where the server can be asked that, and about a document among them.

        A server may answer no sooner than there is something to report; so it is told of results that it never gave.
        """
        own = self._ask("textDocument/diagnostic", {"textDocument": {"uri": uri_of(path)}}) if path else None
        known = {**self.diagnostics.results, **dict.fromkeys(self.documents, "")}
        previous = [{"uri": uri_of(one), "value": result} for one, result in known.items()]
        # With a token of ours the server need not ask for one before it tells how far it is.
        token = {"workDoneToken": _PROJECT} if self.found.server.progress else {}
        project = self._ask("workspace/diagnostic", {"previousResultIds": previous, **token})
        self._peer.flush()
        return Survey(path=path, own=own, project=project, known=known)

    async def take(self, survey: Survey) -> None:
        """Return when `diagnostics` holds the answers. A server that takes too long over them is not asked again."""
        try:
            if survey.path is not None and survey.own is not None:
                self.diagnostics.take_report(survey.path, await self._answered(survey.own))
            async with time_limit(PROJECT):
                answer = await self._answered(survey.project)
            self.diagnostics.take_project(answer, survey.known)
            self.surveyed = True
        except TimeoutError:
            self._slow = True
        finally:
            survey.cancel()

    async def execute(self, command: Any) -> list[Any]:
        """Have it run one of its commands; what it wants changed by that."""
        if self._edits is not None:
            raise RpcError("it is running another command", BUSY)
        wanted = list[Any]()
        self._edits = wanted
        try:
            params = {"command": command.get("command"), "arguments": command.get("arguments") or []}
            await self.request("workspace/executeCommand", params)
        finally:
            self._edits = None
        return wanted

    async def settle(self, seconds: float) -> bool:
        """Wait until it is not busy any more; False if that takes longer."""
        try:
            async with time_limit(seconds):
                await self._settled.wait()
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """Say goodbye and end it, whether it answers or not, also if the caller is cancelled meanwhile."""
        await to_the_end(self._close())

    async def _close(self) -> None:
        try:
            async with time_limit(FAREWELL):
                await self._peer.request("shutdown")
                await self._peer.notify("exit")
        except (TimeoutError, RpcError, RpcClosed):
            log.debug("%s did not say goodbye", self.name)
        await self.kill()

    async def kill(self) -> None:
        """End it without a word."""
        try:
            await self._peer.close()
        finally:
            await self.running.end()

    # What the server says

    def _notified(self, method: str, params: Any) -> None:
        if not isinstance(params, dict):
            return
        if method == "textDocument/publishDiagnostics" and not self._is_tsserver:
            path = path_of(str(params.get("uri")))
            if path is not None:
                self.diagnostics.publish(path, params.get("version"), params.get("diagnostics"))
        elif method == "$/progress":
            self._take_progress(str(params.get("token")), params.get("value"))

    def _take_progress(self, token: str, value: Any) -> None:
        if token == _PROJECT:
            return  # the answer says when it is done
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind == "begin" and len(self.loading) < OPEN:
            self.loading[token] = str(value.get("title", ""))[:100]
        elif kind == "end":
            self.loading.pop(token, None)
        if self.loading:
            self._settled.clear()
        else:
            self._settled.set()

    async def _answer(self, method: str, params: Any) -> Any:
        match method:
            case "workspace/configuration":
                items = params.get("items") if isinstance(params, dict) else None
                return [self._setting(item) for item in items or ()]
            case "workspace/workspaceFolders":
                return [{"uri": uri_of(self.found.root), "name": self.found.root.name}]
            case "client/registerCapability":
                self._register(params)
                return None
            case "workspace/applyEdit":
                return self._collect(params)
            case "window/showDocument":
                return {"success": False}
            case (
                "client/unregisterCapability"
                | "window/workDoneProgress/create"
                | "window/showMessageRequest"
                | "workspace/diagnostic/refresh"
                | "workspace/semanticTokens/refresh"
                | "workspace/inlayHint/refresh"
                | "workspace/codeLens/refresh"
            ):
                return None
        raise RpcError(f"There is no method {method!r}.", METHOD_NOT_FOUND)

    def _setting(self, item: Any) -> Any:
        """The part of its settings that a server asks for; the whole if the part has no name."""
        section = item.get("section") if isinstance(item, dict) else None
        value: Any = {**self.found.init, **self.found.settings}
        if not section:
            return value
        for name in str(section).split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def _register(self, params: Any) -> None:
        for one in params.get("registrations", ()) if isinstance(params, dict) else ():
            if isinstance(one, dict) and isinstance(one.get("method"), str):
                self._registered[one["method"]] = one.get("registerOptions") or {}

    def _collect(self, params: Any) -> dict[str, bool]:
        """Keep the changes of a command for the caller who asked for it; refuse them if nobody did."""
        if self._edits is None or not isinstance(params, dict) or len(self._edits) >= OPEN:
            return {"applied": False}
        self._edits.append(params.get("edit"))
        return {"applied": True}
