"""From a name such as `anthropic/claude-sonnet-5-5` to a model that answers."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolwright.config.auth import ACCOUNT, AuthFile
from toolwright.errors import ConfigError
from toolwright.models.formats.wire import HttpModel, Wire
from toolwright.models.info import ModelInfo
from toolwright.models.known.catalog import Catalog, ProviderInfo
from toolwright.models.logins import PROVIDERS
from toolwright.models.model import Model, ModelError
from toolwright.models.transport.endpoint import SILENCE, Address, Endpoint, RequestLogin, Transport, is_local
from toolwright.models.transport.fallback import FallbackModel
from toolwright.protocols.json_types import JsonView
from toolwright.record import record

_USUAL_URL: Mapping[str, str] = {
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
}


def connect(
    provider_id: str,
    model_id: str,
    provider_config: JsonView | None = None,
    env: Mapping[str, str] | None = None,
    auth: JsonView | None = None,
) -> Model:
    """One model, ready to be asked. `auth` is the provider's record of the auth file. Nothing is sent yet."""
    configured = {} if provider_config is None else {provider_id: provider_config}
    records = {} if auth is None else {provider_id: auth}
    return Connections(Catalog(configured), env=env or {}, auth=records).open(f"{provider_id}/{model_id}")


class Connections:
    """The models of one workspace: each opened once, those of one provider over the same connections."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        env: Mapping[str, str],
        auth: JsonView,
        lists: Iterable[str] = (),
        file: AuthFile | None = None,
    ) -> None:
        """`auth` holds the records of the auth file by provider, and `file` is that file, in which logins are renewed.

        `lists` are models to fall back on, see `open`.
        """
        self.catalog = catalog
        self._env = env
        self._auth = auth
        self._file = file
        self._lists = {name.partition(",")[0].strip(): name for name in lists if "," in name}
        self._models: dict[str, Model] = {}
        self._endpoints: dict[tuple[str, str], Endpoint] = {}
        self._taken: dict[str, Callable[[str, str], Transport]] = {}
        """Providers whose requests somebody else sends, once there is a login: by wire format and address."""
        self._left: list[Model] = []
        """Models whose provider has another key by now; a turn may still be at work with one."""

    def open(self, name: str) -> Model:
        """The model called `provider/model`; `scripted/FILE` plays a script.

        Several names with commas are one model: the first of them that works. It goes by the first one's name too,
        as a session remembers it.
        """
        name = self._lists.get(name, name)
        if name not in self._models:
            first, *others = [one.strip() for one in name.split(",") if one.strip()] or [""]
            if others:
                self._models[name] = FallbackModel([self._plain(one) for one in (first, *others)])
                self._models[first] = self._models[name]
            else:
                self._models[name] = self._plain(first)
        return self._models[name]

    def _plain(self, name: str) -> Model:
        provider_id, _, rest = name.partition("/")
        return _scripted(rest) if provider_id == "scripted" else self._connect(name)

    def add(self, name: str, model: Model) -> None:
        """Offer a model that was made elsewhere under a name of its own."""
        self._models[name] = model

    def auth_of(self, provider_id: str) -> JsonView | None:
        """The provider's record of the auth file."""
        record: JsonView | None = self._auth.get(provider_id)
        return record

    def use_stored(self, provider_id: str) -> None:
        """Go by what is stored for a provider by now, from the next request that is made with a model of it."""
        if self._file is not None:
            self._auth = self._file.records()
        self.catalog.accounts = accounts_of(self._auth)
        for name in [one for one in self._models if one.startswith(f"{provider_id}/")]:
            self._left.append(self._models.pop(name))
        for place in [one for one in self._endpoints if one[0] == provider_id]:
            del self._endpoints[place]

    def take_over(self, provider_id: str, transport: Callable[[str, str], Transport]) -> None:
        """Have the requests of a provider sent by others, from the next that is made, wherever a login is stored."""
        self._taken[provider_id] = transport
        self.use_stored(provider_id)

    def has_login(self, provider_id: str) -> bool:
        """Return whether somebody else sends the requests of a provider, by a login that is stored."""
        return provider_id in self._taken and provider_id in self._auth

    async def close(self) -> None:
        for model in {id(model): model for model in (*self._models.values(), *self._left)}.values():
            await model.close()

    def _connect(self, name: str) -> Model:
        info = self.catalog.find(name)
        provider = self.catalog.provider(info.provider)
        if info.api == "pydantic-ai":
            from toolwright.models.pydantic_ai import PydanticAIModel

            return PydanticAIModel(info)
        taken = self._taken[provider.id] if self.has_login(provider.id) else None
        key = None if taken else find_key(provider, self._env, self._auth.get(provider.id))
        info = _as_served(replace(info, local=is_local(provider.base_url)), provider)
        wire = _wire(info, provider)
        place = (provider.id, info.api)
        if place not in self._endpoints:
            address = _address(provider, info.api, key)
            transport = taken(info.api, address.base_url) if taken else None
            self._endpoints[place] = Endpoint(address, self._login(provider, key), transport)
        return HttpModel(info, wire, self._endpoints[place])

    def _login(self, provider: ProviderInfo, key: "ProviderKey | None") -> RequestLogin | None:
        if self._file is None or key is None or not key.renewed:
            return None
        from toolwright.models.logins.stored import StoredLogin

        return StoredLogin(provider.id, self._file)


