"""Which models there are, what they can, and what a reply costs."""

from typing import Any

import pytest

from toolwright.errors import UsageError
from toolwright.models.info import LONG, ModelInfo, ModelLimits, Prices, Usage
from toolwright.models.known.catalog import Catalog
from toolwright.models.known.families import family_settings, small_options, variants


def test_a_shipped_model_is_found() -> None:
    info = Catalog().find("anthropic/claude-sonnet-4-5")
    assert (info.full_name, info.api_id, info.api) == ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5", "anthropic")
    assert info.limits == ModelLimits(context=200_000, output=64_000)
    assert info.accepts == {"text", "image", "pdf"}
    assert info.known


def test_every_shipped_entry_is_complete() -> None:
    """Limits and prices of every model, an address for every provider."""
    catalog = Catalog()
    models = [info for provider in catalog.providers() for info in catalog.models(provider.id)]
    assert len(models) >= 150
    for info in models:
        assert info.limits.context >= info.limits.output >= 0, info.full_name
        assert info.limits.context > 0
        assert info.prices.output >= info.prices.input >= 0, info.full_name
        assert info.priced
        assert "text" in info.accepts
    for provider in catalog.providers():
        if provider.api == "pydantic-ai":  # that library knows the address, and takes the keys there are
            continue
        assert provider.base_url.startswith("http") or provider.own_address
        assert provider.api in {"openai-chat", "openai-responses", "anthropic", "gemini"}
        assert provider.env or provider.base_url.startswith("http://localhost")


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("anthropic/claude-opus-6", "claude-opus-5-5"),
        ("openai/gpt-6.1-codex", "gpt-5.3-codex"),
        ("google/gemini-3.9-flash", "gemini-3.8-flash"),
        ("mistral/mistral-large-2712", "mistral-large-4-0"),
    ],
)
def test_a_newer_version_is_taken_to_be_like_the_one_we_know(name: str, like: str) -> None:
    catalog = Catalog()
    info, known = catalog.find(name), catalog.find(f"{name.split('/')[0]}/{like}")
    assert (info.full_name, info.api_id, info.known) == (name, name.split("/")[1], False)
    assert info.guessed_from == like
    assert (info.limits, info.accepts, info.api) == (known.limits, known.accepts, known.api)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("anthropic/claude-sonet-4-5", "Did you mean 'claude-sonnet-4-5'"),
        ("anthropic/claude-sonet-4-5", "add it to the configuration under provider.anthropic.models"),
        ("antropic/claude-sonnet-4-5", "There is no provider 'antropic'. Did you mean 'anthropic'?"),
        ("claude-sonnet-4-5", "Write provider/model, such as anthropic/claude-sonnet-4-5"),
        ("anthropic", "Write it as provider/model. There are: anthropic/claude"),
        ("anthropic/", "names no model"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        Catalog().find(name)
    assert words in str(caught.value)


def test_a_provider_that_serves_anything_is_asked_for_anything() -> None:
    assert Catalog().find("ollama/own-model:8b") == ModelInfo(
        provider="ollama", id="own-model:8b", api="openai-chat", known=False, priced=False
    )
    mine = Catalog({"mine": {"options": {"baseURL": "http://host/v1"}}})
    assert mine.find("mine/a/b").api_id == "a/b"


@pytest.mark.parametrize(
    ("name", "accepts", "degrees"),
    [
        ("ollama/qwen3:8b", "", True),
        ("ollama/gemma3:4b", "image", False),
        ("ollama/gemma2:9b", "", False),
        ("ollama/qwen2.5vl:7b", "image", False),
        ("vllm/Qwen/Qwen3-VL-8B", "image", True),
        ("lmstudio/openai/gpt-oss-20b", "", True),
        ("ollama/llama3.2-vision:11b", "image", False),
        ("llamacpp/mistral-small-3.2", "image", False),
        ("azure/gpt-6-sol", "image pdf", True),
        ("mine/claude-opus-7", "image pdf", True),
        ("mine/claude-2.1", "", False),
        ("mine/gemini-3.9-pro", "image pdf", True),
        ("mine/o3-mini", "", True),
        ("mine/glm-4.6v", "image", True),
        ("mine/something-vl-7b", "image", False),
    ],
)
def test_a_model_that_no_list_has_is_like_its_family(name: str, accepts: str, degrees: bool) -> None:
    info = Catalog({"mine": {"options": {"baseURL": "http://host/v1"}}}).find(name)
    assert info.accepts == {"text", *accepts.split()}
    assert bool(variants(info)) is degrees


def test_what_is_said_of_one_model_wins_over_its_family() -> None:
    records = {
        "gemma3:4b": {"modalities": {"input": ["text"]}},
        "qwen3:8b": {"reasoning": False},
        "odd": {"profile": {"images": True}},
        "llava": {"profile": {"images": False}},
    }
    catalog = Catalog({"ollama": {"models": records}})
    accepts = {name: catalog.find(f"ollama/{name}").accepts for name in records}
    assert accepts == {"gemma3:4b": {"text"}, "qwen3:8b": {"text"}, "odd": {"text", "image"}, "llava": {"text"}}
    assert variants(catalog.find("ollama/qwen3:8b")) == {}
    shipped = Catalog({"anthropic": {"models": {"claude-opus-5-5": {"profile": {"pdfs": False}}}}})
    assert shipped.find("anthropic/claude-opus-5-5").accepts == {"text", "image"}


def test_the_configuration_wins_key_by_key() -> None:
    record = {"limit": {"output": 1000}, "cost": {"input": 9, "long": {"over": 1000, "input": 10}}, "name": "Mine"}
    catalog = Catalog({"anthropic": {"models": {"claude-sonnet-4-5": record, "new": {"id": "claude-new"}}}})
    info = catalog.find("anthropic/claude-sonnet-4-5")
    assert (info.name, info.limits) == ("Mine", ModelLimits(context=200_000, output=1000))
    assert (info.prices.input, info.prices.output) == (9, 15)
    assert info.prices.long == Prices(input=10)
    assert info.prices.long_from == 1000
    assert catalog.find("anthropic/new").api_id == "claude-new"


def test_a_configured_model_is_modest_until_said_otherwise() -> None:
    info = Catalog({"mine": {"models": {"m": {}}}}).find("mine/m")
    assert info == ModelInfo(provider="mine", id="m", api="openai-chat", priced=False)
    assert (info.tools, info.reasoning, info.accepts) == (True, False, frozenset({"text"}))


def test_models_can_be_left_out() -> None:
    catalog = Catalog({"anthropic": {"blacklist": ["claude-opus-4-8"]}, "openai": {"whitelist": ["o3"]}})
    assert "claude-opus-4-8" not in [info.id for info in catalog.models("anthropic")]
    assert [info.id for info in catalog.models("openai")] == ["o3"]


@pytest.mark.parametrize(
    ("record", "api", "url"),
    [
        ({}, "openai-chat", ""),
        ({"api": "gemini"}, "gemini", ""),
        ({"npm": "@ai-sdk/anthropic"}, "anthropic", ""),
        ({"npm": "@ai-sdk/openai"}, "openai-responses", ""),
        ({"npm": "@ai-sdk/google"}, "gemini", ""),
        ({"npm": "@ai-sdk/openai-compatible", "api": "https://host/v1"}, "openai-chat", "https://host/v1"),
        ({"api": "https://host/v1", "options": {"baseURL": "https://other/v1"}}, "openai-chat", "https://other/v1"),
        ({"npm": "@acme/other"}, "@acme/other", ""),
    ],
)
def test_the_wire_format_is_told_by_either_name(record: dict[str, Any], api: str, url: str) -> None:
    provider = Catalog({"mine": record}).provider("mine")
    assert (provider.api, provider.base_url) == (api, url)


def test_a_model_may_speak_another_format_than_its_provider() -> None:
    record = {"npm": "@ai-sdk/openai-compatible", "models": {"c": {"provider": {"npm": "@ai-sdk/anthropic"}}, "d": {}}}
    catalog = Catalog({"zen": record})
    assert (catalog.find("zen/c").api, catalog.find("zen/d").api) == ("anthropic", "openai-chat")


def test_an_address_of_ones_own_does_not_change_the_format() -> None:
    provider = Catalog({"anthropic": {"api": "https://proxy/v1"}}).provider("anthropic")
    assert (provider.api, provider.base_url) == ("anthropic", "https://proxy/v1")


PRICES = Prices(input=3, output=15, cache_read=0.3, cache_write=3.75, long=Prices(input=6, output=22.5, cache_read=0.6))


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(), 0),
        (Usage(input=1_000), 0.003),
        (Usage(output=15, reasoning=5), 20 * 15 / 1e6),
        (Usage(cache_read=10_000, cache_write=1_000), 0.003 + 0.00375),
        (Usage(input=LONG), 0.6),
        (Usage(input=LONG, cache_read=1), (LONG * 6 + 0.6) / 1e6),
    ],
)
def test_a_reply_costs_what_was_used(usage: Usage, cost: float) -> None:
    assert PRICES.cost(usage) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("name", "temperature", "options"),
    [
        ("anthropic/claude-sonnet-4-5", None, {}),
        ("google/gemini-2.5-pro", 1.0, {"thinkingConfig": {"includeThoughts": True}}),
        ("google/gemini-3.1-pro-preview", 1.0, {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "high"}}),
        ("openai/gpt-5", None, {"reasoningSummary": "auto", "reasoningEffort": "medium"}),
        ("openai/gpt-5.1", None, {"reasoningSummary": "auto", "reasoningEffort": "medium", "textVerbosity": "low"}),
        ("openai/gpt-4.1", None, {}),
        ("ollama/qwen3-coder", 0.55, {}),
        ("moonshotai/kimi-k2.6", None, {}),
    ],
)
def test_families_are_asked_in_their_own_way(name: str, temperature: float | None, options: dict[str, Any]) -> None:
    settings = family_settings(Catalog().find(name))
    assert (settings.temperature, settings.options) == (temperature, options)


