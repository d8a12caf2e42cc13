"""tw blame: which call wrote a line, for which prompt, and who allowed it."""

import argparse
import asyncio
from pathlib import Path

from toolwright.cli.options import open_from, parser, print_json
from toolwright.cli.output import say
from toolwright.errors import UsageError
from toolwright.protocols.json_types import Json
from toolwright.text.display import visible


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    return asyncio.run(_run(options))


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "blame",
        "From a line to the call that wrote it, the prompt it was written for, and who allowed it.",
        examples="  tw blame src/a.py:12\n  tw blame src/a.py:12 --json",
    )
    root.add_argument("place", metavar="FILE:LINE", help="a line of a file, counted from 1")
    root.add_argument("--json", action="store_true", help="machine-readable")
    return root


async def _run(options: argparse.Namespace) -> int:
    from toolwright.files.disk import LOADABLE
    from toolwright.machine.plain_files import read_start
    from toolwright.session.records.line_origin import origin_of, told_of

    name, _, number = options.place.rpartition(":")
    if not name or not number.isdecimal() or int(number) < 1:
        raise UsageError(f"{options.place!r} is no line of a file. Write it as src/a.py:12.")
    async with open_from(options, keep=True, warn=False) as workspace:
        path = workspace.directory / name
        if not path.is_file():
            raise UsageError(f"There is no file {name}.")
        path = Path(path).resolve()
        if workspace.files.hides(path):
            raise UsageError(f"The rules hide {name}.")
        lines = read_start(path, LOADABLE).count(b"\n") + 1
        if int(number) > lines:
            raise UsageError(f"{name} has {lines} lines.")
        sessions = [info.id for info in await workspace.sessions.listed(1000)]
        origin = origin_of(workspace.files.journal, sessions, path, int(number))
        if origin is None:
            if options.json:
                print_json(None)
            else:
                say("no session here is known to have written it")
            return 1
        origin_json = told_of(origin, await workspace.sessions.messages(origin.session_id))
    if options.json:
        print_json(origin_json)
    else:
        _tell(origin_json)
    return 0


def _tell(origin: Json) -> None:
    say(f"{origin.get('tool', 'a call')}  {origin['call']}  {origin.get('agent', '')}  {origin['session']}")
    if prompt := origin.get("prompt"):
        say(f"> {visible(prompt['text'], lines=False)[:300]}")
    for approval in origin.get("allowed", ()):
        by = {"person": f"a person: {approval.get('reply')}", "rule": f"the rule {approval.get('rule')}"}.get(
            approval["by"], "default"
        )
        source = f" ({approval['source']})" if approval.get("source") else ""
        say(f"  {approval['action']}  {approval['permission']} {approval['pattern']}  by {by}{source}")
