"""The model that plays a written conversation."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.models.conftest import HELLO, calls_of, events_of, finish_of, text_of, thoughts_of, usage_of
from toolwright.errors import UsageError
from toolwright.models.connect import connect
from toolwright.models.info import Usage
from toolwright.models.model import (
    AssistantMessage,
    CallDelta,
    CallEnd,
    CallStart,
    Finish,
    ModelCall,
    ModelError,
    ReasoningDelta,
    ReasoningEnd,
    ReplySettings,
    TextDelta,
    ToolMessage,
    UserMessage,
)
from toolwright.models.scripted import REMEMBERED, ScriptedModel, ScriptedTurn


async def test_a_turn_is_played_as_a_model_would_send_it() -> None:
    turn: ScriptedTurn = {
        "reasoning": "hm",
        "text": "Let me read it.",
        "tools": [{"name": "read", "args": {"filePath": "a"}}, {"name": "bash", "raw": '{"broken', "id": "mine"}],
        "chunk": 9,
    }
    assert await events_of(ScriptedModel(turn)) == [
        ReasoningDelta("hm"),
        ReasoningEnd({}),
        TextDelta("Let me re"),
        TextDelta("ad it."),
        CallStart("call_1_0", "read"),
        CallDelta("call_1_0", '{"filePat'),
        CallDelta("call_1_0", 'h": "a"}'),
        CallEnd("call_1_0", "read", '{"filePath": "a"}'),
        CallStart("mine", "bash"),
        CallDelta("mine", '{"broken'),
        CallEnd("mine", "bash", '{"broken'),
        Usage(input=100, output=10),
        Finish("tool_calls"),
    ]


async def test_turns_are_played_in_order_and_then_the_script_is_over() -> None:
    model = ScriptedModel({"text": "one"}, {"text": "two", "usage": {"input": 5}, "finish": "length"})
    assert text_of(await events_of(model)) == "one"
    second = await events_of(model)
    assert (text_of(second), usage_of(second).input, finish_of(second).reason) == ("two", 5, "length")
    with pytest.raises(ModelError, match="no turn for request 3"):
        await events_of(model)


async def test_a_default_goes_on_for_ever() -> None:
    model = ScriptedModel(default={"text": "again"})
    assert [text_of(await events_of(model)) for _ in range(3)] == ["again"] * 3


async def test_turns_may_repeat() -> None:
    model = ScriptedModel({"text": "twice", "repeat": 2}, {"text": "ever", "repeat": True})
    assert [text_of(await events_of(model)) for _ in range(4)] == ["twice", "twice", "ever", "ever"]


async def ask(model: ScriptedModel, *messages: Any, settings: ReplySettings | None = None) -> str:
    return text_of(await events_of(model, messages, (), settings))


async def test_a_turn_may_wait_for_words_in_the_conversation() -> None:
    model = ScriptedModel(
        {"match": "failed: 3", "text": "a result"},
        {"match": r'read .*"b\.txt"', "not_match": "stop", "text": "a call"},
        {"text": "the rest", "repeat": True},
    )
    call = AssistantMessage(content=(ModelCall(id="c", name="read", arguments={"filePath": "b.txt"}),))
    assert await ask(model, *HELLO) == "the rest"
    assert await ask(model, *HELLO, call, UserMessage(content=("stop",))) == "the rest"
    assert await ask(model, *HELLO, call) == "a call"
    assert await ask(model, ToolMessage(call_id="c", name="bash", output="tests failed: 3")) == "a result"


async def test_titles_and_summaries_do_not_use_up_turns() -> None:
    model = ScriptedModel({"text": "main"}, {"kind": "title", "text": "Its own title"})
    assert await ask(model, settings=ReplySettings(purpose="title")) == "Its own title"
    assert await ask(model, settings=ReplySettings(purpose="title")) == "Scripted title"
    assert await ask(model, settings=ReplySettings(purpose="compaction")) == "Summary of the conversation so far."
    assert await ask(model) == "main"


async def test_errors_and_cuts_can_be_written() -> None:
    model = ScriptedModel({"error": {"kind": "quota", "status": 429, "retry_after": 2.0}}, {"text": "a" * 30, "cut": 2})
    with pytest.raises(ModelError) as caught:
        await events_of(model)
    assert (caught.value.kind, caught.value.status, caught.value.retry_after) == ("quota", 429, 2.0)
    stream = model.stream(HELLO, (), ReplySettings())
    seen = [await anext(stream), await anext(stream)]
    assert text_of(seen) == "a" * 24
    with pytest.raises(ModelError, match="breaks off"):
        await anext(stream)


async def test_no_usage_is_no_event() -> None:
    assert not any(
        isinstance(event, Usage) for event in await events_of(ScriptedModel({"text": "x", "no_usage": True}))
    )


async def test_the_newest_requests_can_be_looked_at() -> None:
    model = ScriptedModel({"text": "x", "repeat": True})
    for number in range(REMEMBERED + 5):
        await ask(model, UserMessage(content=(str(number),)))
    assert model.count == REMEMBERED + 5
    assert len(model.requests) == REMEMBERED
    assert model.requests[-1].messages == (UserMessage(content=(str(REMEMBERED + 4),)),)


def script(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "script.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize("wrap", [True, False])
async def test_a_script_can_be_a_file(tmp_path: Path, wrap: bool) -> None:
    turns = [{"text": "one", "reasoning": "hm", "tools": [{"name": "read", "args": {}}]}]
    path = script(tmp_path, {"turns": turns, "default": {"text": "no more"}} if wrap else turns)
    model = connect("scripted", str(path))
    events = await events_of(model)
    assert (text_of(events), thoughts_of(events), calls_of(events)[0].name) == ("one", "hm", "read")
    if wrap:
        assert text_of(await events_of(model)) == "no more"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{not json", "cannot be read as a script"),
        ({"text": "x"}, "expected a list of turns"),
        (["x"], "A turn of a script is 'x'"),
        ([{"txt": "x"}], "A turn of a script has no 'txt'"),
        ([{"finish": "weird"}], "finish of a turn is one of stop, tool_calls"),
        ([{"tools": [{"args": {}}]}], "Each of the `tools` of a turn has a name"),
        ([{"tools": ["read"]}], "Each of the `tools` of a turn has a name"),
        ([{"tools": "read"}], "Each of the `tools` of a turn has a name"),
        ([{"tools": [{"name": "read", "arguments": {}}]}], "A call of a script has no 'arguments'"),
        ({"turns": [], "default": {"nope": 1}}, "A turn of a script has no 'nope'"),
    ],
)
def test_a_wrong_script_says_what_is_wrong(tmp_path: Path, content: Any, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        ScriptedModel.from_file(script(tmp_path, content))
    assert words in str(caught.value)


@pytest.mark.parametrize("wrong", [{"txt": "x"}, {"tools": ["read"]}, ["text"], "text"])
def test_a_wrong_turn_is_told_where_it_is_written(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"[Tt]urn"):
        ScriptedModel({"text": "x"}, wrong)
    with pytest.raises(UsageError, match=r"[Tt]urn"):
        ScriptedModel(default=wrong)


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing\.json cannot be read"):
        ScriptedModel.from_file(tmp_path / "nothing.json")


@pytest.mark.parametrize("turn", [[{"text": "a"}], "a", None])
def test_a_turn_that_is_none_is_told_when_the_model_is_made(turn: Any) -> None:
    with pytest.raises(UsageError, match="Write each as an object of its own"):
        ScriptedModel(turn)
