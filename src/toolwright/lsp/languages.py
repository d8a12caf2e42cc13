"""The service for everything that is known about code: errors after a change, and answers about symbols."""

import asyncio
import logging
import os
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.files.store import LARGE, Change, Commit
from toolwright.lsp.checks import Checked, FileEvent, told, warning_of
from toolwright.lsp.client import CHANGED, CREATED, DELETED, LanguageClient
from toolwright.lsp.comparing import Compared, compared, new_errors, old_lines
from toolwright.lsp.diagnostics import QUIET, Diagnostic, Findings, in_order
from toolwright.lsp.pool import PATIENCE, Pool, Slot
from toolwright.lsp.servers import Finder, ServerMatch
from toolwright.lsp.snapshot import DocumentSnapshot, snapshot, stamp_of, text_of
from toolwright.lsp.watch import FolderWatch
from toolwright.protocols.jsonrpc import RpcClosed, RpcError

log = logging.getLogger(__name__)

START = 10.0
"""Seconds a server may take to start before a result goes without it."""
ASKED = 30.0
"""Seconds for one question of the model."""
LOADING = 15.0
"""Seconds a question waits for a server to have read its project."""
WARNINGS = 1000
RELATED = 20
"""Open documents that are looked at again after a change of another."""


class Languages:
    """One for each workspace, for all its sessions and agents."""

    def __init__(
        self,
        finder: Finder,
        pool: Pool,
        at_work: Callable[[], Collection[Path]],
        *,
        legacy: str = "",
        gate: bool = False,
    ) -> None:
        """`at_work` gives the files that are being changed, each of which is told its errors with its own change;
        `legacy` is the encoding of files that are not Unicode."""
        self.finder = finder
        self.pool = pool
        self.watch = FolderWatch(finder)
        self.gate = gate
        self._at_work = at_work
        self._legacy = legacy
        self._top = f"{str(finder.top).rstrip('/')}/"
        self._directory = f"{str(finder.directory).rstrip('/')}/"
        self.warnings = dict[str, str]()
        """That a call has made things worse, by its id, for who tells of the call."""
        self.warming = dict[Path, asyncio.Task[None]]()
        """The files that are being opened ahead, or were not long ago."""
        self._noticed = 0
        """How many changes of others the servers were told of."""

    # After a change

    async def committed(self, commit: Commit) -> str | None:
        """Return the servers' remarks on the content that is on disk now."""
        path = commit.path
        matches = self.finder.for_file(path, self.pool.known)
        if not matches:
            return None
        kinds = {path: _kind(commit), **{one.place.path: _kind(one) for one in commit.together}}
        befores = {path: commit.before, **{one.place.path: one.before for one in commit.together}}
        rest = tuple(befores)[tuple(befores).index(path) + 1 :] if commit.together else ()
        if not self._can_look_meanwhile(matches):
            await self._notice_changes(but=kinds)
        now = await self._snapshot(path)
        event = FileEvent(path=path, now=now, befores=befores, kinds=kinds, rest=rest, call_id=commit.call_id)
        checks = await _all([self._checked(one, event) for one in matches])
        if self.gate and (warning := warning_of(checks)) and len(self.warnings) < WARNINGS:
            self.warnings[commit.call_id] = warning
        return told(self.name, path, checks)

    async def _checked(self, found: ServerMatch, event: FileEvent) -> Checked:
        slot = self.pool.slot(found)
        is_new = event.befores[event.path] is None
        known = {event.path: ()} if is_new else slot.before(event.call_id, event.path)
        try:
            client = await self._ready(slot)
            async with slot.turn(), time_limit(slot.patience):
                with suppress(TimeoutError):
                    async with time_limit(slot.patience / 2):
                        await self._learn(client, event)
                earlier = await self._looked(client, event) | known
                slot.remember(event.call_id, earlier, event.rest)
                later = client.diagnostics.all()
        except TimeoutError:
            return self._unanswered(slot, event.path)
        except RpcClosed:
            note = (
                f"{found.server.id} ended before it answered, so the errors of {self.name(event.path)} are not known."
            )
            return Checked(others={}, problem=note)
        except RpcError as error:
            return Checked(others={}, problem=f"{found.server.id} failed: {error}")
        except ToolError as error:
            return Checked(others={}, problem=str(error))
        slot.answered()
        told_apart = {*event.kinds, *self._at_work()}
        fresh = new_errors(earlier, later).items()
        others = {other: new for other, new in fresh if other not in told_apart and self._ours(other)}
        return Checked(own=self._compared(event, earlier, later), others=others)

    def _compared(self, event: FileEvent, earlier: Findings, later: Findings) -> Compared:
        """Return the errors of a file itself, told apart by whether they were there before."""
        before, now = text_of(event.befores[event.path], self._legacy) or "", event.now.text if event.now else ""
        return compared(earlier.get(event.path, ()), later.get(event.path, ()), old_lines(before, now))

    async def _ready(self, slot: Slot) -> LanguageClient:
        """A server that runs; one that let us wait before is waited for less."""
        if slot.runs:
            return await self.pool.client(slot.found)
        try:
            async with time_limit(START if slot.patience >= PATIENCE else slot.patience):
                return await self.pool.client(slot.found)
        except TimeoutError:
            slot.kept_waiting()
            raise ToolError(
                f"{slot.found.server.id} is not ready: it is still starting. Its errors come with a later change.",
                "timeout",
            ) from None

    async def _looked(self, client: LanguageClient, event: FileEvent) -> dict[Path, tuple[Diagnostic, ...]]:
        """Have a server look at a change; what it found before that."""
        path = event.path if event.now is not None else None
        if client.pulls_all:
            return await self._surveyed(client, event, path)
        earlier = client.diagnostics.all()
        await self._refresh(client, but=event.path)
        await self._tell(client, event)
        if path is not None:
            await client.diagnose(path)
        if client.pulls:
            related = [other for other in list(client.documents)[-RELATED:] if other != path]
            await asyncio.gather(*(client.diagnose(other) for other in related))
        elif len(client.documents) > 1:
            await client.diagnostics.quiet(QUIET)
        return earlier

    async def _learn(self, client: LanguageClient, event: FileEvent) -> None:
        """Have a server look at files as they were. Without that every old error would pass for a new one."""
        if client.pulls_all and client.surveyed:
            return
        texts = {path: text_of(before, self._legacy) for path, before in event.befores.items()}
        unknown = [path for path, text in texts.items() if not client.diagnostics.knows(path) and text is not None]
        for path in texts if client.pulls_all else unknown:
            await client.sync(path, texts[path] or "")
        if client.pulls_all:
            await client.take(client.survey())
            if client.surveyed:
                return
        if client.pulls:
            unknown += [path for path in client.documents if not client.diagnostics.knows(path) and path not in unknown]
        for path in unknown[-RELATED:]:
            await client.diagnose(path)

    async def _surveyed(
        self, client: LanguageClient, event: FileEvent, path: Path | None
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """The same for a server that can be asked about the whole project.

        What others have changed is looked for while it works. There is hardly ever anything; if there is, it is asked
        again.
        """
        await self._tell(client, event)
        noticed, survey = self._noticed, client.survey(path)
        try:
            earlier = client.diagnostics.all()
            await self._notice_changes(but=event.kinds)
            if await self._refresh(client, but=event.path) or noticed != self._noticed:
                survey.cancel()
                survey = client.survey(path)
            await client.take(survey)
        finally:
            survey.cancel()
        return earlier

    async def _tell(self, client: LanguageClient, event: FileEvent) -> None:
        path, now = event.path, event.now
        if now is None:
            await client.close_document(path)
        else:
            await client.sync(path, now.text, now.stamp)
        client.touched({one: kind for one, kind in event.kinds.items() if not _is_known(client, one, kind)})
        await client.saved(path)

    def _unanswered(self, slot: Slot, path: Path) -> Checked:
        waited, name = slot.patience, slot.found.server.id
        slot.kept_waiting()
        busy = next(iter(slot.client.loading.values()), "") if slot.client is not None else ""
        state = f"is not ready ({busy or 'it is still loading'})" if slot.client and slot.client.loading else ""
        state = state or f"did not answer within {waited:.1f} s"
        return Checked(others={}, problem=f"{name} {state}, so the errors of {self.name(path)} are not known.")

    # Reading ahead

    def warm(self, path: Path) -> None:
        """Have the server of a file that was read ready for its first change, in the background."""
        if path in self.warming or not self._ours(path):
            return
        for other in [one for one, task in self.warming.items() if task.done()]:
            del self.warming[other]
        if len(self.warming) < RELATED:
            self.warming[path] = asyncio.create_task(self._warm(path))

    async def _warm(self, path: Path) -> None:
        try:
            await self._notice_changes()
            for match in self.finder.for_file(path, self.pool.known):
                client = await self.pool.client(match)
                if path not in client.documents:
                    await self._open(client, path)
                    if client.pulls_all and not client.surveyed:
                        await client.take(client.survey())
                    elif client.pulls and not client.pulls_all and path in client.documents:
                        await client.diagnose(path)
        except (ToolError, RpcError, RpcClosed) as error:
            log.debug("%s could not be opened ahead: %s", path, error)

    # Questions

    async def clients(self, path: Path) -> list[LanguageClient]:
        """The servers for a file, each told what is on disk. ToolError if there is none."""
        matches = self.finder.for_file(path, self.pool.known)
        if not matches:
            raise ToolError(self._none_for(path), "missing")
        await self._notice_changes()
        ready, problems = list[LanguageClient](), list[str]()
        for one in matches:
            try:
                async with time_limit(ASKED):
                    client = await self.pool.client(one)
                    await self._refresh(client)
                    await self._open(client, path)
                    await client.settle(LOADING)
                if path not in client.documents:
                    raise ToolError(_unreadable(path), "missing")
                ready.append(client)
            except TimeoutError:
                problems.append(f"{one.server.id} is not ready: it did not come up within {ASKED:.0f} s.")
            except (ToolError, RpcError, RpcClosed) as error:
                problems.append(str(error))
        if not ready:
            raise ToolError(" ".join(problems))
        return ready

    async def check(self, path: Path) -> tuple[tuple[Diagnostic, ...], list[str]]:
        """All that the servers find in a file, and what kept any of them from it."""
        problems, raw = list[str](), set[Diagnostic]()
        for client in await self.clients(path):
            try:
                async with time_limit(ASKED):
                    await client.diagnose(path)
                raw |= set(client.diagnostics.found(path))
            except TimeoutError:
                problems.append(f"{client.name} did not answer within {ASKED:.0f} s.")
            except (RpcError, RpcClosed) as error:
                problems.append(f"{client.name} failed: {error}")
        return in_order(raw), problems

    def _can_look_meanwhile(self, found: Iterable[ServerMatch]) -> bool:
        """Return whether the servers can be asked again should others turn out to have changed something."""
        clients = [self.pool.slot(one).client for one in found]
        return self.watch.is_quick and all(one is not None and one.pulls_all for one in clients)

    async def _notice_changes(self, but: Collection[Path] = ()) -> None:
        """Tell the servers that run what others have changed on disk, but for files that they are told of anyway."""
        changes = {path: kind for path, kind in (await self.watch.changes()).items() if path not in but}
        self._noticed += len(changes)
        for slot in list(self.pool.slots.values()) if changes else ():
            client = slot.client
            if client is not None and slot.runs:
                news = {one: kind for one, kind in changes.items() if kind == DELETED or one not in client.documents}
                client.touched(news)

    async def _snapshot(self, path: Path) -> DocumentSnapshot | None:
        stamp = stamp_of(path)
        if stamp is not None and stamp[1] < LARGE:
            return snapshot(path, self._legacy)
        return await asyncio.to_thread(snapshot, path, self._legacy)

    async def _open(self, client: LanguageClient, path: Path) -> None:
        now = await self._snapshot(path)
        if now is not None:
            await client.sync(path, now.text, now.stamp)

    async def _refresh(self, client: LanguageClient, but: Path | None = None) -> bool:
        """Tell a server of open documents that somebody has changed on disk, but for one that it is told of anyway.

        Whether there are any.
        """
        any_left = False
        for path, document in [one for one in client.documents.items() if one[0] != but]:
            stamp = stamp_of(path)
            if stamp == document.stamp:
                continue
            any_left, now = True, await self._snapshot(path)
            if now is None:
                await client.close_document(path)
                client.touched({path: DELETED})
            else:
                await client.sync(path, now.text, now.stamp)
        return any_left

    def _none_for(self, path: Path) -> str:
        fitting = [server for server in self.finder.fitting(path.name) if self.finder.root(server, path)]
        what = path.suffix or path.name
        if waiting := next((one.id for one in fitting if self.finder.waits_for_trust(one, path)), ""):
            return (
                f"The language server for {what} files, {waiting}, may run code of the project, which is not trusted. "
                "The user can trust it with tw trust."
            )
        how = next((one.how_to_get for one in fitting if one.how_to_get), "")
        hint = f" The user can get one with {how}." if how else ""
        return f"There is no language server here for {what} files.{hint}"

    def _ours(self, path: Path) -> bool:
        return str(path).startswith((self._top, self._directory))

    def name(self, path: Path) -> str:
        """A path as it is told: from the project's root."""
        plain = str(path)
        if plain.startswith(self._top):
            return plain.removeprefix(self._top)
        return os.path.relpath(path, self.finder.top) if self._ours(path) else plain

    async def close(self) -> None:
        for task in self.warming.values():
            task.cancel()
        await asyncio.gather(*self.warming.values(), return_exceptions=True)
        await self.pool.close()


def _is_known(client: LanguageClient, path: Path, kind: int) -> bool:
    """Return whether a server has the text of a changed file already: to read it again would only cost it time."""
    return kind == CHANGED and path in client.documents


def _unreadable(path: Path) -> str:
    return f"{path} is no text that a server could read." if path.exists() else f"There is no file {path}."


async def _all(work: Sequence[Coroutine[None, None, Checked]]) -> list[Checked]:
    """Side by side; a single one, which is the rule, without a task of its own."""
    return [await work[0]] if len(work) == 1 else await asyncio.gather(*work)


def _kind(change: Commit | Change) -> int:
    if change.after is None:
        return DELETED
    return CREATED if change.before is None else CHANGED
