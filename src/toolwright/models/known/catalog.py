"""The catalogue of models: a snapshot that ships with the program, under what the user has configured."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from toolwright.config.auth import ACCOUNT
from toolwright.config.shipped import shipped_snapshot
from toolwright.errors import UsageError
from toolwright.models.encode import merge
from toolwright.models.info import LONG, ModelInfo, ModelLimits, Prices
from toolwright.models.known.profiles import completed
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import JsonView
from toolwright.record import record

DEFAULT_API = "openai-chat"
NAMED = 10
"""How many names an error lists."""
"""The wire format of a provider that names none."""


@record(frozen=True, slots=True, kw_only=True)
class ProviderInfo:
    """A provider: how it is reached, and the names under which its key may lie in the environment."""

    id: str
    """Its name; with `@` and another behind it, an account there with a key of its own, such as `openai@work`."""
    name: str
    env: tuple[str, ...] = ()
    api: str = DEFAULT_API
    """The wire format."""
    base_url: str = ""
    any_model: bool = False
    """Whether it serves models that no catalogue lists, such as a local server does."""
    own_address: bool = False
    """Whether everybody reaches it at an address of their own, which the configuration must name."""
    wires: Mapping[str, str] = field(default_factory=dict[str, str])
    """The wire formats of models whose names begin so, for a gateway that keeps each maker's own."""
    options: JsonView = field(default_factory=dict[str, Any])

    @property
    def service(self) -> str:
        """The provider itself, whatever the account."""
        return self.id.partition(ACCOUNT)[0]

    @property
    def is_account(self) -> bool:
        return ACCOUNT in self.id

    def api_of(self, model_id: str) -> str:
        """The wire format of a model that no list has."""
        return next((wire for start, wire in self.wires.items() if model_id.startswith(start)), self.api)


