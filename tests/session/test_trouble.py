"""Trouble with the model: what passes is waited for, what does not is told, and nothing is left half done."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.session.trial import calls, error_of, info_of, note_waits, nothing_open, opened, read, says, words
from toolwright.models.scripted import ScriptedModel
from toolwright.models.transport.retry import RetryPolicy
from toolwright.session.events import SessionError, SessionStatus

BUSY = {"kind": "overload", "message": "Overloaded", "status": 529}


async def test_a_wait_that_the_provider_asks_for_is_kept_and_shown(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """24, 25"""
    refused = says("", error={"kind": "quota", "status": 429, "retry_after": 0.2, "retryable": True})
    async with opened(project, refused, says("Here.")) as trial:
        waits = note_waits(monkeypatch)
        monkeypatch.setattr("toolwright.session.turns.reply.now", lambda: 5_000)
        assert (await trial.prompt()).text == "Here."
        assert waits == [0.2]
        kinds = [status.status["type"] for status in trial.told(SessionStatus)]
        assert kinds == ["busy", "retry", "busy", "idle"]
        retry = trial.told(SessionStatus)[1].status
        assert retry["attempt"] == 1
        assert retry["next"] == 5_200


async def test_waits_double(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """26"""
    async with opened(project, says("", error=BUSY), says("", error=BUSY), says("Here.")) as trial:
        trial.session.turns.settings = replace(
            trial.session.turns.settings, retry=RetryPolicy(first_wait=0.1, jitter=0)
        )
        waits = note_waits(monkeypatch)
        assert (await trial.prompt()).text == "Here."
        assert waits == [0.1, 0.2]


async def test_trouble_without_end_is_given_up(project: Path) -> None:
    """27, weakness 3"""
    async with opened(project, says("", error=BUSY, repeat=True)) as trial:
        message = await trial.prompt()
        assert error_of(message) == "APIError"
        assert len(trial.requests) == 6
        assert len(trial.told(SessionError)) == 1
        assert nothing_open(*await trial.stored())


async def test_a_provider_that_asks_for_a_day_is_not_waited_for(project: Path) -> None:
    """Weakness 3"""
    tomorrow = says("", error={"kind": "quota", "retry_after": 86_400, "retryable": True}, repeat=True)
    async with opened(project, tomorrow) as trial:
        assert error_of(await trial.prompt()) == "APIError"
        assert len(trial.requests) == 1


async def test_a_wrong_key_is_told_at_once(project: Path) -> None:
    """29"""
    async with opened(project, says("", error={"kind": "auth", "status": 401, "message": "Bad key"})) as trial:
        message = await trial.prompt()
        failure = info_of(message).error
        assert failure is not None
        assert (failure.name, failure.data["statusCode"], failure.data["isRetryable"]) == ("APIError", 401, False)
        assert len(trial.requests) == 1
        assert not trial.session.turns.busy


async def test_a_broken_stream_is_asked_for_again_and_its_parts_are_gone(project: Path) -> None:
    """31, 33, 34"""
    async with opened(project, says("Half of the answer, or", cut=2), says("The whole answer.")) as trial:
        message = await trial.prompt()
        assert message.text == "The whole answer."
        assert [type(part).__name__ for part in (await trial.stored())[1].parts.values()] == [
            "StepStartPart",
            "TextPart",
            "StepFinishPart",
        ]


async def test_a_stream_that_always_breaks_is_given_up_and_keeps_its_words(project: Path) -> None:
    """32, weakness 2"""
    async with opened(project, says("Half of the answer, or", cut=1, repeat=True)) as trial:
        message = await trial.prompt()
        assert error_of(message) == "APIError"
        assert len(trial.requests) == 6
        assert message.text == "Half of the"
        assert len(await trial.stored()) == 2


async def test_an_announced_call_of_a_stream_that_broke_for_good_does_not_stay_open(project: Path) -> None:
    async with opened(project, {**calls(read()), "cut": 2, "repeat": True}) as trial:
        message = await trial.prompt()
        assert error_of(message) == "APIError"
        assert [part.state.status for part in message.calls] == ["error"]
        assert nothing_open(*await trial.stored())


async def test_after_trouble_the_session_goes_on(project: Path) -> None:
    async with opened(project, says("", error={"kind": "bad_request"}), says("Here.")) as trial:
        await trial.prompt("First.")
        assert (await trial.prompt("Second.")).text == "Here."
        assert words(trial.requests[1]) == "First.\nSecond."


async def test_a_title_that_fails_is_passed_over_in_silence(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = ScriptedModel(says("Here."), title=says("", error={"kind": "auth"}))
    async with opened(project, model=model) as trial:
        assert (await trial.prompt()).text == "Here."
        assert trial.session.conversation.info.title.startswith("New session")
    assert not caplog.records


async def test_a_small_model_that_does_not_exist_is_passed_over_in_silence(project: Path) -> None:
    async with opened(project, says("Here."), config={"small_model": "nowhere/none"}) as trial:
        assert (await trial.prompt()).text == "Here."
        assert not trial.told(SessionError)
