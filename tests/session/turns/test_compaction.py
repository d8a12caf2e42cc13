"""Compaction: before the next step and never after an answer, bounded, with a way out when no summary can be had."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.session.trial import call, calls, error_of, info_of, nothing_open, opened, read, says, shape, words
from tests.waiting import until
from toolwright.calls.parts import Completed, ToolPart
from toolwright.messages import CompactionPart, Message, TextPart
from toolwright.models.info import ModelLimits
from toolwright.models.scripted import DEFAULT_INFO, ScriptedModel, ScriptedTurn
from toolwright.session.events import SessionCompacted
from toolwright.session.records.history import CLEARED, WHAT_SO_FAR, since_summary
from toolwright.session.turns.settings import CompactionSettings

SMALL: Any = {"context": 10_000, "output": 2_000}


def full(turn: ScriptedTurn, used: int = 9_000) -> ScriptedTurn:
    """A reply after which the model's room is used up."""
    return {**turn, "usage": {"input": used - 50, "output": 50}}


async def test_room_is_made_before_the_next_call_not_after_an_answer(project: Path) -> None:
    """84, 85, weakness 21"""
    async with opened(project, full(says("The answer."), 8_000), says("Next."), **SMALL) as trial:
        message = await trial.prompt("One.")
        assert message.text == "The answer."
        assert len(trial.requests) == 1
        assert (await trial.prompt("Two.")).text == "Next."
        assert [request.settings.purpose for request in trial.requests] == ["main", "compaction", "main"]
        assert len(trial.told(SessionCompacted)) == 1


async def test_just_below_the_limit_nothing_is_done(project: Path) -> None:
    """84"""
    async with opened(project, full(says("The answer."), 7_900), says("Next."), **SMALL) as trial:
        await trial.prompt("One.")
        await trial.prompt("Two.")
        assert [request.settings.purpose for request in trial.requests] == ["main", "main"]


async def test_in_the_middle_of_a_turn_the_prompt_is_kept_beside_the_summary(project: Path) -> None:
    """86"""
    async with opened(project, full(calls(read())), says("Done."), **SMALL) as trial:
        message = await trial.prompt("Read it, please.")
        assert message.text == "Done."
        after = trial.requests[-1]
        assert shape(after.messages) == ["system", "user", "assistant", "user", "assistant", "tool", "user"]
        assert words(after).startswith(WHAT_SO_FAR)
        assert "Read it, please." in words(after)
        assert "hello" in words(after)


async def test_a_prompt_too_long_to_be_kept_is_quoted(project: Path) -> None:
    long = "Please mend it. " + "x" * 12_000
    async with opened(project, full(calls(read())), says("Done."), **SMALL) as trial:
        assert (await trial.prompt(long)).text == "Done."
        assert "The user had asked: Please mend it." in words(trial.requests[-1])
        assert len(words(trial.requests[-1])) < 6_000


async def test_a_summary_that_fails_is_made_by_rule_and_the_prompt_is_answered(project: Path) -> None:
    """87, weakness 7"""
    model = _model(
        full(says("The answer.")), says("Next."), says("Third."), compaction={"error": {"kind": "bad_request"}}
    )
    async with opened(project, model=model) as trial:
        await trial.prompt("One.")
        assert (await trial.prompt("Two.")).text == "Next."
        assert "- One." in str(trial.requests[-1].messages)
        assert (await trial.prompt("Three.")).text == "Third."
        assert len([one for one in trial.requests if one.settings.purpose == "compaction"]) == 1


def _model(*script: ScriptedTurn, compaction: ScriptedTurn) -> ScriptedModel:
    info = replace(DEFAULT_INFO, limits=ModelLimits(context=10_000, output=2_000))
    return ScriptedModel(*script, compaction=compaction, info=info)


@pytest.mark.parametrize("summary", ["", "   "])
async def test_an_empty_summary_is_none(project: Path, summary: str) -> None:
    model = _model(full(says("The answer.")), says("Next."), compaction={"text": summary})
    async with opened(project, model=model) as trial:
        await trial.prompt("One.")
        assert (await trial.prompt("Two.")).text == "Next."
        assert "could not be summarised" in str(trial.requests[-1].messages)