class Catalog:
    """Providers and models by name. Built from records; nothing is fetched."""

    def __init__(
        self,
        configured: JsonView | None = None,
        snapshot: JsonView | None = None,
        *,
        fetched: Path | None = None,
        disabled: Iterable[str] = (),
        enabled: Iterable[str] = (),
        accounts: Iterable[str] = (),
    ) -> None:
        """`configured` is the `provider` section of the configuration; it wins, key by key.

        `fetched` is the file that `tw models --refresh` writes; it takes the place of the list that ships. Providers
        that are `disabled`, or not among those `enabled` if any are, do not exist. `accounts` are those with a key.
        """
        shipped = snapshot or _refreshed(fetched) or shipped_snapshot()["providers"]
        self._shipped = frozenset(shipped)
        wanted, unwanted = frozenset(enabled), frozenset(disabled)
        self._configured = configured or {}
        records = merge(shipped, self._configured)
        self._records: JsonView = {
            name: entry for name, entry in records.items() if name not in unwanted and (not wanted or name in wanted)
        }

        self.accounts = set(accounts)

    def providers(self) -> Iterator[ProviderInfo]:
        """The providers, each followed by the accounts there."""
        for name in self._records:
            yield self.provider(name)
            own = (one for one in self.accounts - self._records.keys() if one.partition(ACCOUNT)[0] == name)
            yield from map(self.provider, sorted(own))

    def _record_of(self, provider_id: str) -> JsonView | None:
        """Return the record of a provider; an account has all of it but the key."""
        record: JsonView | None = self._records.get(provider_id)
        name, _, account = provider_id.partition(ACCOUNT)
        shared = self._records.get(name)
        if not account or not isinstance(shared, Mapping):
            return record
        options = {key: value for key, value in (shared.get("options") or {}).items() if key != "apiKey"}
        own = {"name": f"{shared.get('name') or name} ({account})", "env": (), "options": options}
        return merge({**shared, **own}, record or {})

    def provider(self, provider_id: str) -> ProviderInfo:
        record = self._record_of(provider_id)
        if not isinstance(record, Mapping):
            raise UsageError(f"There is no provider {provider_id!r}.{_nearest(provider_id, self._records)}")
        options = record.get("options") or {}
        return ProviderInfo(
            id=provider_id,
            name=record.get("name") or provider_id,
            env=tuple(record.get("env") or ()),
            api=_api_of(record),
            base_url=options.get("baseURL") or _address_of(record),
            any_model=bool(record.get("any_model")) or provider_id.partition(ACCOUNT)[0] not in self._shipped,
            own_address=bool(record.get("own_address")),
            wires=record.get("wires") or {},
            options=options,
        )

    def models(self, provider_id: str) -> Iterator[ModelInfo]:
        """The provider's models, without those that the user has left out."""
        record = self._record_of(provider_id) or {}
        wanted, unwanted = record.get("whitelist"), record.get("blacklist") or ()
        for model_id, entry in (record.get("models") or {}).items():
            if model_id not in unwanted and (not wanted or model_id in wanted):
                yield model_info(provider_id, model_id, entry, api=_api_of(record))

    def offer(self, provider_id: str, models: JsonView) -> None:
        """Put these models in the place of a provider's own; what the user has configured of one stays."""
        known = self._records.get(provider_id) or {"name": provider_id}
        configured = (self._configured.get(provider_id) or {}).get("models") or {}
        self._records = {**self._records, provider_id: {**known, "models": merge(models, configured)}}

    def find(self, name: str) -> ModelInfo:
        """The model called `provider/model`.

        A model that is not listed is taken for a newer version of one whose name differs only in numbers; any
        other unknown name is an error with the nearest names, unless the provider serves whatever it likes.
        """
        provider_id, _, model_id = name.partition("/")
        if not model_id and provider_id not in self._records and (meant := self._begun(name)):
            raise UsageError(f"{name!r} names no provider. Write provider/model, such as {' or '.join(meant)}.")
        provider = self.provider(provider_id)
        if not model_id:
            raise UsageError(f"{name!r} names no model. Write it as provider/model.{self._some(provider_id)}")
        models = {info.id: info for info in self.models(provider_id)}
        if model_id in models:
            return models[model_id]
        alike = (info for info in models.values() if _words(info.id) == _words(model_id))
        sibling = max(alike, key=lambda info: version_of(info.id), default=None)
        if sibling is not None:
            return replace(sibling, id=model_id, api_id=model_id, name=model_id, known=False, guessed_from=sibling.id)
        if provider.any_model:
            api = provider.api_of(model_id)
            unlisted = ModelInfo(provider=provider_id, id=model_id, api=api, known=False, priced=False)
            return completed(unlisted, ())
        raise UsageError(
            f"{provider.name} has no model {model_id!r} that is known here.{_nearest(model_id, models)} "
            f"To use it all the same, add it to the configuration under provider.{provider_id}.models."
        )

    def _begun(self, name: str) -> list[str]:
        """The newest models whose own name begins so."""
        found = [info for one in self._records for info in self.models(one) if info.id.startswith(name.lower())]
        return [info.full_name for info in sorted(found, key=lambda info: info.released, reverse=True)[:3]]

    def _some(self, provider_id: str) -> str:
        names = [info.full_name for info in self.models(provider_id)][:3]
        return f" There are: {', '.join(names)}." if names else ""


