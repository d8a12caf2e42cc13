"""Prompts with a goal: worked on until the condition holds on the final files, and no longer than it makes sense."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw
from tests.session.trial import call, calls, says
from toolwright import ToolContext, tool
from toolwright.errors import UsageError
from toolwright.models.scripted import ScriptedModel
from toolwright.testing import make_workspace

FIX = calls(call("write", filePath="new.txt", content="fixed\n"))


def script(project: Path, *turns: Any, **more: Any) -> str:
    file = project.parent / "script.json"
    file.write_text(json.dumps({"turns": turns, **more}))
    return f"scripted/{file}"


def test_the_model_is_told_what_does_not_hold_and_works_on(tw: Tw, project: Path) -> None:
    model = script(project, says("Done."), FIX, says("Now it is."))
    ended = tw("run", "fix it", "--until", "grep fixed new.txt", "--model", model, "--format", "json")
    result = ended.lines[-1]
    assert (ended.code, result["evidence"]["verdict"], result["text"]) == (0, "proven", "Now it is.")
    assert [check["exit"] for check in result["evidence"]["checks"]] == [2, 2, 0]
    assert result["evidence"]["checks"][0]["tree"] != result["evidence"]["checks"][2]["tree"]
    assert [Path(one["file"]).name for one in result["changes"]] == ["new.txt"]


def test_words_alone_prove_nothing(tw: Tw, project: Path) -> None:
    model = script(project, default=says("All tests pass."))
    ended = tw("run", "fix it", "--until", "test -e new.txt", "--model", model)
    assert ended.code == 5
    assert "the files were the same at 3 checks" in ended.err
    assert "contradicted: 4 checks" in ended.err


def test_what_was_done_before_a_restart_is_judged_with_the_rest(tw: Tw, project: Path) -> None:
    (project / "check.sh").write_text("grep fixed new.txt\n")
    weaken = calls(call("read", filePath="check.sh"), call("write", filePath="check.sh", content="echo fine\n"))
    goal = ("--until", "sh check.sh", "--max-steps", "2")
    assert tw("run", "fix it", *goal, "--model", script(project, weaken, says("Done.")), "--yes").code == 5
    ended = tw(
        "run", "go on", *goal, "--continue", "--model", script(project, default=says("Done.")), "--format", "json"
    )
    kinds = {one["kind"] for one in ended.lines[-1]["evidence"]["reasons"]}
    assert (ended.code, "check_changed" in kinds) == (5, True)


def test_work_that_broke_off_is_not_proven(tw: Tw, project: Path) -> None:
    model = script(project, {"error": {"message": "no", "retryable": False}})
    ended = tw("run", "fix it", "--until", "test -d .", "--model", model, "--format", "json")
    assert (ended.code, ended.lines[-1]["evidence"]["verdict"]) == (1, "not_shown")


def test_the_budget_is_for_the_whole_of_it(tw: Tw, project: Path) -> None:
    turns = [calls(call("write", filePath=f"{number}.txt", content="x")) for number in range(9)]
    model = script(project, *turns, default=says("Done."))
    ended = tw("run", "fix it", "--until", "test -e new.txt", "--model", model, "--max-steps", "4")
    assert ended.code == 5
    assert not (project / "4.txt").exists()
    assert (project / "3.txt").exists()


def test_a_pattern_in_the_output_may_be_the_condition(tw: Tw, project: Path) -> None:
    model = script(project, FIX, says("Done."))
    arguments = ("--until", "cat new.txt; exit 3", "--until-match", "^fixed$")
    assert tw("run", "fix it", *arguments, "--model", model).code == 0


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("no-such-program --x", "cannot be run"),
        ("if then", "cannot be run"),
        ("sleep infinity", "would never end"),
        ("sh loop.sh", "would never end: `while true; do :; done` (loop.sh)"),
        ("curl -fsS https://example.com/", "depends on the network"),
        ("make check", "depends on the network: `git fetch origin` (Makefile)"),
        ("tail -f new.txt", "would never end"),
        ("pytest -f", "would never end"),
        ("python3 -c 'while True: pass'", "would never end"),
        ("cat /dev/zero", "would never end"),
        ("docker compose up", "would never end"),
        ("ping example.com", "depends on the network"),
        ("python3 fetches.py", "depends on the network"),
        ("node -e \"fetch('https://example.com')\"", "depends on the network"),
        ("echo > /dev/tcp/example.com/80", "depends on the network"),
        ("no-python() { echo 'x: No module named pytest'; return 1; }; no-python", "cannot be run"),
        ("grep fixed new.txt || true", "can never fail"),
        ("grep fixed new.txt; exit 0", "can never fail"),
    ],
)
def test_a_bad_condition_is_told_before_the_model_is_asked(
    tw: Tw,
    project: Path,
    condition: str,
    told: str,
) -> None:
    (project / "loop.sh").write_text("#!/bin/sh\nwhile true; do :; done\n")
    (project / "fetches.py").write_text("from urllib.request import urlopen\n\nurlopen('https://example.com')\n")
    (project / "Makefile").write_text("all:\n\ttrue\ncheck: deps\n\ttrue\ndeps:\n\tgit fetch origin\n")
    ended = tw("run", "fix it", "--until", condition, "--model", script(project, says("Asked.")))
    assert ended.code == 2
    assert told in ended.err
    assert "Asked." not in ended.out
    assert tw("session", "list", "--json").json == []


@pytest.mark.parametrize(
    "condition",
    [
        "timeout 1 tail -f new.txt; grep fixed new.txt",
        "grep fixed new.txt && python3 fetches_nothing.py",
        'grep fixed new.txt && test -z "$(cat /dev/null)"',
    ],
)
def test_a_condition_that_only_looks_bad_is_taken(tw: Tw, project: Path, condition: str) -> None:
    (project / "fetches_nothing.py").write_text("URL = 'https://example.com'\nprint(URL)\n")
    assert tw("run", "fix it", "--until", condition, "--model", script(project, FIX, says("Done."))).code == 0


def test_a_condition_that_takes_too_long_is_told_before_the_model_is_asked(tw: Tw, project: Path) -> None:
    arguments = ("--until", "read line < pipe", "--until-seconds", "0.2")
    assert "mkfifo" not in tw("tool", "call", "bash", "mkfifo pipe", "--yes").err
    ended = tw("run", "fix it", *arguments, "--model", script(project, says("Asked.")))
    assert (ended.code, "did not end within" in ended.err) == (2, True)


def test_options_about_no_condition_are_refused(tw: Tw) -> None:
    assert tw("run", "x", "--until-match", "y").code == 2
    assert tw("run", "x", "--until", "true", "--until-match", "(").code == 2
    assert tw("run", "x", "--until-seconds", "3").code == 2


async def test_a_function_of_the_folder_may_be_the_condition(project: Path) -> None:
    seen = list[Path]()

    def there(folder: Path) -> bool:
        seen.append(folder)
        return (folder / "new.txt").exists()

    model = ScriptedModel(says("Done."), FIX, says("Now it is."))
    async with make_workspace(project, model=model) as workspace, workspace.session() as session:
        result = await session.prompt("fix it", until=[there, "grep fixed new.txt"])
        assert result.evidence is not None
        assert (result.evidence.verdict, result.error, result.steps) == ("proven", None, 3)
        assert seen[:3] == [project.resolve()] * 3
        assert [one.name for one in seen[3:]] == [project.name], "once more in a copy, for the ledger"
        with pytest.raises(UsageError, match="no condition"):
            await session.prompt("fix it", until=3)  # type: ignore[call-overload]


async def test_a_function_that_breaks_is_told_before_the_model_is_asked(project: Path) -> None:
    def broken(folder: Path) -> bool:
        raise KeyError(folder.name)

    model = ScriptedModel(says("Done."))
    async with make_workspace(project, model=model) as workspace, workspace.session() as session:
        with pytest.raises(UsageError, match="broken"):
            await session.prompt("fix it", until=broken)
    assert model.count == 0


async def test_work_that_a_person_stops_is_taken_up_where_it_was(project: Path) -> None:
    @tool
    async def wait(ctx: ToolContext) -> str:
        """Wait until the person has stopped the turn."""
        stopping.append(asyncio.ensure_future(session.abort()))
        await asyncio.Event().wait()
        return ""

    stopping = list[asyncio.Task[None]]()
    model = ScriptedModel(calls(call("wait")), FIX, says("Now it is."))
    async with make_workspace(project, model=model, tools=[wait]) as workspace, workspace.session() as session:
        stopped = await session.prompt("fix it", until="grep fixed new.txt")
        await asyncio.gather(*stopping)
        assert stopped.error is not None
        assert stopped.error.kind == "aborted"
        assert stopped.evidence is not None
        assert stopped.evidence.verdict == "not_shown"
        result = await session.prompt("go on", until="grep fixed new.txt")
    assert result.evidence is not None
    assert (result.evidence.verdict, result.text) == ("proven", "Now it is.")


async def test_words_of_a_person_reach_the_model_while_it_works_towards_a_goal(project: Path) -> None:
    @tool
    async def hear(ctx: ToolContext) -> str:
        """Have the person say something meanwhile."""
        assert session.turns.steer("Mind the umlauts.")
        return "heard"

    model = ScriptedModel(says("Done."), calls(call("hear")), FIX, says("Now it is."))
    async with make_workspace(project, model=model, tools=[hear]) as workspace, workspace.session() as session:
        result = await session.prompt("fix it", until="grep fixed new.txt")
        assert [("Mind the umlauts." in str(one)) for one in model.requests] == [False, False, True, True]
    assert result.evidence is not None
    assert result.evidence.verdict == "proven"
