"""tw eval: give an agent a file of tasks, each in a copy of its own, and compare how it went."""

import argparse
import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.cli.dispatch import STOPPED
from toolwright.cli.options import note, parser, print_json, print_table
from toolwright.cli.output import say, say_json
from toolwright.errors import UsageError

if TYPE_CHECKING:
    from toolwright.evaluate.results import Results, TaskResult
    from toolwright.evaluate.tasks import Task
    from toolwright.fleet.limits import Limit


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["compare"]:
        return _compare(_compare_parser().parse_args(arguments[1:]))
    options = _parser().parse_args(arguments)
    for name in ("parallel", "repeat", "per_node"):
        number = getattr(options, name)
        if number is not None and number < 1:
            raise UsageError(f"--{name.replace('_', '-')} takes a number from 1 on, not {number}.")
    if not options.fleet and (options.address or options.per_node or options.limit):
        raise UsageError("--address, --per-node and --limit are for --fleet.")
    options.limits = _limits(options.limit)
    try:
        return asyncio.run(_run(options))
    except asyncio.CancelledError:
        return STOPPED


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "eval",
        "Evaluate an agent: every task of a file in a copy of its own, and whether it was done.",
        examples=(
            "  tw eval tasks.jsonl --out first --parallel 4\n"
            "  tw eval tasks.jsonl --out first --resume      # what is done is not done again\n"
            "  tw eval tasks.jsonl --out first --fleet --address 10.0.0.1:6379\n"
            "  tw eval compare first second                  # which differences are more than noise"
        ),
    )
    root.add_argument("file", metavar="TASKS", help="JSON lines or a YAML list: id, prompt, folder, check, ...")
    root.add_argument("--out", required=True, metavar="DIR", help="where results, sessions and the report go")
    root.add_argument("--parallel", type=int, metavar="N", help="tasks at once (1; with --fleet as many as CPUs)")
    root.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of every task (1)")
    root.add_argument("--resume", action="store_true", help="go on with results that are there")
    root.add_argument("--keep", action="store_true", help="keep the copies, in DIR/work")
    root.add_argument("--fleet", action="store_true", help="run on a Ray cluster, of this machine unless --address")
    root.add_argument("--address", default="", metavar="A", help="the cluster: HOST:PORT or ray://HOST:PORT")
    root.add_argument("--per-node", type=int, metavar="N", help="tasks at once on each machine (its CPUs)")
    root.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="PROVIDER=REQUESTS/TOKENS",
        help="what a provider gets in a minute from the whole fleet; may be repeated",
    )
    root.add_argument("--model", default="", metavar="PROVIDER/MODEL", help="for tasks that name none")
    return root


def _compare_parser() -> argparse.ArgumentParser:
    root = parser("eval compare", "Two evaluations, and which differences are more than noise.")
    root.add_argument("a", metavar="DIR")
    root.add_argument("b", metavar="DIR")
    root.add_argument("--json", action="store_true", help="machine-readable")
    return root


async def _run(options: argparse.Namespace) -> int:
    from toolwright.evaluate.report import headline, write_report
    from toolwright.evaluate.results import Results
    from toolwright.evaluate.tasks import read_tasks

    tasks, problems = read_tasks(Path(options.file))
    for problem in problems:
        note(f"{options.file}:{problem.line}: {problem.reason}")
    out = Path(options.out)
    results = Results(out, resume=options.resume)
    total = len(tasks) * options.repeat
    wanted = {task.id for task in tasks}
    progress = ProgressBar(total, [one for one in results.done if one.id in wanted])
    lines = sys.stdout
    stop = asyncio.current_task()
    assert stop is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.cancel)
    with _noise_kept_away(out, options.fleet):
        running = _running(options, tasks, results)
        try:
            async for result in running:
                line = results.add(result)
                if not lines.isatty():
                    say_json(line, to=lines)
                progress.step(result)
        except asyncio.CancelledError:
            progress.end()
            note(f"Stopped after {progress.done} of {total} runs. The same command with --resume does the others.")
            raise
        finally:
            await running.aclose()
            results.close()
            progress.end()
            # A disk that is full ends the evaluation by its result, whose error says how to go on.
            try:
                write_report(out, results.done, Path(options.file).name)
            except OSError as error:
                note(f"The report cannot be written to {out}: {error.strerror}.")
    note(f"{headline(results.done)}; see {out / 'report.md'}")
    return 1 if problems else 0


