"""How the degrees of reasoning are said to each kind of model, and what is asked for by itself."""

import re
from typing import Any

import pytest

from toolwright.errors import UsageError
from toolwright.models.info import ModelInfo
from toolwright.models.known.families import (
    family_settings,
    is_without_effect,
    require_price,
    require_variant,
    small_options,
    variants,
)


@pytest.mark.parametrize(
    ("api", "reasoning", "profile", "usual", "small", "low", "highest"),
    [
        (
            "openai-chat",
            False,
            {"thinking": "effort", "efforts": ["none", "low", "medium", "high", "max"]},
            {},
            {},
            None,
            None,
        ),
        (
            "openai-chat",
            True,
            {"thinking": "effort", "efforts": ["low", "high"]},
            {},
            {"reasoningEffort": "low"},
            {"reasoningEffort": "low"},
            {"reasoningEffort": "high"},
        ),
        (
            "openai-chat",
            True,
            {"thinking": "effort", "efforts": ["low", "high"], "usual_effort": "high"},
            {},
            {"reasoningEffort": "low"},
            {"reasoningEffort": "low"},
            {"reasoningEffort": "high"},
        ),
        (
            "openai-responses",
            True,
            {"thinking": "effort", "efforts": ["low", "high"], "usual_effort": "high"},
            {"reasoningEffort": "high", "reasoningSummary": "auto"},
            {"reasoningEffort": "low"},
            {"reasoningEffort": "low"},
            {"reasoningEffort": "high"},
        ),
        (
            "openai-responses",
            True,
            {"thinking": "effort", "efforts": ["odd"]},
            {"reasoningSummary": "auto"},
            {},
            None,
            None,
        ),
        (
            "anthropic",
            True,
            {"thinking": "budget", "efforts": ["low", "high"]},
            {},
            {},
            {"thinking": {"type": "enabled", "budgetTokens": 4000}},
            {"thinking": {"type": "enabled", "budgetTokens": 16000}},
        ),
        (
            "anthropic",
            True,
            {"thinking": "adaptive", "efforts": ["low", "max"]},
            {},
            {"thinking": {"type": "adaptive"}, "effort": "low"},
            {"thinking": {"type": "adaptive"}, "effort": "low"},
            {"thinking": {"type": "adaptive"}, "effort": "max"},
        ),
        (
            "openai-chat",
            True,
            {"thinking": "adaptive", "efforts": ["low", "max"]},
            {},
            {"reasoningEffort": "low"},
            {"reasoningEffort": "low"},
            {"reasoningEffort": "max"},
        ),
        (
            "gemini",
            True,
            {"thinking": "budget", "efforts": ["none", "max"]},
            {"thinkingConfig": {"includeThoughts": True}},
            {"thinkingConfig": {"includeThoughts": False, "thinkingBudget": 0}},
            {"thinkingConfig": {"includeThoughts": False, "thinkingBudget": 0}},
            {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 24576}},
        ),
        (
            "gemini",
            True,
            {"thinking": "level", "efforts": ["low", "high"], "usual_effort": "high"},
            {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "high"}},
            {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "low"}},
            {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "low"}},
            {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "high"}},
        ),
        (
            "openai-chat",
            True,
            {"thinking": "switch", "efforts": ["none", "high"]},
            {},
            {"thinking": {"type": "disabled"}},
            {"thinking": {"type": "enabled"}},
            {"thinking": {"type": "enabled"}},
        ),
        (
            "openai-chat",
            True,
            {"thinking": "template", "efforts": ["none", "high"]},
            {},
            {"chat_template_kwargs": {"enable_thinking": False}},
            {"chat_template_kwargs": {"enable_thinking": True}},
            {"chat_template_kwargs": {"enable_thinking": True}},
        ),
        (
            "openai-chat",
            True,
            {"thinking": "template", "efforts": ["none", "high"], "any_effort": True},
            {},
            {"reasoningEffort": "none"},
            {"reasoningEffort": "high"},
            {"reasoningEffort": "high"},
        ),
        (
            "openai-chat",
            True,
            {"thinking": "switch", "any_effort": True},
            {},
            {"reasoningEffort": "low"},
            {"reasoningEffort": "low"},
            {"reasoningEffort": "high"},
        ),
    ],
)
def test_a_degree_is_said_as_the_model_takes_it(
    api: str, reasoning: bool, profile: dict[str, Any], usual: Any, small: Any, low: Any, highest: Any
) -> None:
    info = ModelInfo(provider="p", id="nonesuch", api=api, reasoning=reasoning, profile=profile)
    assert family_settings(info).options == usual
    assert small_options(info) == small
    assert (variants(info).get("low"), variants(info).get("max")) == (low, highest)


@pytest.mark.parametrize(
    ("reasoning", "own", "asked", "problem", "without_effect"),
    [
        (False, {}, "", "", False),
        (False, {}, "high", "set provider.p.models.m.reasoning if it does", False),
        (False, {"mine": {}}, "mine", "", False),
        (False, {"mine": {}}, "high", "There are: mine.", False),
        (True, {}, "high", "", True),
        (True, {}, "huge", "There are: low, medium, high, max.", False),
    ],
)
def test_a_variant_that_a_model_does_not_have_is_refused_with_those_that_it_has(
    reasoning: bool, own: dict[str, Any], asked: str, problem: str, without_effect: bool
) -> None:
    info = ModelInfo(provider="p", id="m", reasoning=reasoning, variants=own, profile={"thinking": "always"})
    assert is_without_effect(info, asked) is without_effect
    if not problem:
        require_variant(info, asked)
        return
    with pytest.raises(UsageError, match=re.escape(problem)):
        require_variant(info, asked)


@pytest.mark.parametrize(
    ("priced", "local", "refused"), [(True, False, False), (False, True, False), (False, False, True)]
)
def test_a_limit_on_costs_needs_a_price_unless_the_model_runs_here(priced: bool, local: bool, refused: bool) -> None:
    info = ModelInfo(provider="p", id="m", priced=priced, local=local)
    if not refused:
        require_price(info)
        return
    with pytest.raises(
        UsageError, match=r"Set provider\.p\.models\.m\.cost in the configuration, or limit tokens instead"
    ):
        require_price(info)
