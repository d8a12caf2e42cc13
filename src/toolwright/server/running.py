"""A server from its start to its end: the port, the secret, the signals."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

from toolwright.app.looping import loops_at_work
from toolwright.app.own_server import held, port_of_killed
from toolwright.app.runs import Runs
from toolwright.app.server_secret import Secret, notes_folder, was_killed, write_server_file
from toolwright.copies.handing import CopyWork
from toolwright.deadline import time_limit
from toolwright.errors import UsageError
from toolwright.http_server.guard import Guard
from toolwright.http_server.uvicorn_server import PATIENCE, Server
from toolwright.machine.folders import Folders
from toolwright.machine.own_ports import BACKLOG, listen
from toolwright.record import record
from toolwright.server.app import Application
from toolwright.server.inside import answer_inside
from toolwright.server.serving import Serving, answered_later
from toolwright.workspace import Workspace

PORT = 4096
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@record(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Options of a server's start."""

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
    tunnel: bool = False
    """True if programs that cannot be seen, such as tunnels of ssh, may go on to the secret."""
    show: bool = False
    """True if the page is opened in the person's browser."""
    own: bool = False
    """True if it is the user's own: found by itself, for every folder, and ended when it is idle."""
    environment: Mapping[str, str]


async def serve(options: ServerOptions) -> None:
    """Serve until a signal comes."""
    listening = _bound(options)
    port = 0 if options.socket else listening.getsockname()[1]
    if options.secret and not options.socket:
        options = replace(options, secret=options.secret.reuse_after_crash(options.environment, port))
    guard = Guard(
        secret=options.secret,
        hosts=_hosts(options, port),
        origins=frozenset(options.origins),
        page_key=options.secret.page_key() if options.secret else "",
    )

    def make(folder: Path) -> Workspace:
        workspace = Workspace(folder, answer=answered_later, client="app", keep=True, trust=options.trust)
        workspace.requests = partial(answer_inside, serving, workspace)
        workspace.elsewhere = CopyWork(workspace).begin
        return workspace

    after_kill = not options.socket and was_killed(options.environment, port)
    protected = options.secret is not None
    serving = Serving(
        options.folders,
        make,
        protected=protected,
        page_key=guard.page_key,
        after_kill=after_kill,
        anywhere=options.own,
    )
    if options.own:
        from toolwright.server.own_runs import OwnRuns

        serving.own = OwnRuns(serving, Runs.of(Folders.of(options.environment)))
    host = f"[{options.host}]" if ":" in options.host else options.host
    url = f"unix:{options.socket}" if options.socket else f"http://{host}:{port}"
    note = _noted(options, port, url) if not options.socket else None
    server = Server(Application(serving, guard), sockets=True)
    stop = _Stop(serving, server, note)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    if not options.own:
        _announce(options, url)
    showing = asyncio.create_task(_show_page(_address(options, url), serving, options)) if options.show else None
    closing = asyncio.create_task(_close_idle(serving, options.idle_exit)) if options.idle_exit else None
    own = asyncio.create_task(_look_after_runs(serving, options, stop)) if options.own else None
    try:
        with held(url, options.environment) if options.own else nullcontext(enter_result=True) as is_the_one:
            if is_the_one:
                await server.serve([listening])
    finally:
        for task in filter(None, (closing, showing, own)):
            task.cancel()
        await stop.finished()
        _remove(note)
        _remove(options.socket)


async def _look_after_runs(serving: Serving, options: ServerOptions, stop: "_Stop") -> None:
    from toolwright.server.own_runs import IDLE, end_when_idle

    if serving.own is not None:
        await serving.own.go_on()
    await end_when_idle(serving, options.idle_exit or IDLE, stop)


def _noted(options: ServerOptions, port: int, url: str) -> Path | None:
    """The note for its owner's other programs, where one can be left."""
    try:
        return write_server_file(options.environment, port, url, options.secret)
    except OSError as error:
        folder = notes_folder(options.environment)
        sys.stderr.write(f"{folder} cannot be written ({error.strerror}); clients need the address with its secret\n")
        return None


def _announce(options: ServerOptions, url: str) -> None:
    lines = [f"toolwright server listening on {url}"]
    # The reference's own SDK starts a program and waits for this line.
    if "OPENCODE_CONFIG_CONTENT" in options.environment:
        lines.insert(0, f"opencode server listening on {url}")
    if not options.socket:
        lines.append(f"open {_address(options, url)}")
    if not options.socket and not options.secret:
        sys.stderr.write("warning: --no-auth lets every program on this machine in\n")
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _address(options: ServerOptions, url: str) -> str:
    """Name the address by which the page is opened, with the secret in it."""
    return f"{url}/k-{quote(options.secret.value, safe='')}" if options.secret else f"{url}/"


async def _show_page(address: str, serving: Serving, options: ServerOptions) -> None:
    """Open the page in the person's browser, and leave nothing of the way there once that has happened."""
    from toolwright.config.places import own_programs
    from toolwright.process.programs.browser import UNREADABLE, open_browser

    try:
        state = Folders.of(options.environment).state
        browser = await asyncio.to_thread(open_browser, address, own_programs(Path.cwd()), state)
    except OSError as error:
        sys.stderr.write(f"the browser cannot be told the address ({error.strerror}); open it yourself\n")
        return
    if browser is None:
        sys.stderr.write("no browser can be opened here; open the address yourself\n")
        return
    sys.stderr.write(f"opening the page. {UNREADABLE}\n")
    try:
        await serving.opened.wait()
    finally:
        browser.forget()


def _bound(options: ServerOptions) -> socket.socket:
    if options.socket:
        return _unix_socket(options.socket)
    for port in (port_of_killed(options.environment), 0) if options.own else (options.port or PORT, options.port):
        try:
            return listen("serve", options.host, port, tunnel=options.tunnel)
        except OSError as error:
            if port == options.port or not port:
                raise UsageError(f"{options.host}:{port} cannot be listened on: {error.strerror}.") from error
    raise UsageError("No port is free.")


def _unix_socket(path: Path) -> socket.socket:
    if os.path.lexists(path) and not path.is_socket():
        raise UsageError(f"{path} is there and is not a socket. Name another.")
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(str(path))
        listening.listen(BACKLOG)
    except OSError as error:
        raise UsageError(f"{path} cannot be listened on: {error.strerror or error}.") from error
    finally:
        os.umask(before)
    return listening


def _hosts(options: ServerOptions, port: int) -> frozenset[str]:
    if options.socket:
        return frozenset()
    names = {"127.0.0.1", "localhost", "[::1]", *options.allowed_hosts}
    if options.host not in ("0.0.0.0", "::"):  # noqa: S104 - a comparison
        names.add(f"[{options.host}]" if ":" in options.host else options.host)
    hosts = {f"{name.lower()}:{port}" for name in names}
    return frozenset(hosts | {name.lower() for name in names} if port == 80 else hosts)


class _Stop:
    """On the first signal everything is ended in order; on the second at once."""

    def __init__(self, serving: Serving, server: Server, note: Path | None) -> None:
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
            async with time_limit(PATIENCE):
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
            used = (
                serving.statuses.get(str(path)) or str(path) in listened or "" in listened or loops_at_work(workspace)
            )
            quiet[path] = 0 if used else quiet.get(path, 0) + step
            if quiet[path] >= seconds:
                del quiet[path]
                await serving.dispose(workspace)
