"""Calls that cannot be made as they came: told to the model on the call itself, never ending the turn."""

from pathlib import Path
from typing import Any

import pytest

from tests.session.trial import call, calls, nothing_open, opened, read, results, says
from toolwright.messages import Message
from toolwright.models.model import AssistantMessage, ModelCall
from toolwright.models.scripted import ScriptedCall

BROKEN: ScriptedCall = {"name": "read", "raw": '{"filePath": '}


async def _answer_to(project: Path, made: ScriptedCall) -> tuple[Message, list[ModelCall]]:
    """The reply that made the call, and the calls as the model sees them afterwards."""
    async with opened(project, calls(made), says("Done.")) as trial:
        assert (await trial.prompt()).text == "Done."
        assert nothing_open(*await trial.stored())
        reply = next(one for one in trial.requests[1].messages if isinstance(one, AssistantMessage))
        return trial.replies[0], [piece for piece in reply.content if isinstance(piece, ModelCall)]


async def test_a_name_in_another_case_is_the_tool(project: Path) -> None:
    """18"""
    reply, _ = await _answer_to(project, call("Read", filePath="a.txt"))
    assert reply.calls[0].tool == "read"
    assert "hello" in results(reply)[0]


async def test_an_unknown_tool_is_answered_with_near_names_under_its_own_name(project: Path) -> None:
    """19"""
    reply, [sent] = await _answer_to(project, call("raed", filePath="a.txt"))
    assert "Did you mean 'read'" in results(reply)[0]
    assert sent.name == "raed"


async def test_arguments_that_are_not_json_are_answered_on_the_named_tool(project: Path) -> None:
    """20"""
    reply, [sent] = await _answer_to(project, BROKEN)
    assert "not JSON" in results(reply)[0]
    assert sent.name == "read"


@pytest.mark.parametrize("raw", ["[]", "null", '"a.txt"', "17", "[[[[[["])
async def test_arguments_that_are_no_object_are_told_as_such(project: Path, raw: str) -> None:
    reply, _ = await _answer_to(project, {"name": "read", "raw": raw})
    assert results(reply)[0]


async def test_arguments_that_break_the_schema_are_listed(project: Path) -> None:
    """21"""
    reply, _ = await _answer_to(project, call("read", path="a.txt", offset="one"))
    [told] = results(reply)
    assert "filePath" in told
    assert "offset" in told
    assert reply.calls[0].state.status == "error"


async def test_a_missing_file_is_an_error_with_near_names(project: Path) -> None:
    """22"""
    reply, _ = await _answer_to(project, read("a.tx"))
    assert "a.txt" in results(reply)[0]
    assert reply.calls[0].state.status == "error"


async def test_a_stream_cut_inside_arguments_is_asked_for_again_and_stored_once(project: Path) -> None:
    """23"""
    whole = calls(read(), text="Let me see.")
    async with opened(project, {**whole, "cut": 3}, whole, says("Done.")) as trial:
        assert (await trial.prompt()).text == "Done."
        assert len(trial.requests) == 3
        assert len(await trial.stored()) == 3
        assert [part.state.status for one in await trial.stored() for part in one.calls] == ["completed"]


async def test_a_good_call_beside_a_broken_one_is_run(project: Path) -> None:
    async with opened(project, calls(BROKEN, read(), call("nope")), says("Done.")) as trial:
        await trial.prompt()
        broken, good, unknown = results(trial.replies[0])
        assert "not JSON" in broken
        assert "hello" in good
        assert "There is no tool" in unknown


async def test_an_empty_list_of_batch_calls_says_what_was_expected(project: Path) -> None:
    """69"""
    config: dict[str, Any] = {"experimental": {"batch_tool": True}}
    async with opened(project, calls(call("batch", tool_calls=[])), says("Done."), config=config) as trial:
        await trial.prompt()
        assert "Expected" in results(trial.replies[0])[0]
