"""What a stream tells of a turn: seven kinds of events, typed, in order, with nothing lost and nothing mistaken."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, assert_never

import pytest

from toolwright import (
    Asked,
    Finished,
    Reply,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEvent,
    open_workspace,
    tool,
)
from toolwright.calls.parts import Span
from toolwright.events import Bus, PartUpdated
from toolwright.messages import TextPart
from toolwright.models.scripted import ScriptedCall
from toolwright.session.events import PartDelta
from toolwright.session.result import TurnResult
from toolwright.session.turns.stream import MOST_WAITING, TurnReader, turn_events
from toolwright.testing import ScriptedModel


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@tool
async def count(to: int) -> AsyncIterator[str]:
    """Count."""
    for number in range(to):
        yield f"at {number}"
        await asyncio.sleep(0)


def line(event: TurnEvent[Any]) -> str:
    """One line for each event; a type checker sees that none is left out."""
    match event:
        case TextDelta(text=text):
            return f"text {text}"
        case ThinkingDelta(thinking=thinking):
            return f"thinking {thinking}"
        case ToolStarted(tool=name, arguments=arguments):
            return f"started {name} {arguments}"
        case ToolProgress(tool=name, output=output):
            return f"progress {name} {output}"
        case ToolFinished(tool=name, result=result):
            return f"finished {name} {result.error.kind if result.error else result.output}"
        case Asked(question=question):
            return f"asked {question.tool} {dict(question.arguments)}"
        case Finished(result=result):
            return f"end {result.text}"
    assert_never(event)


async def told(folder: Path, *turns: Any, **more: Any) -> list[str]:
    home = {"HOME": str(folder.parent / "home")}
    async with open_workspace(folder, model=ScriptedModel(*turns), environment=home, **more) as w, w.session() as s:
        return [line(event) async for event in s.stream("Go.")]


async def test_a_turn_is_told_from_the_first_thought_to_the_result(folder: Path) -> None:
    call = {"name": "count", "args": {"to": 2}}
    lines = await told(
        folder, {"reasoning": "Hm.", "tools": [call]}, {"reasoning": "Ah.", "text": "Two."}, tools=[count]
    )
    assert [one for one in lines if not one.startswith("progress")] == [
        "thinking Hm.",
        "started count {'to': 2}",
        "finished count at 1",
        "thinking Ah.",
        "text Two.",
        "end Two.",
    ]
    assert lines[2].startswith("progress count")


async def test_thinking_between_tags_is_not_told_as_the_answer(folder: Path) -> None:
    lines = await told(folder, {"text": "<think>A secret.</think>Said.", "chunk": 3})
    assert "".join(one.removeprefix("text ") for one in lines if one.startswith("text")) == "Said."
    assert "".join(one.removeprefix("thinking ") for one in lines if one.startswith("thinking")) == "A secret."


async def test_words_that_only_look_like_a_tag_are_not_lost(folder: Path) -> None:
    assert (await told(folder, {"text": "<thi"}))[0] == "text <thi"


async def test_a_refused_call_and_one_that_could_not_be_made_are_told_to_their_end(folder: Path) -> None:
    calls = [{"name": "bash", "args": {"command": "true", "description": "x"}}, {"name": "nosuch", "args": {"a": 1}}]
    lines = await told(folder, {"tools": calls}, {"text": "Done."}, rules={"bash": "deny"})
    assert [one.split(" {")[0] for one in lines if "nosuch" in one] == [
        "started nosuch",
        "finished nosuch unknown_tool",
    ]
    assert "finished bash denied" in lines


async def test_a_question_is_told_and_can_be_answered_from_the_stream(folder: Path, home: dict[str, str]) -> None:
    write: ScriptedCall = {"name": "write", "args": {"filePath": "a.txt", "content": "a\n"}}
    model = ScriptedModel({"tools": [write]}, {"text": "Written."})
    async with (
        open_workspace(folder, model=model, rules={"edit": "ask"}, answer=lambda _: None, environment=home) as w,
        w.session() as s,
    ):
        async for event in s.stream("Go."):
            if isinstance(event, Asked):
                assert event.question.arguments == write["args"]
                w.inbox.reply(event.question.id, Reply(kind="once"))
    assert (folder / "a.txt").read_text() == "a\n"


async def test_the_question_of_a_subagent_is_told_but_not_its_words(folder: Path) -> None:
    task = {"name": "task", "args": {"description": "d", "prompt": "p", "subagent_type": "general"}}
    write = {"name": "write", "args": {"filePath": "a.txt", "content": "a\n"}}
    lines = await told(
        folder,
        {"tools": [task]},
        {"tools": [write]},
        {"text": "The words of the other."},
        {"text": "Mine."},
        rules={"edit": "ask"},
        answer=lambda _: "once",
    )
    assert f"asked write {write['args']}" in lines
    assert [one for one in lines if one.startswith("text")] == ["text Mine."]


async def test_a_summary_on_the_way_is_not_told_as_the_answer(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"text": "First."}, {"text": "A summary.", "kind": "compaction"}, {"text": "Second."})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        await s.prompt("Go.")
        heard: list[Any] = []
        reader = TurnReader(s.id, lambda _: None)
        w.bus.subscribe(lambda event: heard.extend(reader.read(event)))
        await s.turns.compact()
    assert [one for one in heard if isinstance(one, TextDelta)] == []


async def test_a_workspace_streams_as_a_session_does(folder: Path, home: dict[str, str]) -> None:
    async with open_workspace(folder, model=ScriptedModel({"text": "Hi."}), environment=home) as w:
        assert [line(event) async for event in w.stream("Go.")] == ["text Hi.", "end Hi."]


async def test_a_slow_reader_loses_no_word_and_holds_no_more_events_than_the_limit() -> None:
    bus, words = Bus(), 3 * MOST_WAITING
    keys: dict[str, Any] = {"session_id": "ses_1", "message_id": "msg_1"}

    async def work() -> TurnResult[None]:
        bus.publish(PartUpdated(part=TextPart(id="prt_1", text="", time=Span(start=1), **keys)))
        for number in range(words):
            bus.publish(PartDelta(part_id="prt_1", field="text", delta=f"{number} ", **keys))
        return TurnResult(text="", session_id="ses_1")

    events = [event async for event in turn_events(bus, TurnReader("ses_1", lambda _: None), work)]
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text == "".join(f"{number} " for number in range(words))
    assert len(events) <= MOST_WAITING + 1
