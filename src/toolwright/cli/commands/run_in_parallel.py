"""tw run --parallel: the same prompt several times, each in a copy; the best stays for tw merge."""

import argparse

from toolwright.app.project import LocalProject
from toolwright.app.words import money, plural
from toolwright.cli.commands.run_command import prompt_of
from toolwright.cli.dispatch import DONE, LIMIT
from toolwright.cli.options import note, open_from, print_json, print_table
from toolwright.cli.output import say
from toolwright.cli.run.input import with_piped
from toolwright.cli.run.options import budget_of
from toolwright.cli.run.questions import answerer
from toolwright.copies.attempts import MOST, Attempt, attempts, drop_others
from toolwright.errors import UsageError
from toolwright.protocols.json_types import Json
from toolwright.session.prompt import Prompt
from toolwright.workspace import Workspace


async def run_in_parallel(options: argparse.Namespace) -> int:
    """Try a prompt so many times, show what came of each, and keep the copy of the best."""
    if options.attach or options.session or options.go_on or options.copy or options.output:
        raise UsageError(
            "--parallel begins anew in copies: leave out --attach, --session, --continue, --copy, --output."
        )
    if not 1 < options.parallel <= MOST:
        raise UsageError(f"--parallel takes a number from 2 to {MOST}.")
    text = "" if options.command else with_piped(" ".join(options.prompt))
    async with open_from(options, answer=answerer(options)) as workspace:
        check = options.check or workspace.settings.copies.check
        if not (check or options.goal):
            note("no check: give --check CMD or --until CMD, or the attempts are told apart by price and size alone")
        options.budget = budget_of(workspace.turn_settings.budget, options)

        def prompt(there: Workspace) -> Prompt:
            return prompt_of(LocalProject(there), text, options)

        tried = await attempts(workspace, prompt, prompt(workspace).text, options.parallel, check)
        best = tried[0]
        if options.format == "json":
            print_json({"kept": best.copy.name if best.files else "", "attempts": [_as_json(one) for one in tried]})
        else:
            print_table([("copy", "ended", "check", "evidence", "files", "steps", "cost"), *map(_row, tried)])
            if best.result is not None and best.result.text:
                say(best.result.text, lines=True)
        if not options.keep_all:
            await drop_others(workspace, tried, best if best.files else None)
            kept = f"{best.copy.name} is kept" if best.files else "nothing was changed"
            note(f"{kept}; {'the others' if best.files else 'all copies'} are gone (--keep-all keeps them)")
    if not best.files:
        return LIMIT
    note(f"{plural(len(best.files), 'file')} changed there: tw copy diff {best.copy.name}, tw merge {best.copy.name}")
    return DONE if best.is_good else LIMIT


def _row(attempt: Attempt) -> tuple[str, ...]:
    result, evidence = attempt.result, attempt.result.evidence if attempt.result else None
    return (
        attempt.copy.name,
        "failed" if attempt.problem else "done",
        "fails" if attempt.check else "holds" if attempt.files else "-",
        evidence.verdict.replace("_", " ") if evidence else "-",
        str(len(attempt.files)),
        str(result.steps if result else 0),
        money(result.cost if result else 0.0),
    )


def _as_json(attempt: Attempt) -> Json:
    evidence = attempt.result.evidence if attempt.result else None
    return {
        "copy": attempt.copy.name,
        "session": attempt.session,
        "problem": attempt.problem,
        "check": attempt.check,
        "evidence": evidence.verdict if evidence else "",
        "files": list(attempt.files),
        "steps": attempt.result.steps if attempt.result else 0,
        "cost": attempt.result.cost if attempt.result else 0.0,
        "text": attempt.result.text if attempt.result else "",
    }
