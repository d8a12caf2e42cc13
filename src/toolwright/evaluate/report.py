"""The report of an evaluation, in Markdown and as one HTML page with plots that needs nothing from elsewhere."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from toolwright.evaluate.plots import bars, plot
from toolwright.evaluate.results import TaskResult
from toolwright.record import record

_STYLE = (
    ":root{color-scheme:light dark;--text:#222;--back:#fff;--line:#ddd;--bar:#3b6fb6;--yes:#17803d;--no:#b42318}"
    "@media(prefers-color-scheme:dark)"
    "{:root{--text:#ddd;--back:#16181c;--line:#3a3f47;--bar:#6ea0e8;--yes:#5cc27f;--no:#ff8a7a}}"
    "body{font:14px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;"
    "color:var(--text);background:var(--back)}div{overflow-x:auto}"
    "table{border-collapse:collapse}td,th{padding:.2em .8em;border-bottom:1px solid var(--line);text-align:left}"
    "td.n,th.n{text-align:right}td:last-child{min-width:14em}.yes{color:var(--yes)}.no{color:var(--no)}svg{max-width:100%;height:auto}"
    "svg text{font:12px system-ui,sans-serif;fill:var(--text)}rect{fill:var(--bar)}"
)


@record(frozen=True, slots=True, kw_only=True)
class TaskSummary:
    """All runs of one task."""

    id: str
    runs: int
    passed: int
    cost: float
    seconds: float
    tokens: int
    steps: int
    refused: int
    errors: tuple[str, ...]


def write_report(folder: Path, results: Sequence[TaskResult], title: str = "Evaluation") -> None:
    (folder / "report.md").write_text(markdown(results, title), "utf-8")
    (folder / "report.html").write_text(html(results, title), "utf-8")


def summaries(results: Sequence[TaskResult]) -> list[TaskSummary]:
    by_task: dict[str, list[TaskResult]] = {}
    for one in results:
        by_task.setdefault(one.id, []).append(one)
    return [_summary(name, runs) for name, runs in sorted(by_task.items())]


def _summary(name: str, runs: Sequence[TaskResult]) -> TaskSummary:
    return TaskSummary(
        id=name,
        runs=len(runs),
        passed=sum(one.passed for one in runs),
        cost=sum(one.cost for one in runs),
        seconds=sum(one.seconds for one in runs) / len(runs),
        tokens=sum(one.tokens for one in runs),
        steps=sum(one.steps for one in runs),
        refused=sum(one.refused for one in runs),
        errors=tuple(dict.fromkeys(one.error for one in runs if one.error)),
    )


def tool_failures(results: Sequence[TaskResult]) -> list[tuple[str, int, int]]:
    """Each tool with its calls and failures, the most failures first."""
    by_name: dict[str, tuple[int, int]] = {}
    for one in results:
        for tool, (calls, failures) in one.tools.items():
            before = by_name.get(tool, (0, 0))
            by_name[tool] = (before[0] + calls, before[1] + failures)
    return sorted(((tool, *counts) for tool, counts in by_name.items()), key=lambda row: (-row[2], -row[1], row[0]))


def headline(results: Sequence[TaskResult]) -> str:
    passed, total = sum(one.passed for one in results), len(results)
    rate = 100 * passed / total if total else 0
    cost, seconds = sum(one.cost for one in results), sum(one.seconds for one in results)
    return (
        f"{passed} of {total} runs passed ({rate:.0f} %), {sum(one.error is not None for one in results)} with errors;"
        f" {sum(one.tokens for one in results)} tokens, ${cost:.4f}, {seconds:.1f} s of work"
    )


def markdown(results: Sequence[TaskResult], title: str) -> str:
    lines = [f"# {_cell(title)}", "", headline(results) + ".", ""]
    lines += [
        "| task | passed | steps | tokens | cost | seconds | refused | errors |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {_cell(one.id)} | {one.passed}/{one.runs} | {one.steps} | {one.tokens} | {one.cost:.4f} | {one.seconds:.1f}"
        f" | {one.refused} | {_cell('; '.join(one.errors))} |"
        for one in summaries(results)
    ]
    tools = tool_failures(results)
    if tools:
        lines += ["", "| tool | calls | failed |", "|---|---|---|"]
        lines += [f"| {_cell(tool)} | {calls} | {failed} |" for tool, calls, failed in tools]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def html(results: Sequence[TaskResult], title: str) -> str:
    tasks = summaries(results)
    failed = [(tool, float(fails), f"{fails} of {calls}") for tool, calls, fails in tool_failures(results) if fails]
    plots = [
        plot(
            "Pass rate",
            [(one.id, one.passed / one.runs, f"{one.passed}/{one.runs}") for one in tasks],
            lambda value: f"{100 * value:.0f} %",
            most=1.0,
        ),
        plot("Seconds", [(one.id, one.seconds, f"{one.seconds:.1f}") for one in tasks], lambda value: f"{value:.1f}"),
        bars("Failed calls by tool", failed) if failed else "<h2>Failed calls by tool</h2>\n<p>None failed.</p>",
    ]
    if any(one.cost for one in tasks):
        costs = [(one.id, one.cost, f"{one.cost:.4f}") for one in tasks]
        plots.insert(1, plot("Cost in dollars", costs, lambda value: f"{value:.4f}"))
    else:
        plots.insert(1, "<h2>Cost in dollars</h2>\n<p>Nothing was charged, or the prices are not known.</p>")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>{escape(title)}</h1>\n<p>{escape(headline(results))}.</p>\n"
        + "\n".join(plots)
        + _table(tasks)
        + "</body></html>\n"
    )


def _table(tasks: Sequence[TaskSummary]) -> str:
    rows = []
    for one in tasks:
        mark = "yes" if one.passed == one.runs else "no"
        numbers = (one.steps, one.tokens, f"{one.cost:.4f}", f"{one.seconds:.1f}", one.refused)
        cells = "".join(f'<td class="n">{number}</td>' for number in numbers)
        errors = escape("; ".join(one.errors))
        rows.append(
            f'<tr><td>{escape(one.id)}</td><td class="{mark}">{one.passed}/{one.runs}</td>{cells}<td>{errors}</td></tr>'
        )
    counted = "".join(f'<th class="n">{name}</th>' for name in ("steps", "tokens", "cost", "seconds", "refused"))
    head = f"<th>task</th><th>passed</th>{counted}<th>errors</th>"
    return f"\n<h2>Tasks</h2>\n<div><table><tr>{head}</tr>\n" + "\n".join(rows) + "\n</table></div>\n"