def test_options_of_the_model_win_over_those_of_the_family() -> None:
    catalog = Catalog({"openai": {"models": {"gpt-5": {"options": {"reasoningEffort": "high"}}}}})
    assert family_settings(catalog.find("openai/gpt-5")).options["reasoningEffort"] == "high"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("openai/gpt-5-nano", {"reasoningEffort": "minimal"}),
        ("openai/gpt-5.1", {"reasoningEffort": "none"}),
        ("google/gemini-2.5-flash", {"thinkingConfig": {"includeThoughts": False, "thinkingBudget": 0}}),
        ("google/gemini-3-flash-preview", {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "minimal"}}),
        ("anthropic/claude-haiku-4-5", {}),
        ("openai/gpt-4o", {}),
    ],
)
def test_small_tasks_get_little_reasoning(name: str, options: dict[str, Any]) -> None:
    assert small_options(Catalog().find(name)) == options


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("anthropic/claude-opus-4-5", ["low", "medium", "high", "max"]),
        ("openai/gpt-5", ["minimal", "low", "medium", "high", "max"]),
        ("openai/o3", ["low", "medium", "high", "max"]),
        ("google/gemini-2.5-pro", ["low", "medium", "high", "max"]),
        ("google/gemini-3.1-pro-preview", ["low", "medium", "high", "max"]),
        ("xai/grok-4.20", []),
        ("openai/gpt-4o", []),
        ("openrouter/openai/gpt-5.1", ["none", "low", "medium", "high", "max"]),
    ],
)
def test_degrees_of_reasoning_have_names(name: str, names: list[str]) -> None:
    assert list(variants(Catalog().find(name))) == names


