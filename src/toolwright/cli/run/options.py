"""The options of tw run, and what they come to: limits, the form of the answer, the goal."""

import argparse
from dataclasses import replace
from pathlib import Path

from toolwright.cli.options import parser, positive
from toolwright.errors import UsageError
from toolwright.proof.goal import MUTANTS, Goal, goal_of
from toolwright.protocols.json_text import read_json
from toolwright.session.budget import Budget
from toolwright.session.typed_answer import wanted_output
from toolwright.structured import Output


def run_parser() -> argparse.ArgumentParser:
    root = parser(
        "run",
        "Give an agent one prompt and watch it work. The answer goes to stdout, everything else to stderr.",
        examples=(
            "  tw run 'why does test_login fail?' --model anthropic/claude-sonnet-5-5\n"
            "  tw run 'and now fix it' --continue\n"
            "  tw run 'what changed here?' -f CHANGELOG.md --agent plan --format json\n"
            "  git diff | tw run 'review this diff' --output review.md\n"
            "  tw run --command review main\n"
            "  tw run 'make the tests pass' --until 'make test' --max-cost 2\n"
            "  tw run 'play it' --model scripted/turns.json"
        ),
    )
    root.add_argument("prompt", nargs="*", default=[], help="what you want; what is piped in is added to it")
    root.add_argument("--command", default="", metavar="NAME", help="carry out a command; each word is an argument")
    root.add_argument("--agent", default="", help="the agent to ask (build)")
    root.add_argument("--model", "-m", default="", metavar="P/M", help="the model to use")
    root.add_argument("--variant", default="", metavar="NAME", help="how much it thinks: low, medium, high or max")
    root.add_argument("--continue", "-c", dest="go_on", action="store_true", help="go on with the last session")
    root.add_argument("--session", "-s", default="", metavar="ID", help="go on with this session")
    root.add_argument("--bg", action="store_true", help="in the background: print the session's id and return (tw ps)")
    root.add_argument("--fork", action="store_true", help="go on in a copy of that session")
    root.add_argument("--copy", action="store_true", help="work in a copy of the project; tw merge brings it back")
    root.add_argument("--parallel", type=int, metavar="N", help="try it N times in N copies, and keep the best")
    root.add_argument("--check", default="", metavar="CMD", help="with --parallel: what has to hold (copies.check)")
    root.add_argument("--keep-all", action="store_true", help="with --parallel: keep the copies of all attempts")
    root.add_argument("--every", default="", metavar="TIME", help="again each time so long after the last, as in 10m")
    root.add_argument("--times", type=int, default=10, metavar="N", help="with --every: how often (10)")
    root.add_argument("--if-fails", default="", metavar="CMD", help="with --every: only when this command fails")
    root.add_argument("--if-output", default="", metavar="CMD", help="with --every: only when it prints something else")
    root.add_argument(
        "--if-changed", default="", metavar="PATH", help="with --every: only when such a file has changed"
    )
    root.add_argument("--title", default="", help="name a new session")
    root.add_argument("--dir", dest="directory", metavar="DIR", default=argparse.SUPPRESS, help="as --directory")
    root.add_argument("--file", "-f", action="append", default=[], help="send a file along; may be given again")
    root.add_argument("--attach", default="", metavar="URL", help="have it answered by this server (tw serve)")
    root.add_argument("--format", choices=("text", "json", "default"), default="text", help="json: one event per line")
    root.add_argument("--thinking", action="store_true", help="show what the model thinks, too")
    root.add_argument("--interactive", "-i", action="store_true", help="begin a conversation with the prompt")
    root.add_argument("--output", "-o", default="", metavar="FILE", help="write the answer to this file too")
    root.add_argument("--json-schema", default="", metavar="FILE", help="the answer is JSON that fits this JSON Schema")
    root.add_argument("--schema", action="store_true", help="print the JSON Schema of the lines of --format json")
    root.add_argument(
        "--yes", "--auto", action="store_true", help="allow whatever is asked (what a rule denies stays denied)"
    )
    root.add_argument("--no", action="store_true", help="refuse whatever is asked")
    root.add_argument("--defaults", action="store_true", help="fill in the forms of MCP servers by their defaults")
    root.add_argument("--until", action="append", default=[], metavar="CMD", help="work on until this command holds")
    root.add_argument(
        "--until-match", default="", metavar="REGEX", help="it holds if its output matches, not by its code"
    )
    root.add_argument(
        "--until-seconds", type=positive(float), metavar="N", help="how long one run of it may take (120)"
    )
    root.add_argument(
        "--until-may-change",
        action="append",
        default=[],
        metavar="GLOB",
        help="tests or a check that may change for it",
    )
    root.add_argument(
        "--until-mutants", type=int, metavar="N", help="break so many changed lines to see whether it notices (3)"
    )
    root.add_argument("--max-steps", type=positive(int), metavar="N", help="stop after so many steps")
    root.add_argument("--max-tokens", type=positive(int), metavar="N", help="stop after so many tokens")
    root.add_argument("--max-cost", type=positive(float), metavar="DOLLARS", help="stop after so much money")
    root.add_argument("--max-seconds", type=positive(float), metavar="N", help="stop after so much time")
    return root


def budget_of(budget: Budget, options: argparse.Namespace) -> Budget:
    limits = {
        "steps": options.max_steps,
        "tokens": options.max_tokens,
        "cost": options.max_cost,
        "seconds": options.max_seconds,
    }
    return replace(budget, **{name: value for name, value in limits.items() if value is not None})


def output_of(file: str) -> Output:
    """The form of the answer, by a JSON Schema in a file."""
    try:
        schema = read_json(Path(file).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"--json-schema {file} cannot be read as JSON: {error}.") from error
    if not isinstance(schema, dict):
        raise UsageError(f"--json-schema {file} is no JSON Schema: it must be an object.")
    return wanted_output(schema, {})


def goal_from(options: argparse.Namespace) -> Goal | None:
    """Return what must hold before the work counts as done."""
    if options.until_match and len(options.until) != 1:
        raise UsageError("--until-match is about the output of one command: give it with one --until CMD.")
    for name in ("seconds", "may_change", "mutants"):
        if getattr(options, f"until_{name}") not in (None, []) and not options.until:
            raise UsageError(f"--until-{name.replace('_', '-')} is about a condition: give it with --until CMD.")
    return goal_of(
        options.until or None,
        match=options.until_match,
        seconds=options.until_seconds or 0.0,
        may_change=options.until_may_change,
        mutants=MUTANTS if options.until_mutants is None else options.until_mutants,
    )


def require_writable(file: str) -> None:
    """Require that the answer can be written there, found out before anything is sent."""
    try:
        Path(file).open("a").close()
    except OSError as error:
        raise UsageError(f"--output {file} cannot be written: {error.strerror}.") from error
