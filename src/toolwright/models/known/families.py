"""Families of models: their usual settings, and the degrees of reasoning a user may choose from."""

from collections.abc import Mapping
from typing import Any

from toolwright.errors import UsageError
from toolwright.models.encode import merge
from toolwright.models.info import ModelInfo
from toolwright.models.known.profiles import Profile, profile_of
from toolwright.models.model import ReplySettings

Options = Mapping[str, Any]

DEGREES = ("low", "medium", "high", "max")
"""The names that work for every model that can be told how much to think."""

_ORDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_BUDGETS: Mapping[str, int] = {
    "none": 0,
    "minimal": 1_024,
    "low": 4_000,
    "medium": 8_000,
    "high": 16_000,
    "xhigh": 24_000,
    "max": 31_999,
}
_GEMINI_BUDGETS: Mapping[str, int] = {**_BUDGETS, "max": 24_576}
_WORDS = ("low", "medium", "high")
"""The degrees that every provider has which takes a word for any model."""


def family_settings(info: ModelInfo) -> ReplySettings:
    """Return the settings where neither user nor agent has said otherwise. The model's own options come in here too."""
    profile = profile_of(info)
    return ReplySettings(
        temperature=profile.temperature if profile.sampling else None,
        top_p=profile.top_p if profile.sampling else None,
        top_k=profile.top_k if profile.sampling else None,
        options=merge(_usual_options(info, profile), info.options),
    )


def small_options(info: ModelInfo) -> Options:
    """For titles and the like, where long reasoning is money for nothing."""
    profile = profile_of(info)
    efforts = _efforts(info, profile)
    if not efforts:
        return {}
    weakest = min(efforts, key=_ORDER.index)
    if profile.thinking == "budget" and weakest != "none":
        return {}
    return _options(info, profile, weakest)


def variants(info: ModelInfo) -> Mapping[str, Options]:
    """Degrees of reasoning by name, as options; those of the configuration win."""
    return {**_degrees(info), **info.variants}


def require_variant(info: ModelInfo, asked: str) -> None:
    """Raise where the user asks for a variant that the model does not have.

    The four degrees are taken for every model that thinks, also where they change nothing: see `is_without_effect`.
    """
    known = variants(info) if asked else {}
    if not asked or asked in known or is_without_effect(info, asked):
        return
    there = f"There are: {', '.join(known or DEGREES)}."
    if not info.reasoning and not known:
        place = f"provider.{info.provider}.models.{info.id}.reasoning"
        there = f"It is not known to think before it answers; set {place} if it does."
    raise UsageError(f"{info.full_name} has no variant {asked!r}. {there}")


def is_without_effect(info: ModelInfo, degree: str) -> bool:
    """Return whether the model thinks, but as much as it likes: its provider takes no degree."""
    return info.reasoning and degree in DEGREES and degree not in variants(info)


def require_price(info: ModelInfo) -> None:
    """Raise where a limit on costs could never be kept, because nobody knows what the model costs."""
    if not info.priced and not info.local:
        raise UsageError(
            f"A limit on costs needs a price, and none is known for {info.full_name}. "
            f"Set provider.{info.provider}.models.{info.id}.cost in the configuration, or limit tokens instead."
        )


def _usual_options(info: ModelInfo, profile: Profile) -> Options:
    if not info.reasoning:
        return {}
    options: Options = profile.options
    if info.api == "openai-responses":
        options = {"reasoningSummary": "auto", **options}
    if info.api == "gemini" and profile.thinking in ("level", "budget"):
        options = {"thinkingConfig": {"includeThoughts": True}, **options}
    if profile.usual_effort and info.api != "openai-chat":
        options = merge(_options(info, profile, profile.usual_effort), options)
    return options


def _degrees(info: ModelInfo) -> Mapping[str, Options]:
    profile = profile_of(info)
    efforts = _efforts(info, profile)
    names = [name for name in _ORDER if name in DEGREES or name in efforts] if efforts else ()
    return {name: _options(info, profile, _nearest(name, efforts)) for name in names}


def _efforts(info: ModelInfo, profile: Profile) -> tuple[str, ...]:
    """The degrees that the provider takes for the model."""
    if not info.reasoning:
        return ()
    known = tuple(name for name in profile.efforts if name in _ORDER)
    return known or (_WORDS if profile.any_effort else ())


def _nearest(wanted: str, efforts: tuple[str, ...]) -> str:
    """The degree that comes closest, the stronger one where two do; `none` only for who asks for it or for low."""
    place = _ORDER.index(wanted)
    return min(efforts, key=lambda one: (abs(_ORDER.index(one) - place), -_ORDER.index(one)))


def _options(info: ModelInfo, profile: Profile, effort: str) -> Options:
    """The options that say this degree to the provider."""
    match profile.thinking:
        case "switch" | "template" if profile.any_effort:
            return {profile.effort_option: effort}
        case "adaptive" if info.api == "anthropic":
            return {"thinking": {"type": "adaptive"}, "effort": effort}
        case "budget" if info.api == "gemini":
            return {"thinkingConfig": {"includeThoughts": effort != "none", "thinkingBudget": _GEMINI_BUDGETS[effort]}}
        case "budget" if info.api == "anthropic":
            return {"thinking": {"type": "enabled", "budgetTokens": _BUDGETS[effort]}}
        case "level":
            return {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": effort}}
        case "switch":
            return {"thinking": {"type": "disabled" if effort == "none" else "enabled"}}
        case "template":
            return {"chat_template_kwargs": {"enable_thinking": effort != "none"}}
        case _:
            return {profile.effort_option: effort}