def model_info(provider_id: str, model_id: str, record: JsonView, *, api: str = DEFAULT_API) -> ModelInfo:
    """A record of the catalogue or of the configuration; what it leaves out is as in the model's family, or not known.

    `api` is the provider's wire format, unless the record has one of its own.
    """
    limit, kinds = record.get("limit") or {}, (record.get("modalities") or {}).get("input")
    accepts = frozenset(kinds) if kinds else frozenset({"text", "image"} if record.get("attachment") else {"text"})
    interleaved = record.get("interleaved")
    info = ModelInfo(
        provider=provider_id,
        id=model_id,
        api_id=record.get("id") or model_id,
        name=record.get("name") or model_id,
        api=_named_api(record.get("provider") or {}) or api,
        family=record.get("family") or "",
        released=record.get("release_date") or "",
        status=record.get("status") or "",
        limits=ModelLimits(**{name: int(limit.get(name) or 0) for name in ("context", "output", "input")}),
        prices=_prices(record.get("cost") or {}),
        accepts=accepts,
        tools=record.get("tool_call", True),
        reasoning=bool(record.get("reasoning")),
        temperature=record.get("temperature", True),
        reasoning_field=interleaved.get("field", "") if isinstance(interleaved, Mapping) else "",
        options=record.get("options") or {},
        headers=record.get("headers") or {},
        variants=record.get("variants") or {},
        profile=record.get("profile") or {},
        priced=record.get("cost") is not None,
        until=record.get("until") or "",
    )
    return completed(info, record)


def _refreshed(file: Path | None) -> JsonView | None:
    """The providers of a list that the user has fetched; None where there is none, or it is damaged."""
    try:
        snapshot = read_json(file.read_text("utf-8")) if file is not None else None
    except (OSError, ValueError):
        return None
    return snapshot["providers"] if isinstance(snapshot, dict) and isinstance(snapshot.get("providers"), dict) else None


def _prices(cost: JsonView) -> Prices:
    long = cost.get("long") or cost.get("context_over_200k")
    numbers: dict[str, Any] = {
        name: float(cost.get(name) or 0) for name in ("input", "output", "cache_read", "cache_write")
    }
    prices = Prices(**numbers)
    if not isinstance(long, Mapping):
        return prices
    return replace(prices, long=_prices(long), long_from=int(long.get("over") or LONG))


_NPM: Mapping[str, str] = {
    "@ai-sdk/openai-compatible": "openai-chat",
    "@ai-sdk/openai": "openai-responses",
    "@ai-sdk/azure": "openai-responses",
    "@ai-sdk/anthropic": "anthropic",
    "@ai-sdk/google": "gemini",
    "@ai-sdk/groq": "openai-chat",
    "@ai-sdk/xai": "openai-chat",
    "@ai-sdk/mistral": "openai-chat",
    "@ai-sdk/cerebras": "openai-chat",
    "@ai-sdk/deepinfra": "openai-chat",
    "@ai-sdk/togetherai": "openai-chat",
    "@ai-sdk/perplexity": "openai-chat",
    "@openrouter/ai-sdk-provider": "openai-chat",
}
"""The wire formats behind the npm packages that people have in their configuration."""


def _named_api(record: JsonView) -> str:
    """The wire format that a record names; empty if none. Others keep a base URL in `api`."""
    api, npm = str(record.get("api") or ""), str(record.get("npm") or "")
    return api if api and "://" not in api else _NPM.get(npm, npm)


def _api_of(record: JsonView) -> str:
    return _named_api(record) or str(record.get("wire") or DEFAULT_API)


def _address_of(record: JsonView) -> str:
    api = str(record.get("api") or "")
    return api if "://" in api else str(record.get("base_url") or "")


def _words(model_id: str) -> list[str]:
    """Return the words of a name without versions and dates."""
    words = re.findall(r"[a-z]+", model_id.lower().rpartition("/")[2])
    return [word for word in words if word not in {"latest", "preview"}]


def version_of(model_id: str) -> list[int]:
    """The numbers in a name, for finding the newest; years and dates say less than versions do."""
    return [int(number) for number in re.findall(r"\d+", model_id) if len(number) < 4]


def _nearest(wanted: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    known = list(names)
    near = get_close_matches(wanted, known, n=3, cutoff=0.65)
    if near:
        return f" Did you mean {' or '.join(map(repr, near))}?"
    more = f", and {len(known) - NAMED} more (`tw models` lists them)" if len(known) > NAMED else ""
    return f" There are: {', '.join(known[:NAMED])}{more}." if known else ""
