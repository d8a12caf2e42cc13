"""What a fleet costs: a thousand sessions on two Ray machines, one killed in the middle, against a plain process pool.

python bench/fleet.py [SESSIONS]
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from toolwright.evaluate import Task, TaskResult
from toolwright.evaluate.running import run_one

SESSIONS = 1000
STEPS = 4
SLOTS = 2
"""Of each of the two machines; the pool has as many as both."""
STORE = 80 * 1024 * 1024


def main(count: int) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        os.environ["HOME"] = scratch
        tasks = _tasks(folder, count)
        started = time.perf_counter()
        alone = _pooled(tasks)
        pool = time.perf_counter() - started
        _tell("process pool", count, pool, alone)
        began, took, killed, results = _fleet(folder, tasks)
        _tell("fleet", count, took, results)
        print(f"  Ray and the workers were there after {began:.1f} s; a machine was killed after {killed} results")
        print(f"  being distributed costs {1000 * (took - pool) / count:.0f} ms a session")
        return 0 if _right(tasks, results, folder / "out") and _right(tasks, alone, None) else 1


def _tell(name: str, count: int, took: float, results: list[TaskResult]) -> None:
    steps = sum(one.steps for one in results)
    print(
        f"{name}: {len(results)} of {count} sessions, {steps} steps, {took:.1f} s, {len(results) / took:.1f} a second"
    )


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


def _fleet(folder: Path, tasks: list[Task]) -> tuple[float, float, int, list[TaskResult]]:
    """Seconds to the first result, from there to the last, results before the kill, and all results."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    deaths = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
    machine: dict[str, Any] = {"num_cpus": SLOTS, "object_store_memory": STORE}
    cluster = Cluster()
    started = time.perf_counter()
    cluster.add_node(**machine, include_dashboard=False, _system_config=deaths)
    second = cluster.add_node(**machine)
    file = folder / "tasks.jsonl"
    lines = ({"id": one.id, "folder": one.folder, "prompt": one.prompt, "model": one.model} for one in tasks)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [sys.executable, "-m", "toolwright", "eval", str(file), "--out", str(folder / "out"), "--fleet"]
    driver = subprocess.Popen([*command, "--address", cluster.address], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    results: list[TaskResult] = []
    first = 0.0
    for line in driver.stdout:
        first = first or time.perf_counter()
        results.append(TaskResult(**json.loads(line)))
        if len(results) == len(tasks) // 2:
            os.kill(second.all_processes["raylet"][0].process.pid, signal.SIGKILL)
    took = time.perf_counter() - first
    driver.wait()
    cluster.shutdown()
    return first - started, took, len(tasks) // 2, results


def _right(tasks: list[Task], results: list[TaskResult], out: Path | None) -> bool:
    """Every result once, every step once, every patch right."""
    if sorted(one.id for one in results) != sorted(task.id for task in tasks):
        return False
    for one in results:
        number = one.id.removeprefix("t")
        lines = one.patch.splitlines()
        if one.error or one.steps != STEPS or f"+1 {number}" not in lines or f"+{number}" not in lines:
            return False
        if out is not None and _replies(out / "sessions" / f"{one.session_id}.json") != STEPS:
            return False
    return True


def _replies(export: Path) -> int:
    messages = json.loads(export.read_text("utf-8"))["messages"]
    return sum(message["info"]["role"] == "assistant" and bool(message["info"].get("finish")) for message in messages)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS))
