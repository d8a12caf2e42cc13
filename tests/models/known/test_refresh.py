"""A newer list of models, from a file or an address, in either of two forms."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.models.server import Answer, Server
from toolwright.errors import ToolwrightError
from toolwright.models.known.catalog import Catalog
from toolwright.models.known.refresh import fetch, refreshed

MODELS_DEV = {
    "openai": {
        "id": "openai",
        "models": {"gpt-9": {"limit": {"context": 1, "output": 1}, "cost": {"input": 7, "output": 8}}},
    },
    "nobody": {"id": "nobody", "models": {"x": {}}},
}
LITELLM: dict[str, Any] = {
    "sample_spec": {"litellm_provider": "one of the list"},
    "gpt-9": {
        "litellm_provider": "openai",
        "mode": "chat",
        "supports_function_calling": True,
        "supports_reasoning": True,
        "supports_vision": True,
        "max_input_tokens": 900_000,
        "max_output_tokens": 100_000,
        "input_cost_per_token": 2e-06,
        "output_cost_per_token": 1e-05,
        "input_cost_per_token_above_272k_tokens": 4e-06,
        "output_cost_per_token_above_272k_tokens": 2e-05,
    },
    "gemini/gemini-9": {
        "litellm_provider": "gemini",
        "mode": "chat",
        "supports_function_calling": True,
        "max_input_tokens": 1000,
    },
}
LITELLM["gpt-9-2026-12-01"] = LITELLM["gpt-9"]
LITELLM["gpt-8"] = {**LITELLM["gpt-9"], "deprecation_date": "2020-01-01"}
LITELLM["gpt-9-audio"] = LITELLM["gpt-9"]
LITELLM["embedding"] = {"litellm_provider": "openai", "mode": "embedding"}


def test_a_table_of_litellm_becomes_a_catalogue() -> None:
    catalog = Catalog(snapshot=refreshed(LITELLM))
    assert [info.id for info in catalog.models("openai")] == ["gpt-9"]
    info = catalog.find("openai/gpt-9")
    assert (info.limits.context, info.limits.input, info.limits.output) == (1_000_000, 900_000, 100_000)
    assert (info.prices.input, info.prices.output, info.reasoning) == (2, 10, True)
    assert info.prices.long is not None
    assert (info.prices.long.input, info.prices.long_from) == (4, 272_000)
    assert info.accepts == {"text", "image"}
    assert catalog.find("google/gemini-9").limits.context == 1000
    assert catalog.find("anthropic/claude-opus-5-5").known, "what the list does not have stays as it was"


def test_a_list_of_models_dev_becomes_a_catalogue() -> None:
    catalog = Catalog(snapshot=refreshed(MODELS_DEV))
    assert catalog.find("openai/gpt-9").prices.input == 7
    assert "nobody" not in [provider.id for provider in catalog.providers()]


async def test_a_list_is_fetched_from_an_address(server: Server) -> None:
    text = json.dumps(MODELS_DEV).encode()
    server.answer(Answer(pieces=[text], headers={"content-type": "application/json"}))
    assert await fetch(server.url) == MODELS_DEV


@pytest.mark.parametrize("text", ["", "[]", "<html>"])
async def test_what_is_no_list_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "list.json").write_text(text)
    with pytest.raises(ToolwrightError, match="No list of models could be read"):
        await fetch(str(tmp_path / "list.json"))
    with pytest.raises(ToolwrightError, match="has no model"):
        refreshed({"nobody": {}})
