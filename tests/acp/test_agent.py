"""The agent for editors, driven over a pair of sockets as an editor would."""

import asyncio
from pathlib import Path

import pytest

from tests.acp.harness import ASK_EDIT, EDIT, READ, editor
from toolwright.protocols.jsonrpc import RpcError


async def test_a_turn_is_told_in_order_and_answered_last(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", READ, EDIT, {"text": "It says bye."}, config=ASK_EDIT) as person:
        first = await person.ask("initialize", protocolVersion=1, clientCapabilities={})
        assert first["protocolVersion"] == 1
        assert first["agentCapabilities"]["loadSession"]
        session = await person.session()
        answer = await person.prompt(session, "edit it")
        assert answer["stopReason"] == "end_turn"
        calls = [one for one in person.updates if one["sessionUpdate"].startswith("tool_call")]
        assert [(one["sessionUpdate"], one["status"]) for one in calls] == [
            ("tool_call", "pending"),
            ("tool_call_update", "in_progress"),
            ("tool_call_update", "completed"),
        ] * 2
        [diff] = [one for one in calls[-1]["content"] if one["type"] == "diff"]
        assert diff == {
            "type": "diff",
            "path": str(tmp_path / "p" / "a.py"),
            "oldText": 'print("hi")\n',
            "newText": 'print("bye")\n',
        }
        said = [one["content"]["text"] for one in person.updates if one["sessionUpdate"] == "agent_message_chunk"]
        assert "".join(said) == "It says bye."
        [request] = person.requests
        assert request["toolCall"]["toolCallId"] == calls[3]["toolCallId"]
        assert [one["kind"] for one in request["options"]][0::2] == ["allow_once", "reject_once"]
        assert "usage_update" in person.kinds()


async def test_a_rejected_call_changes_nothing(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", READ, EDIT, {"text": "Then not."}, config=ASK_EDIT) as person:
        person.choice = "something else"
        session = await person.session()
        assert (await person.prompt(session, "edit it"))["stopReason"] == "end_turn"
        assert (tmp_path / "p" / "a.py").read_text() == 'print("hi")\n'
        assert person.updates[-1]["sessionUpdate"] != "tool_call_update" or person.updates[-1]["status"] == "failed"


async def test_cancel_ends_a_turn_though_the_editor_never_answers(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", READ, EDIT, {"text": "never"}, config=ASK_EDIT) as person:
        person.choice = "never"
        session = await person.session()
        prompting = asyncio.create_task(person.prompt(session, "edit it"))
        await person.asked.wait()
        with pytest.raises(RpcError, match="at work"):
            await person.prompt(session, "another")
        await person.peer.notify("session/cancel", {"sessionId": session})
        assert (await prompting)["stopReason"] == "cancelled"
        last = [one for one in person.updates if one["sessionUpdate"] == "tool_call_update"][-1]
        assert last["status"] == "failed"


async def test_an_earlier_session_is_listed_and_replayed(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", READ, {"text": "Hello."}) as person:
        session = await person.session()
        await person.prompt(session, "hi there")
        listed = await person.ask("session/list", cwd=str(person.folder))
        assert [one["sessionId"] for one in listed["sessions"]] == [session]
        await person.ask("session/close", sessionId=session)
        person.updates.clear()
        loaded = await person.ask("session/load", sessionId=session, cwd=str(person.folder), mcpServers=[])
        assert loaded["modes"]["currentModeId"] == "build"
        assert person.kinds()[:4] == ["user_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk"]
        copy = await person.ask("session/fork", sessionId=session, cwd=str(person.folder))
        assert copy["sessionId"] != session
        await person.ask("session/delete", sessionId=session)
        with pytest.raises(RpcError) as unknown:
            await person.ask("session/load", sessionId=session, cwd=str(person.folder), mcpServers=[])
        assert unknown.value.code == -32002


async def test_todos_are_a_plan(tmp_path: Path) -> None:
    todos = [{"content": "one", "status": "in_progress", "priority": "high", "id": "1"}]
    turns = ({"tools": [{"name": "todowrite", "args": {"todos": todos}}]}, {"text": "ok"})
    async with editor(tmp_path / "p", *turns) as person:
        await person.prompt(await person.session(), "plan it")
        [told] = [one for one in person.updates if one["sessionUpdate"] == "plan"]
        assert told["entries"] == [{"content": "one", "priority": "high", "status": "in_progress"}]


async def test_modes_and_models_can_be_set_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", {"text": "ok"}) as person:
        session = await person.session()
        await person.ask("session/set_mode", sessionId=session, modeId="plan")
        answer = await person.ask("session/set_config_option", sessionId=session, configId="mode", value="build")
        assert [one["currentValue"] for one in answer["configOptions"] if one["id"] == "mode"] == ["build"]
        for method, more in (
            ("session/set_mode", {"modeId": "nope"}),
            ("session/set_model", {"modelId": "nope/nope"}),
            ("session/set_config_option", {"configId": "x", "value": "y"}),
            ("session/new", {"cwd": "relative"}),
        ):
            with pytest.raises(RpcError) as refused:
                await person.ask(method, sessionId=session, **more)
            assert refused.value.code == -32602
        with pytest.raises(RpcError) as unknown:
            await person.ask("session/nothing")
        assert unknown.value.code == -32601
