"""tw session verify, bundle and summary: records that a stranger can check, and what a pull request says of them."""

import argparse
import json
import os
import re
from pathlib import Path
from typing import Any

from toolwright.cli.options import note, print_json, subcommand
from toolwright.cli.output import say
from toolwright.errors import UsageError
from toolwright.protocols.json_text import read_json
from toolwright.session.storage.chain import ChainMisfit, Log
from toolwright.workspace import Workspace

ACTIONS = ("verify", "bundle", "summary")
FAILED = 1


def add_to(actions: Any) -> None:
    """The sub-commands of tw session that are here."""
    checking = subcommand(actions, "verify", "Whether the records are what was written: of a session, or of a bundle")
    checking.add_argument("id", nargs="?", default="last", help="the session, or the file of a bundle")
    checking.add_argument("--json", action="store_true", help="machine-readable")
    packing = subcommand(actions, "bundle", "The session in one file: records, changes, evidence, and their chain")
    packing.add_argument("id", nargs="?", default="last", help="the session; the last one without it")
    packing.add_argument("-o", "--output", default="", metavar="FILE", help="write it there instead of stdout")
    packing.add_argument(
        "--redact", action="append", default=[], metavar="PATTERN", help="take out what this regular expression matches"
    )
    telling = subcommand(actions, "summary", "What was asked, done, allowed and shown, from the records alone")
    telling.add_argument("id", nargs="?", default="last", help="the session; the last one without it")
    telling.add_argument("--pull-request", action="store_true", help="as the description of a pull request")


async def run(workspace: Workspace, options: argparse.Namespace) -> int:
    match options.action:
        case "verify":
            logs = await _logs(workspace, options.id)
            misfits = ((name, log.misfit()) for name, log in logs.items())
            name, misfit = next((pair for pair in misfits if pair[1] is not None), ("", None))
            records = sum(len(log.records) for log in logs.values())
            return _tell(misfit, records, logs[options.id].head, f" in {name}" if name else "", as_json=options.json)
        case "bundle":
            return await _bundle(workspace, options)
        case _:
            return await _summary(workspace, options)


def verify_file(options: argparse.Namespace) -> int:
    """Check a bundle. Nothing else is needed: no project, no settings, no network."""
    from toolwright.session.storage.bundle import misfit_in

    try:
        bundle = read_json(Path(options.id).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{options.id} cannot be read as a bundle: {error}.") from error
    misfit = misfit_in(bundle)
    sessions = bundle["sessions"].values()
    for redaction in bundle["redacted"]:
        note(f"taken out: {redaction['leaves']} of {redaction['record']}")
    head = str(bundle["sessions"][bundle["session"]]["head"])
    return _tell(misfit, sum(len(one["records"]) for one in sessions), head, "", as_json=options.json)


def _tell(misfit: ChainMisfit | None, records: int, head: str, where: str, *, as_json: bool) -> int:
    if as_json:
        misfit_json = None if misfit is None else {"record": misfit.record_id, "why": misfit.why}
        print_json({"fits": misfit is None, "records": records, "head": head, "misfit": misfit_json})
    elif misfit is None:
        say(f"fits: {records} records, chain {head}")
    else:
        say(f"does not fit: {misfit.record_id}{where}: {misfit.why}")
    return FAILED if misfit else 0


async def _logs(workspace: Workspace, session_id: str) -> dict[str, Log]:
    from toolwright.session.storage.on_disk import Storage

    store = workspace.sessions.store
    if not isinstance(store, Storage):
        raise UsageError("This session is not kept on disk, so it has no chain.")
    logs, waiting = dict[str, Log](), [session_id]
    while waiting:
        name = waiting.pop(0)
        logs[name] = await store.log(name)
        waiting += [child.id for child in await workspace.sessions.children(name)]
    return logs


async def _bundle(workspace: Workspace, options: argparse.Namespace) -> int:
    from toolwright.session.storage.bundle import bundle_of, changes_of

    patterns = [_pattern(one) for one in options.redact]
    logs = await _logs(workspace, options.id)
    misfit = next((first for log in logs.values() if (first := log.misfit())), None)
    if misfit is not None:
        raise UsageError(
            f"The records do not fit their chain, so they are not packed: {misfit.record_id}: {misfit.why}."
        )
    files = workspace.files
    root = str(workspace.directory)
    changes = list(changes_of(files.journal, list(logs), root, lambda path: files.hides(Path(path))))
    evidence = (await _judged(workspace, options.id)).as_json()
    text = json.dumps(bundle_of(logs, changes, evidence, patterns), ensure_ascii=False, separators=(",", ":"))
    if not options.output:
        say(text)
        return 0
    try:
        handle = os.open(options.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise UsageError(f"{options.output} cannot be written: {error.strerror}.") from error
    note(f"{sum(len(log.records) for log in logs.values())} records in {options.output}, chain {logs[options.id].head}")
    return 0


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"--redact {text!r:.60} is no regular expression: {error}.") from error


async def _judged(workspace: Workspace, session_id: str) -> Any:
    from toolwright.session.goals.stored_evidence import judge_of

    return await (await judge_of(workspace, session_id)).evidence()


async def _summary(workspace: Workspace, options: argparse.Namespace) -> int:
    from toolwright.session.records.summary import summary_of

    logs = await _logs(workspace, options.id)
    info = await workspace.sessions.info(options.id)
    messages = await workspace.sessions.messages(options.id)
    session = await workspace.sessions.open(options.id)
    changed = workspace.files.journal.entries(options.id)
    evidence = await _judged(workspace, options.id)
    paths = dict.fromkeys(str(one.path).removeprefix(f"{workspace.directory}/") for one in changed)
    text = summary_of(info, messages, evidence, list(paths), logs[session.id].head, pull_request=options.pull_request)
    say(text, lines=True, end="")
    return 0
