"""tw permission test, lint and simulate: rules held against tables, against themselves and against recorded calls."""

import argparse
from pathlib import Path
from typing import Any

from toolwright.app.words import plural
from toolwright.cli.options import open_from, print_json, print_table, subcommand
from toolwright.cli.output import say
from toolwright.errors import UsageError
from toolwright.permission.rules import Rule
from toolwright.policy.expectations import read_expectations
from toolwright.workspace import Workspace


def add_to(actions: Any) -> None:
    """The sub-commands of tw permission that are here."""
    testing = subcommand(actions, "test", "Check a file of lines: allow|ask|deny|hidden AGENT TOOL ARGUMENT")
    testing.add_argument("file")
    testing.add_argument("--coverage", action="store_true", help="name the rules that no line meets")
    testing.add_argument("--mutate", action="store_true", help="flip each rule: a line must fail, or the rule is named")
    linting = subcommand(actions, "lint", "Rules that never decide, contradict each other or allow too much")
    simulating = subcommand(actions, "simulate", "Recorded calls that the rules of a file would decide otherwise")
    simulating.add_argument("--config", required=True, metavar="FILE", help="the settings whose rules are tried")
    simulating.add_argument("--sessions", type=int, default=50, metavar="N", help="the last sessions (50)")
    for sub in (testing, linting, simulating):
        sub.add_argument("--json", action="store_true", help="machine-readable")


async def test(workspace: Workspace, options: argparse.Namespace) -> int:
    from toolwright.policy import table

    expected = read_expectations(_read(options.file), options.file)
    # Open, so that hooks, plugins and tools of the project have their say.
    async with workspace:
        rows = await table.rows_of(workspace, expected)
    rules = table.rules_of(workspace.agents)
    unmet = table.unmet(rows, rules) if options.coverage else []
    survived = table.survivors(workspace.agents, rows, rules) if options.mutate else []
    failed = [row for row in rows if not row.passed]
    score = 100 if not rules else 100 * (len(rules) - len(survived)) // len(rules)
    if options.json:
        print_json(_test_json(options, rows, rules, unmet, survived, score))
    else:
        print_table(
            [("ok" if row.passed else "FAIL", row.expected.text, _failure_line(row, options.file)) for row in rows]
        )
        say(f"{len(rows) - len(failed)} passed, {len(failed)} failed")
        if options.coverage:
            say(f"coverage: {len(rules) - len(unmet)} of {len(rules)} rules are met")
            _list(unmet, "no line meets")
        if options.mutate:
            say(f"mutation score: {score} % of {plural(len(rules), 'rule')}")
            _list(survived, "no line fails when this is flipped:")
    return 1 if failed or survived else 0


def _test_json(
    options: argparse.Namespace, rows: list[Any], rules: list[Rule], unmet: list[Rule], survived: list[Rule], score: int
) -> Any:
    from toolwright.policy.table import as_json

    json_rows = [_row_json(row) for row in rows]
    if not options.coverage and not options.mutate:
        return json_rows
    value: dict[str, Any] = {"rows": json_rows}
    if options.coverage:
        value["coverage"] = {"rules": len(rules), "met": len(rules) - len(unmet), "unmet": list(as_json(unmet))}
    if options.mutate:
        value["mutation"] = {"rules": len(rules), "score": score, "survivors": list(as_json(survived))}
    return value


def _row_json(row: Any) -> dict[str, Any]:
    came = row.verdict.action
    value = {"line": row.expected.line, "expected": row.expected.action, "decision": came or None}
    return value if came else value | {"problem": row.why}


def _failure_line(row: Any, file: str) -> str:
    if row.passed:
        return ""
    problem = f"it is {row.verdict.action}: {row.why}" if row.verdict.action else row.why
    return f"{file}:{row.expected.line}: {problem}"


def _list(rules: list[Rule], what: str) -> None:
    for rule in rules:
        say(f"{rule.source}: {what} `{rule}`")


def _read(file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"{file} cannot be read: {reason}.") from error


def lint_rules(workspace: Workspace, options: argparse.Namespace) -> int:
    from toolwright.policy.lint import lint

    home = workspace.folders.home
    problems = lint(workspace.agents, workspace.config.sources, workspace.registry.ids(), home)
    if options.json:
        print_json([one.as_json() for one in problems])
    else:
        for problem in problems:
            say(str(problem))
        say(f"{len(problems)} found")
    return 1 if problems else 0


async def simulate_rules(workspace: Workspace, options: argparse.Namespace) -> int:
    from toolwright.policy.simulate import simulate

    if options.sessions < 1:
        raise UsageError(f"--sessions takes a number from 1 on, not {options.sessions}.")
    if not Path(options.config).is_file():
        raise UsageError(f"{options.config} is not a file. Name the settings whose rules are to be tried.")
    records = open_from(options, keep=True)
    try:
        changes = await simulate(records, workspace, Path(options.config), options.sessions)
    finally:
        await records.close()
    if options.json:
        print_json([change.as_json() for change in changes])
        return 0
    rows = [
        (f"{one.was} → {one.now}", one.tool, _short(one.arguments), f"`{one.rule}`", one.session) for one in changes
    ]
    print_table(rows)
    say(f"{plural(len(changes), 'call')} would be decided otherwise")
    return 0


def _short(arguments: dict[str, Any]) -> str:
    return next((value[:60] for value in arguments.values() if isinstance(value, str)), "")
