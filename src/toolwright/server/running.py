"""A server from its start to its end: the port, the secret, the signals."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from toolwright.errors import UsageError
from toolwright.record import record
from toolwright.server.app import Application
from toolwright.server.connection import Connection
from toolwright.server.guard import Guard
from toolwright.server.inside import answer_inside
from toolwright.server.secret import Secret, leave_note, state_folder, was_killed
from toolwright.server.serving import Serving, answered_later
from toolwright.workspace import Workspace

PORT = 4096
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_BACKLOG = 1024
_PATIENCE = 2
"""Seconds that open connections are given at the end."""


@record(frozen=True, slots=True, kw_only=True)
class Options:
    """How a server is started."""

    folders: Sequence[Path]
    host: str = "127.0.0.1"
    port: int = 0
    socket: Path | None = None
    secret: Secret | None
    origins: Sequence[str] = ()
    allowed_hosts: Sequence[str] = ()
    idle_exit: float = 0
    """Seconds after which a folder nobody uses is closed; 0 for never."""
    trust: bool = False
    show: bool = False
    """Whether the page is opened in the person's browser."""
    environment: Mapping[str, str]


async def serve(options: Options) -> None:
    """Serve until a signal comes."""
    listening = _bound(options)
    port = 0 if options.socket else listening.getsockname()[1]
    if options.secret and not options.socket:
        options = replace(options, secret=options.secret.or_of_killed(options.environment, port))
    guard = Guard(
        secret=options.secret,
        hosts=_hosts(options, port),
        port=port,
        origins=frozenset(options.origins),
        cookie=options.secret.cookie() if options.secret else "",
    )

    def make(folder: Path) -> Workspace:
        workspace = Workspace(folder, answer=answered_later, client="app", keep=True, trust=options.trust)
        workspace.requests = partial(answer_inside, serving, workspace)
        return workspace

    after_kill = not options.socket and was_killed(options.environment, port)
    serving = Serving(options.folders, make, protected=options.secret is not None, after_kill=after_kill)
    host = f"[{options.host}]" if ":" in options.host else options.host
    url = f"unix:{options.socket}" if options.socket else f"http://{host}:{port}"
    note = _noted(options, port, url) if not options.socket else None
    server = _Server(_config(Application(serving, guard)))
    stop = _Stop(serving, server, note)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    # Whoever reads the address may connect at once, and waits until we are ready.
    listening.listen(_BACKLOG)
    _announce(options, url)
    if options.show and not options.socket:
        _open_page(f"{url}/k-{options.secret.value}" if options.secret else url)
    closing = asyncio.create_task(_close_idle(serving, options.idle_exit)) if options.idle_exit else None
    try:
        await server.serve([listening])
    finally:
        if closing:
            closing.cancel()
        await stop.finished()
        _remove(note)
        _remove(options.socket)


def _noted(options: Options, port: int, url: str) -> Path | None:
    """The note for its owner's other programs, where one can be left."""
    try:
        return leave_note(options.environment, port, url, options.secret)
    except OSError as error:
        folder = state_folder(options.environment)
        sys.stderr.write(f"{folder} cannot be written ({error.strerror}); clients need the address with its secret\n")
        return None


def _announce(options: Options, url: str) -> None:
    lines = [f"toolwright server listening on {url}"]
    # The reference's own SDK starts a program and waits for this line.
    if "OPENCODE_CONFIG_CONTENT" in options.environment:
        lines.insert(0, f"opencode server listening on {url}")
    if not options.socket:
        lines.append(f"open {url}/k-{options.secret.value}" if options.secret else f"open {url}/")
    if not options.socket and not options.secret:
        sys.stderr.write("warning: --no-auth lets every program on this machine in\n")
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _open_page(address: str) -> None:
    """Some browsers return at once, others when they are closed; nobody waits for either."""
    import webbrowser
    from threading import Thread

    Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _bound(options: Options) -> socket.socket:
    if options.socket:
        return _unix_socket(options.socket)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    for port in (options.port,) if options.port else (PORT, 0):
        # With the protocol named, asyncio sends small answers without waiting for more to say.
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((options.host, port))
        except OSError as error:
            made.close()
            if port == options.port or not port:
                raise UsageError(f"{options.host}:{port} cannot be listened on: {error.strerror}.") from error
            continue
        return made
    raise UsageError("No port is free.")


def _unix_socket(path: Path) -> socket.socket:
    if os.path.lexists(path) and not path.is_socket():
        raise UsageError(f"{path} is there and is not a socket. Name another.")
    path.unlink(missing_ok=True)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        made.bind(str(path))
    except OSError as error:
        raise UsageError(f"{path} cannot be listened on: {error.strerror or error}.") from error
    finally:
        os.umask(before)
    return made


def _hosts(options: Options, port: int) -> frozenset[str]:
    if options.socket:
        return frozenset()
    names = {"127.0.0.1", "localhost", "[::1]", *options.allowed_hosts}
    if options.host not in ("0.0.0.0", "::"):  # noqa: S104 - a comparison
        names.add(f"[{options.host}]" if ":" in options.host else options.host)
    hosts = {f"{name.lower()}:{port}" for name in names}
    return frozenset(hosts | {name.lower() for name in names} if port == 80 else hosts)


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        # What a stranger sends is answered; it is no reason to fill the person's terminal.
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_PATIENCE,
        timeout_keep_alive=75,
    )


class _Server(uvicorn.Server):
    """The signals are ours."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Stop:
    """On the first signal everything is ended in order; on the second at once."""

    def __init__(self, serving: Serving, server: uvicorn.Server, note: Path | None) -> None:
        self._serving, self._server, self._note = serving, server, note
        self._ending: asyncio.Task[None] | None = None

    def __call__(self) -> None:
        if self._ending is not None:
            _remove(self._note)
            os._exit(1)
        self._ending = asyncio.create_task(self._end())

    async def _end(self) -> None:
        self._serving.ending = True
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._serving.end()
        self._server.should_exit = True

    async def finished(self) -> None:
        if self._ending is None:
            await self._serving.end()
        else:
            await self._ending


def _remove(path: Path | None) -> None:
    if path is not None:
        path.unlink(missing_ok=True)


async def _close_idle(serving: Serving, seconds: float) -> None:
    """Close folders in which nothing has been at work, and to which nobody has listened, for that long."""
    quiet: dict[Path, float] = {}
    step = max(seconds / 4, 0.05)
    while True:
        await asyncio.sleep(step)
        listened = {one.directory for channel in serving.channels.values() for one in channel.listeners}
        for path, workspace in list(serving.projects.workspaces.items()):
            used = serving.statuses.get(str(path)) or str(path) in listened or "" in listened
            quiet[path] = 0 if used else quiet.get(path, 0) + step
            if quiet[path] >= seconds:
                del quiet[path]
                await serving.dispose(workspace)
