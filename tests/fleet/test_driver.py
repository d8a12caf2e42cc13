"""How the driver gives out runs: workers that are lost, machines that are full, limits, an end before the end."""

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from tests.fleet.conftest import script
from tests.fleet.fakes import FakeCluster
from toolwright.errors import UsageError
from toolwright.evaluate import Task, TaskResult, places, run
from toolwright.fleet import driver, slot
from toolwright.fleet.cluster import Node
from toolwright.fleet.folders import unpack
from toolwright.fleet.worker import WorkerReport

pytestmark = pytest.mark.slow

TWO = (Node(id="n1", address="10.0.0.1", slots=2), Node(id="n2", address="10.0.0.2", slots=2))


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies in a folder of the test, and not much waiting for machines that rest."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(slot, "REST", 0.3)
    monkeypatch.setattr(driver, "LOOK", 0.01)


@pytest.fixture
def start(tmp_path: Path) -> Path:
    folder = tmp_path / "start"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


def tasks_of(start: Path, count: int, turns: list[Any] | None = None, **more: Any) -> list[Task]:
    tasks = []
    for number in range(count):
        file = start.parent / f"{number}.json"
        file.write_text(json.dumps(turns or script(number)))
        tasks.append(Task(id=f"t{number}", folder=start, prompt="Fix it", model=f"scripted/{file}", **more))
    return tasks


async def results_of(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch, tasks: list[Task], **more: Any
) -> dict[str, TaskResult]:
    monkeypatch.setattr(driver, "connect", lambda *_: cluster)
    found = [one async for one in driver.run(tasks, **more)]
    assert len({one.id for one in found}) == len(found)
    assert not places.root().exists() or not list(places.root().iterdir())
    return {one.id: one for one in found}


def dies_once_at(step: int) -> Any:
    """The first worker that would tell a step of a task is lost instead; 0 is the end of the run."""
    seen: set[str] = set()

    def fate(_node: str, task: str, report: WorkerReport) -> bool:
        told = report.step.steps if report.step else 0
        lost = told == step and task not in seen
        seen.update([task] if lost else [])
        return lost

    return fate


