"""tw mcp: the MCP servers that are configured here, and this program as one."""

import argparse
import asyncio
import json
from typing import Any

from toolwright.app.words import plural
from toolwright.cli.actions.settings_file import settings_file, write_setting
from toolwright.cli.options import (
    add_tunnel,
    note,
    open_from,
    parser,
    port,
    print_json,
    print_table,
    subcommand,
)
from toolwright.cli.output import say
from toolwright.errors import UsageError
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.workspace import Workspace


def main(arguments: list[str]) -> int:
    program: list[str] = []
    if "--" in arguments:
        # What follows is a command line of its own.
        split = arguments.index("--")
        arguments, program = arguments[:split], arguments[split + 1 :]
    options = _parser().parse_args(arguments)
    match options.action:
        case "list":
            return asyncio.run(_list(options))
        case "add":
            return _add(options, program)
        case "auth":
            return asyncio.run(_auth(options))
        case "accept":
            return asyncio.run(_accept(options))
        case "logout":
            return _logout(options)
        case _:
            return asyncio.run(_serve(options))


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "mcp",
        "MCP servers: those that are configured, and this program as one.",
        examples=(
            "  tw mcp list\n"
            "  tw mcp add time -- uvx mcp-server-time\n"
            "  tw mcp add docs --url https://example.com/mcp --header 'X-Team: blue'\n"
            "  tw mcp auth docs\n"
            "  tw mcp serve --agent plan"
        ),
    )
    actions = root.add_subparsers(dest="action", required=True, metavar="list|add|auth|accept|logout|serve")
    listing = subcommand(actions, "list", "Connect to every server and say how it is")
    listing.add_argument("--json", action="store_true", help="machine-readable")
    adding = subcommand(actions, "add", "Write a server into the configuration: its program after --, or its --url")
    adding.add_argument("name")
    adding.add_argument("--user", action="store_true", help="for all your projects, not for this one")
    adding.add_argument("--env", action="append", default=[], metavar="K=V", help="a variable for the program")
    adding.add_argument("--url", default="", help="the address of a server")
    adding.add_argument("--header", action="append", default=[], metavar="K:V", help="a header of every request")
    auth = subcommand(actions, "auth", "Log in to a server in the browser")
    auth.add_argument("name")
    auth.add_argument("--no-browser", action="store_true", help="only print the address to open")
    auth.add_argument("--scope", default="", metavar="SCOPE", help="for what the login is to be good, in quotes")
    add_tunnel(auth)
    accepting = subcommand(actions, "accept", "Show tools that are not what they were, and offer them as they are now")
    accepting.add_argument("name")
    accepting.add_argument("--show", action="store_true", help="only show what has changed")
    logout = subcommand(actions, "logout", "Forget the login of a server")
    logout.add_argument("name")
    serving = subcommand(actions, "serve", "Offer our tools to another program, on stdio or over HTTP")
    serving.add_argument("--agent", default="", help="under the rules of this agent")
    serving.add_argument("--tools", default="", metavar="A,B", help="offer only these")
    serving.add_argument("--http", type=port, default=None, metavar="PORT", help="on this port of 127.0.0.1")
    add_tunnel(serving)
    return root


