"""What it costs to start: CPU and memory of the shortest commands, as multiples of `python -c pass`.

python bench/startup.py            medians and minima of nine runs
OPENCODE=/path/to/opencode ...     measures that program beside ours, if it is not on the path
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

RUNS = 9
MAX_MEGABYTES = 45


@dataclass(frozen=True, slots=True)
class Case:
    """One command, and how many times the bare interpreter it may cost; 0 for one that is only looked at."""

    name: str
    command: tuple[str, ...]
    target: float = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds (user and system, children included) and peak resident megabytes of one run."""

    cpu: float
    megabytes: float


def main() -> int:
    """Print the table; 1 if a target is missed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "project").mkdir()
        (folder / "project" / "a.txt").write_text("one\ntwo\nthree\n")
        measured = [(case, _costs(case, folder)) for case in _cases()]
    base = min(cost.cpu for cost in measured[0][1])
    print(f"{'':<28}{'min ms':>9}{'median ms':>11}{'× python':>10}{'target':>8}{'peak MB':>9}")
    missed = [case.name for case, costs in measured if _report(case, costs, base)]
    if missed:
        print(f"missed: {', '.join(missed)}")
        _print_profile(tw=(*_cases()[0].command[:1], "-X", "importtime", "-m", "toolwright"))
    return 1 if missed else 0


def _cases() -> list[Case]:
    python = sys.executable
    tw = str(Path(python).parent / "tw")
    read = json.dumps({"filePath": "a.txt"})
    ours = [
        Case("python -c pass", (python, "-c", "pass")),
        Case("python -c 'import asyncio'", (python, "-c", "import asyncio")),
        Case("tw --version", (tw, "--version"), 2),
        Case("tw --help", (tw, "--help"), 4),
        Case("tw tool list", (tw, "tool", "list"), 12),
        Case("tw tool call read", (tw, "tool", "call", "read", read), 8),
    ]
    opencode = os.environ.get("OPENCODE") or shutil.which("opencode")
    if not opencode:
        return ours
    return [
        *ours,
        Case("opencode --version", (opencode, "--version")),
        Case("opencode --help", (opencode, "--help")),
        Case("opencode read", (opencode, "debug", "agent", "build", "--tool", "read", "--params", read)),
    ]


def _print_profile(tw: tuple[str, ...]) -> None:
    """Where the time of the last command goes: what is imported, by whom it comes, in microseconds of wall time."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "project").mkdir()
        (folder / "project" / "a.txt").write_text("one\n")
        command = [*tw, "tool", "call", "read", json.dumps({"filePath": "a.txt"})]
        subprocess.run(command, cwd=folder / "project", env=_environment(folder), capture_output=True, check=False)
        told = subprocess.run(
            command, cwd=folder / "project", env=_environment(folder), capture_output=True, text=True, check=False
        )
    rows = [line.removeprefix("import time:").split("|") for line in told.stderr.splitlines() if line.count("|") == 2]
    alone = {name.strip(): int(own) for own, _, name in rows[1:]}
    groups = {
        "asyncio and what it imports": sum(alone[name] for name in _below(rows, "asyncio")),
        "our own modules": sum(own for name, own in alone.items() if name.startswith("toolwright")),
    }
    print(f"imports of tw tool call read: {len(alone)} modules, {sum(alone.values()) / 1000:.0f} ms of wall time")
    for name, micros in groups.items():
        print(f"  {name:<30}{micros / 1000:>8.1f} ms")
    for name, own in sorted(alone.items(), key=lambda item: -item[1])[:8]:
        print(f"  {name:<30}{own / 1000:>8.1f} ms by itself")


def _below(rows: list[list[str]], wanted: str) -> list[str]:
    """A module and those it was the first to import: the rows just before it that are indented further."""
    names = [name for _, _, name in rows]
    at = next(number for number, name in enumerate(names) if name.strip() == wanted)
    depth = len(names[at]) - len(names[at].lstrip())
    found = [wanted]
    for name in reversed(names[:at]):
        if len(name) - len(name.lstrip()) <= depth:
            break
        found.append(name.strip())
    return found


def _costs(case: Case, folder: Path) -> list[Cost]:
    _run(case, folder)
    return [_run(case, folder) for _ in range(RUNS)]


def _run(case: Case, folder: Path) -> Cost:
    process = subprocess.Popen(
        case.command,
        cwd=folder / "project",
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode and case.target:
        raise SystemExit(f"{case.name} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {"HOME": str(folder / "home")}


def _report(case: Case, costs: list[Cost], base: float) -> bool:
    """Print one line; whether its target is missed."""
    least = min(cost.cpu for cost in costs)
    median = statistics.median(cost.cpu for cost in costs)
    peak = max(cost.megabytes for cost in costs)
    ratio = least / base
    target = f"{case.target:.0f}×" if case.target else ""
    print(f"{case.name:<28}{least * 1000:>9.1f}{median * 1000:>11.1f}{ratio:>10.1f}{target:>8}{peak:>9.1f}")
    return bool(case.target) and (ratio > case.target or peak > MAX_MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
