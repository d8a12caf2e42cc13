"""tw auth: store a provider's key or log in to it, list whose keys are there, remove one."""

import argparse
import getpass
import sys

from toolwright.auth import AuthFile
from toolwright.cli.options import note, open_from, parser, port, print_table
from toolwright.cli.other_setups import keys_elsewhere
from toolwright.errors import UsageError
from toolwright.models.catalog import ProviderInfo
from toolwright.models.logins import PROVIDERS
from toolwright.workspace import Workspace


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    workspace = open_from(options, warn=False)
    file = AuthFile(workspace.folders.auth)
    if options.remove:
        file.remove(_named(options))
    elif options.login or options.provider:
        provider = workspace.connections.catalog.provider(_named(options))
        if options.login:
            _log_in(workspace, file, provider, options.port)
        else:
            file.put(provider.id, _key(provider.name))
        note(f"stored in {file.path}, readable by you alone")
    else:
        print_table(_listed(workspace, file))
        note("tw auth PROVIDER stores a key; one in the environment, such as ANTHROPIC_API_KEY, works as well")
        for one in keys_elsewhere(workspace.folders):
            note(str(one))
    return 0


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "auth",
        "Keys for model providers. A key is read from the terminal without being shown, or from stdin.",
        examples="  tw auth anthropic\n  tw auth openai < key.txt\n  tw auth --login openrouter\n"
        "  tw auth --remove openai",
    )
    made.add_argument("provider", nargs="?", default="")
    chosen = made.add_mutually_exclusive_group()
    chosen.add_argument("--login", action="store_true", help=f"log in instead: {', '.join(PROVIDERS)}")
    chosen.add_argument("--remove", action="store_true", help="forget the key of this provider")
    made.add_argument("--port", type=port, help="with --login openrouter: where the browser comes back to (3000)")
    return made


def _listed(workspace: Workspace, file: AuthFile) -> list[tuple[str, ...]]:
    """Whose keys are there and where: the settings go before the environment, and both before what is stored."""
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


def _log_in(workspace: Workspace, file: AuthFile, provider: ProviderInfo, port: int | None) -> None:
    import asyncio

    from toolwright.models.logins import log_in

    if provider.id not in PROVIDERS:
        raise UsageError(
            f"There is no login to {provider.name}, only to {', '.join(PROVIDERS)}. "
            f"Store a key instead: tw auth {provider.id}."
        )
    file.store(provider.id, asyncio.run(log_in(provider.id, workspace.environment, note, port)))
    ignored = next((name for name in provider.env if workspace.environment.get(name)), "")
    if ignored:
        note(f"warning: {ignored} is set and goes before this login")


def _key(provider: str) -> str:
    asked = getpass.getpass(f"Key for {provider}: ") if sys.stdin.isatty() else sys.stdin.readline()
    key = asked.strip()
    if not key:
        raise UsageError("The key is empty; nothing was stored.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError("This is no key: a key has letters, digits and signs, and no blanks. Nothing was stored.")
    return key