async def test_a_summary_that_failed_says_so_for_good_and_what_it_took_is_spent(project: Path) -> None:
    refused: ScriptedTurn = {"text": " ", "usage": {"input": 500, "output": 100}}
    model = _model(full(says("The answer.")), says("Next."), compaction=refused)
    async with opened(project, model=model) as trial:
        await trial.prompt("One.")
        before = trial.session.conversation.info.spent
        await trial.prompt("Two.")
        parts = [part for one in await trial.stored() for part in one.parts.values()]
        [mark] = [part for part in parts if isinstance(part, CompactionPart)]
        assert mark.failed == "The model wrote no summary."
        [event] = trial.told(SessionCompacted)
        assert event.failed == mark.failed
        after = trial.session.conversation.info.spent
        assert before is None
        assert after is not None
        assert after["tokens"] == 600


async def test_a_summary_that_itself_is_near_the_limit_does_not_stop_the_turn(project: Path) -> None:
    """88, weakness 23"""
    model = _model(full(calls(read())), says("Done."), compaction=full(says("Summary.")))
    async with opened(project, model=model) as trial:
        assert (await trial.prompt()).text == "Done."
        assert len([one for one in trial.requests if one.settings.purpose == "compaction"]) == 1


async def test_a_conversation_that_cannot_be_made_to_fit_ends_the_turn_after_a_few_tries(project: Path) -> None:
    script = full(calls(call("bash", command="true", description="Nothing")))
    config = {"sandbox": "off", "permission": {"doom_loop": "allow"}}
    async with opened(project, {**script, "repeat": True}, config=config, **SMALL) as trial:
        message = await trial.prompt()
        assert error_of(message) == "UnknownError"
        assert len([one for one in trial.requests if one.settings.purpose == "compaction"]) == 3
        assert nothing_open(*await trial.stored())


async def test_a_provider_that_says_it_is_too_much_gets_a_summary_instead(project: Path) -> None:
    """28"""
    overflow = says("", error={"kind": "context_overflow", "status": 400, "message": "maximum context length"})
    async with opened(project, overflow, says("Now it fits.")) as trial:
        message = await trial.prompt("Say it.")
        assert (message.text, error_of(message)) == ("Now it fits.", "")
        assert not any(info_of(one).error for one in trial.replies)


async def test_a_provider_that_never_finds_it_small_enough_is_given_up(project: Path) -> None:
    overflow = says("", error={"kind": "context_overflow", "message": "maximum context length"}, repeat=True)
    async with opened(project, overflow) as trial:
        assert error_of(await trial.prompt("Say it.")) == "ContextOverflowError"
        assert len(trial.requests) == 3


async def test_a_summary_on_request_asks_for_nothing_else(project: Path) -> None:
    """89"""
    async with opened(project, says("One."), says("Two.")) as trial:
        await trial.prompt("First.")
        summary = await trial.session.turns.compact()
        assert info_of(summary).summary
        assert len(trial.requests) == 2
        assert not trial.session.turns.busy
        assert (await trial.prompt("Second.")).text == "Two."
        assert shape(trial.requests[-1].messages)[:3] == ["system", "user", "assistant"]
        assert words(trial.requests[-1]).startswith(WHAT_SO_FAR)


def _cleared(messages: list[Message]) -> list[bool]:
    parts = [part for one in messages for part in one.parts.values() if isinstance(part, ToolPart)]
    return [isinstance(part.state, Completed) and part.state.time.compacted is not None for part in parts]


@pytest.mark.parametrize("wanted", [True, False])
async def test_old_results_are_cleared_after_a_turn_but_stay_stored(project: Path, wanted: bool) -> None:
    """90"""
    (project / "big.txt").write_text("".join(f"{number:05} {'x' * 90}\n" for number in range(4_000)))
    pages = [call("read", filePath="big.txt", offset=1 + number * 450, limit=450) for number in range(8)]
    script = (calls(*pages), *(says(f"{number}.") for number in range(4)))
    config = {"compaction": {"prune": wanted}}
    async with opened(project, *script, config=config) as trial:
        for number in range(3):
            await trial.prompt(f"Turn {number}.")
        cleared = _cleared(await trial.stored())
        assert cleared == [wanted] * cleared.count(wanted) + [False] * (8 - cleared.count(wanted))
        assert cleared.count(True) == (5 if wanted else 0), cleared
        await trial.prompt("Turn 3.")
        assert words(trial.requests[-1]).count(CLEARED) == cleared.count(True)
        first = (await trial.stored())[1].calls[0].state
        assert isinstance(first, Completed)
        assert "00000 xxx" in first.output