def accounts_of(records: JsonView) -> set[str]:
    """Return the accounts, beside the usual one of a provider, for which the auth file has a key or a login."""
    return {name for name in records if ACCOUNT in name}


@record(frozen=True, slots=True, kw_only=True)
class ProviderKey:
    value: str
    bearer: bool = False
    """Whether it is a token from a login, which every format sends in the same header."""
    renewed: bool = False
    """Whether the login can be renewed, so that each request asks for the token of the moment."""


def find_key(provider: ProviderInfo, env: Mapping[str, str], record: JsonView | None) -> ProviderKey | None:
    """The key from the configuration, the environment or the auth file, in this order.

    None where a provider may do without: a local server, or one whose address the user has set.
    """
    configured = provider.options.get("apiKey")
    if configured:
        return ProviderKey(value=str(configured))
    key = next((env[name] for name in provider.env if env.get(name)), "")
    if key:
        return ProviderKey(value=key)
    if record:
        return _key_of(provider, record)
    if provider.is_account or (provider.env and "baseURL" not in provider.options):
        login = " --login" if provider.service in PROVIDERS else ""
        ways = f"Set {' or '.join(provider.env)}, or run" if provider.env else "Run"
        raise ModelError(
            f"There is no key for {provider.name}. {ways} `tw auth{login} {provider.id}`.",
            "auth",
        )
    return None


def _key_of(provider: ProviderInfo, record: JsonView) -> ProviderKey:
    match record.get("type"):
        case "oauth":
            from toolwright.models.logins.stored import can_renew

            expires, renewed = record.get("expires") or 0, can_renew(record)
            if not renewed and expires and expires / 1000 < time.time():
                login = " --login" if provider.service in PROVIDERS else ""
                raise ModelError(
                    f"The login to {provider.name} has expired. Run `tw auth{login} {provider.id}` again.", "auth"
                )
            return ProviderKey(value=str(record.get("access") or ""), bearer=True, renewed=renewed)
        case "wellknown":
            return ProviderKey(value=str(record.get("token") or ""))
        case _:
            return ProviderKey(value=str(record.get("key") or ""))


def _as_served(info: ModelInfo, provider: ProviderInfo) -> ModelInfo:
    """With the context that a server of a usual kind has given the model, here or in this network; the user's wins."""
    from toolwright.models.known.local_servers import USUAL, served_context

    if info.limits.context or provider.service not in USUAL or not provider.base_url.startswith("http://"):
        return info
    context = served_context(provider.service, provider.base_url, info.api_id)
    return replace(info, limits=replace(info.limits, context=context))


def _wire(info: ModelInfo, provider: ProviderInfo) -> Wire:
    match info.api:
        case "openai-chat":
            from toolwright.models.formats.openai_chat import ChatWire
            from toolwright.models.known.profiles import profile_of

            profile = profile_of(info)
            wanted = provider.options.get("setCacheKey", profile.cache_key)
            return ChatWire(info, replace(profile, cache_key=bool(wanted)))
        case "openai-responses":
            from toolwright.models.formats.openai_responses import ResponsesWire

            return ResponsesWire(info, cache_key=bool(provider.options.get("setCacheKey", True)))
        case "anthropic":
            from toolwright.models.formats.anthropic import AnthropicWire

            return AnthropicWire(info, _betas(provider))
        case "gemini":
            from toolwright.models.formats.gemini import GeminiWire

            return GeminiWire(info)
    raise ConfigError(
        f"provider.{provider.id} speaks {info.api!r}, which is not known here. Set its `api` to openai-chat, "
        "openai-responses, anthropic, gemini or pydantic-ai."
    )


def _address(provider: ProviderInfo, api: str, key: ProviderKey | None) -> Address:
    base_url = provider.base_url or ("" if provider.own_address else _USUAL_URL.get(api, ""))
    if not base_url:
        raise ConfigError(f"provider.{provider.id} has no address. Set its options.baseURL, such as https://host/v1.")
    options = provider.options
    headers = {name.lower(): str(value) for name, value in (options.get("headers") or {}).items()}
    return Address(
        provider=provider.name,
        base_url=base_url,
        headers={**key_header(api, key), **headers},
        silence=_seconds(options.get("chunkTimeout")) or SILENCE,
        longest=_seconds(options.get("timeout")),
    )


def key_header(api: str, key: ProviderKey | None) -> Mapping[str, str]:
    """Return the header in which a wire format takes its key."""
    if key is None:
        return {}
    name = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(api)
    if name is None or key.bearer:
        return {"authorization": f"Bearer {key.value}"}
    return {name: key.value}


def _betas(provider: ProviderInfo) -> list[str]:
    """Beta features the user has asked for by header; the format adds its own to them."""
    headers = provider.options.get("headers") or {}
    betas = next((str(value) for name, value in headers.items() if name.lower() == "anthropic-beta"), "")
    return [beta.strip() for beta in betas.split(",") if beta.strip()]


def _seconds(milliseconds: Any) -> float | None:
    """Limits are configured in milliseconds; `false` means none."""
    number = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    return milliseconds / 1000 if number and milliseconds > 0 else None


def _scripted(path: str) -> Model:
    from toolwright.models.scripted import DEFAULT_INFO, ScriptedModel

    return ScriptedModel.from_file(Path(path), replace(DEFAULT_INFO, id=path, api_id=path))
