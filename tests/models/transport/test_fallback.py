"""When a model is down, the next one that the user has named goes on."""

from dataclasses import replace
from typing import cast

import pytest

from tests.models.conftest import events_of, text_of
from toolwright.models.connect import Connections
from toolwright.models.known.catalog import Catalog
from toolwright.models.model import ModelError, Trouble
from toolwright.models.scripted import DEFAULT_INFO, ScriptedModel, ScriptedTurn
from toolwright.models.transport.fallback import AWAY, FallbackModel


def failing(kind: Trouble, name: str = "a", **more: bool) -> ScriptedModel:
    turn = {"error": {"kind": kind, **more}, "repeat": True, "kind": "any"}
    return ScriptedModel(cast("ScriptedTurn", turn), info=replace(DEFAULT_INFO, id=name))


def working(text: str, name: str = "b") -> ScriptedModel:
    return ScriptedModel({"text": text, "repeat": True, "kind": "any"}, info=replace(DEFAULT_INFO, id=name))


@pytest.mark.parametrize("kind", ["quota", "not_found"])
async def test_trouble_that_does_not_pass_moves_on_at_once(kind: Trouble) -> None:
    model = FallbackModel([failing(kind, retryable=False), working("Here.")])
    with pytest.raises(ModelError, match="Going on with scripted/b") as caught:
        await events_of(model)
    assert (caught.value.retryable, caught.value.retry_after) == (True, 0.0)
    assert text_of(await events_of(model)) == "Here."
    assert model.info.id == "b"


async def test_trouble_that_passes_is_waited_for_once() -> None:
    model = FallbackModel([failing("overload"), working("Here.")])
    with pytest.raises(ModelError) as first:
        await events_of(model)
    assert "Going on" not in str(first.value)
    with pytest.raises(ModelError, match="Going on with"):
        await events_of(model)
    assert text_of(await events_of(model)) == "Here."


@pytest.mark.parametrize("kind", ["auth", "bad_request", "content_filter", "context_overflow"])
async def test_trouble_that_the_next_one_would_have_too_is_raised(kind: Trouble) -> None:
    model = FallbackModel([failing(kind), working("Here.")])
    for _ in range(3):
        with pytest.raises(ModelError) as caught:
            await events_of(model)
        assert "Going on" not in str(caught.value)


async def test_the_last_one_has_nobody_after_it() -> None:
    model = FallbackModel([failing("quota", retryable=False), failing("quota", "b", retryable=False)])
    with pytest.raises(ModelError, match="Going on"):
        await events_of(model)
    with pytest.raises(ModelError) as caught:
        await events_of(model)
    assert not caught.value.retryable


def test_several_names_are_one_model_and_no_other_is_asked() -> None:
    known = Connections(Catalog(), env={"ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "y"}, auth={})
    model = known.open("anthropic/claude-sonnet-5-5, openai/gpt-6-sol")
    assert isinstance(model, FallbackModel)
    assert model.info.full_name == "anthropic/claude-sonnet-5-5"
    assert known.open("anthropic/claude-sonnet-5-5") is model
    assert not isinstance(known.open("openai/gpt-6-sol"), FallbackModel)


@pytest.mark.parametrize("name", ["anthropic/claude-sonnet-5-5, ", ", anthropic/claude-sonnet-5-5,,"])
def test_a_comma_too_many_names_no_model(name: str) -> None:
    known = Connections(Catalog(), env={"ANTHROPIC_API_KEY": "x"}, auth={})
    model = known.open(name)
    assert not isinstance(model, FallbackModel)
    assert model.info.full_name == "anthropic/claude-sonnet-5-5"


def test_a_session_that_remembers_the_first_name_gets_the_list_of_the_settings_again() -> None:
    settings = ("", "anthropic/claude-sonnet-5-5,openai/gpt-6-sol")
    known = Connections(Catalog(), env={"ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "y"}, auth={}, lists=settings)
    assert isinstance(known.open("anthropic/claude-sonnet-5-5"), FallbackModel)


async def test_a_provider_that_asks_for_an_hour_is_not_waited_for() -> None:
    turn = cast("ScriptedTurn", {"error": {"kind": "overload", "retry_after": AWAY + 1}, "repeat": True, "kind": "any"})
    model = FallbackModel([ScriptedModel(turn, info=replace(DEFAULT_INFO, id="a")), working("Here.")])
    with pytest.raises(ModelError, match="Going on with scripted/b"):
        await events_of(model)
    assert text_of(await events_of(model)) == "Here."


async def test_a_provider_that_asks_for_a_moment_is_waited_for() -> None:
    turn = cast("ScriptedTurn", {"error": {"kind": "overload", "retry_after": AWAY}, "repeat": True, "kind": "any"})
    model = FallbackModel([ScriptedModel(turn, info=replace(DEFAULT_INFO, id="a")), working("Here.")])
    with pytest.raises(ModelError) as caught:
        await events_of(model)
    assert "Going on" not in str(caught.value)