async def test_nothing_is_summarised_if_that_is_off(project: Path) -> None:
    async with opened(project, full(says("One.")), says("Two."), **SMALL) as trial:
        trial.session.turns.settings = replace(trial.session.turns.settings, compaction=CompactionSettings(auto=False))
        await trial.prompt("First.")
        assert (await trial.prompt("Second.")).text == "Two."
        assert [request.settings.purpose for request in trial.requests] == ["main", "main"]


async def test_a_model_that_does_not_count_is_kept_within_its_limits_by_estimate(project: Path) -> None:
    """5"""
    (project / "big.txt").write_text("".join(f"{number:05} {'x' * 90}\n" for number in range(400)))
    script = (
        *(calls(call("read", filePath="big.txt", offset=1 + 100 * n, limit=100), no_usage=True) for n in range(4)),
        says("Done.", no_usage=True),
    )
    async with opened(project, *script, **SMALL) as trial:
        assert (await trial.prompt()).text == "Done."
        assert "compaction" in [request.settings.purpose for request in trial.requests]


async def test_the_arguments_of_calls_count_as_well(project: Path) -> None:
    long = call("write", filePath="b.txt", content="x" * 40_000)
    async with opened(project, calls(long, no_usage=True), says("Done.", no_usage=True), **SMALL) as trial:
        assert (await trial.prompt()).text == "Done."
        assert "compaction" in [request.settings.purpose for request in trial.requests]


async def test_what_is_no_longer_sent_leaves_memory_and_stays_on_disk(project: Path) -> None:
    script = [full(says("x" * 4_000 + f" Answer {number}.")) for number in range(4)]
    async with opened(project, *script, **SMALL) as trial:
        for number in range(4):
            await trial.prompt(f"Prompt {number}. " + "y" * 4_000)
        texts = " ".join(one.text for one in trial.messages)
        assert "Prompt 0" not in texts
        stored = await trial.stored()
        assert len([one for one in stored if "Prompt" in one.text]) == 4
        assert await trial.session.conversation.all_messages() == stored
        assert len(trial.session.turns.history._done) <= len(trial.messages)


async def test_after_a_restart_the_model_is_sent_the_same(project: Path) -> None:
    script = (full(calls(read())), says("Done."), says("Next."))
    async with opened(project, *script, **SMALL) as trial:
        await trial.prompt("Read it.")
        before = trial.session.turns.history.of(since_summary(trial.session.conversation))
        session_id = trial.session.id
        await trial.workspace.close()
        async with opened(project, says("Next."), **SMALL) as again:
            session = await again.workspace.sessions.open(session_id)
            assert session.turns.history.of(since_summary(session.conversation)) == before
            fork = await again.workspace.sessions.open((await again.workspace.sessions.fork(session_id)).id)
            assert fork.turns.history.of(since_summary(fork.conversation)) == before


async def test_a_summary_that_is_stopped_leaves_the_conversation_as_it_was(project: Path) -> None:
    model = _model(full(says("The answer.")), says("Next."), compaction=says("Late.", delay=5))
    async with opened(project, model=model) as trial:
        await trial.prompt("One.")
        turn = asyncio.create_task(trial.prompt("Two."))
        await until(lambda: trial.requests[-1].settings.purpose == "compaction")
        await trial.session.abort()
        assert error_of(await turn) == "MessageAbortedError"
        assert not [
            part for one in await trial.stored() for part in one.parts.values() if isinstance(part, CompactionPart)
        ]
        assert [one.text for one in await trial.stored()] == ["One.", "The answer.", "Two.", ""]


async def test_the_words_of_a_summary_are_not_taken_for_an_answer(project: Path) -> None:
    async with opened(project, full(calls(read())), says("Done."), **SMALL) as trial:
        await trial.prompt()
        goes_on = [
            part.text
            for one in trial.messages
            for part in one.parts.values()
            if isinstance(part, TextPart) and part.synthetic
        ]
        assert any(text.startswith("Go on") for text in goes_on)
        assert trial.messages[-1].text == "Done."
