"""tw auth: store a provider's key, list whose keys are there, remove one."""

import argparse
import getpass
import sys

from toolwright.auth import AuthFile
from toolwright.cli.options import note, open_from, parser, print_table
from toolwright.errors import UsageError


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    workspace = open_from(options)
    file = AuthFile(workspace.folders.auth)
    if options.remove:
        file.remove(_named(options))
    elif options.provider:
        provider = workspace.connections.catalog.provider(options.provider)
        file.put(provider.id, _key(provider.name))
        note(f"stored in {file.path}, readable by you alone")
    else:
        print_table([(name, record.get("type", "")) for name, record in file.records().items()])
        note("tw auth PROVIDER stores a key; one in the environment, such as ANTHROPIC_API_KEY, works as well")
    return 0


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "auth",
        "Keys for model providers. A key is read from the terminal without being shown, or from stdin.",
        examples="  tw auth anthropic\n  tw auth openai < key.txt\n  tw auth --remove openai",
    )
    made.add_argument("provider", nargs="?", default="")
    made.add_argument("--remove", action="store_true", help="forget the key of this provider")
    return made


def _named(options: argparse.Namespace) -> str:
    if not options.provider:
        raise UsageError("Name the provider whose key is to be removed.")
    name: str = options.provider
    return name


def _key(provider: str) -> str:
    asked = getpass.getpass(f"Key for {provider}: ") if sys.stdin.isatty() else sys.stdin.readline()
    key = asked.strip()
    if not key:
        raise UsageError("The key is empty; nothing was stored.")
    return key
