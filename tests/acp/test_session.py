"""Sessions as an editor sees them: made, listed, loaded, asked about, ended; and what they start with."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acp.harness import ASK_EDIT, EDIT, READ, Editor, call, editor
from tests.mcp.conftest import SCRIPT
from tests.waiting import until, write_pipe
from toolwright.protocols.jsonrpc import RpcError

OK = {"text": "ok"}
QUESTIONS = [
    {"question": "Which colour?", "header": "Colour", "options": [{"label": "Red", "description": "warm"}]},
    {
        "question": "Which sizes?",
        "header": "Sizes",
        "multiple": True,
        "options": [{"label": "S", "description": ""}, {"label": "L", "description": "large"}],
    },
]


def prompt_text(person: Editor, at: int = -1) -> str:
    assert person.model is not None
    return str(person.model.requests[at].messages)


async def test_without_a_model_the_user_is_led_to_a_key(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", can={"_meta": {"terminal-auth": True}}) as person:
        assert person.first["protocolVersion"] == 1
        [method] = person.first["authMethods"]
        assert (method["type"], method["args"]) == ("terminal", ["auth"])
        assert method["_meta"]["terminal-auth"]["label"] == "tw auth"
        for name, params in (("session/new", {"cwd": str(person.folder), "mcpServers": []}), ("authenticate", {})):
            with pytest.raises(RpcError) as missing:
                await person.ask(name, **params)
            assert missing.value.code == -32000


async def test_with_a_model_there_is_nothing_to_log_in_to(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", OK) as person:
        assert person.first["authMethods"] == []
        assert await person.ask("authenticate", methodId="x") == {}


async def test_sessions_are_listed_by_pages_the_newest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.acp.agent.PAGE", 3)
    async with editor(tmp_path / "p", *[OK] * 5) as person:
        made = [await person.session() for _ in range(5)]
        for session in made:
            await person.prompt(session, "hi")
        first = await person.ask("session/list")
        rest = await person.ask("session/list", cwd=str(person.folder), cursor=first["nextCursor"])
        assert [one["sessionId"] for one in (*first["sessions"], *rest["sessions"])] == made[::-1]
        assert len(first["sessions"]) == 3
        assert "nextCursor" not in rest


async def test_a_request_can_be_cancelled_by_its_number(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", READ, EDIT, OK, config=ASK_EDIT) as person:
        person.choice = "never"
        session = await person.session()
        prompting = asyncio.create_task(person.prompt(session, "edit it"))
        await person.asked.wait()
        await person.peer.notify("$/cancel_request", {"requestId": 3})
        with pytest.raises(RpcError) as cancelled:
            await prompting
        assert cancelled.value.code == -32800
        assert person.ends()[-1]["status"] == "failed"
        person.choice = "once"
        assert (await person.prompt(session, "again"))["stopReason"] == "end_turn"


@pytest.mark.parametrize(
    ("turn", "config", "reason"),
    [
        ({"text": "cut", "finish": "length"}, {}, "max_tokens"),
        ({"text": "no", "finish": "content_filter"}, {}, "refusal"),
        (READ, {"budget": {"steps": 1}}, "max_turn_requests"),
    ],
)
async def test_how_a_turn_ended_is_told(tmp_path: Path, turn: Any, config: Any, reason: str) -> None:
    async with editor(tmp_path / "p", turn, config=config) as person:
        answer = await person.prompt(await person.session(), "go")
        assert answer["stopReason"] == reason
        assert answer["usage"]["totalTokens"] >= 0


async def test_a_model_that_fails_is_an_error_of_the_request(tmp_path: Path) -> None:
    broken = {"error": {"message": "out of order", "kind": "auth", "retryable": False}}
    async with editor(tmp_path / "p", broken, OK) as person:
        session = await person.session()
        with pytest.raises(RpcError, match="out of order") as failed:
            await person.prompt(session, "go")
        assert failed.value.code == -32603
        assert (await person.prompt(session, "again"))["stopReason"] == "end_turn"


async def test_a_subagents_permission_is_asked_under_the_session_the_editor_knows(tmp_path: Path) -> None:
    task = call("task", description="edit", prompt="edit it", subagent_type="general")
    async with editor(tmp_path / "p", task, READ, EDIT, OK, OK, config=ASK_EDIT) as person:
        session = await person.session()
        await person.prompt(session, "delegate")
        [request] = person.requests
        assert request["sessionId"] == session
        assert (person.folder / "a.py").read_text() == 'print("bye")\n'


async def test_questions_are_put_one_by_one_to_an_editor_that_knows_permissions_alone(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", call("question", questions=QUESTIONS), OK) as person:
        person.choice = "answer:0"
        await person.prompt(await person.session(), "ask me")
        assert [one["toolCall"]["title"] for one in person.requests] == ["Which colour?", "Which sizes?"]
        assert [one["name"] for one in person.requests[1]["options"]] == ["S", "L: large", "Give no answer"]
        assert '"Which colour?"="Red", "Which sizes?"="S"' in person.ends()[0]["rawOutput"]["output"]


async def test_questions_are_one_form_where_the_editor_has_forms(tmp_path: Path) -> None:
    forms: list[Any] = []

    async def filled(params: Any) -> Any:
        forms.append(params)
        return {"action": "accept", "content": {"own0": "green", "q1": ["S", "L"]}}

    can: dict[str, Any] = {"elicitation": {"form": {}}}
    async with editor(tmp_path / "p", call("question", questions=QUESTIONS), OK, can=can) as person:
        person.answers["elicitation/create"] = filled
        session = await person.session()
        await person.prompt(session, "ask me")
        assert '"Which colour?"="green", "Which sizes?"="S, L"' in person.ends()[0]["rawOutput"]["output"]
        assert (forms[0]["mode"], forms[0]["sessionId"]) == ("form", session)
        assert list(forms[0]["requestedSchema"]["properties"]) == ["q0", "own0", "q1", "own1"]


@pytest.mark.parametrize("answer", [{"action": "decline"}, {"action": "cancel"}, 7, None])
async def test_a_form_that_is_not_filled_in_is_no_answer(tmp_path: Path, answer: Any) -> None:
    async def given(_: Any) -> Any:
        return answer

    can: dict[str, Any] = {"elicitation": {"form": {}}}
    async with editor(tmp_path / "p", call("question", questions=QUESTIONS), OK, can=can) as person:
        person.answers["elicitation/create"] = given
        assert (await person.prompt(await person.session(), "ask me"))["stopReason"] == "end_turn"
        assert person.ends()[0]["status"] == "failed"


async def test_the_servers_of_a_session_are_its_own(tmp_path: Path) -> None:
    server = {"name": "s", "command": sys.executable, "args": ["-I", str(SCRIPT)], "env": [{"name": "A", "value": "b"}]}
    echo = call("s_echo", text="over there")
    async with editor(tmp_path / "p", echo, OK, echo, OK, config={"permission": "allow"}) as person:
        own, plain = await person.session(mcpServers=[server]), await person.session(mcpServers={})
        await person.prompt(own, "call it")
        assert person.ends()[-1]["rawOutput"]["output"] == "over there"
        await person.prompt(plain, "call it")
        assert "s_echo" in str(person.ends()[-1]["rawOutput"])
        assert person.ends()[-1]["rawOutput"].get("output") != "over there"
        await person.ask("session/close", sessionId=own)
        loaded = await person.ask("session/load", sessionId=own, cwd=str(person.folder), mcpServers=[server])
        assert loaded["modes"]["currentModeId"] == "build"


async def test_a_loaded_session_goes_on_with_its_mode(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", OK) as person:
        session = await person.session()
        await person.ask("session/set_mode", sessionId=session, modeId="plan")
        await person.prompt(session, "plan it")
        assert person.kinds().count("current_mode_update") == 1
        await person.ask("session/close", sessionId=session)
        loaded = await person.ask("session/resume", sessionId=session, cwd=str(person.folder))
        assert loaded["modes"]["currentModeId"] == "plan"


async def test_commands_and_skills_are_offered_and_called_by_name(tmp_path: Path) -> None:
    skill = tmp_path / "p" / ".toolwright" / "skill" / "tea" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: tea\ndescription: How tea is made.\n---\nBoil water.\n")
    command = {"greet": {"template": "Greet $1 and $2.", "description": "Greets", "agent": "plan"}}
    async with editor(tmp_path / "p", OK, OK, OK, config={"command": command}) as person:
        session = await person.session()
        await until(lambda: person.of_kind("available_commands_update"))
        listed = {one["name"]: one for one in person.of_kind("available_commands_update")[0]["availableCommands"]}
        assert listed["greet"]["input"] == {"hint": "$1 $2"}
        assert {"tea", "compact"} <= set(listed)
        await person.prompt(session, "/greet Ada Bob")
        assert "Greet Ada and Bob." in prompt_text(person)
        assert not person.of_kind("current_mode_update"), "the next prompt is answered by whom the user has chosen"
        await person.prompt(session, "/tea for two")
        assert "Load the skill tea" in prompt_text(person)
        await person.prompt(session, "/nosuch thing")
        assert "/nosuch thing" in prompt_text(person)
        assert len(person.of_kind("available_commands_update")) == 1
        skill.unlink()
        assert (await person.prompt(session, "/compact"))["stopReason"] == "end_turn"
        told = person.of_kind("available_commands_update")[-1]["availableCommands"]
        assert "tea" not in [one["name"] for one in told]
        await until(lambda: person.of_kind("session_info_update"))
        assert person.of_kind("session_info_update")[-1]["title"] == "Scripted title"


async def test_a_linked_file_is_read_under_the_rules_and_other_links_are_words(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", OK, config={"permission": {"read": {"*": "allow", "*.key": "deny"}}}) as person:
        (person.folder / "my.key").write_text("sesame")
        (person.folder / "notes ü.txt").write_text("remember the milk")
        blocks = [
            {"type": "text", "text": "look"},
            {"type": "resource_link", "uri": (person.folder / "my.key").as_uri(), "name": "my.key"},
            {"type": "resource_link", "uri": (person.folder / "notes ü.txt").as_uri(), "name": "notes"},
            {"type": "resource_link", "uri": "https://tea.example/a", "name": "tea"},
            {"type": "resource", "resource": {"uri": "file:///x/y.txt", "text": "embedded words"}},
        ]
        await person.ask("session/prompt", sessionId=await person.session(), prompt=blocks)
        said = prompt_text(person)
        assert "sesame" not in said
        for words in ("remember the milk", "https://tea.example/a", "embedded words"):
            assert words in said


async def test_patches_are_edits_moves_or_deletions(tmp_path: Path) -> None:
    def patch(*lines: str) -> dict[str, Any]:
        return call("apply_patch", patchText="\n".join(("*** Begin Patch", *lines, "*** End Patch")))

    turns = (
        patch("*** Add File: b.py", "+b"),
        patch("*** Update File: b.py", "*** Move to: c.py", "@@", "-b", "+c"),
        patch("*** Delete File: c.py"),
    )
    async with editor(tmp_path / "p", *turns, OK, config=ASK_EDIT) as person:
        await person.prompt(await person.session(), "patch")
        assert [one["kind"] for one in person.ends()] == ["edit", "move", "delete"]
        assert [one["title"] for one in person.ends()] == ["Patch b.py", "Patch b.py, c.py", "Patch c.py"]
        assert person.ends()[0]["locations"] == [{"path": str(person.folder / "b.py")}]
        diffs = [[one for one in end["content"] if one["type"] == "diff"] for end in person.ends()]
        assert [(one["oldText"], one["newText"]) for one in diffs[0]] == [(None, "b\n")]
        assert {(one["path"][-4:], one["oldText"], one["newText"]) for one in diffs[1]} == {
            ("b.py", "b\n", ""),
            ("c.py", None, "c\n"),
        }
        assert [(one["oldText"], one["newText"]) for one in diffs[2]] == [("c\n", "")]
        shown = [one["toolCall"]["content"][0] for one in person.requests]
        assert [one["type"] for one in shown] == ["diff"] * 3


async def test_a_replay_tells_what_each_call_did_not_what_is_there_now(tmp_path: Path) -> None:
    again = call("edit", filePath="a.py", oldString="bye", newString="so long")
    async with editor(tmp_path / "p", READ, EDIT, again, OK) as person:
        session = await person.session()
        await person.prompt(session, "edit it")
        live = [end["content"] for end in person.ends()]
        (person.folder / "a.py").write_text("something else\n")
        person.updates.clear()
        await person.ask("session/load", sessionId=session, cwd=str(person.folder), mcpServers=[])
        again_told = [end["content"] for end in person.ends()]
        assert again_told[1] == live[1]


async def test_a_variant_of_a_model_can_be_chosen(tmp_path: Path) -> None:
    models = {"m": {"variants": {"deep": {"effort": "high"}}}}
    provider = {"mine": {"api": "openai-chat", "options": {"baseURL": "http://127.0.0.1:1/v1"}, "models": models}}
    async with editor(tmp_path / "p", OK, config={"provider": provider}) as person:
        session = await person.session()
        answer = await person.ask("session/set_config_option", sessionId=session, configId="model", value="mine/m")
        [option] = [one for one in answer["configOptions"] if one["id"] == "variant"]
        assert (option["category"], option["currentValue"]) == ("thought_level", "default")
        await person.ask("session/set_config_option", sessionId=session, configId="variant", value="deep")
        told = person.of_kind("config_option_update")[-1]["configOptions"]
        assert [one["currentValue"] for one in told] == ["mine/m", "build", "deep"]


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_a_session_at_work_can_be_closed_and_deleted(tmp_path: Path, method: str) -> None:
    async with editor(tmp_path / "p", READ, EDIT, OK, config=ASK_EDIT) as person:
        person.choice = "never"
        session = await person.session()
        prompting = asyncio.create_task(person.prompt(session, "edit it"))
        await person.asked.wait()
        assert await person.ask(method, sessionId=session) == {}
        assert (await prompting)["stopReason"] == "cancelled"
        with pytest.raises(RpcError) as unknown:
            await person.prompt(session, "more")
        assert unknown.value.code == -32002


async def test_two_sessions_of_one_editor_work_side_by_side(tmp_path: Path) -> None:
    turns = ({**READ, "match": "one"}, {**EDIT, "match": "one"}, {"text": "two", "match": "second"}, OK)
    async with editor(tmp_path / "p", *turns, config=ASK_EDIT) as person:
        person.choice = "never"
        first, second = await person.session(), await person.session()
        waiting = asyncio.create_task(person.prompt(first, "one"))
        await person.asked.wait()
        assert (await person.prompt(second, "second"))["stopReason"] == "end_turn"
        assert [one["content"]["text"] for one in person.of_kind("agent_message_chunk")] == ["two"]
        await person.peer.notify("session/cancel", {"sessionId": first})
        assert (await waiting)["stopReason"] == "cancelled"


async def test_a_rejection_ends_the_turn_and_an_error_is_one(tmp_path: Path) -> None:
    async def failing(_: Any) -> Any:
        raise RpcError("the dialog broke")

    async with editor(tmp_path / "p", READ, EDIT, OK, config=ASK_EDIT) as person:
        person.answers["session/request_permission"] = failing
        assert (await person.prompt(await person.session(), "edit it"))["stopReason"] == "end_turn"
        assert person.ends()[-1]["status"] == "failed"
        assert (person.folder / "a.py").read_text() == 'print("hi")\n'


async def test_each_rule_of_a_compound_command_is_an_answer_of_its_own(tmp_path: Path) -> None:
    turns = (call("bash", command="wc a.py && sort a.py"), OK)
    async with editor(tmp_path / "p", *turns, config={"permission": {"bash": "ask"}}) as person:
        person.choice = "always:1"
        await person.prompt(await person.session(), "count")
        names = [one["name"] for one in person.requests[0]["options"]]
        assert names[1:3] == ["Always allow `wc *` in this project", "Always allow `sort *` in this project"]
        assert person.ends()[0]["status"] == "completed"


async def test_the_place_of_a_call_has_the_line_to_look_at(tmp_path: Path) -> None:
    turns = (
        call("read", filePath="b.txt", offset=3),
        call("edit", filePath="b.txt", oldString="five", newString="5"),
        OK,
    )
    async with editor(tmp_path / "p", *turns) as person:
        (person.folder / "b.txt").write_text("one\ntwo\nthree\nfour\nfive\n")
        await person.prompt(await person.session(), "go")
        path = str(person.folder / "b.txt")
        assert [end["locations"] for end in person.ends()] == [[{"path": path, "line": 3}], [{"path": path, "line": 5}]]


async def test_an_editor_that_does_not_keep_up_misses_progress_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.acp.editor.BACKLOG", -1)
    turns = (call("bash", command="echo one; sleep 0.3; echo two"), OK)
    async with editor(tmp_path / "p", *turns, config={"permission": "allow"}) as person:
        await person.prompt(await person.session(), "run")
        assert [one["status"] for one in person.of_kind("tool_call_update")] == ["in_progress", "completed"]
        assert person.ends()[0]["rawOutput"]["output"] == "one\ntwo\n"


async def test_a_cancel_counts_though_the_turn_has_not_begun(tmp_path: Path) -> None:
    turns = ({**call("bash", command="exec sleep 600"), "not_match": "next"}, {"text": "next", "match": "next"})
    command = {"slow": {"template": "Wait for !`touch began; cat go`."}}
    config = {"permission": "allow", "command": command, "sandbox": "off"}
    async with editor(tmp_path / "p", *turns, config=config) as person:
        os.mkfifo(person.folder / "go")
        session = await person.session()
        prompting = asyncio.create_task(person.prompt(session, "/slow"))
        await until((person.folder / "began").exists)
        await person.peer.notify("session/cancel", {"sessionId": session})
        await person.ask("session/list")  # by then the cancel is heard
        await write_pipe(person.folder / "go", "nothing")
        assert (await prompting)["stopReason"] == "cancelled"
        assert (await person.prompt(session, "next"))["stopReason"] == "end_turn"


@pytest.mark.parametrize(("rules", "asked", "read"), [({}, 0, True), ({"external_directory": "deny"}, 0, False)])
async def test_folders_that_the_editor_opens_beside_its_own_are_not_outside(
    tmp_path: Path, rules: Any, asked: int, read: bool
) -> None:
    beside = tmp_path / "beside" / "deep"
    beside.mkdir(parents=True)
    (beside / "b.txt").write_text("what lies there\n")
    look = call("read", filePath=str(beside / "b.txt"))
    async with editor(tmp_path / "p", look, OK, look, OK, config={"permission": rules}) as person:
        session = await person.session(additionalDirectories=[str(tmp_path / "beside")])
        await person.prompt(session, "look")
        assert ("what lies there" in str(person.ends()[0])) is read
        assert len(person.requests) == asked
        if read:  # and only as long as the editor says so
            await person.ask("session/resume", sessionId=session, cwd=str(person.folder), mcpServers=[])
            await person.prompt(session, "look again")
            assert len(person.requests) == 1
        for wrong in ("/a", ["b"], [7], ["/*"]):
            with pytest.raises(RpcError) as refused:
                await person.session(additionalDirectories=wrong)
            assert refused.value.code == -32602
