"""A cluster of two machines in this one, and tasks of four steps with edits."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import home, tw

__all__ = ["home", "tw"]

FAST_DEATHS = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 4,
}
STORE = 80 * 1024 * 1024
ATTEMPTS = 3


@dataclass
class TwoNodes:
    """A head and a second machine, which can be killed."""

    cluster: Any
    second: Any

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def kill_second(self) -> None:
        """SIGKILL to the second machine's every process, as when its power fails."""
        raylet = self.second.all_processes["raylet"][0].process.pid
        for pid in (raylet, *_below(raylet)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def _below(pid: int) -> list[int]:
    """The processes that another has started, and theirs."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *_below(int(child))]
    return found


@pytest.fixture
def two_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TwoNodes]:
    pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    two = _started()
    try:
        yield two
    finally:
        two.cluster.shutdown()


def _started() -> TwoNodes:
    """On a machine that is very busy Ray now and then gives up on itself: that is no fault of ours."""
    from ray.cluster_utils import Cluster

    common: dict[str, Any] = {"num_cpus": 2, "object_store_memory": STORE}
    for _ in range(ATTEMPTS):
        cluster = Cluster()
        try:
            cluster.add_node(**common, include_dashboard=False, _system_config=FAST_DEATHS)
            return TwoNodes(cluster, cluster.add_node(**common))
        except Exception as error:  # noqa: BLE001 - Ray says no more
            reason = str(error)
            cluster.shutdown()
    pytest.skip(f"Ray does not start here: {reason}")


def script(number: int) -> list[Any]:
    """Four steps: a look, two edits and a new file, an answer."""
    return [
        {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}], "delay": 0.05},
        {
            "tools": [{"name": "edit", "args": {"filePath": "a.txt", "oldString": "one", "newString": f"1 {number}"}}],
            "delay": 0.05,
        },
        {
            "tools": [
                {"name": "edit", "args": {"filePath": "a.txt", "oldString": "two", "newString": "2"}},
                {"name": "write", "args": {"filePath": f"new/{number}.txt", "content": f"{number}\n"}},
            ],
            "delay": 0.05,
        },
        {"text": "Done.", "delay": 0.05},
    ]


def write_tasks(folder: Path, count: int) -> Path:
    start = folder / "start"
    start.mkdir()
    (start / "a.txt").write_text("one\ntwo\n")
    tasks = folder / "tasks.jsonl"
    with tasks.open("w") as file:
        for number in range(count):
            (folder / f"{number}.json").write_text(json.dumps(script(number)))
            model = f"scripted/{folder / f'{number}.json'}"
            task = {"id": f"t{number}", "folder": str(start), "prompt": "Fix it", "model": model}
            file.write(json.dumps(task) + "\n")
    return tasks


def begin_eval(tasks: Path, out: Path, *more: str) -> "subprocess.Popen[str]":
    """tw eval in a process of its own, with its stdout to read from."""
    command = [sys.executable, "-m", "toolwright", "eval", str(tasks), "--out", str(out), "--fleet", *more]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tasks.parent)


def check_all(out: Path, count: int) -> None:
    """Every result once, every step once, every patch right."""
    results = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert sorted(one["id"] for one in results) == sorted(f"t{number}" for number in range(count))
    steps = 0
    for one in results:
        number = one["id"].removeprefix("t")
        assert (one["error"], one["passed"], one["steps"]) == (None, True, 4), one
        for line in (f"+1 {number}", "+2", f"+{number}"):
            assert line in one["patch"].splitlines()
        assert one["patch"].count("diff --git") == 2
        session = json.loads((out / "sessions" / f"{one['session_id']}.json").read_text())
        replies = [message for message in session["messages"] if message["info"]["role"] == "assistant"]
        steps += sum(reply["info"]["finish"] is not None for reply in replies)
        calls = [part["callID"] for reply in replies for part in reply["parts"] if part["type"] == "tool"]
        assert len(calls) == len(set(calls)) == 4
    assert steps == 4 * count
    assert not list((out / "steps").glob("*")) if (out / "steps").exists() else True
