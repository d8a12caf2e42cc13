"""tw session: what was said and done, listed, shown, copied, moved, deleted, and its changes undone."""

import argparse
import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from toolwright.app.naming import named_session
from toolwright.app.project import LocalProject
from toolwright.app.undoing import journal_of
from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.cli.actions import session_actions, session_records
from toolwright.cli.options import note, open_from, parser, positive, print_json, print_table, subcommand
from toolwright.cli.output import say
from toolwright.errors import UsageError
from toolwright.messages import Assistant, Message, SessionInfo, TextPart, User
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_text import read_json
from toolwright.session.undo.file_back import FileUndo, Selection
from toolwright.terminal.calls import details
from toolwright.terminal.changes import shown_change
from toolwright.text.display import visible
from toolwright.workspace import Workspace

MOST_IMPORTED = 500_000_000
"""Characters of a session that is imported."""


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    return asyncio.run(_run(options))


async def _run(options: argparse.Namespace) -> int:
    if options.action == "verify" and Path(options.id).is_file():
        return session_records.verify_file(options)
    workspace = open_from(options, keep=True, warn=False)
    try:
        if "id" in options and options.id:
            options.id = (await named_session(LocalProject(workspace), options.id)).id
        match options.action:
            case "list":
                await _list(workspace, options)
            case "show":
                await _show(workspace, options)
            case "export":
                print_json(await workspace.sessions.exported(options.id))
            case "import":
                await _import(workspace, options)
            case "fork":
                say((await workspace.sessions.fork(options.id, options.before)).id)
            case "delete":
                await workspace.sessions.delete(options.id)
                note(f"deleted {options.id} and the sessions of its subagents")
            case "changes" | "revert" | "unrevert":
                await _undo(workspace, options)
            case _ if options.action in session_records.ACTIONS:
                return await session_records.run(workspace, options)
            case _:
                return await session_actions.run(workspace, options)
        return 0
    finally:
        await workspace.close()


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "session",
        "Sessions: every prompt, answer and call, kept until you delete them.",
        examples=(
            "  tw session list\n"
            "  tw session show last --last 4\n"
            "  tw session changes last           what its calls changed, call by call\n"
            "  tw session revert last --file src/a.py --preview\n"
            "  tw session export ses_… > talk.json && tw session import talk.json --directory elsewhere"
        ),
    )
    actions = root.add_subparsers(
        dest="action",
        required=True,
        metavar="ACTION",
    )
    listing = subcommand(actions, "list", "The sessions of this project, the last used first")
    listing.add_argument("--limit", "-n", "--max-count", type=positive(int), default=20, metavar="N", help="how many")
    listing.add_argument("--format", choices=("table", "json"), default="table", help="json: as --json")
    listing.add_argument("--all", action="store_true", help="those of subagents too")
    showing = _of_one(actions, "show", "One session: its messages and calls")
    showing.add_argument("--last", type=int, default=0, metavar="N", help="only the last messages")
    for sub in (listing, showing):
        sub.add_argument("--json", action="store_true", help="machine-readable")
    _of_one(actions, "export", "The whole session as JSON, on stdout")
    importing = subcommand(actions, "import", "Import a session from such a file, or from - for stdin")
    importing.add_argument("file")
    forking = _of_one(actions, "fork", "Copy a session, to continue it in another direction")
    forking.add_argument("--before", default="", metavar="MESSAGE", help="only what came before this message")
    _of_one(actions, "delete", "Delete a session and those of its subagents")
    _of_one(actions, "changes", "The files its calls have changed")
    reverting = _of_one(actions, "revert", "Undo changes: of the last turn, or of what you name")
    reverting.add_argument("--turn", default="", metavar="MESSAGE", help="everything from this prompt on")
    reverting.add_argument("--call", default="", metavar="CALL", help="one call")
    reverting.add_argument("--file", default="", metavar="PATH", help="one file")
    reverting.add_argument("--preview", action="store_true", help="only show what would happen, as a diff")
    _of_one(actions, "unrevert", "Undo the last revert")
    session_actions.add_to(actions)
    session_records.add_to(actions)
    return root


def _of_one(actions: Any, name: str, text: str) -> argparse.ArgumentParser:
    sub = subcommand(actions, name, text)
    sub.add_argument("id", help="the session: its id, the beginning of it, its two words, or last")
    return sub


async def _list(workspace: Workspace, options: argparse.Namespace) -> None:
    infos = [info for info in await workspace.sessions.listed(1000) if options.all or info.parent_id is None]
    if options.json or options.format == "json":
        print_json([to_json(info) for info in infos[: options.limit]])
        return
    print_table([(info.id, info.slug, _when(info), info.title) for info in infos[: options.limit]])
    if not infos:
        note("no sessions in this project yet; tw run and tw begin one")
    if len(infos) > options.limit:
        note(f"{len(infos) - options.limit} more; see --limit")


