"""tw trust: let a project's own rules and code take effect, or take that back."""

import argparse

from toolwright.cli.options import note, open_from, parser
from toolwright.config.trust import Trust


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    workspace = open_from(options)
    trust = Trust(workspace.folders.trust)
    root = workspace.config.root
    if options.list:
        for known in trust.roots():
            print(known)
    elif options.remove:
        note(f"{root} is no longer trusted" if trust.remove(root) else f"{root} was not trusted")
    else:
        trust.add(root)
        note(f"{root} is trusted: its permission rules may allow, not only forbid, and its own code may run")
    return 0


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "trust",
        "A project you have not trusted may forbid things but not allow them, and none of its code is run.",
        examples="  tw trust\n  tw trust --remove",
    )
    made.add_argument("--remove", action="store_true", help="take it back")
    made.add_argument("--list", action="store_true", help="the projects you trust")
    return made
