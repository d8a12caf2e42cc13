"""The servers that run: one for each root and language, started when wanted, ended when idle, too large or done."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import field
from math import ceil
from pathlib import Path
from typing import Any, Literal

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.lsp.client import LanguageClient
from toolwright.lsp.diagnostics import Diagnostic, Findings
from toolwright.lsp.program import RunningServer
from toolwright.lsp.servers import ServerMatch
from toolwright.process.running.scope import Scopes
from toolwright.process.sandbox.program_box import ProgramBoxes
from toolwright.record import record

log = logging.getLogger(__name__)

IDLE = 10 * 60.0
"""Seconds after which a server that nobody asks is ended."""
LARGEST = 4 * 1024**3
"""Bytes of memory from which on a server is ended."""
LOOK = 15.0
"""Seconds between two looks at the servers."""
FIRST_ANSWER, PATIENCE, LEAST = 8.0, 3.0, 0.3
"""Seconds a server is waited for after its first change, after others, and once it has let us wait in vain often."""
FIRST, LONGEST = 1.0, 300.0
"""Seconds until a server that failed is started again: doubled with each failure in a row."""
PROVEN = 60.0
"""Seconds after which a server that runs counts as sound, so that its next end is its first failure."""

State = Literal["running", "starting", "waiting", "ended"]
Listener = Callable[[], None]


@record(slots=True)
class Slot:
    """One server at one root, whether it runs or not."""

    found: ServerMatch
    client: LanguageClient | None = None
    starting: asyncio.Task[LanguageClient] | None = None
    watching: asyncio.Task[None] | None = None
    failures: int = 0
    begun: float = 0.0
    retry_at: float = 0.0
    reason: str = ""
    """Why it does not run."""
    used: float = 0.0
    told: State = "ended"
    """The state that was told last."""
    patience: float = FIRST_ANSWER
    looking: asyncio.Lock = field(default_factory=asyncio.Lock)
    earlier: dict[Path, tuple[str, tuple[Diagnostic, ...]]] = field(default_factory=dict[Path, Any])
    """What was found in files of a change of several before it, by the call that made it."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Look at changes one after the other, so that each is told the errors it brought and no others.

        No change waits longer for those before it than for the server itself.
        """
        try:
            async with time_limit(self.patience) if self.looking.locked() else nullcontext():
                await self.looking.acquire()
        except TimeoutError:
            yield
            return
        try:
            yield
        finally:
            self.looking.release()

    def before(self, call_id: str, path: Path) -> dict[Path, tuple[Diagnostic, ...]]:
        """Return what is known of a file before a change, as later another change has the server look at it anew."""
        call, earlier = self.earlier.pop(path, ("", ()))
        if call == call_id and call:
            return {path: earlier}
        knows = self.client is not None and (self.client.surveyed or self.client.diagnostics.knows(path))
        return {path: self.client.diagnostics.found(path)} if self.client is not None and knows else {}

    def remember(self, call_id: str, earlier: Findings, paths: Iterable[Path]) -> None:
        """Keep what was found in files whose own turn is yet to come."""
        for path in paths:
            if self.earlier.get(path, ("",))[0] != call_id:
                self.earlier[path] = (call_id, tuple(earlier.get(path, ())))

    def kept_waiting(self) -> None:
        """It is waited for less the next time."""
        self.patience = max(LEAST, self.patience / 2)

    def answered(self) -> None:
        self.patience = PATIENCE

    @property
    def runs(self) -> bool:
        return self.client is not None and not self.client.ended.is_set()

    @property
    def state(self) -> State:
        if self.client is not None:
            return "running"
        if self.starting is not None:
            return "starting"
        return "waiting" if self.failures else "ended"


class Pool:
    """Starts servers and keeps them for everybody in this workspace."""

    def __init__(
        self,
        scopes: Scopes,
        boxes: ProgramBoxes,
        environment: Mapping[str, str],
        *,
        kept: Path,
        idle: float = IDLE,
        largest: int = LARGEST,
    ) -> None:
        """`kept` is the folder for what servers keep from one start to the next."""
        self.slots: dict[tuple[str, str], Slot] = {}
        self._scopes, self._boxes, self._kept = scopes, boxes, kept
        self._environment = environment
        self.idle, self.largest = idle, largest
        self.on_change: list[Listener] = []
        """Called whenever the state of a server is another than before."""
        self.on_findings: list[Callable[[str, Path], None]] = []
        """Called with a server's name and a file in which it finds something else than before."""
        self._housekeeping: asyncio.Task[None] | None = None

    def slot(self, found: ServerMatch) -> Slot:
        return self.slots.setdefault(found.key, Slot(found))

    def known(self, key: tuple[str, str]) -> ServerMatch | None:
        """A server that runs, so that its program need not be looked for again."""
        slot = self.slots.get(key)
        return slot.found if slot is not None and slot.runs else None

    async def client(self, found: ServerMatch) -> LanguageClient:
        """The server, started if it does not run. ToolError if it cannot be, or failed a moment ago."""
        slot, now = self.slot(found), asyncio.get_running_loop().time()
        slot.used = now
        if slot.client is not None and not slot.client.ended.is_set():
            return slot.client
        if slot.starting is None:
            if now < slot.retry_at:
                wait = ceil(slot.retry_at - now)
                raise ToolError(f"{found.server.id} does not run: {slot.reason} It is started again in {wait} s.")
            slot.starting = asyncio.create_task(self._start(slot))
            slot.starting.add_done_callback(_looked_at)
            self._tell(slot)
        return await asyncio.shield(slot.starting)

    async def settled(self) -> None:
        """Return when no server is on its way down."""
        leaving = [slot.watching for slot in self.slots.values() if slot.watching and slot.client is None]
        await asyncio.gather(*leaving, return_exceptions=True)

    async def close(self) -> None:
        """End every server, and wait until nothing of them is left."""
        tasks = [self._housekeeping, *(slot.starting for slot in self.slots.values())]
        await _cancel(*tasks)
        await asyncio.gather(*(self._end(slot, "The workspace was closed.") for slot in self.slots.values()))

    async def _start(self, slot: Slot) -> LanguageClient:
        match, loop = slot.found, asyncio.get_running_loop()
        try:
            client = await self._begin(match)
        except ToolError as error:
            slot.starting = None
            self._failed(slot, str(error))
            raise
        finally:
            slot.starting = None
        if slot.patience >= PATIENCE:
            slot.patience = FIRST_ANSWER
        slot.client, slot.begun, slot.reason, slot.used = client, loop.time(), "", loop.time()
        slot.watching = asyncio.create_task(self._watch(slot, client))
        self._tell(slot)
        if self._housekeeping is None:
            self._housekeeping = asyncio.create_task(self._keep_house())
        return client

    async def _begin(self, found: ServerMatch) -> LanguageClient:
        if found.missing:
            raise ToolError(f"{found.server.id} cannot be started. {found.missing}", "missing")
        environment = {**self._environment, **found.environment, **found.server.environment}
        name = hashlib.sha256("\0".join(found.key).encode("utf-8", "surrogateescape")).hexdigest()[:20]
        try:
            box, env = await self._boxes.of_server(found.argv[0], environment, self._kept / name)
            program = self._boxes.program(box, found.argv, cwd=found.root, env=env)
            running = await RunningServer.start(self._scopes, program)
        except ToolError as error:
            raise ToolError(f"{found.server.id} cannot be started. {error}", error.kind) from error
        client = LanguageClient(found, running)
        client.diagnostics.on_findings = lambda path: self._tell_findings(found.server.id, path)
        try:
            await client.begin()
        except BaseException:
            await client.kill()
            raise
        return client

    async def _watch(self, slot: Slot, client: LanguageClient) -> None:
        """Notice when a server dies by itself."""
        await client.ended.wait()
        lived = asyncio.get_running_loop().time() - slot.begun
        slot.failures = 0 if lived > PROVEN else slot.failures
        slot.client = None
        complaint = client.running.complaint.rstrip(".")
        self._failed(slot, f"it ended by itself, saying: {complaint}." if complaint else "it ended by itself.")
        await client.kill()

    def _failed(self, slot: Slot, reason: str) -> None:
        log.info("the language server %s failed: %s", slot.found.server.id, reason)
        slot.reason = reason
        slot.retry_at = asyncio.get_running_loop().time() + min(LONGEST, FIRST * 2**slot.failures)
        slot.failures += 1
        self._tell(slot)

    def _tell(self, slot: Slot) -> None:
        if slot.state != slot.told:
            slot.told = slot.state
            for listener in self.on_change:
                listener()

    def _tell_findings(self, name: str, path: Path) -> None:
        for listener in self.on_findings:
            listener(name, path)

    async def _end(self, slot: Slot, reason: str) -> None:
        client, slot.client, slot.reason = slot.client, None, reason
        await _cancel(slot.watching)
        if client is not None:
            await client.close()
        self._tell(slot)

    async def _keep_house(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            await self.tidy(asyncio.get_running_loop().time())

    async def tidy(self, now: float) -> None:
        """End the servers that nobody has asked for long, and those that have grown too large."""
        for slot in list(self.slots.values()):
            if slot.client is None:
                continue
            memory = slot.client.running.memory() or 0
            if now - slot.used > self.idle:
                await self._end(slot, f"It was not asked for {self.idle / 60:.0f} minutes.")
            elif memory > self.largest:
                await self._end(slot, "")
                self._failed(slot, f"it was ended because it took {memory / 1024**2:,.0f} MB of memory.")


async def _cancel(*tasks: "asyncio.Task[None] | asyncio.Task[LanguageClient] | None") -> None:
    real = [task for task in tasks if task is not None]
    for task in real:
        task.cancel()
    await asyncio.gather(*real, return_exceptions=True)


def _looked_at(task: "asyncio.Task[LanguageClient]") -> None:
    """Everybody who waited for it may have gone, and then nobody else looks at how it failed."""
    if not task.cancelled():
        task.exception()