def _when(info: SessionInfo) -> str:
    moment = (info.time.updated or info.time.created) / 1000
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


async def _show(workspace: Workspace, options: argparse.Namespace) -> None:
    info = await workspace.sessions.info(options.id)
    messages = await workspace.sessions.messages(options.id, options.last)
    if options.json:
        json_messages = [{"info": to_json(one.info), "parts": to_json(list(one.parts.values()))} for one in messages]
        print_json({"info": to_json(info), "messages": json_messages})
        return
    say(info.title)
    say(f"{info.id}  {info.slug}  {_when(info)}  {info.directory}")
    for message in messages:
        say("\n".join(_message_lines(message)), lines=True)


def _message_lines(message: Message) -> list[str]:
    info = message.info
    head = f"\n> {info.agent}" if isinstance(info, User) else ""
    lines = [f"{head}  {info.id}"] if isinstance(info, User) else [""]
    for part in message.parts.values():
        if isinstance(part, TextPart) and not part.synthetic and part.text:
            lines.append(part.text)
        elif isinstance(part, ToolPart):
            lines.append(_call_line(part))
            lines += (f"      {line}" for line, _ in details(part) if not isinstance(part.state, Failed))
    if isinstance(info, Assistant) and info.error is not None:
        lines.append(f"! {info.error.name}: {info.error.data.get('message', '')}")
    return lines


def _call_line(part: ToolPart) -> str:
    match part.state:
        case Completed(title=title):
            return visible(f"  • {part.tool}  {title}  {part.call_id}", lines=False)
        case Failed(error=error):
            first = error.splitlines()[0] if error else ""
            return visible(f"  ✗ {part.tool}  {first}  {part.call_id}", lines=False)
        case _:
            return f"  … {part.tool}  {part.call_id}"


async def _import(workspace: Workspace, options: argparse.Namespace) -> None:
    try:
        value = read_json(_read_export(options.file))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{options.file} cannot be read as a session: {why}.") from error
    if isinstance(value, dict) and "bundle" in value:
        from toolwright.session.storage.bundle import export_in, misfit_in

        if misfit := misfit_in(value):
            raise UsageError(f"{options.file} is not what was packed: {misfit.record_id}: {misfit.why}.")
        value = export_in(value)
    if not isinstance(value, dict):
        raise UsageError(f"{options.file} is no exported session: it needs `info` and `messages`.")
    say((await workspace.sessions.imported(value)).id)


def _read_export(file: str) -> str:
    """The text of a file, or of stdin; ValueError if it is longer than any session."""
    if file == "-":
        text = sys.stdin.read(MOST_IMPORTED + 1)
    elif Path(file).exists() and not Path(file).is_file():
        raise ValueError("it is not a regular file")
    else:
        with Path(file).open(encoding="utf-8") as stream:
            text = stream.read(MOST_IMPORTED + 1)
    if len(text) > MOST_IMPORTED:
        raise ValueError(f"it is longer than {MOST_IMPORTED:,} characters")
    return text


async def _undo(workspace: Workspace, options: argparse.Namespace) -> None:
    session, project = await workspace.sessions.open(options.id), LocalProject(workspace)
    match options.action:
        case "changes":
            entries = await journal_of(workspace, session)
            print_table([(one.call_id, _kind(one.before, one.after), one.path) for one in entries])
        case "unrevert":
            plans = await project.redo(session.id)
            _tell(plans)
            if not plans:
                note("No file had to be changed back.")
        case _:
            selection = Selection(turn=options.turn, call=options.call, file=options.file)
            plans = await project.undo(session.id, selection, preview=options.preview)
            _tell(plans)
            if not plans:
                note(
                    "The last turn changed no file that is known, so none was restored: what a program changes by"
                    " itself is not kept. What was said in it is left out from the next prompt on."
                )
            if options.preview:
                for plan in plans:
                    say(f"\n{shown_change(plan.path, *plan.shown(), workspace.directory)}", lines=True, end="")
    await workspace.sessions.store.settled()


def _kind(before: str | None, after: str | None) -> str:
    return "added" if before is None else "deleted" if after is None else "changed"


def _tell(plans: list[FileUndo]) -> None:
    rows = []
    for plan in plans:
        additions, deletions = plan.counts()
        rows.append((plan.kind, f"+{additions} -{deletions}", plan.path))
    print_table(rows)