@pytest.mark.parametrize("step", [1, 2, 3, 4, 0])
async def test_a_run_goes_on_elsewhere_after_its_last_step_that_was_told(
    step: int, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = tasks_of(start, 1, check="grep -q '^2$' a.txt")
    alone = {one.id: one async for one in run(tasks)}
    cluster = FakeCluster(*TWO, fate=dies_once_at(step))
    found = await results_of(cluster, monkeypatch, tasks, out=tmp_path / "out")
    for name, one in found.items():
        assert (one.passed, one.error, one.steps, one.patch) == (True, None, 4, alone[name].patch)
        assert (one.tokens, one.tools) == (alone[name].tokens, alone[name].tools)
        said = [[part["type"] for part in message["parts"]] for message in one.session["messages"]]
        assert said == [[part["type"] for part in message["parts"]] for message in alone[name].session["messages"]]
        saved = [after for _, task, after in cluster.begun if task == name]
        assert saved == [0, 4 if step == 0 else step - 1]
        assert "is lost" in (tmp_path / "out/logs" / f"{name}.0.log").read_text()


async def test_the_run_that_costs_a_worker_again_and_again_is_given_up(
    start: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fate(_node: str, task: str, report: WorkerReport) -> bool:
        return task == "t0" and report.step is not None and report.step.steps == 2

    cluster = FakeCluster(*TWO, fate=fate)
    found = await results_of(cluster, monkeypatch, tasks_of(start, 3))
    assert (found["t0"].error or "").startswith("3 workers were lost in the same step; the last one: n")
    assert [one.passed for one in found.values()].count(True) == 2


async def test_a_full_disk_is_the_machine_s_trouble_and_not_the_task_s(
    start: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = {"n1"}

    def unpack_here(packed: bytes, folder: Path) -> None:
        if cluster.begun[-1][0] in full:
            raise OSError(errno.ENOSPC, "No space left on device", str(folder))
        unpack(packed, folder)

    monkeypatch.setattr("toolwright.fleet.movable.unpack", unpack_here)
    cluster = FakeCluster(*TWO)
    found = await results_of(cluster, monkeypatch, tasks_of(start, 1))
    assert found["t0"].passed
    assert cluster.begun[-1][0] == "n2"
    full.add("n2")
    found = await results_of(cluster, monkeypatch, tasks_of(start, 1))
    assert "No space left on the disk of " in (found["t0"].error or "")


async def test_there_are_never_more_copies_than_slots(start: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeCluster(*TWO)
    await results_of(cluster, monkeypatch, tasks_of(start, 4), per_node=1)
    assert (cluster.most, cluster.most_on) == (2, {"n1": 1, "n2": 1})
    cluster = FakeCluster(*TWO)
    await results_of(cluster, monkeypatch, tasks_of(start, 4), parallel=3)
    assert cluster.most == 3


async def test_a_fleet_that_is_left_leaves_nothing_and_is_gone_on_with(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, out = tasks_of(start, 3), tmp_path / "out"
    first = FakeCluster(Node(id="n1", address="10.0.0.1", slots=3), fate=lambda *_: False)
    monkeypatch.setattr(driver, "connect", lambda *_: first)
    running = driver.run(tasks, out=out)
    result = await anext(running)
    await running.aclose()
    assert not list(places.root().iterdir())
    second = FakeCluster()
    found = await results_of(second, monkeypatch, tasks, out=out, done=[(result.id, 0)])
    assert {result.id, *found} == {"t0", "t1", "t2"}
    assert [one.steps for one in found.values()] == [4, 4]
    assert any(after for _, _, after in second.begun)
    assert not (out / "steps").exists()
    monkeypatch.setattr(driver, "connect", lambda *_: pytest.fail("nothing is left to do"))
    assert [one async for one in driver.run(tasks, out=out, done=[(f"t{number}", 0) for number in range(3)])] == []


async def test_what_was_saved_of_another_beginning_is_not_used(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, out = tasks_of(start, 1), tmp_path / "out"

    def fate(_node: str, _task: str, report: WorkerReport) -> bool:
        if report.step is not None and report.step.steps == 2:
            (start / "a.txt").write_text("one\ntwo\nthree\n")
            raise KeyError("as if the driver broke")
        return False

    cluster = FakeCluster(fate=fate)
    await results_of(cluster, monkeypatch, tasks, out=out)
    cluster = FakeCluster()
    found = await results_of(cluster, monkeypatch, tasks, out=out)
    assert "three" in found["t0"].patch
    assert [after for _, _, after in cluster.begun] == [0]


async def test_the_copies_are_brought_back_to_be_kept(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await results_of(FakeCluster(), monkeypatch, tasks_of(start, 1), keep=tmp_path / "work")
    assert (tmp_path / "work/t0.0/a.txt").read_text() == "1 0\n2\n"


async def test_a_missing_folder_is_told_and_the_others_run(start: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [*tasks_of(start, 1), Task(id="bad", folder=start / "nothing", prompt="Fix it", model="scripted/x")]
    found = await results_of(FakeCluster(), monkeypatch, tasks)
    assert "is not a folder" in (found["bad"].error or "")
    assert found["t0"].passed


async def test_a_version_of_its_own_on_a_machine_ends_the_fleet(start: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "VERSION", "0.0.1")
    with pytest.raises(UsageError, match="Install the same on every machine"):
        await results_of(FakeCluster(), monkeypatch, tasks_of(start, 1))


async def test_what_a_session_has_read_and_noted_is_known_elsewhere(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was read may be overwritten, a subagent's steps count, ignored and deleted files are as they were."""
    (start / ".gitignore").write_text("build\n")
    (start / "old.txt").write_text("old\n")
    (tmp_path / "child.json").write_text(json.dumps([{"text": "Looked."}]))
    turns = [
        {
            "tools": [
                {"name": "read", "args": {"filePath": "a.txt"}},
                {
                    "name": "bash",
                    "args": {"command": "mkdir build && echo x > build/y && rm old.txt", "description": "x"},
                },
                {
                    "name": "todowrite",
                    "args": {"todos": [{"content": "c", "status": "pending", "priority": "low", "id": "1"}]},
                },
            ]
        },
        {"tools": [{"name": "write", "args": {"filePath": "a.txt", "content": "new\n"}}, {"name": "todoread"}]},
        {"text": "Done."},
    ]
    tasks = tasks_of(start, 1, turns, check="test -f build/y && test ! -e old.txt && grep new a.txt")
    found = await results_of(FakeCluster(*TWO, fate=dies_once_at(2)), monkeypatch, tasks)
    one = found["t0"]
    assert (one.passed, one.error, one.steps) == (True, None, 3), one
    assert one.tools["write"] == (1, 0)
    calls = [part for message in one.session["messages"] for part in message["parts"] if part["type"] == "tool"]
    listed = next(part for part in calls if part["tool"] == "todoread")
    assert '"c"' in listed["state"]["output"]


async def test_steps_before_a_move_count_for_the_budget(start: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = tasks_of(start, 1, budget={"steps": 3})
    [alone] = [one async for one in run(tasks)]
    found = await results_of(FakeCluster(fate=dies_once_at(2)), monkeypatch, tasks)
    assert "3 of 3 steps" in (alone.error or "")
    assert (found["t0"].error, found["t0"].steps) == (alone.error, alone.steps)
