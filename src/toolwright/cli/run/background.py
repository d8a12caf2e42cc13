"""tw run --bg, tw ps, tw logs, tw stop: runs that live in the user's own server, and not in this terminal."""

import argparse
import os
from pathlib import Path
from typing import Any

from toolwright.app.own_server import address, ensure
from toolwright.app.runs import BackgroundRun, Runs
from toolwright.cli.options import note
from toolwright.cli.output import say
from toolwright.cli.run.input import with_piped
from toolwright.client import Client
from toolwright.client.files import data_url
from toolwright.errors import UsageError
from toolwright.machine.folders import Folders
from toolwright.protocols.json_types import Json

_HERE_ONLY = (
    "attach",
    "session",
    "go_on",
    "fork",
    "copy",
    "parallel",
    "interactive",
    "output",
    "json_schema",
    "yes",
    "no",
)
_LIMITS = {"max_steps": "steps", "max_tokens": "tokens", "max_cost": "cost", "max_seconds": "seconds"}


async def begin_run(options: argparse.Namespace) -> int:
    """Have the user's own server answer a prompt, and print the id of its session."""
    for name in _HERE_ONLY:
        if getattr(options, name, None):
            option = {"go_on": "continue"}.get(name, name.replace("_", "-"))
            raise UsageError(f"--{option} cannot be given with --bg.")
    if getattr(options, "trust", False):
        raise UsageError("--trust is for this once, and --bg outlives it: trust the project with tw trust.")
    if len(options.until) > 1 or options.until_match or options.until_may_change or options.until_mutants is not None:
        raise UsageError("--bg takes one --until CMD, and no more about it.")
    text = (
        " ".join([f"/{options.command}", *options.prompt]) if options.command else with_piped(" ".join(options.prompt))
    )
    if not text.strip() and not options.file:
        raise UsageError("There is no prompt. Give one, or pipe it in.")
    directory = Path(getattr(options, "directory", ".")).resolve()
    provider, _, model = options.model.partition("/")
    body: Json = {"parts": [{"type": "text", "text": text}], "mentions": True, "title": options.title}
    body["parts"] += [_file(Path(name)) for name in options.file]
    body |= {"agent": options.agent, "variant": options.variant}
    body |= {"model": {"providerID": provider, "modelID": model}} if model else {}
    body |= {"until": options.until[0]} if options.until else {}
    budget = {there: getattr(options, here) for here, there in _LIMITS.items() if getattr(options, here) is not None}
    body |= {"budget": budget} if budget else {}
    async with Client(ensure(os.environ), directory=str(directory)) as client:
        run = BackgroundRun(**await client.send("POST", "/tw/runs", body))
    say(run.session)
    note(f"{run.name}: tw attach {run.name} shows it and answers its questions, tw ps lists all, tw stop ends one")
    return 0


def _file(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise UsageError(f"There is no file {str(path)!r} to send along.")
    return {"type": "file", "url": data_url(path), "filename": path.name}


async def all_runs() -> list[dict[str, Any]]:
    """Return the runs as they are. Where the server has ended before they did, it is started, and they go on."""
    runs = Runs.of(Folders.of())
    left = runs.unfinished()
    url = address(os.environ)
    if left and not url:
        url = ensure(os.environ)
        note(f"the server had ended: {', '.join(one.name for one in left)} {'goes' if len(left) == 1 else 'go'} on")
    if not url:
        from toolwright.record import fields_of

        return [fields_of(one) for one in runs.all()]
    async with Client(url) as client:
        rows: list[dict[str, Any]] = await client.send("GET", "/tw/runs")
    return rows


async def stop_run(run: BackgroundRun) -> bool:
    """Stop a run, and all that it has begun; False if it was over."""
    if run.is_over:
        return False
    async with Client(ensure(os.environ), directory=run.directory) as client:
        await client.abort(run.session)
    return True
