"""tw auth: store a provider's key or log in to it, list whose keys are there, remove one."""

import argparse
import asyncio
import getpass
import sys

from toolwright.cli.actions.foreign_configs import keys_elsewhere
from toolwright.cli.options import add_tunnel, note, open_from, parser, port, print_table
from toolwright.config.auth import AuthFile, checked_key
from toolwright.errors import UsageError
from toolwright.models.known.catalog import ProviderInfo
from toolwright.models.logins import PROVIDERS
from toolwright.workspace import Workspace


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    workspace = open_from(options, warn=False)
    file = AuthFile(workspace.folders.auth)
    if options.login:
        return asyncio.run(_log_in(options))
    if options.remove:
        file.remove(_named(options))
    elif options.provider:
        provider = workspace.connections.catalog.provider(_named(options))
        file.put(provider.id, _key(provider.name))
        note(f"stored in {file.path}, readable by you alone")
    else:
        print_table(_listed(workspace, file))
        note("tw auth PROVIDER stores a key; one in the environment, such as ANTHROPIC_API_KEY, works as well")
        for key in keys_elsewhere(workspace.folders):
            note(str(key))
    return 0


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "auth",
        "Keys for model providers. A key is read from the terminal without being shown, or from stdin."
        " Several keys of one provider have names, as in anthropic@work; so have their models.",
        examples="  tw auth anthropic\n  tw auth anthropic@work\n  tw auth openai < key.txt\n"
        "  tw auth --login openrouter\n"
        "  tw auth --remove openai",
    )
    root.add_argument("provider", nargs="?", default="")
    chosen = root.add_mutually_exclusive_group()
    chosen.add_argument(
        "--login", action="store_true", help=f"log in instead: {', '.join(PROVIDERS)}, and what plugins log in to"
    )
    chosen.add_argument("--remove", action="store_true", help="forget the key of this provider")
    root.add_argument("--method", default="", metavar="WAY", help="with --login: its number or label, of several")
    root.add_argument("--port", type=port, help="with --login openrouter: where the browser comes back to (3000)")
    add_tunnel(root)
    return root


def _listed(workspace: Workspace, file: AuthFile) -> list[tuple[str, ...]]:
    """List the keys that are there and their places: settings before the environment, both before what is stored."""
    stored = {name: record.get("type", "") for name, record in file.records().items()}
    rows: dict[str, str] = {}
    for provider in workspace.connections.catalog.providers():
        variable = next((f"variable {name}" for name in provider.env if workspace.environment.get(name)), "")
        used = f"setting provider.{provider.id}.options.apiKey" if provider.options.get("apiKey") else variable
        if used:
            unused = f"; the stored {stored[provider.id]} is not used" if provider.id in stored else ""
            rows[provider.id] = used + unused
    return list((stored | rows).items())


def _named(options: argparse.Namespace) -> str:
    if not options.provider:
        raise UsageError("Name the provider, such as openrouter.")
    name: str = options.provider
    return name


async def _log_in(options: argparse.Namespace) -> int:
    from toolwright.app.logins import plugin_logins

    async with open_from(options) as workspace:
        name, file = _named(options), AuthFile(workspace.folders.auth)
        brought = await plugin_logins(workspace)
        if brought is not None and brought.ways(name):
            from toolwright.cli.actions.plugin_login import log_in_by_plugin

            await log_in_by_plugin(brought, name, options.method)
            ignored = ""  # what a plugin logs in to goes by its login
        else:
            provider = workspace.connections.catalog.provider(name)
            await _log_in_ourselves(workspace, file, provider, options)
            ignored = next((one for one in provider.env if workspace.environment.get(one)), "")
        note(f"stored in {file.path}, readable by you alone")
        if ignored:
            note(f"warning: {ignored} is set and goes before this login")
    return 0


async def _log_in_ourselves(
    workspace: Workspace, file: AuthFile, provider: ProviderInfo, options: argparse.Namespace
) -> None:
    from toolwright.models.logins import log_in

    if provider.service not in PROVIDERS:
        raise UsageError(
            f"There is no login to {provider.name}, only to {', '.join(PROVIDERS)} and what plugins log in to. "
            f"Store a key instead: tw auth {provider.id}."
        )
    record = await log_in(provider.service, workspace.environment, note, options.port, tunnel=options.tunnel)
    file.store(provider.id, record)


def _key(provider: str) -> str:
    asked = getpass.getpass(f"Key for {provider}: ") if sys.stdin.isatty() else sys.stdin.readline()
    return checked_key(asked)
