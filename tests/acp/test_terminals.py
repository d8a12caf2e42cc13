"""Commands in a terminal of the editor's, where the user wants that."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.acp.harness import BOTH, Editor, call, editor, never, refused
from tests.waiting import until

OK = {"text": "ok"}
ON = {"acp": {"terminal": True}}
ALLOWED = {**ON, "permission": {"bash": "allow"}}
RELEASED = ["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"]


def output(person: Editor) -> str:
    return str(person.ends()[-1]["rawOutput"].get("output"))


async def test_a_command_runs_in_the_editors_terminal_which_stands_in_the_call(tmp_path: Path) -> None:
    turns = (call("bash", command="echo one; pwd; exit 3", workdir="sub"), OK)
    async with editor(tmp_path / "p", *turns, can=BOTH, config=ALLOWED) as person:
        (tmp_path / "p" / "sub").mkdir()
        await person.prompt(await person.session(), "run it")
        assert person.methods == RELEASED
        shown = [{"type": "terminal", "terminalId": "term_1"}]
        assert [one["content"] for one in person.of_kind("tool_call_update") if "content" in one] == [shown, shown]
        assert output(person) == f"one\n{tmp_path / 'p' / 'sub'}\n[exit code 3]"


async def test_it_is_off_unless_the_user_turns_it_on(tmp_path: Path) -> None:
    turns = (call("bash", command="echo one"), OK)
    async with editor(tmp_path / "p", *turns, can=BOTH, config={"permission": {"bash": "allow"}}) as person:
        await person.prompt(await person.session(), "run it")
        assert person.methods == []
        assert output(person) == "one\n"


async def test_a_project_cannot_turn_it_on(tmp_path: Path) -> None:
    turns = (call("bash", command="echo one"), OK)
    async with editor(
        tmp_path / "p", *turns, can=BOTH, config={"permission": {"bash": "allow"}}, trust=False
    ) as person:
        (tmp_path / "p" / "toolwright.json").write_text(json.dumps(ON))
        await person.prompt(await person.session(), "run it")
        assert person.methods == []


async def test_an_administrator_who_demands_a_box_keeps_it(tmp_path: Path) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text(json.dumps({"sandbox": "auto"}))
    turns = (call("bash", command="echo one"), OK)
    variables = {"TOOLWRIGHT_MANAGED_CONFIG": str(managed)}
    async with editor(tmp_path / "p", *turns, can=BOTH, config=ALLOWED, environment=variables) as person:
        await person.prompt(await person.session(), "run it")
        assert person.methods == []


@pytest.mark.parametrize("on", [True, False])
async def test_no_sandbox_is_counted_on_where_the_editor_runs_the_commands(tmp_path: Path, on: bool) -> None:
    async with editor(tmp_path / "p", OK, can=BOTH, config={"acp": {"terminal": on}}) as person:
        await person.session()
        jobs = person.workspaces[-1].jobs
        assert await jobs.keeps_all() is (not on and await jobs.sandbox.keeps_all())


async def test_the_person_is_asked_first_and_a_refused_command_opens_no_terminal(tmp_path: Path) -> None:
    turns = (call("bash", command="touch made"), OK)
    config = {**ON, "permission": {"bash": "ask", "edit": "ask"}}
    async with editor(tmp_path / "p", *turns, can=BOTH, config=config) as person:
        person.choice = "reject"
        await person.prompt(await person.session(), "run it")
        assert person.methods == ["session/request_permission"]
        assert not (tmp_path / "p" / "made").exists()


async def test_who_may_not_edit_stays_in_our_box(tmp_path: Path) -> None:
    turns = (call("bash", command="echo one"), OK)
    config = {**ON, "permission": {"bash": "allow", "edit": "deny"}}
    async with editor(tmp_path / "p", *turns, can=BOTH, config=config) as person:
        await person.prompt(await person.session(), "run it")
        assert person.methods == []


async def test_secrets_of_the_environment_are_kept_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sesame")
    turns = (call("bash", command="echo key=$SOME_API_KEY."), OK)
    variables = {"SOME_API_KEY": "sesame"}
    async with editor(tmp_path / "p", *turns, can=BOTH, config=ALLOWED, environment=variables) as person:
        await person.prompt(await person.session(), "run it")
        assert output(person) == "key=.\n"


async def test_what_it_changes_can_be_undone(tmp_path: Path) -> None:
    turns = (call("bash", command="rm a.py"), OK)
    config = {**ON, "permission": "allow"}
    async with editor(tmp_path / "p", *turns, can=BOTH, config=config) as person:
        await person.prompt(await person.session(), "run it")
        [diff] = [one for one in person.ends()[-1]["content"] if one["type"] == "diff"]
        assert (diff["oldText"], diff["newText"]) == ('print("hi")\n', "")


async def test_a_command_that_takes_too_long_is_killed_and_its_terminal_released(tmp_path: Path) -> None:
    turns = (call("bash", command="echo begun; exec sleep 600", timeout=50), OK)
    async with editor(tmp_path / "p", *turns, can=BOTH, config=ALLOWED) as person:
        await person.prompt(await person.session(), "run it")
        assert person.methods[2:] == ["terminal/kill", "terminal/output", "terminal/release"]
        assert "took longer than 50 ms" in output(person)


async def test_cancel_kills_the_command_and_releases_its_terminal(tmp_path: Path) -> None:
    turns = (call("bash", command="exec sleep 600"), OK)
    async with editor(tmp_path / "p", *turns, can=BOTH, config=ALLOWED) as person:
        session = await person.session()
        prompting = asyncio.create_task(person.prompt(session, "run it"))
        await until(lambda: "terminal/wait_for_exit" in person.methods)
        await person.peer.notify("session/cancel", {"sessionId": session})
        assert (await prompting)["stopReason"] == "cancelled"
        await until(lambda: person.methods[2:] == ["terminal/kill", "terminal/release"])
        assert person.ends()[-1]["status"] == "failed"


async def test_an_editor_that_opens_no_terminal_leaves_the_command_to_us(tmp_path: Path) -> None:
    turns = (call("bash", command="echo one"), OK)
    async with editor(tmp_path / "p", *turns, can=BOTH, config=ALLOWED) as person:
        person.answers["terminal/create"] = refused
        await person.prompt(await person.session(), "run it")
        assert output(person) == "one\n"


@pytest.mark.parametrize("method", ["terminal/create", "terminal/output"])
async def test_an_editor_that_never_answers_is_a_clear_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr("toolwright.acp.delegation.BEGINNING", 0.01)
    monkeypatch.setattr("toolwright.acp.delegation.ENDING", 0.01)
    turns = (call("bash", command="echo one >> ran"), OK)
    config = {**ON, "permission": "allow"}
    async with editor(tmp_path / "p", *turns, can=BOTH, config=config) as person:
        person.answers[method] = never
        await person.prompt(await person.session(), "run it")
        assert person.ends()[-1]["status"] == "failed"
        assert "The editor" in person.ends()[-1]["rawOutput"]["error"]
        ran: Any = tmp_path / "p" / "ran"
        assert not ran.exists() or ran.read_text() == "one\n"


async def test_background_commands_stay_ours(tmp_path: Path) -> None:
    turns = (call("bash", command="echo one", background=True), OK)
    async with editor(tmp_path / "p", *turns, can=BOTH, config=ALLOWED) as person:
        await person.prompt(await person.session(), "run it")
        assert person.methods == []
