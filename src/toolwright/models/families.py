"""How models of a family are best asked: sampling, options, and the degrees of reasoning a user may choose from."""

from collections.abc import Mapping
from typing import Any

from toolwright.models.info import ModelInfo
from toolwright.models.model import Settings

Options = Mapping[str, Any]

_SAMPLING: tuple[tuple[str, Mapping[str, float]], ...] = (
    ("qwen", {"temperature": 0.55, "top_p": 1.0}),
    ("gemini", {"temperature": 1.0, "top_p": 0.95, "top_k": 64}),
    ("glm-4.6", {"temperature": 1.0}),
    ("glm-4.7", {"temperature": 1.0}),
    ("minimax-m2.1", {"temperature": 1.0, "top_p": 0.95, "top_k": 40}),
    ("minimax-m2", {"temperature": 1.0, "top_p": 0.95, "top_k": 20}),
    ("kimi-k2-thinking", {"temperature": 1.0}),
    ("kimi-k2", {"temperature": 0.6}),
)
_EFFORTS = ("low", "medium", "high")


def family_settings(info: ModelInfo) -> Settings:
    """What to ask with where neither user nor agent has said otherwise. The model's own options come in here too."""
    name = info.api_id.lower()
    sampling = next((values for family, values in _SAMPLING if family in name), {}) if info.temperature else {}
    top_k = sampling.get("top_k")
    return Settings(
        temperature=sampling.get("temperature"),
        top_p=sampling.get("top_p"),
        top_k=None if top_k is None else int(top_k),
        options={**_options(info, name), **info.options},
    )


def small_options(info: ModelInfo) -> Options:
    """For titles and the like, where long reasoning is money for nothing."""
    name = info.api_id.lower()
    if not info.reasoning:
        return {}
    if info.api == "gemini":
        return {"thinkingConfig": {"thinkingBudget": 0} if "gemini-2" in name else {"thinkingLevel": "minimal"}}
    if "gpt-5" in name:
        return {"reasoningEffort": "low" if "gpt-5." in name else "minimal"}
    return {"reasoningEffort": "low"} if info.api == "openai-responses" else {}


def variants(info: ModelInfo) -> Mapping[str, Options]:
    """Degrees of reasoning by name, as options; those of the configuration win."""
    return {**_variants(info), **info.variants}


def _options(info: ModelInfo, name: str) -> Options:
    if not info.reasoning:
        return {}
    if info.api == "gemini":
        level = {"thinkingLevel": "high"} if "gemini-3" in name else {}
        return {"thinkingConfig": {"includeThoughts": True, **level}}
    if info.api == "openai-responses" and "gpt-5" in name and "chat" not in name:
        effort = {} if "pro" in name else {"reasoningEffort": "medium"}
        terse = {"textVerbosity": "low"} if "gpt-5." in name and "codex" not in name else {}
        return {"reasoningSummary": "auto", **effort, **terse}
    return {}


def _variants(info: ModelInfo) -> Mapping[str, Options]:
    name = info.api_id.lower()
    if not info.reasoning:
        return {}
    match info.api:
        case "anthropic":
            return {
                "high": {"thinking": {"type": "enabled", "budgetTokens": 16_000}},
                "max": {"thinking": {"type": "enabled", "budgetTokens": 31_999}},
            }
        case "gemini" if "gemini-2.5" in name:
            return {
                "high": {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 16_000}},
                "max": {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 24_576}},
            }
        case "gemini":
            return {
                level: {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": level}}
                for level in ("low", "high")
            }
        case "openai-responses" if "gpt-5" in name:
            return {effort: {"reasoningEffort": effort} for effort in ("minimal", *_EFFORTS)}
        case "openai-responses":
            return {effort: {"reasoningEffort": effort} for effort in _EFFORTS}
    if (
        any(family in name for family in ("deepseek", "minimax", "glm", "mistral", "grok"))
        and "grok-3-mini" not in name
    ):
        return {}
    return {effort: {"reasoningEffort": effort} for effort in _EFFORTS}
