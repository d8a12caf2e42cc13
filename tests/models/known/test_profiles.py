"""Profiles: what the table says of models, and whether others who know them say the same."""

import importlib.util
import json
from collections.abc import Mapping
from typing import Any

import pytest

from toolwright.errors import UsageError
from toolwright.models.info import ModelInfo
from toolwright.models.known.catalog import Catalog
from toolwright.models.known.families import DEGREES, family_settings, is_without_effect, require_variant, variants
from toolwright.models.known.profiles import TABLE, profile_of


def known(provider: str, model: str, api: str) -> ModelInfo:
    return ModelInfo(provider=provider, id=model, api=api, reasoning=True)


def test_every_row_says_where_it_comes_from() -> None:
    table = json.loads(TABLE.read_text("utf-8"))
    assert table["date"] >= "2026-11-15"
    for row in table["rows"]:
        assert row.get("source") or "apis" in row, row


@pytest.mark.parametrize(
    ("model", "thinking", "sampling"),
    [
        ("claude-opus-5-5", "adaptive", False),
        ("claude-opus-9", "adaptive", False),
        ("anthropic.claude-sonnet-4-6-v1:0", "adaptive", True),
        ("claude-opus-4-5-20251101", "budget", True),
        ("claude-sonnet-4-20250514", "budget", True),
        ("claude-3-5-haiku-latest", "", True),
    ],
)
def test_claude_is_asked_as_its_version_wants(model: str, thinking: str, sampling: bool) -> None:
    profile = profile_of(known("anthropic", model, "anthropic"))
    assert (profile.thinking, profile.sampling) == (thinking, sampling)


