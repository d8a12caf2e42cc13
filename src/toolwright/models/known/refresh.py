"""A fresh catalogue from lists that others keep: models.dev's, or litellm's table of prices and limits.

`python -m toolwright.models.known.refresh FILE` writes the catalogue that ships with the program.
"""

import json
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolwright.config.shipped import SNAPSHOT, shipped_snapshot
from toolwright.errors import ToolwrightError
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json

ADDRESS = "https://models.dev/api.json"
LARGEST = 64 * 1024 * 1024

_LITELLM: Mapping[str, str] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "gemini": "google",
    "deepseek": "deepseek",
    "xai": "xai",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "zai": "zai",
    "groq": "groq",
    "cerebras": "cerebras",
    "together_ai": "togetherai",
    "openrouter": "openrouter",
    "github_copilot": "github-copilot",
}
"""Our names for the providers of that table."""
_OTHER_WORK = re.compile(
    r"audio|realtime|search|computer-use|image|tts|^ft:|research|robotics|omni|exp-|guard|customtools"
)
_DATED = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d|\d{4})$")
_LONG = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")


async def fetch(address: str) -> Json:
    """The list at an address or in a file; a ToolwrightError where there is none."""
    import httpx2

    try:
        if "://" not in address:
            return _parsed(Path(address).read_bytes())
        async with httpx2.AsyncClient(timeout=30, follow_redirects=True) as client:
            answer = await client.get(address)
            answer.raise_for_status()
            return _parsed(answer.content[:LARGEST])
    except (OSError, ValueError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ToolwrightError(f"No list of models could be read from {address}: {why}") from error


def _parsed(text: bytes) -> Json:
    value = read_json(text.decode("utf-8"))
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return value


def refreshed(value: Json) -> Json:
    """The providers of the shipped catalogue with the models of another list; whichever of the two kinds it is."""
    lists = (
        _from_litellm(value) if any("litellm_provider" in one for one in _records(value)) else _from_models_dev(value)
    )
    if not lists:
        raise ToolwrightError("The list has no model of a provider that is known here.")
    shipped: Json = shipped_snapshot()["providers"]
    return {
        name: {**record, "models": {**lists[name]} if name in lists else record.get("models", {})}
        for name, record in shipped.items()
    }


def _records(value: Json) -> Iterator[Json]:
    return (one for one in value.values() if isinstance(one, dict))


def _from_models_dev(value: Json) -> dict[str, Json]:
    return {
        name: record["models"] for name, record in value.items() if isinstance(record, dict) and record.get("models")
    }


def _from_litellm(value: Json) -> dict[str, Json]:
    lists: dict[str, Json] = {}
    for key, record in value.items():
        provider = _LITELLM.get(str(record.get("litellm_provider")))
        model = key.partition("/")[2] if "/" in key and not key.startswith(("openai/", "anthropic/")) else key
        if provider and _is_for_us(model, record):
            row = _record(record, own_context=provider != "openai")
            if record["mode"] == "responses" and provider != "openai":
                row["provider"] = {"api": "openai-responses"}
            lists.setdefault(provider, {})[model] = row
    for models in lists.values():
        for model in [one for one in models if _DATED.sub("", one) in models and _DATED.search(one)]:
            del models[model]
    return lists


def _is_for_us(model: str, record: Json) -> bool:
    today = time.strftime("%Y-%m-%d")
    return (
        record.get("mode") in ("chat", "responses")
        and bool(record.get("supports_function_calling"))
        and bool(record.get("max_input_tokens"))
        and str(record.get("deprecation_date") or "9") > today
        and not _OTHER_WORK.search(model)
    )


def _record(record: Json, *, own_context: bool) -> Json:
    context, output = int(record["max_input_tokens"]), int(record.get("max_output_tokens") or 0)
    limit = (
        {"context": context, "output": output}
        if own_context
        else {"context": context + output, "output": output, "input": context}
    )
    flags = {
        "image": "supports_vision",
        "pdf": "supports_pdf_input",
        "audio": "supports_audio_input",
        "video": "supports_video_input",
    }
    row: Json = {
        "limit": limit,
        **({"cost": _cost(record)} if "input_cost_per_token" in record else {}),
        "modalities": {"input": ["text", *(kind for kind, flag in flags.items() if record.get(flag))]},
        "reasoning": bool(record.get("supports_reasoning")),
    }
    if record.get("deprecation_date"):
        row["until"] = record["deprecation_date"]
    return row


def _cost(record: Json, suffix: str = "") -> Json:
    names = {
        "input": "input_cost_per_token",
        "output": "output_cost_per_token",
        "cache_read": "cache_read_input_token_cost",
        "cache_write": "cache_creation_input_token_cost",
    }
    cost: Json = {
        name: round(record[f"{key}{suffix}"] * 1_000_000, 6)
        for name, key in names.items()
        if record.get(f"{key}{suffix}")
    }
    longer = next(filter(None, map(_LONG.fullmatch, record)), None) if not suffix else None
    if longer is not None and record[longer[0]]:
        cost["long"] = {"over": int(longer[1]) * 1000, **_cost(record, f"_above_{longer[1]}k_tokens")}
    return cost


def main() -> None:
    value = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    catalogue = {**shipped_snapshot(), "date": time.strftime("%Y-%m-%d"), "providers": refreshed(value)}
    SNAPSHOT.write_text(_laid_out(catalogue), "utf-8")


def _laid_out(catalogue: Json) -> str:
    """One line a model, so that differences can be read."""
    providers: list[str] = []
    for name, record in catalogue["providers"].items():
        models = [f"    {json.dumps(key)}: {json.dumps(one)}" for key, one in record.get("models", {}).items()]
        inside = ["", *_with_commas(models), "  "] if models else []
        head = json.dumps({key: one for key, one in record.items() if key != "models"}, ensure_ascii=False)[:-1]
        providers.append(f'  {json.dumps(name)}: {head}, "models": {{' + "\n".join(inside) + "}}")
    head = json.dumps({key: one for key, one in catalogue.items() if key != "providers"}, indent=1, ensure_ascii=False)[
        :-2
    ]
    return "\n".join([head + ",", ' "providers": {', *_with_commas(providers), " }", "}"]) + "\n"


def _with_commas(lines: list[str]) -> list[str]:
    return [f"{line}," for line in lines[:-1]] + lines[-1:]


if __name__ == "__main__":
    main()
