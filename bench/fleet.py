"""What a fleet costs: a thousand sessions on two Ray machines, one or the driver killed, against a plain process pool.

python bench/fleet.py [SESSIONS] [--kill machine|driver|both]
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from toolwright.evaluate import Task, TaskResult
from toolwright.evaluate.results import read_results
from toolwright.evaluate.running import run_one

SESSIONS = 1000
STEPS = 4
SLOTS = 2
"""Of each of the two machines; the pool has as many as both."""
STORE = 80 * 1024 * 1024
ATTEMPTS = 5


def main(count: int, kill: str) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        os.environ["HOME"] = scratch
        tasks = _tasks(folder, count)
        began, took = _fleet(folder, tasks, kill)
        results = read_results(folder / "out")
        _tell("fleet", count, took, results)
        print(f"  the first result was there after {began:.1f} s")
        problems = _wrong(tasks, results, folder / "out")
        print("  " + ("\n".join(problems[:20]) or "every result once, every step once, every patch right"), flush=True)
        started = time.perf_counter()
        alone = _pooled(tasks)
        pool = time.perf_counter() - started
        _tell("process pool", count, pool, alone)
        print(f"  being distributed costs {1000 * (took - pool) / count:.0f} ms a session")
        problems += _wrong(tasks, alone, None)
        return 1 if problems else 0


def _tell(name: str, count: int, took: float, results: list[TaskResult]) -> None:
    steps = sum(one.steps for one in results)
    rate = len(results) / took
    print(f"{name}: {len(results)} of {count} sessions, {steps} steps, {took:.1f} s, {rate:.1f} a second", flush=True)


def _tasks(folder: Path, count: int) -> list[Task]:
    start = folder / "start"
    start.mkdir()
    (start / "a.txt").write_text("one\ntwo\n")
    tasks = []
    for number in range(count):
        script = folder / f"{number}.json"
        script.write_text(json.dumps(_script(number)))
        tasks.append(Task(id=f"t{number}", folder=str(start), prompt="Go", model=f"scripted/{script}"))
    return tasks


def _script(number: int) -> list[Any]:
    return [
        {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}]},
        {"tools": [{"name": "edit", "args": {"filePath": "a.txt", "oldString": "one", "newString": f"1 {number}"}}]},
        {"tools": [{"name": "write", "args": {"filePath": f"new/{number}.txt", "content": f"{number}\n"}}]},
        {"text": "Done."},
    ]


def _pooled(tasks: list[Task]) -> list[TaskResult]:
    with ProcessPoolExecutor(2 * SLOTS, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_run_alone, tasks, chunksize=4))


def _run_alone(task: Task) -> TaskResult:
    return asyncio.run(run_one(task, 0, None, {}))


def _fleet(folder: Path, tasks: list[Task], kill: str) -> tuple[float, float]:
    """Seconds to the first result, and from there to the last."""
    started = time.perf_counter()
    cluster, second = _cluster()
    command = [*_command(folder, tasks), "--address", cluster.address]
    third = len(tasks) // 3
    deadly = {
        "driver": {third: "driver", 2 * third: "driver"},
        "machine": {len(tasks) // 2: "machine"},
        "both": {third: "driver", 2 * third: "machine"},
    }[kill]
    driver = _started(command)
    first, told = 0.0, 0
    while line := _line(driver):
        first = first or time.perf_counter()
        told += bool(line)
        match deadly.get(told):
            case "machine":
                os.kill(second.all_processes["raylet"][0].process.pid, signal.SIGKILL)
                print(f"  the second machine was killed after {told} results", flush=True)
            case "driver":
                driver = _resumed(driver, command, folder, told)
                told = len(read_results(folder / "out"))
            case _:
                pass
    took = time.perf_counter() - first
    driver.wait()
    cluster.shutdown()
    return first - started, took


def _cluster() -> tuple[Any, Any]:
    """Two machines, and the second of them. Where the processors are busy, Ray may need more than one attempt."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    deaths = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
    machine: dict[str, Any] = {"num_cpus": SLOTS, "object_store_memory": STORE}
    for left in reversed(range(ATTEMPTS)):
        cluster = Cluster()
        try:
            cluster.add_node(**machine, include_dashboard=False, _system_config=deaths)
            return cluster, cluster.add_node(**machine)
        except Exception:
            cluster.shutdown()
            if not left:
                raise
    raise AssertionError


def _command(folder: Path, tasks: list[Task]) -> list[str]:
    file = folder / "tasks.jsonl"
    lines = ({"id": one.id, "folder": one.folder, "prompt": one.prompt, "model": one.model} for one in tasks)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [sys.executable, "-m", "toolwright", "eval", str(file), "--out", str(folder / "out"), "--fleet"]


def _started(command: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _line(driver: "subprocess.Popen[str]") -> str:
    assert driver.stdout is not None
    return driver.stdout.readline()


def _resumed(driver: "subprocess.Popen[str]", command: list[str], folder: Path, told: int) -> "subprocess.Popen[str]":
    """Kill the driver in the middle of what it does, and have another go on."""
    driver.kill()
    driver.communicate()
    under_way = {file.name: len(file.read_text().splitlines()) for file in (folder / "out" / "steps").glob("*.jsonl")}
    print(f"  the driver was killed after {told} results; finished steps of runs under way: {under_way}", flush=True)
    return _started([*command, "--resume"])


def _wrong(tasks: list[Task], results: list[TaskResult], out: Path | None) -> list[str]:
    """What is not so: every result once, every step once, every patch right."""
    counts = Counter(one.id for one in results)
    problems = [f"{task.id}: {counts[task.id]} results" for task in tasks if counts[task.id] != 1]
    for one in results:
        number = one.id.removeprefix("t")
        lines = one.patch.splitlines()
        if one.error or one.steps != STEPS or f"+1 {number}" not in lines or f"+{number}" not in lines:
            problems.append(f"{one.id}: {one.steps} steps, {one.error}, {one.patch}")
        elif out is not None and _replies(out / "sessions" / f"{one.session_id}.json") != STEPS:
            problems.append(f"{one.id}: the session has other than {STEPS} replies")
    if out is not None and len(list((out / "sessions").iterdir())) != len(tasks):
        problems.append("there are sessions of no result")
    return problems


def _replies(export: Path) -> int:
    messages = json.loads(export.read_text("utf-8"))["messages"]
    return sum(message["info"]["role"] == "assistant" and bool(message["info"].get("finish")) for message in messages)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("sessions", nargs="?", type=int, default=SESSIONS)
    reader.add_argument("--kill", choices=("machine", "driver", "both"), default="machine")
    given = reader.parse_args()
    sys.exit(main(given.sessions, given.kill))
