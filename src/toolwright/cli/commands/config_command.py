"""tw config: the settings that hold here, where each file is, and the schema for editors."""

import argparse

from toolwright.app.masking import masked
from toolwright.cli.options import open_from, parser, print_json
from toolwright.cli.output import say


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
    say(f"project   {config.root}  ({'trusted' if workspace.trusted else 'not trusted'})")
    say(f"data      {workspace.folders.data}")
    for source in config.sources:
        say(f"{source.level:<10}{source.name}")
    for agent in config.agents:
        if not agent.path:
            say(f"{agent.source.level:<10}{agent.source.name}")
    if not config.sources:
        say(f"no configuration file; {config.directory / 'toolwright.json'} would be read")
    if merged:
        print_json(merged)
    return 0


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "config",
        "The settings that hold in this folder: every file that was read, weakest first, and what they come to.",
        examples="  tw config\n  tw config --schema > toolwright.schema.json",
    )
    root.add_argument("--json", action="store_true", help="only the merged settings")
    root.add_argument("--schema", action="store_true", help="the JSON Schema of a configuration file")
    return root
