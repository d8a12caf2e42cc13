"""tw merge: bring the work of copies back into their project, as far as its check accepts it."""

import argparse
import asyncio
from functools import partial

from toolwright.app.words import plural
from toolwright.cli.options import note, open_from, parser, print_json
from toolwright.cli.output import say
from toolwright.cli.run.questions import answerer
from toolwright.copies.applying import MergeCall
from toolwright.copies.merging import MergedCopy
from toolwright.copies.project import MergeOutcome, merge
from toolwright.copies.store import Copies, Copy
from toolwright.errors import UsageError
from toolwright.protocols.json_types import Json
from toolwright.text.display import visible
from toolwright.workspace import Workspace

NOT_WHOLE = 1


def main(arguments: list[str]) -> int:
    return asyncio.run(_merge(_parser().parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "merge",
        "Bring the work of copies back into the project: by file, by line, then by functions, imports and entries.\n"
        "What would be a guess is a conflict. All is tried in a copy first, then written at once; tw undo undoes it.",
        examples="  tw merge quiet-heron --check 'make test'\n"
        "  tw merge quiet-heron swift-otter --rest\n"
        "  tw merge quiet-heron --settle\n"
        "  tw merge quiet-heron --preview",
    )
    root.add_argument("copies", nargs="+", metavar="COPY", help="in this order")
    root.add_argument("--check", default="", metavar="CMD", help="the command that has to hold (copies.check)")
    root.add_argument(
        "--rest", action="store_true", help="leave out files that conflict or fail the check, take the rest"
    )
    root.add_argument("--settle", action="store_true", help="hand conflicts to an agent, which works in a new copy")
    root.add_argument("--model", "-m", default="", metavar="P/M", help="with --settle: the model to use")
    root.add_argument("--preview", action="store_true", help="only show what would change, as a diff")
    root.add_argument("--yes", action="store_true", help="allow whatever is asked (what a rule denies stays denied)")
    root.add_argument("--no", action="store_true", help="refuse whatever is asked")
    root.add_argument("--json", action="store_true", help="machine-readable")
    return root


async def _merge(options: argparse.Namespace) -> int:
    call = MergeCall()
    async with open_from(options, answer=answerer(options), keep=True, tools=[call.tool()]) as workspace:
        copies = _copies(workspace, options.copies)
        check = options.check or workspace.settings.copies.check
        if not check:
            note("no check: give --check CMD, or set copies.check, and each merged state is tried")
        outcome = await merge(
            workspace, partial(call.put, workspace), copies, check=check, rest=options.rest, preview=options.preview
        )
        if options.json:
            print_json(_as_json(outcome, call.session))
        else:
            _show(outcome, preview=options.preview)
        everything = Copies.of(workspace.folders)
        for part in outcome.parts if outcome.result and not outcome.result.error else ():
            await everything.note_merged(part.copy, whole=part.whole)
        if options.settle:
            await _settle(workspace, outcome, options, check)
    return 0 if outcome.whole else NOT_WHOLE


async def _settle(workspace: Workspace, outcome: MergeOutcome, options: argparse.Namespace, check: str) -> None:
    from toolwright.copies.settling import settle

    attempt = await settle(workspace, outcome.parts, options.model, check)
    if attempt is None:
        return
    if attempt.problem or not attempt.files:
        note(f"the agent has settled nothing: {attempt.problem or (attempt.result.text if attempt.result else '')}")
        Copies.of(workspace.folders).drop(attempt.copy)
        return
    name = attempt.copy.name
    check_fails = ", where the check fails" if attempt.check else ""
    note(f"settled in the copy {name}{check_fails}: tw copy diff {name}, tw merge {name}")


def _copies(workspace: Workspace, names: list[str]) -> list[Copy]:
    everything = Copies.of(workspace.folders)
    copies = [everything.named(name, workspace.files.tree.root) for name in names]
    if len({copy.name for copy in copies}) < len(copies):
        raise UsageError("A copy is named twice. Name each copy once.")
    return copies


def _show(outcome: MergeOutcome, *, preview: bool) -> None:
    for part in outcome.parts:
        _show_part(part)
    if preview:
        say(outcome.diff.rstrip("\n"), lines=True)
    elif outcome.result is None:
        note("nothing was changed in the project")
    elif outcome.result.error is not None:
        note(str(outcome.result.error))
    else:
        say(f"{outcome.result.output} tw undo undoes it.")


def _show_part(part: MergedCopy) -> None:
    name = part.copy.name
    if part.whole:
        note(
            f"{name}: {plural(len(part.taken), 'file')} merged" if part.taken else f"{name}: nothing has changed there"
        )
        return
    for clash in part.clashes:
        note(f"{name}: {clash.path}: {clash.reason}")
        note(visible(f"what {name} wanted:\n{clash.theirs}what the project has made of it:\n{clash.ours}".rstrip()))
    if part.guilty:
        note(f"{name}: the check fails with {', '.join(part.guilty)}")
    if part.reason:
        note(part.reason)
    if part.copy.purpose:
        note(f"{name} was made for: {part.copy.purpose}")
    if part.taken:
        note(f"{name}: {plural(len(part.taken), 'other file')} merged")
    else:
        note(f"{name} was left out; --rest takes what does not conflict, tw copy diff {name} shows it")


def _as_json(outcome: MergeOutcome, session: str) -> Json:
    result = outcome.result
    return {
        "whole": outcome.whole,
        "session": session,
        "error": str(result.error) if result is not None and result.error is not None else None,
        "files": outcome.paths,
        "diff": outcome.diff,
        "copies": [
            {
                "copy": part.copy.name,
                "whole": part.whole,
                "merged": part.taken,
                "conflicts": [
                    {"path": one.path, "reason": one.reason, "ours": one.ours, "theirs": one.theirs}
                    for one in part.clashes
                ],
                "purpose": part.copy.purpose,
                "guilty": part.guilty,
                "check": part.reason,
            }
            for part in outcome.parts
        ],
    }
