"""tw config: the settings that hold here, where each file is, and the schema for editors."""

import argparse
import re
from collections.abc import Mapping
from typing import Any

from toolwright.cli.options import open_from, parser, print_json

MASK = "********"
_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|authorization|cookie|bearer", re.IGNORECASE)
_NOT_SECRET = frozenset({"keybinds", "setCacheKey", "tokens", "preserve_recent_tokens"})
SHORTEST = 4
"""Of a value to be hidden wherever it is; a shorter one would hide half the text."""


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.schema:
        from toolwright.config.schema import config_schema

        print_json(config_schema())
        return 0
    workspace = open_from(options)
    config = workspace.config
    merged = masked(config.data, config.secrets)
    if options.json:
        print_json(merged)
        return 0
    print(f"project   {config.root}  ({'trusted' if workspace.trusted else 'not trusted'})")
    print(f"data      {workspace.folders.data}")
    for source in config.sources:
        print(f"{source.level:<10}{source.name}")
    for agent in config.agents:
        if not agent.path:
            print(f"{agent.source.level:<10}{agent.source.name}")
    if not config.sources:
        print(f"no configuration file; {config.directory / 'toolwright.json'} would be read")
    if merged:
        print_json(merged)
    return 0


def masked(value: Any, secrets: frozenset[str]) -> Any:
    """The settings as they may be shown: no key, and nothing that came from a variable of the environment."""
    if isinstance(value, Mapping):
        return {key: MASK if _is_secret(key, entry) else masked(entry, secrets) for key, entry in value.items()}
    if isinstance(value, list):
        return [masked(entry, secrets) for entry in value]
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK) if len(secret) >= SHORTEST else MASK if value == secret else value
    return value


def _is_secret(key: str, entry: Any) -> bool:
    return isinstance(entry, str) and bool(entry) and key not in _NOT_SECRET and bool(_SECRET_NAME.search(key))


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "config",
        "The settings that hold in this folder: every file that was read, weakest first, and what they come to.",
        examples="  tw config\n  tw config --schema > toolwright.schema.json",
    )
    made.add_argument("--json", action="store_true", help="only the merged settings")
    made.add_argument("--schema", action="store_true", help="the JSON Schema of a configuration file")
    return made