def _running(
    options: argparse.Namespace, tasks: "list[Task]", results: "Results"
) -> "AsyncGenerator[TaskResult, None]":
    common: dict[str, Any] = {
        "repeat": options.repeat,
        "keep": results.folder / "work" if options.keep else None,
        "done": [(one.id, one.repeat) for one in results.done],
        "model": options.model,
        "trust": getattr(options, "trust", False),
    }
    if not options.fleet:
        from toolwright.evaluate.running import run

        return run(tasks, parallel=options.parallel or 1, **common)
    from toolwright.fleet.driver import run as run_fleet

    if not options.resume:
        shutil.rmtree(results.folder / "steps", ignore_errors=True)
    return run_fleet(
        tasks,
        address=options.address,
        parallel=options.parallel or 0,
        per_node=options.per_node or 0,
        limits=options.limits,
        out=results.folder,
        **common,
    )


def _limits(texts: list[str]) -> "dict[str, Limit]":
    if not texts:
        return {}
    from toolwright.fleet.limits import parse_limit

    return dict(map(parse_limit, texts))


@contextmanager
def _noise_kept_away(out: Path, fleet: bool) -> Iterator[None]:
    """Ray tells of its machines and attempts on stdout, where the results go, and on stderr: that joins the logs."""
    if not fleet:
        yield
        return
    (out / "logs").mkdir(parents=True, exist_ok=True)
    with (
        (out / "logs" / "ray.log").open("a", encoding="utf-8", errors="replace") as log,
        redirect_stdout(log),
        _apart_from_stderr(log.fileno()),
    ):
        yield


@contextmanager
def _apart_from_stderr(log: int) -> Iterator[None]:
    """Send what Python does not write to the log; what we tell people still reaches them."""
    stderr = os.dup(2)
    os.dup2(log, 2)
    try:
        with (
            open(stderr, "w", buffering=1, errors="backslashreplace", closefd=False) as people,
            redirect_stderr(people if sys.stderr is sys.__stderr__ else sys.stderr),
        ):
            yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)


class ProgressBar:
    """A bar on a terminal; nothing elsewhere."""

    def __init__(self, total: int, before: "list[TaskResult]") -> None:
        self.total, self.done, self.passed = total, len(before), sum(one.passed for one in before)
        self.shown = sys.stderr.isatty()
        self._draw()

    def step(self, result: "TaskResult") -> None:
        self.done += 1
        self.passed += result.passed
        self._draw()

    def end(self) -> None:
        if self.shown:
            say(to=sys.stderr)
        self.shown = False

    def _draw(self) -> None:
        if self.shown:
            filled = 30 * self.done // max(1, self.total)
            bar = "█" * filled + "░" * (30 - filled)
            sys.stderr.write(f"\r{bar} {self.done}/{self.total}, {self.passed} passed")
            sys.stderr.flush()


def _compare(options: argparse.Namespace) -> int:
    from toolwright.evaluate.compare import compare
    from toolwright.evaluate.results import read_results

    both = []
    for folder in (options.a, options.b):
        results = read_results(Path(folder))
        if not results:
            raise UsageError(f"{folder} has no results. Name the --out of an evaluation.")
        both.append(results)
    differences = compare(*both)
    if options.json:
        print_json({name: one.as_json() for name, one in differences.items()})
        return 0
    head = ("measure", "a", "b", "difference", "95 % of chance", "")
    rows = [
        (
            name,
            f"{one.a:.4g}",
            f"{one.b:.4g}",
            f"{one.b - one.a:+.4g}",
            f"{one.low:+.4g} to {one.high:+.4g}",
            "more than noise" if one.significant else "may be noise",
        )
        for name, one in differences.items()
    ]
    print_table([head, *rows])
    return 0
