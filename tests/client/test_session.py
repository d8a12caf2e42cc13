"""A session on a server is prompted and followed like one of this process, with the same records."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.harness import TOKEN, served
from toolwright import Asked, Finished, Reply, TextDelta, ToolFinished, ToolStarted, UsageError
from toolwright.client import Client
from toolwright.testing import ScriptedModel

WRITE = {"tools": [{"name": "write", "args": {"filePath": "new.txt", "content": "x\n"}}]}
THOUGHT = {"reasoning": "Hm.", "text": "Written."}


async def test_a_stream_from_a_server_has_the_same_events(tmp_path: Path) -> None:
    config = {"permission": {"edit": "ask"}}
    async with (
        served(tmp_path / "p", WRITE, THOUGHT, config=config) as server,
        Client(server.url, token=TOKEN) as client,
        client.open_session() as session,
    ):
        kinds, words = list[str](), ""
        async for event in session.stream("Write it."):
            if not kinds or kinds[-1] != type(event).__name__:
                kinds.append(type(event).__name__)
            match event:
                case Asked(question=question):
                    assert question.arguments == WRITE["tools"][0]["args"]
                    await session.reply(question.id, "once")
                case TextDelta(text=text):
                    words += text
                case ToolFinished(result=result):
                    assert result.error is None
                case Finished(result=result):
                    assert (result.text, result.calls[0].tool, len(result.changes)) == ("Written.", "write", 1)
        assert words == "Written."
        order = [kind for kind in kinds if kind != "ToolProgress"]
        assert order == ["ToolStarted", "Asked", "ToolFinished", "ThinkingDelta", "TextDelta", "Finished"]
        assert (tmp_path / "p" / "new.txt").read_text() == "x\n"


async def test_a_session_on_a_server_is_gone_on_with_by_its_id(tmp_path: Path) -> None:
    model = ScriptedModel({"text": "One."}, {"text": "Two."})
    async with (
        served(tmp_path / "p", model=model) as server,
        Client(server.url, token=TOKEN) as client,
    ):
        async with client.open_session() as first:
            assert (await first.prompt("1")).text == "One."
        async with client.open_session(first.id) as again:
            result = await again.prompt("2", tools=["read"], system="Be short.")
            assert result.text == "Two."
            assert [message.text for message in await again.messages()] == ["1", "One.", "2", "Two."]
    assert {one.name for one in model.requests[-1].tools} == {"read"}


async def test_what_a_server_cannot_be_given_is_said_before_it_is_asked(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server, Client(server.url, token=TOKEN) as client:
        with pytest.raises(UsageError, match="not open"):
            await client.open_session().prompt("Hi.")
        async with client.open_session() as session:
            with pytest.raises(UsageError, match="model="):
                await session.prompt("Hi.", model=ScriptedModel())
            with pytest.raises(UsageError, match="No question 'per_1'"):
                await session.reply("per_1", "once")


async def test_an_answer_from_a_server_is_a_value_too(tmp_path: Path) -> None:
    model = ScriptedModel({"text": "Three."}, {"text": "[1, 2, 3]", "match": "not JSON"})
    async with (
        served(tmp_path / "p", model=model) as server,
        Client(server.url, token=TOKEN) as client,
        client.open_session() as session,
    ):
        result = await session.prompt("Count.", output=list[int])
        assert (result.output, result.error, result.steps) == ([1, 2, 3], None, 2)


async def test_a_stream_that_is_left_early_lets_go_of_its_prompt(tmp_path: Path) -> None:
    call = {"tools": [{"name": "bash", "args": {"command": "sleep 60", "description": "Sleep"}}]}
    async with (
        served(tmp_path / "p", call, {"text": "Next."}, config={"permission": {"bash": "allow"}}) as server,
        Client(server.url, token=TOKEN) as client,
        client.open_session() as session,
    ):
        stream = session.stream("Go.")
        async for event in stream:
            if isinstance(event, ToolStarted):
                break
        await stream.aclose()
        assert (await session.prompt("And now?")).text == "Next."


async def test_a_question_of_a_server_is_answered_with_other_arguments(tmp_path: Path) -> None:
    changed = {"filePath": "other.txt", "content": "y\n"}
    async with (
        served(tmp_path / "p", WRITE, THOUGHT, config={"permission": {"edit": "ask"}}) as server,
        Client(server.url, token=TOKEN) as client,
        client.open_session() as session,
    ):
        async for event in session.stream("Write it."):
            match event:
                case Asked(question=question):
                    await session.reply(question.id, Reply(kind="once", arguments=changed))
                case Finished(result=result):
                    assert [call.arguments for call in result.calls] == [changed]
                case _:
                    pass
    assert [one.name for one in (tmp_path / "p").glob("*.txt")] == ["other.txt"]


async def test_a_session_on_a_server_calls_decides_and_takes_rules_and_budgets(tmp_path: Path) -> None:
    model = ScriptedModel({"tools": [{"name": "glob", "args": {"pattern": "*"}}], "repeat": True})
    config = {"permission": {"bash": {"git push *": "deny"}, "doom_loop": "allow"}}
    async with (
        served(tmp_path / "p", model=model, config=config) as server,
        Client(server.url, token=TOKEN) as client,
        client.open_session() as session,
    ):
        (tmp_path / "p" / "a.txt").write_text("hello\n")
        read = await session.call("read", filePath="a.txt")
        assert (read.error, "hello" in read.output) == (None, True)
        missing = await session.call("read", filePath="b.txt")
        assert missing.error is not None
        assert missing.error.kind == "not_found"
        assert (await session.decide("bash", command="ls")).action == "allow"
        denied = await session.decide("bash", command="git push origin")
        assert denied.action == "deny"
        assert "git push *: deny" in denied.reason
        await session.permit({"read": "deny"})
        refused = await session.call("read", filePath="a.txt")
        assert refused.error is not None
        assert refused.error.kind == "denied"
        result = await session.prompt("Look around.", budget={"steps": 2})
        assert result.error is not None
        assert (result.error.kind, result.steps) == ("limit", 2)
        misplaced: Any = session.call
        with pytest.raises(UsageError, match="need their names"):
            await misplaced("read", "a.txt")
