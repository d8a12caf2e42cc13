"""Profiles of models: how to speak to each, looked up by its name in one dated table."""

import json
from collections.abc import Collection, Mapping
from dataclasses import field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from toolwright.models.info import ModelInfo
from toolwright.record import record
from toolwright.text.wildcard import matches

TABLE = Path(__file__).parent / "profiles.json"
Thinking = Literal["", "effort", "budget", "adaptive", "level", "switch", "template", "always"]


@record(frozen=True, slots=True, kw_only=True)
class Profile:
    """The options that a family of models takes, and those it refuses."""

    sampling: bool = True
    """Whether temperature and the like may be sent at all."""
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    thinking: Thinking = ""
    """How the degree of reasoning is said: by a word, a number of tokens, or on and off; `always` cannot be changed."""
    efforts: tuple[str, ...] = ()
    """The degrees there are, the weakest first."""
    usual_effort: str = ""
    """The degree to ask for where nobody has said."""
    effort_option: str = "reasoningEffort"
    any_effort: bool = False
    """Whether the provider itself turns such a word into what each model that thinks wants."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Sent along where nobody has said otherwise."""
    output: int = 32_000
    """The most tokens a reply is asked for, even where the model could write more."""
    max_tokens: str = "max_tokens"
    """The field of chat completions that limits a reply."""
    reasoning_field: str = "auto"
    """Where chat completions want earlier reasoning back: in the field it came in (auto), in this one, or in none."""
    call_ids: Literal["as_given", "forty", "nine"] = "as_given"
    """`forty`: at most 40 letters, digits, _ and -. `nine`: nine letters and digits, as Mistral has them."""
    unsigned_calls: bool = False
    """Whether Gemini takes a call of another model without a signature."""
    stream_options: bool = True
    cache_key: bool = False
    cache_marks: bool = False
    needs_tools: bool = False
    """Refuses a history with calls when no tool is declared."""
    parallel_calls: bool = True
    """Whether several calls may stand in one message of the history; else each has one of its own."""
    strict: bool = False
    """Whether the provider is asked to hold the model to the schemas of tools, those that allow it."""
    answers: bool = False
    """Whether the provider is asked to hold the final answer to its schema, with tools on offer."""
    text_calls: bool = False
    """Whether `<tool_call>` in the text is a call, as small models write it."""
    images: bool = False
    """Whether it takes pictures; of a model that the catalogue lists, the catalogue says it."""
    pdfs: bool = False
    """Whether it takes PDF files; the same."""


def profile_of(info: ModelInfo) -> Profile:
    """The profile of a model, with what its own entry says of it on top."""
    rows = _looked_up(info.service.lower(), plain_name(info.api_id), info.api)
    own: dict[str, Any] = dict(info.profile)
    if not info.temperature:
        own["sampling"] = False
    if info.reasoning_field:
        own["reasoning_field"] = info.reasoning_field
    if not own:
        return rows
    known = {one.name: getattr(rows, one.name) for one in fields(Profile)}
    return _made(known | own)


def completed(info: ModelInfo, said: Collection[str]) -> ModelInfo:
    """The entry with what the table says of its family, wherever its record has not `said` it of the model itself."""
    silent = not {"modalities", "attachment"} & set(said)
    if not silent and "reasoning" in said and not info.profile:
        return info
    profile, accepts = profile_of(info), set(info.accepts)
    for kind, name, takes in (("image", "images", profile.images), ("pdf", "pdfs", profile.pdfs)):
        if silent or name in info.profile:
            (accepts.add if takes else accepts.discard)(kind)
    thinks = info.reasoning if "reasoning" in said else _thinks(info)
    return replace(info, accepts=frozenset(accepts), reasoning=thinks)


def _thinks(info: ModelInfo) -> bool:
    """Return whether its family does; a wire format alone says nothing of it."""
    place = (info.service.lower(), plain_name(info.api_id), info.api)
    answers = [row["thinking"] for row in _rows() if "models" in row and "thinking" in row and _fits(row, *place)]
    return bool(answers and answers[-1])


def plain_name(model_id: str) -> str:
    """The form in which names are compared: without folders, in small letters, with - for dots."""
    return model_id.lower().rpartition("/")[2].replace(".", "-").replace(":", "-")


@cache
def _looked_up(provider: str, name: str, api: str) -> Profile:
    values: dict[str, Any] = {}
    for row in _rows():
        if _fits(row, provider, name, api):
            values |= row
    return _made(values)


def _fits(row: Mapping[str, Any], provider: str, name: str, api: str) -> bool:
    asked = ((row.get("models"), name), (row.get("providers"), provider), (row.get("apis"), api))
    return all(wanted is None or any(matches(text, pattern) for pattern in wanted) for wanted, text in asked)


def _made(values: Mapping[str, Any]) -> Profile:
    known = {one.name for one in fields(Profile)}
    chosen = {name: value for name, value in values.items() if name in known}
    if "efforts" in chosen:
        chosen["efforts"] = tuple(chosen["efforts"])
    return Profile(**chosen)


@cache
def _rows() -> tuple[Mapping[str, Any], ...]:
    table = json.loads(TABLE.read_text("utf-8"))
    return tuple(table["rows"])
