"""A server that drops a part of what it is sent, without a word: the user is told, once."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.session.trial import Trial, calls, opened, read, says
from toolwright.models.formats.sizes import is_cut_short, is_without_tools, words_size
from toolwright.models.info import ModelLimits
from toolwright.models.model import UserMessage
from toolwright.models.scripted import DEFAULT_INFO, ScriptedModel, ScriptedTurn
from toolwright.session.events import SessionStatus


@pytest.mark.parametrize(
    ("sent", "counted", "context", "cut"),
    [
        (9_000, 4_096, 0, True),
        (5_000, 4_095, 0, True),
        (5_000, 4_090, 0, True),
        (9_000, 3_000, 0, True),
        (12_000, 10_000, 10_000, True),
        (5_000, 4_700, 0, False),
        (5_000, 3_000, 0, False),
        (4_200, 4_096, 0, False),
        (9_000, 0, 0, False),
        (1_900, 300, 0, False),
        (9_000, 12_000, 0, False),
        (9_000, 8_192, 0, False),
        (40_000, 32_768, 0, True),
    ],
)
def test_only_what_is_far_off_or_just_a_context_counts(sent: int, counted: int, context: int, cut: bool) -> None:
    assert is_cut_short(sent, counted, context) is cut


def served(*script: ScriptedTurn, api: str = "openai-chat") -> ScriptedModel:
    info = replace(DEFAULT_INFO, provider="ollama", id="small", api=api, limits=ModelLimits())
    return ScriptedModel(*script, info=info)


def said(trial: Trial) -> list[str]:
    notices = [str(event.status.get("notice", "")) for event in trial.told(SessionStatus)]
    return [notice for notice in notices if "drop the beginning" in notice]


async def test_the_user_is_told_once_in_a_session(tmp_path: Path) -> None:
    short = {"input": 1_000, "output": 5}
    script = (calls(read(), usage=short), says("Done.", usage=short), says("Again.", usage=short))
    async with opened(tmp_path, model=served(*script)) as trial:
        await trial.prompt("x" * 20_000)
        await trial.prompt("And?")
        (notice,) = said(trial)
    assert "ollama/small was sent about" in notice
    assert "and counted 1000" in notice
    assert "provider.ollama.models.small.limit.context" in notice


@pytest.mark.parametrize(
    ("words", "tools", "counted", "missing"),
    [
        (350, 1_987, 358, True),
        (350, 1_987, 500, True),
        (350, 1_987, 1_900, False),
        (350, 1_987, 150, False),
        (4_000, 6_000, 4_096, False),
        (2_000, 0, 1_990, False),
        (350, 1_000, 358, False),
    ],
)
def test_the_tools_are_missing_where_the_words_alone_were_counted(
    words: int, tools: int, counted: int, missing: bool
) -> None:
    assert is_without_tools(words, tools, counted) is missing


async def test_a_model_whose_template_has_no_tools_is_named_as_that(tmp_path: Path) -> None:
    async with opened(tmp_path, model=served(says("Hi."), says("Hi."))) as trial:
        await trial.prompt("x" * 4_000)
        words = sum(map(words_size, trial.requests[0].messages))
    script = says("Hi.", usage={"input": words + 20, "output": 5})
    async with opened(tmp_path, model=served(script)) as trial:
        await trial.prompt("x" * 4_000)
        (notice,) = [str(event.status["notice"]) for event in trial.told(SessionStatus) if "notice" in event.status]
    assert "of the tools are missing. It seems that its template has no place for tools" in notice
    assert "larger context" not in notice


async def test_a_server_that_counts_what_it_was_sent_is_believed(tmp_path: Path) -> None:
    async with opened(tmp_path, model=served(says("Hi.", usage={"input": 7_000}))) as trial:
        await trial.prompt("x" * 20_000)
        assert said(trial) == []


async def test_what_lies_in_a_cache_was_read_too(tmp_path: Path) -> None:
    async with opened(tmp_path, model=served(says("Hi.", usage={"input": 10, "cache_read": 8_000}))) as trial:
        await trial.prompt("x" * 20_000)
        assert said(trial) == []


async def test_a_model_that_no_server_serves_is_not_doubted(tmp_path: Path) -> None:
    async with opened(tmp_path, model=served(says("Hi.", usage={"input": 10}), api="")) as trial:
        await trial.prompt("x" * 20_000)
        assert said(trial) == []


def test_pictures_are_not_counted_since_everybody_counts_them_in_another_way() -> None:
    from toolwright.definition import Attachment

    picture = Attachment(mime="image/png", url="data:image/png;base64,AAAA")
    assert words_size(UserMessage(content=("four", picture, picture))) == 1
