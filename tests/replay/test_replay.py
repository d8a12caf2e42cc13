"""Sessions as scripts, and played again: the same calls and files, or the first call that differs."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw
from tests.waiting import until
from toolwright.errors import UsageError
from toolwright.replay import children_of, script_of
from toolwright.replay import replay as replay_session
from toolwright.replay.playing import INHERITED, OPEN_ENDED, OUTSIDE
from toolwright.testing import ScriptedModel, ScriptedUser, make_workspace
from toolwright.text.ids import now

STEPS: list[dict[str, Any]] = [
    {"text": "Looking.", "tools": [{"name": "read", "args": {"filePath": "a.txt"}}]},
    {"tools": [{"name": "edit", "args": {"filePath": "a.txt", "oldString": "one", "newString": "two"}}]},
    {
        "tools": [
            {"name": "write", "args": {"filePath": "new/b.txt", "content": "b\n"}},
            {"name": "bash", "args": {"command": "cat a.txt; rm gone.txt", "description": "Show"}},
        ]
    },
    {"tools": [{"name": "glob", "args": {"pattern": "**/*.txt"}}, {"name": "read", "args": {"filePath": ".env"}}]},
    {"text": "Done."},
]


@pytest.fixture
def recorded(tw: Tw, project: Path) -> str:
    """The id of a session that has changed files."""
    (project / "a.txt").write_text("one\n")
    (project / "gone.txt").write_text("gone\n")
    (project / ".env").write_text("KEY=1\n")
    script = project.parent / "script.json"
    script.write_text(json.dumps(STEPS))
    outcome = tw("run", "Do it", "--model", f"scripted/{script}", "--yes")
    assert outcome.code in (0, 3), outcome.err
    assert (project / "a.txt").read_text() == "two\n"
    return str(tw("session", "list", "--json").json[0]["id"])


def test_a_script_plays_the_same_session_again(tw: Tw, project: Path, recorded: str) -> None:
    file = project.parent / "played.json"
    assert tw("session", "script", recorded, "-o", str(file)).code == 0
    script = json.loads(file.read_text())
    assert script["prompts"] == ["Do it"]
    assert [len(turn.get("tools", [])) for turn in script["turns"]] == [1, 1, 2, 2, 0]
    (project / "a.txt").write_text("one\n")
    (project / "gone.txt").write_text("gone\n")
    outcome = tw("run", "Do it", "--model", f"scripted/{file}", "--yes")
    assert outcome.out.strip().endswith("Done.")
    assert (project / "a.txt").read_text() == "two\n"
    assert json.loads(tw("session", "script", recorded).out) == script


def test_a_replay_gives_the_same_and_leaves_nothing(tw: Tw, project: Path, recorded: str) -> None:
    outcome = tw("session", "replay", recorded, "--json")
    assert outcome.json == {"same": True, "calls": 6}
    assert outcome.code == 0
    assert len(tw("session", "list", "--json").json) == 1
    assert (project / "a.txt").read_text() == "two\n"
    assert tw("session", "replay", recorded).out == "the same: 6 calls\n"


def test_the_first_call_that_differs_is_shown_with_both_outcomes(tw: Tw, project: Path, recorded: str) -> None:
    (project / "toolwright.json").write_text(json.dumps({"permission": {"edit": {"new/*": "deny"}}}))
    outcome = tw("session", "replay", recorded, "--json")
    assert outcome.code == 1
    told = outcome.json
    assert (told["same"], told["call"]["tool"]) == (False, "write")
    assert told["call"]["id"]
    assert told["recorded"]["status"] == "completed"
    assert told["replayed"]["status"] == "failed: denied"
    assert told["changed_since"] == ["toolwright.json"]
    text = tw("session", "replay", recorded).out
    assert "differs: write" in text
    assert "+failed: denied" in text
    assert "Changed after the session, not by it: toolwright.json" in text


def test_a_report_ranks_tools_and_lists_those_never_called(tw: Tw, recorded: str) -> None:
    told = {one["tool"]: one for one in tw("session", "report", recorded, "--json").json["tools"]}
    assert (told["read"]["calls"], told["read"]["failures"]) == (2, 1)
    assert told["grep"]["calls"] == 0
    assert told["grep"]["schema_tokens"] > 50
    seconds = [one["seconds"] for one in tw("session", "report", "--json").json["tools"]]
    assert seconds == sorted(seconds, reverse=True)
    assert "bash" in tw("session", "report").out


def test_an_exported_session_is_a_test_of_its_own(
    tw: Tw, project: Path, recorded: str, tmp_path: Path, replay: Callable[..., Any]
) -> None:
    file = tmp_path / "session.json"
    file.write_text(tw("session", "export", recorded).out)
    folder = tmp_path / "before"
    folder.mkdir()
    for name, text in (("a.txt", "one\n"), ("gone.txt", "gone\n"), (".env", "KEY=1\n")):
        (folder / name).write_text(text)
    assert replay(file, folder).same
    (folder / "a.txt").write_text("three\n")
    different = replay(file, folder)
    assert not different.same
    assert different.call["tool"] == "read"


def test_a_session_that_is_not_there_is_named(tw: Tw) -> None:
    assert tw("session", "replay", "ses_nothing").code == 2


def test_what_a_subagent_and_a_batch_did_is_played_too(tw: Tw, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    (project / "toolwright.json").write_text(json.dumps({"experimental": {"batch_tool": True}}))
    task = {"description": "Change it", "prompt": "Change a.txt", "subagent_type": "general"}
    batch = [
        {"tool": "write", "parameters": {"filePath": "b.txt", "content": "b\n"}},
        {"tool": "read", "parameters": {"filePath": "a.txt"}},
    ]
    steps = [
        {"tools": [{"name": "batch", "args": {"tool_calls": batch}}]},
        {"tools": [{"name": "task", "args": task}]},
        {"tools": [{"name": "edit", "args": {"filePath": "a.txt", "oldString": "one", "newString": "two"}}]},
        {"text": "Changed."},
        {"text": "Done."},
    ]
    script = project.parent / "script.json"
    script.write_text(json.dumps(steps))
    outcome = tw("run", "Do it", "--model", f"scripted/{script}", "--yes", "--trust")
    assert outcome.code == 0, outcome.err
    [session] = tw("session", "list", "--json").json
    assert tw("session", "replay", session["id"], "--json", "--trust").json == {"same": True, "calls": 2}
    turns = tw("session", "script", session["id"]).json["turns"]
    assert [[call["name"] for call in turn.get("tools", [])] for turn in turns] == [
        ["batch"],
        ["task"],
        ["edit"],
        [],
        [],
    ]


def test_calls_that_were_refused_or_never_run_are_no_difference(tw: Tw, project: Path) -> None:
    """A wrong name, arguments that are no object, the same call over and over, a file that may not be read."""
    (project / "a.txt").write_text("one\n")
    (project / ".env").write_text("KEY=1\n")
    again = {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}]}
    script = project.parent / "script.json"
    script.write_text(
        json.dumps(
            [
                {"tools": [{"name": "raed", "args": {}}, {"name": "read", "raw": "[]"}, {"name": "read", "raw": "{"}]},
                {"tools": [{"name": "read", "args": {"filePath": ".env"}}]},
                *[again] * 3,
                {"text": "Done."},
            ]
        )
    )
    tw("run", "Do it", "--model", f"scripted/{script}")
    told = tw("session", "replay", tw("session", "list", "--json").json[0]["id"], "--json").json
    assert told["same"], told


def test_a_subagent_is_bound_by_whoever_called_it(tw: Tw, project: Path) -> None:
    write = {"name": "write", "args": {"filePath": "b.txt", "content": "b\n"}}
    work = {"description": "Work", "prompt": "Write b.txt", "subagent_type": "general"}
    script = project.parent / "script.json"
    turns = [
        {"tools": [{"name": "task", "args": work}]},
        {"tools": [write], "match": "^Write"},
        {"text": "Could not.", "match": "^Write"},
        {"text": "End."},
    ]
    script.write_text(json.dumps(turns))
    tw("run", "Do it", "--model", f"scripted/{script}", "--agent", "plan")
    assert not (project / "b.txt").exists()
    root = next(one["id"] for one in tw("session", "list", "--json").json if not one.get("parentID"))
    assert tw("session", "replay", root, "--json").json["same"]


async def test_a_subagent_that_is_gone_on_with_is_played_once(project: Path) -> None:
    """It has read the file in the first call and may edit it in the second; under plan it may not any more."""
    (project / "a.txt").write_text("one\n")

    def task(prompt: str, **more: str) -> Any:
        args = {"description": "Work", "prompt": prompt, "subagent_type": "general", **more}
        return {"tools": [{"name": "task", "args": args}]}

    def edit(old: str, new: str) -> Any:
        args = {"filePath": "a.txt", "oldString": old, "newString": new}
        return {"tools": [{"name": "edit", "args": args}], "match": "Change"}

    read: Any = {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}], "match": "Read"}
    first = ScriptedModel(task("Read it"), read, {"text": "Read.", "match": "Read"}, {"text": "End."})
    async with make_workspace(project, keep=True) as workspace, workspace.session() as session:
        await session.prompt("Go", model=first)
        [child] = await workspace.sessions.children(session.id)
        for agent, old, new in (("build", "one", "two"), ("plan", "two", "three")):
            steps: Any = (task("Change it", session_id=child.id), edit(old, new), {"text": "Done.", "match": "Change"})
            await session.prompt("Go on", agent=agent, model=ScriptedModel(*steps, {"text": "End."}))
        assert (project / "a.txt").read_text() == "two\n"
        outcome = await replay_session(workspace, session.id)
        assert outcome.as_json() == {"same": True, "calls": 3}
        below = await children_of(workspace, session.id)
        script = script_of(await workspace.sessions.messages(session.id), lambda one: below.get(one, ()))
        names = [call["name"] for turn in script["turns"] for call in turn.get("tools", [])]
        assert names == ["task", "read", "task", "edit", "task", "edit"]


@pytest.mark.slow
async def test_calls_of_a_reply_are_played_side_by_side(project: Path) -> None:
    """Each waits for what the other makes; and each is held against what it has left itself."""
    meet: list[Any] = [
        {
            "name": "bash",
            "args": {"command": f"touch {one}; until [ -e {other} ]; do sleep 0.01; done", "description": "d"},
        }
        for one, other in (("a", "b"), ("b", "a"))
    ]
    both: list[Any] = [{"name": "write", "args": {"filePath": "c.txt", "content": text}} for text in ("one\n", "two\n")]
    model = ScriptedModel({"tools": [*meet, *both]}, {"text": "Done."})
    config = {"sandbox": "off"}
    async with make_workspace(project, model=model, config=config, keep=True) as workspace:
        async with workspace.session() as session:
            await session.prompt("Go")
        assert (await replay_session(workspace, session.id, config=config)).as_json() == {"same": True, "calls": 4}


async def test_what_a_rule_has_refused_that_was_taken_back_is_passed_over(project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    read: Any = {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}]}
    async with make_workspace(project, keep=True) as workspace, workspace.session() as session:
        await workspace.sessions.permit(session.id, ({"permission": "read", "pattern": "*", "action": "deny"},))
        await session.prompt("Go", model=ScriptedModel(read, {"text": "No."}))
        assert (await replay_session(workspace, session.id)).as_json() == {"same": True, "calls": 1}
        await workspace.sessions.permit(session.id, ())
        await session.prompt("Go", model=ScriptedModel(read, {"text": "Yes."}))
        again = await replay_session(workspace, session.id)
        assert (again.same, again.calls) == (True, 1)
        assert [one.why for one in again.not_played] == [OPEN_ENDED]


async def test_what_was_done_before_a_subagent_looked_is_done_before_it_looks_again(project: Path) -> None:
    """The file is written beside the task, of which nothing but the times tells that it came later."""
    task = {"description": "Look", "prompt": "Look at it", "subagent_type": "general"}
    write = {"name": "write", "args": {"filePath": "b.txt", "content": "b\n" * 10_000}}
    look: Any = {"tools": [{"name": "read", "args": {"filePath": "b.txt"}}], "match": "Look", "delay": 0.2}
    turns: list[Any] = [
        {"tools": [{"name": "task", "args": task}, write]},
        look,
        {"text": "Seen.", "match": "Look"},
        {"text": "End."},
    ]
    async with make_workspace(project, model=ScriptedModel(*turns), keep=True) as workspace:
        async with workspace.session() as session:
            turn = await session.prompt("Go")
        assert turn.error is None
        assert (await replay_session(workspace, session.id)).as_json() == {"same": True, "calls": 2}


async def test_a_replay_changes_nothing_outside_its_copy(project: Path) -> None:
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "o.txt").write_text("one\n")
    (project / "in").mkdir()
    (project / "in/f.txt").write_text("f\n")
    edit = {"filePath": str(outside / "o.txt"), "oldString": "one", "newString": "two"}
    turns: list[Any] = [
        {"tools": [{"name": "bash", "args": {"command": "rm in/f.txt", "description": "Remove"}}]},
        {"tools": [{"name": "read", "args": {"filePath": str(outside / "o.txt")}}]},
        {"tools": [{"name": "edit", "args": edit}]},
        {"text": "Done."},
    ]
    user = ScriptedUser.saying("once", "once", "once", "once")
    async with make_workspace(project, keep=True, user=user, model=ScriptedModel(*turns)) as workspace:
        async with workspace.session() as session:
            await session.prompt("Go")
        assert (outside / "o.txt").read_text() == "two\n"
        (outside / "o.txt").write_text("one\n")
        (project / "in").rmdir()
        (project / "in").symlink_to(outside)
        again = await replay_session(workspace, session.id)
    assert again.same, again.as_json()
    assert [(one.tool, one.why) for one in again.not_played] == [("edit", OUTSIDE)]
    assert [(one.name, one.read_text()) for one in outside.iterdir()] == [("o.txt", "one\n")]


@pytest.mark.parametrize("thing", ["pipe", "folder", "file above"])
async def test_what_stands_now_where_a_file_was_is_not_in_its_way(project: Path, thing: str) -> None:
    (project / "in").mkdir()
    (project / "in/f.txt").write_text("f\n")
    remove: Any = {"tools": [{"name": "bash", "args": {"command": "rm in/f.txt", "description": "Remove"}}]}
    model = ScriptedModel(remove, {"text": "Done."})
    async with make_workspace(project, keep=True, model=model) as workspace:
        async with workspace.session() as session:
            await session.prompt("Go")
        match thing:
            case "pipe":
                os.mkfifo(project / "in/f.txt")
            case "folder":
                (project / "in/f.txt").mkdir()
            case _:
                (project / "in").rmdir()
                (project / "in").touch()
        assert (await replay_session(workspace, session.id)).as_json() == {"same": True, "calls": 1}


async def test_of_a_fork_only_what_it_did_itself_is_played(tw: Tw, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    edit: Any = {"tools": [{"name": "edit", "args": {"filePath": "a.txt", "oldString": "one", "newString": "two"}}]}
    read: Any = {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}]}
    async with make_workspace(project, keep=True, environment={"HOME": os.environ["HOME"]}) as workspace:
        async with workspace.session() as session:
            await session.prompt("Go", model=ScriptedModel(read, edit, {"text": "Done."}))
        # Calls of the millisecond in which it is forked would be its own.
        last = max(message.info.time.created for message in await workspace.sessions.messages(session.id))
        await until(lambda: now() > last)
        fork = await workspace.sessions.fork(session.id)
        async with workspace.session(id=fork.id) as forked:
            await forked.prompt("Go on", model=ScriptedModel(read, {"text": "Seen."}))
        again = await replay_session(workspace, fork.id)
    assert (again.same, again.calls) == (True, 1)
    assert [(one.tool, one.why) for one in again.not_played] == [("read", INHERITED), ("edit", INHERITED)]
    told = await asyncio.to_thread(tw, "session", "replay", fork.id)
    assert told.out == f"the same: 1 call\nnot played: read: {INHERITED}\nnot played: edit: {INHERITED}\n"


async def test_a_subagent_that_is_not_there_any_more_is_named(project: Path) -> None:
    task = {"description": "Look", "prompt": "Look at it", "subagent_type": "helper"}
    turns: list[Any] = [{"tools": [{"name": "task", "args": task}]}, {"text": "Seen."}, {"text": "End."}]
    config = {"agent": {"helper": {"mode": "subagent", "description": "Helps", "prompt": "Help."}}}
    async with make_workspace(project, model=ScriptedModel(*turns), config=config, keep=True) as workspace:
        async with workspace.session() as session:
            await session.prompt("Go")
        assert (await replay_session(workspace, session.id, config=config)).same
        with pytest.raises(UsageError, match="'helper'"):
            await replay_session(workspace, session.id)
