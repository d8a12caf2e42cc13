"""tw eval: tasks in copies of their own, results line by line, resumed, reported and compared."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw
from tests.waiting import PATIENCE, wait_until
from toolwright.evaluate import Task, places, run, running
from toolwright.evaluate.compare import compare
from toolwright.evaluate.plots import MOST_BARS
from toolwright.evaluate.report import html
from toolwright.evaluate.results import TaskResult, read_results
from toolwright.session.session import Session
from toolwright.testing import ScriptedModel

FIX: list[Any] = [
    {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}]},
    {
        "tools": [
            {"name": "edit", "args": {"filePath": "a.txt", "oldString": "one", "newString": "two"}},
            {"name": "write", "args": {"filePath": "new/b.txt", "content": "b\n"}},
            {"name": "read", "args": {"filePath": ".env"}},
        ]
    },
    {"text": "Done."},
]


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """A folder to start from, and beside it the script of a model."""
    folder = tmp_path / "start"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    (tmp_path / "fix.json").write_text(json.dumps(FIX))
    (tmp_path / "fail.json").write_text(json.dumps([{"error": {"message": "No key.", "kind": "auth"}}]))
    (tmp_path / "hang.json").write_text(json.dumps([{"text": "Slow.", "delay": 600}]))
    return folder


def task(start: Path, name: str, **more: Any) -> dict[str, Any]:
    model = f"scripted/{start.parent / more.pop('script', 'fix.json')}"
    return {"id": name, "folder": str(start), "prompt": "Fix it", "model": model, "check": "grep two a.txt", **more}


def write(start: Path, *tasks: Any) -> str:
    file = start.parent / "tasks.jsonl"
    file.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in tasks))
    return str(file)


def test_a_task_runs_in_a_copy_and_its_result_tells_everything(tw: Tw, start: Path, tmp_path: Path) -> None:
    tasks = write(start, task(start, "good", files={"extra.txt": "x\n"}), task(start, "bad", check="false"))
    outcome = tw("eval", tasks, "--out", str(tmp_path / "out"))
    assert outcome.code == 0, outcome.err
    good, bad = outcome.lines
    assert (good["id"], good["passed"], good["steps"], good["refused"], good["error"]) == ("good", True, 3, 1, None)
    assert (bad["passed"], bad["error"]) == (False, None)
    assert good["tokens"] > 0
    assert good["worker"]
    assert (start / "a.txt").read_text() == "one\n"
    patch = tmp_path / "a.patch"
    patch.write_text(good["patch"])
    assert "extra.txt" not in good["patch"]
    subprocess.run(["git", "apply", str(patch)], cwd=start, check=True)
    assert ((start / "a.txt").read_text(), (start / "new/b.txt").read_text()) == ("two\n", "b\n")
    export = json.loads((tmp_path / "out/sessions" / f"{good['session_id']}.json").read_text())
    assert export["info"]["id"] == good["session_id"]
    assert tw("session", "list", "--json").json == []
    assert not list(places.root().iterdir())


@pytest.mark.slow
def test_what_a_killed_evaluation_has_left_is_removed_by_the_next(tw: Tw, start: Path, tmp_path: Path) -> None:
    tasks = write(start, task(start, "hangs", script="hang.json"))
    command = [sys.executable, "-m", "toolwright", "eval", tasks, "--out", str(tmp_path / "killed")]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "HOME": str(tmp_path / "home")}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as killed:
        wait_until(lambda: list(places.root().glob("*/base.git/refs/heads/*")))
        killed.kill()
    assert list(places.root().iterdir())
    assert tw("eval", write(start, task(start, "good")), "--out", str(tmp_path / "out")).code == 0
    assert not list(places.root().iterdir())


def test_a_wrong_line_is_told_by_its_number_and_the_rest_runs(tw: Tw, start: Path, tmp_path: Path) -> None:
    wrong = ['{"id": "x"', '{"id": "x"}', '{"id": "x", "prompt": "y", "promt": 1}', "[]"]
    budgets = [task(start, "x", budget=budget) for budget in ({"stepz": 1}, {"steps": "many"}, {"cost": 0})]
    tasks = write(start, *wrong, task(start, "good"), task(start, "good"), *budgets)
    outcome = tw("eval", tasks, "--out", str(tmp_path / "out"))
    assert outcome.code == 1
    assert [one["id"] for one in outcome.lines] == ["good"]
    for number in (1, 2, 3, 4, 6, 7, 8, 9):
        assert f"{tasks}:{number}: " in outcome.err


def test_a_check_that_hangs_ends_with_the_time_of_its_task(
    tw: Tw, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompted = running._prompted

    async def in_time(session: Session, task: Task, deadline: float, course: running.Course) -> str | None:
        return await prompted(session, task, deadline + PATIENCE, course)

    monkeypatch.setattr(running, "_prompted", in_time)
    tasks = write(start, task(start, "hangs", check="sleep 600", timeout=1))
    [told] = tw("eval", tasks, "--out", str(tmp_path / "out")).lines
    assert not told["passed"]
    assert told["error"].startswith("The check took longer than what was left of the 1 seconds of the task.")
    assert "a.txt" in told["patch"]


def test_what_goes_wrong_in_one_task_stays_there(tw: Tw, start: Path, tmp_path: Path) -> None:
    tasks = write(
        start,
        task(start, "fails", script="fail.json"),
        task(start, "nowhere", folder=str(tmp_path / "nothing")),
        task(start, "slow", script="hang.json", timeout=1),
        task(start, "mistyped", check="grpe two a.txt"),
        task(start, "limited", budget={"steps": 1}),
        task(start, "good"),
    )
    outcome = tw("eval", tasks, "--out", str(tmp_path / "out"), "--parallel", "6")
    assert outcome.code == 0, outcome.err
    told = {one["id"]: one for one in outcome.lines}
    assert [name for name, one in told.items() if one["passed"]] == ["good"]
    assert "No key." in told["fails"]["error"]
    assert "is not a folder" in told["nowhere"]["error"]
    assert "The run took longer" in told["slow"]["error"]
    assert "The check could not be run" in told["mistyped"]["error"]
    assert "1 of 1 steps" in told["limited"]["error"]
    assert told["limited"]["steps"] == 1
    report = (tmp_path / "out/report.md").read_text()
    page = (tmp_path / "out/report.html").read_text()
    for name, one in told.items():
        assert name in report
        assert name in page
        assert not one["error"] or one["error"][:30] in report
    assert "<svg" in page
    assert "src=" not in page


def test_results_are_gone_on_with_and_nothing_is_done_twice(tw: Tw, start: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tasks = write(start, task(start, "first"))
    assert tw("eval", tasks, "--out", str(out), "--repeat", "2").code == 0
    with (out / "results.jsonl").open("a") as file:
        file.write('{"id": "cut sh')
    tasks = write(start, task(start, "first"), task(start, "second"))
    refused = tw("eval", tasks, "--out", str(out), "--repeat", "2")
    assert refused.code == 2
    assert "--resume" in refused.err
    more = tw("eval", tasks, "--out", str(out), "--repeat", "2", "--resume")
    assert [(one["id"], one["repeat"]) for one in more.lines] == [("second", 0), ("second", 1)]
    assert sorted((one.id, one.repeat) for one in read_results(out)) == [
        ("first", 0),
        ("first", 1),
        ("second", 0),
        ("second", 1),
    ]


def test_a_full_disk_is_told_with_how_to_go_on(
    tw: Tw, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    tasks = write(start, task(start, "first"), task(start, "second"))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr("toolwright.evaluate.results.os.fsync", full)
        disk.setattr("toolwright.evaluate.report.write_report", full)
        outcome = tw("eval", tasks, "--out", str(out))
    assert outcome.code == 2
    assert "The report cannot be written" in outcome.err
    assert "The result of first cannot be written" in outcome.err
    assert "go on with --resume" in outcome.err
    assert tw("eval", tasks, "--out", str(out), "--resume").code == 0
    assert sorted(one.id for one in read_results(out)) == ["first", "second"]


def test_a_task_may_start_from_a_commit(tw: Tw, start: Path, tmp_path: Path) -> None:
    git = ["git", "-C", str(start), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    (start / "a.txt").write_text("changed\n")
    given = task(start, "commit", repo=str(start), ref="HEAD")
    del given["folder"]
    outcome = tw("eval", write(start, given), "--out", str(tmp_path / "out"), "--keep")
    assert outcome.lines[0]["passed"], outcome.lines
    assert (tmp_path / "out/work/commit.0/a.txt").read_text() == "two\n"


def test_tasks_may_stand_in_yaml(tw: Tw, start: Path, tmp_path: Path) -> None:
    file = tmp_path / "tasks.yaml"
    file.write_text(
        f"- id: good\n  folder: start\n  prompt: Fix it\n  model: scripted/{tmp_path / 'fix.json'}\n- id: bad\n"
    )
    outcome = tw("eval", str(file), "--out", str(tmp_path / "out"))
    assert [one["id"] for one in outcome.lines] == ["good"]
    assert f"{file}:5: prompt is missing" in outcome.err


async def test_from_python_a_check_may_be_a_function(start: Path, tmp_path: Path) -> None:
    def check(folder: Path) -> bool:
        return (folder / "a.txt").read_text() == "two\n"

    tasks = [
        Task(id=str(number), folder=start, prompt="Fix it", model=ScriptedModel(*FIX), check=check)
        for number in range(4)
    ]
    environment = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    results = [one async for one in run(tasks, parallel=4, environment=environment)]
    assert sorted((one.id, one.passed, one.steps) for one in results) == [(str(n), True, 3) for n in range(4)]


def results(passed: list[bool]) -> list[TaskResult]:
    return [TaskResult(id=f"t{number}", passed=one, seconds=1.0) for number, one in enumerate(passed)]


async def test_a_task_that_breaks_the_program_leaves_the_others_alone(start: Path, tmp_path: Path) -> None:
    class Broken:
        @property
        def info(self) -> Any:
            raise RuntimeError("no such thing")

    good = ScriptedModel({"text": "Done."})
    tasks = [Task(id="broken", prompt="Go", model=Broken()), Task(id="good", prompt="Go", model=good)]
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    told = {one.id: one async for one in run(tasks, parallel=2, environment=environment)}
    assert told["good"].passed
    assert told["broken"].error == "The program broke: RuntimeError: no such thing"


async def test_copies_are_kept_apart_whatever_letters_their_tasks_have(start: Path, tmp_path: Path) -> None:
    tasks = [Task(id=name, prompt="Go", model=ScriptedModel({"text": "Done."})) for name in ("a/b", "a_b", "..", "ä")]
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    keep = tmp_path / "work"
    assert all([one.passed async for one in run(tasks, keep=keep, environment=environment)])
    assert len(list(keep.iterdir())) == 4


@pytest.mark.parametrize("count", [1, MOST_BARS, MOST_BARS + 1, 1000])
def test_a_report_of_many_tasks_can_still_be_read(count: int) -> None:
    results = [TaskResult(id=f"task<{number}>", passed=number % 3 == 0, seconds=number) for number in range(count)]
    page = html(results, "many")
    assert page.count("<rect") <= 2 * MOST_BARS
    for one in results:
        assert f"<td>{one.id.replace('<', '&lt;').replace('>', '&gt;')}</td>" in page
    assert "NaN" not in page


def test_a_difference_is_told_from_noise() -> None:
    better = compare(results([False] * 20 + [True] * 10), results([True] * 30))["pass_rate"].as_json()
    assert better["difference"] == pytest.approx(2 / 3)
    assert better["significant"]
    low, high = better["interval"]
    assert 0 < low < 2 / 3 < high < 1
    noise = compare(results([True, False] * 10), results([False, True] * 10))["pass_rate"]
    assert not noise.significant
    assert not compare(results([False]), results([True]))["pass_rate"].significant
    four_of_eight = compare(results([False] * 8), results([True] * 4 + [False] * 4))["pass_rate"]
    assert four_of_eight.low > 0
    assert not four_of_eight.significant
    assert compare(results([False] * 8), results([True] * 7 + [False]))["pass_rate"].significant


@pytest.mark.slow
def test_two_evaluations_are_compared(tw: Tw, start: Path, tmp_path: Path) -> None:
    for name, check in (("a", "false"), ("b", "true")):
        tasks = write(start, *(task(start, str(number), check=check) for number in range(6)))
        assert tw("eval", tasks, "--out", str(tmp_path / name), "--parallel", "3").code == 0
    told = tw("eval", "compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json").json
    assert told["pass_rate"] == {"a": 0.0, "b": 1.0, "difference": 1.0, "interval": [1.0, 1.0], "significant": True}
    assert "more than noise" in tw("eval", "compare", str(tmp_path / "a"), str(tmp_path / "b")).out
    assert tw("eval", "compare", str(tmp_path / "a"), str(tmp_path)).code == 2


def test_a_terminal_shows_a_bar_from_the_start_and_a_stop_says_how_to_go_on(start: Path) -> None:
    tasks = write(start, task(start, "slow", script="hang.json"))
    out = start.parent / "out"
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "toolwright", "eval", tasks, "--out", str(out)]
    environment = {**os.environ, "HOME": str(start.parent), "TMPDIR": str(start.parent)}
    with subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL, env=environment) as stopped:
        os.close(theirs)
        try:
            shown = b""
            while b"0/1, 0 passed" not in shown:
                shown += os.read(ours, 1000)
            wait_until(lambda: [*places.root().glob("*")])
            stopped.send_signal(signal.SIGINT)
            while b"--resume does the others" not in shown:
                shown += os.read(ours, 1000)
            assert b"Stopped after 0 of 1 runs." in shown
            assert stopped.wait() == 4
        finally:
            stopped.kill()
    assert not [*places.root().glob("*")]
    os.close(ours)