def test_configured_degrees_are_added() -> None:
    catalog = Catalog({"openai": {"models": {"gpt-4o": {"variants": {"careful": {"temperature": 0}}}}}})
    assert variants(catalog.find("openai/gpt-4o")) == {"careful": {"temperature": 0}}


@pytest.mark.parametrize(
    ("name", "api", "url"),
    [
        ("opencode/claude-sonnet-4-6", "anthropic", "https://opencode.ai/zen/v1"),
        ("opencode/gpt-5.4", "openai-responses", "https://opencode.ai/zen/v1"),
        ("opencode/gemini-3-pro", "gemini", "https://opencode.ai/zen/v1"),
        ("opencode/big-pickle", "openai-chat", "https://opencode.ai/zen/v1"),
        ("perplexity/sonar-pro", "openai-chat", "https://api.perplexity.ai"),
        ("huggingface/moonshotai/Kimi-K2", "openai-chat", "https://router.huggingface.co/v1"),
        ("minimax/MiniMax-M2", "anthropic", "https://api.minimax.io/anthropic/v1"),
        ("amazon-bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "pydantic-ai", ""),
    ],
)
def test_providers_of_the_reference_are_known_with_their_formats(name: str, api: str, url: str) -> None:
    catalog = Catalog()
    info = catalog.find(name)
    assert (info.api, info.full_name, catalog.provider(info.provider).base_url) == (api, name, url)