@pytest.mark.parametrize(
    ("provider", "model", "api", "name", "options"),
    [
        ("anthropic", "claude-opus-5-5", "anthropic", "max", {"thinking": {"type": "adaptive"}, "effort": "max"}),
        (
            "anthropic",
            "claude-sonnet-4-5",
            "anthropic",
            "low",
            {"thinking": {"type": "enabled", "budgetTokens": 4_000}},
        ),
        ("openai", "gpt-6.1-sol", "openai-responses", "max", {"reasoningEffort": "max"}),
        ("openai", "gpt-5.4", "openai-responses", "max", {"reasoningEffort": "xhigh"}),
        ("openai", "gpt-5", "openai-responses", "max", {"reasoningEffort": "high"}),
        ("openai", "gpt-5-pro", "openai-responses", "low", {"reasoningEffort": "high"}),
        ("openrouter", "openai/gpt-6-sol", "openai-chat", "low", {"reasoning.effort": "low"}),
        ("deepseek", "deepseek-v4-pro", "openai-chat", "medium", {"reasoningEffort": "high"}),
        ("moonshotai", "kimi-k3", "openai-chat", "max", {"reasoningEffort": "max"}),
        ("moonshotai", "kimi-k2.6", "openai-chat", "none", {"thinking": {"type": "disabled"}}),
        ("zai", "glm-5", "openai-chat", "high", {"thinking": {"type": "enabled"}}),
        ("zai", "glm-5.3", "openai-chat", "medium", {"reasoningEffort": "high"}),
        ("xai", "grok-4.7", "openai-chat", "max", {"reasoningEffort": "xhigh"}),
        ("vllm", "Qwen/Qwen3-8B", "openai-chat", "none", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("groq", "openai/gpt-oss-120b", "openai-chat", "max", {"reasoningEffort": "high"}),
        ("mistral", "mistral-medium-latest", "openai-chat", "max", {"reasoningEffort": "high"}),
        ("mistral", "magistral-medium-latest", "openai-chat", "none", {"reasoningEffort": "none"}),
        ("deepseek", "deepseek-v3.2", "openai-chat", "none", {"thinking": {"type": "disabled"}}),
        ("openrouter", "qwen/qwen3.6-plus", "openai-chat", "none", {"reasoning.effort": "none"}),
        ("openrouter", "deepseek/deepseek-r1-0528", "openai-chat", "max", {"reasoning.effort": "high"}),
        ("openrouter", "minimax/minimax-m2", "openai-chat", "low", {"reasoning.effort": "low"}),
    ],
)
def test_a_degree_of_reasoning_is_said_as_the_family_wants(
    provider: str, model: str, api: str, name: str, options: Mapping[str, Any]
) -> None:
    assert variants(known(provider, model, api))[name] == options


def test_gemini_is_given_levels_or_budgets() -> None:
    levels = {
        name: one["thinkingConfig"] for name, one in variants(known("google", "gemini-4-argon", "gemini")).items()
    }
    assert [levels[name]["thinkingLevel"] for name in ("low", "medium", "high", "max")] == [
        "low",
        "medium",
        "high",
        "high",
    ]
    budgets = variants(known("google", "gemini-2.5-flash", "gemini"))
    assert budgets["none"]["thinkingConfig"]["thinkingBudget"] == 0
    assert budgets["max"]["thinkingConfig"]["thinkingBudget"] == 24_576


def test_every_shipped_model_that_thinks_takes_the_four_degrees() -> None:
    catalog = Catalog()
    for provider in catalog.providers():
        for info in catalog.models(provider.id):
            names = set(variants(info))
            assert names == set() or set(DEGREES) <= names, info.full_name
            for degree in DEGREES if info.reasoning else ():
                require_variant(info, degree)


def test_a_degree_that_changes_nothing_is_known_as_such() -> None:
    alone, through = known("deepseek", "deepseek-r1", "openai-chat"), known("openrouter", "deepseek-r1", "openai-chat")
    assert (is_without_effect(alone, "high"), is_without_effect(through, "high")) == (True, False)
    with pytest.raises(UsageError, match="There are: low, medium, high, max"):
        require_variant(alone, "huge")


def test_a_model_that_does_not_think_has_no_degrees() -> None:
    with pytest.raises(UsageError, match=r"not known to think .* set provider\.mine\.models\.m\.reasoning if it does"):
        require_variant(ModelInfo(provider="mine", id="m"), "high")


def test_the_configuration_wins_over_the_table() -> None:
    record = {"profile": {"efforts": ["low", "huge"], "max_tokens": "most"}, "reasoning": True, "temperature": False}
    info = Catalog({"mine": {"models": {"gemma": record}}}).find("mine/gemma")
    profile = profile_of(info)
    assert (profile.efforts, profile.max_tokens, profile.sampling) == (("low", "huge"), "most", False)
    assert variants(info)["max"] == {"reasoningEffort": "low"}


def test_sampling_is_sent_only_where_it_is_taken() -> None:
    assert family_settings(known("moonshotai", "kimi-k2.6", "openai-chat")).temperature is None
    assert family_settings(known("vllm", "Qwen/Qwen3-8B", "openai-chat")).temperature == 0.55


# Another table, kept by others and checked by them against the live services.

CLAUDE = (
    "claude-fable-5-1",
    "claude-opus-5-5",
    "claude-opus-5",
    "claude-opus-4-8",
    "claude-opus-4-6",
    "claude-opus-4-5",
)
MORE_CLAUDE = ("claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5", "claude-haiku-5-5")
GPT = ("gpt-6.1-sol", "gpt-6-astra", "gpt-5.5-pro", "gpt-5-pro", "gpt-5", "gpt-5-mini", "o3")
GEMINI = ("gemini-4-argon", "gemini-3.8-flash", "gemini-3.7-flash", "gemini-3.1-pro-preview", "gemini-3-pro-preview")

judged = pytest.mark.skipif(not importlib.util.find_spec("pydantic_ai"), reason="needs pydantic-ai-slim")


@judged
@pytest.mark.parametrize("model", [*CLAUDE, *MORE_CLAUDE])
def test_pydantic_ai_says_the_same_of_claude(model: str) -> None:
    from pydantic_ai.profiles.anthropic import anthropic_model_profile

    theirs: Any = anthropic_model_profile(model)
    ours = profile_of(known("anthropic", model, "anthropic"))
    assert ours.sampling is not theirs["anthropic_disallows_sampling_settings"]
    assert (ours.thinking == "adaptive") is theirs["anthropic_supports_adaptive_thinking"]
    if ours.thinking == "adaptive":
        assert ("xhigh" in ours.efforts) is theirs["anthropic_supports_xhigh_effort"]
        assert ("max" in ours.efforts) is theirs["anthropic_supports_max_effort"]


@judged
@pytest.mark.parametrize("model", GPT)
def test_pydantic_ai_says_the_same_of_gpt(model: str) -> None:
    from pydantic_ai.profiles.openai import openai_model_profile

    theirs: Any = openai_model_profile(model)
    ours = profile_of(known("openai", model, "openai-responses"))
    assert set(ours.efforts) == set(theirs.get("openai_reasoning_efforts", ours.efforts))
    assert ("none" in ours.efforts) is theirs["openai_supports_reasoning_effort_none"]
    assert ours.strict is theirs.get("openai_supports_strict_tool_definition", True)
    assert not ours.sampling


@judged
@pytest.mark.parametrize("model", ["gpt-5.6", "gpt-6-sol", "gpt-6-luna", "gpt-5.5", "gpt-5.4", "gpt-5.2", "gpt-5.1"])
def test_pydantic_ai_says_too_that_these_can_do_without_thinking(model: str) -> None:
    from pydantic_ai.profiles.openai import openai_model_profile

    theirs: Any = openai_model_profile(model)
    assert theirs["openai_supports_reasoning_effort_none"]
    assert "none" in profile_of(known("openai", model, "openai-responses")).efforts


@judged
@pytest.mark.parametrize("model", GEMINI)
def test_pydantic_ai_says_the_same_of_gemini(model: str) -> None:
    from pydantic_ai.profiles.google import google_model_profile

    theirs: Any = google_model_profile(model)
    ours = profile_of(known("google", model, "gemini"))
    assert {effort.upper() for effort in ours.efforts} == set(theirs["google_thinking_levels"])
    assert (ours.thinking == "level") is theirs["google_supports_thinking_level"]
    assert ours.strict is theirs["google_supports_strict_tool_definition"]


@judged
@pytest.mark.parametrize("model", ["grok-4.3", "grok-4.5", "grok-4.6", "grok-3-mini-x"])
def test_pydantic_ai_says_the_same_of_grok(model: str) -> None:
    from pydantic_ai.profiles.grok import grok_model_profile

    theirs: Any = grok_model_profile(model)
    assert set(profile_of(known("xai", model, "openai-chat")).efforts) == set(theirs["grok_reasoning_efforts"])


MEDIA = {"togetherai/deepseek-ai/DeepSeek-V4.1-Flash": "served there without pictures"}
"""Models that take other files than the rest of their family."""


def test_families_take_the_files_that_the_catalogue_says_of_their_models() -> None:
    catalog = Catalog()
    models = [info for provider in catalog.providers() for info in catalog.models(provider.id)]
    differing = [
        info.full_name
        for info in models
        if ("image" in info.accepts, "pdf" in info.accepts) != (profile_of(info).images, profile_of(info).pdfs)
    ]
    assert differing == list(MEDIA)


DIFFERENCES = {
    "openai/daybreak-red-latest": "not in their table; litellm's says that it thinks",
    "openai/gpt-daybreak-red-latest": "the same",
    "openai/daybreak-blue-latest": "the same",
    "openai/gpt-daybreak-blue-latest": "the same",
    "openai/chat-latest": "an alias that moves on; litellm's table says that it thinks",
    "google/learnlm-1.5-pro-experimental": "no Gemini by its name; strict schemas are asked of none that is not known",
    "xai/grok-4.7": "theirs leaves out xhigh, which its own comment says the model takes",
    "deepseek/deepseek-flash": "not in their table; litellm's says that it thinks",
    "deepseek/deepseek-v3.2": "the same; its own interface has a switch",
}
"""Where our table says something else than theirs on purpose."""


@judged
def test_of_all_shipped_models_of_six_providers_these_alone_are_judged_otherwise() -> None:
    catalog = Catalog()
    makers = ("anthropic", "openai", "google", "xai", "deepseek", "moonshotai")
    differing = [
        info.full_name
        for maker in makers
        for info in catalog.models(maker)
        if _ours(info) != _theirs(info, _ours(info))
    ]
    assert set(differing) == set(DIFFERENCES)


def _ours(info: ModelInfo) -> dict[str, Any]:
    profile = profile_of(info)
    return {
        "sampling": profile.sampling,
        "thinks": bool(profile.thinking),
        "kind": profile.thinking,
        "efforts": {effort.lower() for effort in profile.efforts},
        "strict": profile.strict,
    }


def _theirs(info: ModelInfo, ours: dict[str, Any]) -> dict[str, Any]:
    """What their table says of the same things; as ours where it says nothing."""
    made: Any = importlib.import_module(f"pydantic_ai.profiles.{_MODULES.get(info.provider, info.provider)}")
    table: Any = getattr(made, f"{_MODULES.get(info.provider, info.provider)}_model_profile")(info.id) or {}
    said: dict[str, Any] = {}
    match info.provider:
        case "anthropic":
            adaptive = table["anthropic_supports_adaptive_thinking"]
            said["sampling"] = not table["anthropic_disallows_sampling_settings"]
            said["kind"] = "adaptive" if adaptive else ours["kind"].replace("adaptive", "budget")
        case "openai":
            said["thinks"] = bool(table.get("supports_thinking"))
            said["efforts"] = set(table.get("openai_reasoning_efforts") or ours["efforts"])
        case "google":
            level = table["google_supports_thinking_level"]
            said["kind"] = "level" if level else ours["kind"].replace("level", "budget")
            said["efforts"] = {one.lower() for one in table.get("google_thinking_levels", ours["efforts"])}
            said["strict"] = table["google_supports_strict_tool_definition"]
        case "xai":
            said["efforts"] = set(table.get("grok_reasoning_efforts") or ours["efforts"])
        case _:
            said["thinks"] = bool(table.get("supports_thinking"))
    return {**ours, **said}


_MODULES = {"xai": "grok"}
