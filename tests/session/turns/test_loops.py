"""Loops: a prompt is put again and again, so often as was said, each time or where something has become so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.session.trial import Trial, call, calls, opened, says
from tests.waiting import until
from toolwright.app.desk import Desk
from toolwright.app.outcome import text_of
from toolwright.app.own import own_command
from toolwright.app.project import LocalProject
from toolwright.errors import UsageError
from toolwright.session.turns.loops import MOST, LoopPlan, PromptLoop, RoundTrigger, plan_of


@asynccontextmanager
async def at(project: Path, *script: Any, **more: Any) -> AsyncIterator[tuple[Trial, Desk]]:
    config = {"sandbox": "off"} | more.pop("config", {})
    async with opened(project, *script, config=config, **more) as trial:
        desk = Desk(project=LocalProject(trial.workspace), agent="build", session=trial.session.info)
        yield trial, desk


async def say(desk: Desk, line: str) -> str:
    name, _, rest = line.removeprefix("/").partition(" ")
    own = own_command(name, "session")
    assert own is not None
    return text_of(await own.run(desk, rest))


def loops(trial: Trial) -> list[PromptLoop]:
    return trial.workspace.loops.of(trial.session.id)


def prompts(trial: Trial) -> list[str]:
    return [one.text for one in trial.messages if one.info.role == "user"]


ALWAYS = says("Looked.", repeat=True)


async def test_a_prompt_is_put_so_many_times_and_then_no_more(project: Path) -> None:
    async with at(project, ALWAYS) as (trial, desk):
        begun = await say(desk, "/loop 0.01s --times 3 look for reports")
        assert "loop-1" in begun
        assert "every" in begun
        assert "look for reports" in begun
        await until(lambda: loops(trial)[0].state == "done")
        assert prompts(trial) == ["look for reports"] * 3
        assert "loop-1   done" in await say(desk, "/loop")
        assert "look for reports (3 of 3 rounds)" in await say(desk, "/agents")


async def test_one_that_is_stopped_has_no_more_rounds(project: Path) -> None:
    async with at(project, ALWAYS) as (trial, desk):
        await say(desk, "/loop 1h look")
        await until(lambda: loops(trial)[0].rounds == 1 and loops(trial)[0].state == "waiting")
        assert "loop-1   stopped" in await say(desk, "/loop stop")
        work = loops(trial)[0].work
        assert work is not None
        assert work.done()
        with pytest.raises(UsageError, match="There is no loop at work in this session"):
            await say(desk, "/loop stop")


async def test_a_file_that_changes_begins_a_turn(project: Path) -> None:
    async with at(project, ALWAYS) as (trial, desk):
        await say(desk, "/loop 0.01s --times 1 --if-changed *.txt look at it")
        await until(lambda: loops(trial)[0].watch._seen is not None)
        assert prompts(trial) == []
        (project / "new.txt").write_text("new\n")
        await until(lambda: loops(trial)[0].state == "done")
        assert prompts(trial) == ["look at it"]


async def test_a_command_that_prints_something_else_begins_a_turn(project: Path) -> None:
    (project / "state").write_text("green\n")
    async with at(project, ALWAYS) as (trial, desk):
        await say(desk, "/loop 0.01s --times 1 --if-output 'cat state' say why")
        await until(lambda: loops(trial)[0].watch._seen is not None)
        (project / "state").write_text("red\n")
        await until(lambda: loops(trial)[0].state == "done")
        assert prompts(trial) == ["say why"]


async def test_a_check_begins_a_turn_where_it_fails_and_nobody_is_asked_where_it_holds(project: Path) -> None:
    mend = calls(call("bash", command="touch mended", description="Mend"))
    script = (mend, says("Mended."))
    watched = "echo x >> looks; test -e mended"
    async with at(project, *script) as (trial, desk):
        await say(desk, f"/loop 0.01s --if-fails '{watched}' mend it")
        await until(lambda: (project / "looks").exists() and (project / "looks").read_text().count("x") > 4)
        await say(desk, "/loop stop loop-1")
        assert prompts(trial) == ["mend it"]
        assert len(await trial.workspace.sessions.listed()) == 1


@pytest.mark.parametrize("watched", ["--if-fails", "--if-output"])
async def test_a_command_that_is_not_there_ends_the_loop_and_begins_no_turn(project: Path, watched: str) -> None:
    async with at(project, ALWAYS) as (trial, desk):
        await say(desk, f"/loop 0.01s {watched} no-such-program look")
        await until(lambda: loops(trial)[0].is_over)
        assert loops(trial)[0].state == "failed"
        assert "`no-such-program` cannot be run" in await say(desk, "/loop")
        assert prompts(trial) == []


async def test_a_round_that_fails_or_is_stopped_is_the_last(project: Path) -> None:
    async with at(project, says("", error={"kind": "auth", "message": "no key"}, repeat=True)) as (trial, desk):
        await say(desk, "/loop 0.01s look")
        await until(lambda: loops(trial)[0].is_over)
        assert (loops(trial)[0].state, prompts(trial)) == ("failed", ["look"])
    nap = calls(call("bash", command="touch begun; sleep 600", description="Wait"))
    async with at(project, nap) as (trial, desk):
        await say(desk, "/loop 0.01s nap")
        await until((project / "begun").exists)
        await trial.session.abort()
        await until(lambda: loops(trial)[0].is_over)
        assert (loops(trial)[0].state, prompts(trial)) == ("stopped", ["nap"])


async def test_what_the_person_wants_comes_before_a_round(project: Path) -> None:
    hold = calls(call("bash", command="until [ -e go ]; do sleep 0.01; done", description="Wait"), match="^mine")
    async with at(project, hold, says("Done.", match="^mine"), ALWAYS) as (trial, desk):
        mine = asyncio.create_task(trial.prompt("mine"))
        await until(lambda: trial.session.turns.busy)
        await say(desk, "/loop 0.01s --if-fails 'echo x >> looks; test -e go' look")
        await trial.workspace.call("bash", command="true")  # by then it would have looked
        (project / "go").touch()
        await mine
        await until((project / "looks").exists)
        await say(desk, "/loop stop")
        assert prompts(trial) == ["mine"]


async def test_they_end_with_their_session_and_are_no_more_than_so_many(project: Path) -> None:
    async with at(project, ALWAYS) as (trial, desk):
        for _ in range(MOST):
            await say(desk, "/loop 1h --if-changed nothing look")
        with pytest.raises(UsageError, match=f"{MOST} loops are at work"):
            await say(desk, "/loop 1h look")
        await until(lambda: all(one.watch._seen is not None for one in loops(trial)))
        works = [one.work for one in loops(trial) if one.work]
        await trial.session.close()
        assert len(works) == MOST
        assert all(work.done() for work in works)
        assert loops(trial) == []


@pytest.mark.parametrize(
    ("line", "plan", "prompt"),
    [
        ("10m look for new reports", LoopPlan(seconds=600), "look for new reports"),
        ("2h --times 3 x", LoopPlan(seconds=7200, times=3), "x"),
        (
            "30s --if-fails 'make test' --times=5 mend it",
            LoopPlan(seconds=30, if_fails="make test", times=5),
            "mend it",
        ),
        ('1m --if-output "git log -1" --x', LoopPlan(seconds=60, if_output="git log -1"), "--x"),
        ("1m --if-changed src/*.py look", LoopPlan(seconds=60, if_changed="src/*.py"), "look"),
    ],
)
def test_what_is_typed_is_a_plan_and_a_prompt(line: str, plan: LoopPlan, prompt: str) -> None:
    assert plan_of(line) == (plan, prompt)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("soon look", "takes a time up to 24h"),
        ("10m", "takes a time and a prompt"),
        ("10m --times 0 look", "a number from 1 to 1000"),
        ("10m --times many look", "a number from 1 to 1000"),
        ("10m --if-fails a --if-output b look", "Only one of"),
    ],
)
def test_what_is_no_plan_is_said(line: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        plan_of(line)


async def test_a_file_that_comes_changes_and_goes_is_seen_each_time(project: Path) -> None:
    async with at(project) as (trial, _):
        watch = RoundTrigger(plan=LoopPlan(seconds=1, if_changed="b.txt"))
        seen = list[bool]()
        for change in ("", "one", "one more", None):
            if change is None:
                (project / "b.txt").unlink()
            elif change:
                (project / "b.txt").write_text(change)
            seen.append(await watch.is_due(trial.workspace))
        assert seen == [False, True, True, True]
        assert not await watch.is_due(trial.workspace)
