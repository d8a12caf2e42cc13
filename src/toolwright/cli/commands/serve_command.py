"""tw serve: an HTTP server for clients that speak the reference's contract, and for the web page."""

import argparse
import asyncio
import os
from pathlib import Path

from toolwright.cli.dispatch import DONE, FAILED
from toolwright.cli.help_layout import Layout
from toolwright.cli.options import CommandParser, add_tunnel, port
from toolwright.errors import UsageError
from toolwright.process.programs.detached import keep_alive


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.own:
        return DONE if keep_alive(["serve", "--own-child"]) else FAILED
    return serve_with(options, "serve")


def serve_with(options: argparse.Namespace, name: str) -> int:
    """Serve as a command line says, under the name of the command it is for."""
    try:
        from toolwright.app.server_secret import Secret
        from toolwright.server.running import LOOPBACK, ServerOptions, serve
    except ModuleNotFoundError as error:
        raise UsageError(f"tw {name} needs {error.name}. Install it with: pip install 'toolwright[server]'") from error
    if options.hostname not in LOOPBACK and options.no_auth:
        raise UsageError("--no-auth is for this machine alone; it cannot be given with --hostname.")
    if options.tunnel and options.no_auth:
        raise UsageError("--tunnel lets programs try the secret, and with --no-auth there is none. Give one of them.")
    if options.socket and options.open:
        raise UsageError("A browser opens no socket of the file system. Give --open or --socket, not both.")
    folders = [_folder(text) for text in options.directory or ["."]]
    if options.socket and any(options.socket.absolute().parent.resolve().is_relative_to(one) for one in folders):
        raise UsageError(f"{options.socket} lies in a folder that is served, where commands reach it. Choose another.")
    own = name == "serve" and options.own_child
    without = options.no_auth or options.socket is not None
    asyncio.run(
        serve(
            ServerOptions(
                folders=() if own else folders,
                own=own,
                host=options.hostname,
                port=options.port,
                socket=options.socket,
                secret=None if without else Secret.of(os.environ, options.token_file),
                origins=options.cors,
                allowed_hosts=options.allow_host,
                idle_exit=options.idle_exit,
                trust=options.trust,
                tunnel=options.tunnel,
                show=options.open,
                environment=os.environ,
            )
        )
    )
    return DONE


def _folder(text: str) -> Path:
    path = Path(text).resolve()
    if not path.is_dir():
        raise UsageError(f"{text} is not a folder. Name the folder of a project.")
    return path


def _parser() -> CommandParser:
    root = serving_parser(
        "serve",
        "Serve the sessions of one or more folders over HTTP, for the web page, for `tw attach` and for "
        "OpenCode's clients. Prints its address; with it comes the secret that clients must bring.",
        examples="  tw serve\n"
        "  tw serve --port 4096 --directory ~/one --directory ~/two\n"
        "  OPENCODE_SERVER_PASSWORD=... tw serve --hostname 0.0.0.0 --allow-host box.example",
    )
    # The user's own server: tw run --bg starts it.
    root.add_argument("--own", action="store_true", help=argparse.SUPPRESS)
    root.add_argument("--own-child", action="store_true", help=argparse.SUPPRESS)
    return root


def serving_parser(name: str, description: str, *, examples: str) -> CommandParser:
    # Not with the options all commands share: here the folder may be given more than once.
    root = CommandParser(
        prog=f"tw {name}",
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=Layout,
    )
    root.add_argument("--directory", action="append", metavar="DIR", help="a folder to serve; may be repeated")
    root.add_argument("--trust", action="store_true", help="trust the projects for this once")
    root.add_argument("--port", type=port, default=0, help="the port (4096, or any if that is taken)")
    root.add_argument("--hostname", default="127.0.0.1", metavar="H", help="the address to listen on (127.0.0.1)")
    root.add_argument("--socket", type=Path, metavar="PATH", help="listen on a socket of the file system instead")
    root.add_argument("--open", action="store_true", help="open the page in a browser")
    add_tunnel(root)
    root.add_argument("--no-auth", action="store_true", help="let every program of this machine in")
    root.add_argument("--token-file", type=Path, metavar="F", help="a file with the secret to use")
    root.add_argument("--cors", action="append", default=[], metavar="ORIGIN", help="let this page in; may be repeated")
    root.add_argument("--allow-host", action="append", default=[], metavar="NAME", help="answer to this name as well")
    root.add_argument("--idle-exit", type=float, default=0, metavar="S", help="close a folder unused for so long")
    return root
