"""tw mcp: the MCP servers that are configured here, and this program as one."""

import argparse
import asyncio
import json
from pathlib import Path

from toolwright.cli.options import note, open_from, parser, plural, port, print_json, print_table, subcommand
from toolwright.errors import UsageError
from toolwright.jsontext import read_json
from toolwright.jsontypes import Json
from toolwright.wire import to_json
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
        case "logout":
            return _logout(options)
        case _:
            return asyncio.run(_serve(options))


def _parser() -> argparse.ArgumentParser:
    made = parser(
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
    actions = made.add_subparsers(dest="action", required=True, metavar="list|add|auth|logout|serve")
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
    logout = subcommand(actions, "logout", "Forget the login of a server")
    logout.add_argument("name")
    serving = subcommand(actions, "serve", "Offer our tools to another program, on stdio or over HTTP")
    serving.add_argument("--agent", default="", help="under the rules of this agent")
    serving.add_argument("--tools", default="", metavar="A,B", help="offer only these")
    serving.add_argument("--http", type=port, default=None, metavar="PORT", help="on this port of 127.0.0.1")
    return made


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
    folder = workspace.folders.config if options.user else workspace.config.root
    file = next((one for one in (folder / f"toolwright.{end}" for end in ("jsonc", "json")) if one.exists()), None)
    file = file or folder / "toolwright.json"
    _write(file, options.name, server)
    note(f"{options.name} is in {file}")
    if not options.user and not getattr(options, "trust", False):
        note("a project's servers are started once you trust it: tw trust")
    return 0


def _pairs(given: list[str], between: str, option: str) -> dict[str, str]:
    found = {}
    for one in given:
        name, mark, value = one.partition(between)
        if not mark or not name.strip():
            raise UsageError(f"{option} takes NAME{between}VALUE, not {one!r}.")
        found[name.strip()] = value.strip() if between == ":" else value
    return found


def _write(file: Path, name: str, server: Json) -> None:
    """Put the server into a file of settings, unless rewriting the file would lose its comments."""
    text = file.read_text("utf-8") if file.exists() else ""
    try:
        settings = read_json(text or "{}")
        if not isinstance(settings, dict) or not isinstance(settings.get("mcp", {}), dict):
            raise ValueError("it holds no object of settings")
    except ValueError as error:
        entry = json.dumps({name: server})
        raise UsageError(f"{file} is not changed ({error}). Put this under `mcp` yourself: {entry}") from error
    settings["mcp"] = {**settings.get("mcp", {}), name: server}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", "utf-8")


async def _auth(options: argparse.Namespace) -> int:
    from toolwright.mcp.client.login import log_in

    async with open_from(options) as workspace:
        server = workspace.mcp[options.name]
        if server.type != "remote" or server.said.oauth is False:
            raise UsageError(f"{server.name} needs no login: it is {server.type}, or its `oauth` is false.")

        def show(address: str) -> None:
            note(f"log in at {address}")
            if not options.no_browser:
                import webbrowser

                webbrowser.open(address)

        await log_in(server, show)
        note(f"logged in to {server.name}")
        await server.settled()
        note(f"{server.name} is {server.status}{f': {server.error}' if server.error else ''}")
        return 0 if server.status == "connected" else 1


def _logout(options: argparse.Namespace) -> int:
    from toolwright.mcp.client.tokens import FILE, Grants

    workspace = open_from(options)
    removed = Grants(workspace.folders.data / FILE).remove(options.name)
    note(f"the login of {options.name} is forgotten" if removed else f"nobody was logged in to {options.name}")
    return 0 if removed else 1


async def _serve(options: argparse.Namespace) -> int:
    from toolwright.mcp.serve.service import ClientAnswers, Service

    answers = ClientAnswers()
    only = [name for name in options.tools.split(",") if name]
    async with open_from(options, answer=answers) as workspace:
        service = Service(workspace=workspace, answers=answers, agent=options.agent, only=only)
        service.prepare()
        if options.http is None:
            from toolwright.mcp.serve.stdio import serve_stdio

            await serve_stdio(service)
        else:
            from toolwright.mcp.serve.http import serve_http

            await serve_http(service, options.http, workspace.environment.get("TOOLWRIGHT_MCP_TOKEN", ""), note)
    return 0