async def _list(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        if not workspace.settings.mcp:
            _say_none(workspace, as_json=options.json)
            return 0
        await workspace.mcp.settled()
        states = workspace.mcp.states()
    if options.json:
        print_json([to_json(state) for state in states])
    else:
        print_table([(state.name, state.status, state.error or _counted(state.tools)) for state in states])
    for state in states:
        for left in state.left_out or ():
            note(f"warning: {state.name} has a tool that is left out, {left}")
    return 0


def _say_none(workspace: Workspace, *, as_json: bool) -> None:
    if as_json:
        print_json([])
    trusted = "" if workspace.trusted else "; those of a project are not started before it is trusted (tw trust)"
    note(f"no MCP servers are configured{trusted}")


def _counted(tools: tuple[str, ...]) -> str:
    return plural(len(tools), "tool") + (f": {', '.join(tools)}" if tools else "")


def _add(options: argparse.Namespace, program: list[str]) -> int:
    if not options.name.strip() or not options.name.isprintable():
        raise UsageError(f"{options.name!r} is no name for a server. Choose letters and digits.")
    if bool(program) == bool(options.url):
        raise UsageError("Name the program of the server after --, or its address with --url.")
    if options.url and not options.url.startswith(("http://", "https://")):
        raise UsageError(f"{options.url!r} is no address: it must begin with http:// or https://.")
    if program:
        server: Json = {"type": "local", "command": program}
        server |= {"environment": variables} if (variables := _pairs(options.env, "=", "--env")) else {}
    else:
        server = {"type": "remote", "url": options.url}
        server |= {"headers": headers} if (headers := _pairs(options.header, ":", "--header")) else {}
    workspace = open_from(options)
    file = settings_file(workspace, user=options.user)
    entry = json.dumps({options.name: server})
    write_setting(
        file, "mcp", lambda said: _with(said, options.name, server), f"Put this under `mcp` yourself: {entry}"
    )
    note(f"{options.name} is in {file}")
    if not options.user and not getattr(options, "trust", False):
        note("a project's servers are started once you trust it: tw trust")
    return 0


def _pairs(texts: list[str], between: str, option: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, mark, value = text.partition(between)
        if not mark or not name.strip():
            raise UsageError(f"{option} takes NAME{between}VALUE, not {text!r}.")
        pairs[name.strip()] = value.strip() if between == ":" else value
    return pairs


def _with(setting: Any, name: str, server: Json) -> Json:
    if not isinstance(setting, dict | None):
        raise ValueError("it holds no object of settings")
    return {**(setting or {}), name: server}


async def _auth(options: argparse.Namespace) -> int:
    from toolwright.cli.actions.login_guide import TerminalGuide
    from toolwright.mcp.client.login import log_in

    async with open_from(options) as workspace:
        server = workspace.mcp[options.name]
        if server.type != "remote" or server.said.oauth is False:
            raise UsageError(f"{server.name} needs no login: it is {server.type}, or its `oauth` is false.")
        guide = TerminalGuide(workspace.lookup, workspace.folders.state, wants_browser=not options.no_browser)
        await log_in(server, guide, options.scope, tunnel=options.tunnel)
        note(f"logged in to {server.name}")
        await server.settled()
        if server.needed is not None and server.needed.scope:
            note(f"{server.name} needs a wider login: {server.needed.scope}")
            await log_in(server, guide, server.needed.scope, tunnel=options.tunnel)
            await server.settled()
        await guide.finish()
        note(f"{server.name} is {server.status}{f': {server.error}' if server.error else ''}")
        return 0 if server.status == "connected" else 1


async def _accept(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        server = workspace.mcp[options.name]
        await server.settled()
        for tool in server.waiting:
            say(server.pins.difference(tool))
        if not server.waiting:
            note(f"no tool of {server.name} waits{f': {server.error}' if server.error else ''}")
        elif not options.show:
            names = ", ".join(str(tool.get("name")) for tool in server.waiting)
            server.accept()
            note(f"{server.name} offers again: {names}")
        return 0


def _logout(options: argparse.Namespace) -> int:
    from toolwright.mcp.client.tokens import FILE, Grants

    workspace = open_from(options)
    removed = Grants(workspace.folders.data / FILE).remove(options.name)
    note(f"the login of {options.name} is forgotten" if removed else f"nobody was logged in to {options.name}")
    return 0 if removed else 1


async def _serve(options: argparse.Namespace) -> int:
    from toolwright.mcp.serve.program import serve_mcp

    only = [name for name in options.tools.split(",") if name]
    async with open_from(options) as workspace:
        token = workspace.environment.get("TOOLWRIGHT_MCP_TOKEN", "")
        await serve_mcp(
            workspace,
            http=options.http,
            token=token,
            agent=options.agent,
            tools=only,
            tunnel=options.tunnel,
            say=note,
        )
    return 0
