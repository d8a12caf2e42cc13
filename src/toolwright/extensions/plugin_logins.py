"""Logins and models that plugins bring by the hooks `auth` and `provider`."""

import base64
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import field
from functools import partial
from typing import Any

from toolwright.config.auth import AuthFile
from toolwright.errors import ConfigError, ToolError, UsageError
from toolwright.models.connect import Connections, ProviderKey, key_header
from toolwright.models.known.described import provider_json, record_of
from toolwright.models.model import ModelError
from toolwright.models.transport.connections import ConnectionPool, HttpAnswer, NoConnection
from toolwright.models.transport.endpoint import SILENCE, is_local
from toolwright.protocols.http_answer import Head
from toolwright.protocols.json_types import Json
from toolwright.record import record

KINDS = ("api", "oauth", "wellknown")
_FRAMING = ("content-encoding", "content-length", "transfer-encoding", "connection")
"""Headers of an answer that are no longer true once it was read."""
Ask = Callable[[str, Json], Awaitable[Any]]
"""Asks the plugin; ToolError if it fails."""


@record(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to log in to a provider."""

    type: str
    """`oauth`, or `api` for a key."""
    label: str
    authorizes: bool
    """True if the plugin takes part; else the key is stored as it is given."""


@record(frozen=True, slots=True, kw_only=True)
class Begun:
    """A login that was begun: where the person goes, and whether a code comes back from there."""

    url: str = ""
    instructions: str = ""
    method: str = "auto"
    done: bool = False
    """True where nothing is left to do."""


@record(slots=True, kw_only=True, eq=False)
class PluginLogins:
    """The logins that the plugins of a workspace bring, by provider; the first plugin of each counts."""

    connections: Callable[[], Connections]
    file: AuthFile
    _ways: dict[str, tuple[Ask, tuple[Way, ...]]] = field(default_factory=dict[str, tuple[Ask, tuple[Way, ...]]])

    def take(self, ask: Ask, description: Mapping[str, Any]) -> None:
        """Know the logins of a plugin, by what it said when it was started."""
        for login in description.get("logins") or ():
            provider = str(login["provider"])
            if provider in self._ways:
                continue
            ways = tuple(Way(**{key: one[key] for key in ("type", "label", "authorizes")}) for one in login["methods"])
            self._ways[provider] = ask, ways
            if login.get("loads"):
                self.connections().take_over(provider, partial(PluginTransport, ask, self, provider))

    async def take_models(self, ask: Ask, provider: str) -> None:
        """Offer the models that the hook `provider` of a plugin makes of those there are."""
        answer = await ask("models", {"provider": provider, **self._about(provider)})
        models = answer.get("models")
        if not isinstance(models, dict):
            raise ToolError(f"it gave no models for {provider}")
        records = {name: record_of(one) for name, one in models.items() if isinstance(one, dict)}
        self.connections().catalog.offer(provider, records)

    def providers(self) -> list[str]:
        return list(self._ways)

    def ways(self, provider: str) -> tuple[Way, ...]:
        """Return the ways to log in to a provider by a plugin; none where no plugin does that."""
        return self._ways[provider][1] if provider in self._ways else ()

    async def prompts(self, provider: str, way: int, inputs: Mapping[str, str]) -> list[Json]:
        """Return the plugin's further questions, going by what was answered."""
        questions: list[Json] = await self._ask(provider, "loginPrompts", way, inputs=dict(inputs))
        return questions

    async def begin(self, provider: str, way: int, inputs: Mapping[str, str]) -> Begun:
        """Begin to log in."""
        begun = await self._ask(provider, "loginBegin", way, inputs=dict(inputs))
        if "record" in begun:
            self._store(provider, begun["record"])
            return Begun(done=True)
        return Begun(
            url=str(begun.get("url") or ""),
            instructions=str(begun.get("instructions") or ""),
            method="code" if begun.get("method") == "code" else "auto",
        )

    async def finish(self, provider: str, way: int, code: str = "") -> None:
        """Wait until the person has logged in, and keep what comes of it."""
        end = await self._ask(provider, "loginEnd", way, code=code)
        self._store(provider, end["record"])

    def keep(self, provider: str, record: Any) -> None:
        """Store what a plugin says of a login that it has renewed."""
        if not provider or not isinstance(record, dict) or record.get("type") not in KINDS:
            raise ToolError("A login is stored as {type: 'oauth' or 'api', ...}.", "schema")
        self.file.store(provider, record)

    def stored(self, provider: str) -> Json:
        return dict(self.file.records().get(provider) or {})

    def _store(self, provider: str, record: Json) -> None:
        of = str(record.get("provider") or provider)
        self.keep(of, {key: value for key, value in record.items() if key != "provider"})
        self.connections().use_stored(of)

    def _about(self, provider: str) -> Json:
        """Return a provider for a plugin: as the catalogue has it, and the login that is stored."""
        catalog = self.connections().catalog
        try:
            info = provider_json(catalog.provider(provider), catalog.models(provider), "api")
        except UsageError:
            info = {"id": provider, "name": provider, "source": "api", "env": [], "options": {}, "models": {}}
        return {"info": info, "record": self.stored(provider) or None}

    async def load(self, ask: Ask, provider: str) -> Json:
        """Ask the plugin how requests go to a provider that the user has logged in to."""
        loaded: Json = await ask("loginLoad", {"provider": provider, **self._about(provider)})
        return loaded

    async def _ask(self, provider: str, method: str, way: int, **params: Any) -> Any:
        ask, ways = self._ways.get(provider, (None, ()))
        if ask is None or not 0 <= way < len(ways):
            raise UsageError(f"There is no such way to log in to {provider[:80]!r}.")
        return await ask(method, {"provider": provider, "method": way, **params})


class PluginTransport:
    """Sends the requests of a provider as the loader of a plugin says: with its key, to its address, by its fetch."""

    def __init__(self, ask: Ask, logins: PluginLogins, provider: str, api: str, base_url: str) -> None:
        self._ask, self._logins, self._provider, self._api, self._base_url = ask, logins, provider, api, base_url
        self._said: Json | None = None
        self._pool: ConnectionPool | None = None

    @asynccontextmanager
    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[HttpAnswer]:
        loaded = await self._loaded()
        base_url = str(loaded.get("baseURL") or self._base_url)
        url = base_url.rstrip("/") + url.removeprefix(self._base_url.rstrip("/"))
        key = key_header(self._api, ProviderKey(value=str(loaded.get("apiKey") or "")))
        more = loaded.get("headers")
        headers = {**key, **headers, **({n: str(v) for n, v in more.items()} if isinstance(more, dict) else {})}
        if loaded.get("sends"):
            async with self._sent(url, body, headers) as answer:
                yield answer
        else:
            if self._pool is None:
                self._pool = ConnectionPool(local=is_local(base_url), silence=SILENCE)
            async with self._pool.post(url, body, headers) as answer:
                yield answer

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()

    async def _loaded(self) -> Json:
        if self._said is None:
            try:
                self._said = await self._logins.load(self._ask, self._provider)
            except ToolError as error:
                raise self._failure(error) from error
        return self._said

    @asynccontextmanager
    async def _sent(self, url: str, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[HttpAnswer]:
        request: Json = {"url": url, "headers": dict(headers), "body": body.decode()}
        record = self._logins.stored(self._provider)
        try:
            reply = await self._ask("loginSend", {"provider": self._provider, "record": record, **request})
        except ToolError as error:
            self._said = None  # the plugin may have been started anew, and knows nothing of it then
            if error.kind == "network":
                raise NoConnection(str(error)) from error
            raise self._failure(error) from error
        kept = {str(name).lower(): str(value) for name, value in reply["headers"].items()}
        head = Head(status=int(reply["status"]), headers={n: v for n, v in kept.items() if n not in _FRAMING})
        try:
            async with aclosing(self._pieces(reply["id"])) as pieces:
                yield HttpAnswer(head, pieces)
        finally:
            with suppress(ToolError):
                await self._ask("loginDrop", {"id": reply["id"]})

    async def _pieces(self, stream: int) -> AsyncGenerator[bytes, None]:
        while True:
            try:
                chunk = await self._ask("loginRead", {"id": stream})
            except ToolError as error:
                raise NoConnection(str(error)) from error
            if chunk["data"] is None:
                return
            yield base64.b64decode(chunk["data"])

    def _failure(self, error: Exception) -> ModelError:
        again = f"If that goes on, run `tw auth --login {self._provider}` again."
        return ModelError(f"The plugin that logs in to {self._provider} has failed: {error} {again}", "auth")


def kept_by(logins: PluginLogins, params: Json) -> Json:
    """Answer `client.auth.set` of a plugin."""
    path = params.get("path")
    named = path if isinstance(path, dict) else {}
    try:
        logins.keep(str(named.get("id") or named.get("providerID") or ""), params.get("body"))
    except (ConfigError, ToolError) as error:
        return {"status": 400, "error": {"name": "BadRequest", "data": {"message": str(error)}}}
    return {"status": 200, "data": True}
