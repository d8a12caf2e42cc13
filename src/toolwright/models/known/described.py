"""Providers and models in the shape that clients and plugins of OpenCode read, and back from it."""

from collections.abc import Iterable
from typing import Any

from toolwright.models.info import ModelInfo
from toolwright.models.known.catalog import ProviderInfo
from toolwright.models.known.families import variants
from toolwright.protocols.json_types import Json

_MEDIA = ("text", "audio", "image", "video", "pdf")
_PACKAGES = {
    "anthropic": "@ai-sdk/anthropic",
    "gemini": "@ai-sdk/google",
    "openai-responses": "@ai-sdk/openai",
}


def provider_json(provider: ProviderInfo, models: Iterable[ModelInfo], source: str) -> Json:
    """A provider with its models."""
    options = {"baseURL": provider.base_url} if provider.base_url else {}
    return {
        "id": provider.id,
        "name": provider.name,
        "source": source,
        "env": list(provider.env),
        "options": options,
        "models": {info.id: model_json(info, provider) for info in models},
    }


def model_json(info: ModelInfo, provider: ProviderInfo) -> Json:
    """A model."""
    accepts = {kind: kind in info.accepts for kind in _MEDIA}
    return {
        "id": info.id,
        "providerID": info.provider,
        "name": info.name,
        "family": info.family,
        "api": {
            "id": info.api_id,
            "url": provider.base_url,
            "npm": _PACKAGES.get(info.api, "@ai-sdk/openai-compatible"),
        },
        "capabilities": {
            "temperature": info.temperature,
            "reasoning": info.reasoning,
            "attachment": "image" in info.accepts or "pdf" in info.accepts,
            "toolcall": info.tools,
            "interleaved": {"field": info.reasoning_field} if info.reasoning_field else False,
            "input": accepts,
            "output": {kind: kind == "text" for kind in _MEDIA},
        },
        "cost": {
            "input": info.prices.input,
            "output": info.prices.output,
            "cache": {"read": info.prices.cache_read, "write": info.prices.cache_write},
        },
        "limit": {"context": info.limits.context, "output": info.limits.output},
        "status": info.status or "active",
        "options": {},
        "headers": {},
        "release_date": info.released,
        "variants": {name: {} for name in variants(info)},
    }


def record_of(model: Json) -> Json:
    """A model as the catalogue keeps it, from what a plugin says of one."""
    api, able = _mapping(model.get("api")), _mapping(model.get("capabilities"))
    cost, accepts = _mapping(model.get("cost")), _mapping(able.get("input"))
    cache = _mapping(cost.get("cache"))
    return {
        "id": str(api.get("id") or model.get("id") or ""),
        "name": str(model.get("name") or ""),
        "family": str(model.get("family") or ""),
        "release_date": str(model.get("release_date") or ""),
        "limit": _mapping(model.get("limit")),
        "cost": {**cost, "cache_read": cache.get("read"), "cache_write": cache.get("write")},
        "modalities": {"input": [kind for kind in _MEDIA if accepts.get(kind)] or ["text"]},
        "tool_call": able.get("toolcall", True),
        "reasoning": bool(able.get("reasoning")),
        "temperature": able.get("temperature", True),
        "options": _mapping(model.get("options")),
        "headers": _mapping(model.get("headers")),
        "provider": {"npm": str(api.get("npm") or "")},
    }


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
