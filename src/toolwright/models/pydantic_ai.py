"""Models of the providers that pydantic-ai knows and we do not, such as Bedrock, Vertex and Cohere; an extra."""

import asyncio
import base64
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from importlib import import_module
from typing import Any

from toolwright.definition import Attachment
from toolwright.errors import ConfigError
from toolwright.models.encode import dump
from toolwright.models.formats.media import Media, media_of
from toolwright.models.formats.schemas import plain_schema
from toolwright.models.formats.wire import ReplyRoom, finish_reason
from toolwright.models.info import ModelInfo, Usage
from toolwright.models.known.profiles import profile_of
from toolwright.models.model import (
    AssistantMessage,
    CallDelta,
    CallEnd,
    CallStart,
    Event,
    Finish,
    FinishReason,
    ModelCall,
    ModelError,
    ModelMessage,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReplySettings,
    SystemMessage,
    TextDelta,
    ToolMessage,
    ToolSpec,
    Trouble,
    UserMessage,
)
from toolwright.models.transport.endpoint import SILENCE
from toolwright.models.transport.failures import refusal
from toolwright.protocols.json_types import Json

_NAMES: Mapping[str, str] = {"amazon-bedrock": "bedrock"}
"""Providers that the library knows by another name."""
_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "tool_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}


class PydanticAIModel:
    """One model, reached as `provider:model` of that library, which finds its keys in the environment itself."""

    def __init__(self, info: ModelInfo, model: Any = None) -> None:
        """`model` is one of the library's own models, for those that a name cannot describe."""
        self.info = info
        self._model = model or f"{_NAMES.get(info.service, info.service)}:{info.api_id}"
        self._entered: AsyncExitStack | None = None
        self._entering = asyncio.Lock()

    async def stream(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings
    ) -> AsyncGenerator[Event, None]:
        library = _Library()
        called = False
        try:
            async with library.direct.model_request_stream(
                await self._enter(library),
                list(library.messages_of(messages, self.info)),
                model_settings=_settings(settings, self.info, tools),
                model_request_parameters=library.parameters_of(
                    tools, strict=None if profile_of(self.info).strict else False
                ),
            ) as reply:
                async for event in reply:
                    for read in _events(event):
                        called = called or isinstance(read, CallStart)
                        yield read
                yield _usage(reply.usage() if callable(reply.usage) else reply.usage)
                raw = reply.finish_reason or "stop"
                yield Finish(finish_reason(_REASONS, raw, called=called), raw)
        except library.exceptions.UserError as error:
            raise ModelError(f"{self.info.provider} cannot be asked: {error}", "bad_request") from error
        except library.exceptions.AgentRunError as error:
            raise self._error(error) from error
        except _identity_errors() as error:
            raise ModelError(f"There are no credentials for {self.info.provider}: {error}", "auth") from error

    async def close(self) -> None:
        entered, self._entered = self._entered, None
        if entered is not None:
            await entered.aclose()

    async def _enter(self, library: "_Library") -> Any:
        """The library's own model, with the connections that it keeps until it is left."""
        async with self._entering:
            if self._entered is None:
                # Some clients ask an identity server for credentials as they are made, and wait for it.
                model: Any = await asyncio.to_thread(library.models.infer_model, self._model)
                self._entered = AsyncExitStack()
                self._model = await self._entered.enter_async_context(model)
        return self._model

    def _error(self, error: Any) -> ModelError:
        status = getattr(error, "status_code", None)
        if status is not None:
            body = error.body if isinstance(error.body, str) else dump(error.body).decode()
            return refusal(self.info.provider, status, getattr(error, "headers", None) or {}, body)
        kind: Trouble = "content_filter" if "ContentFilter" in type(error).__name__ else "network"
        return ModelError(f"{self.info.provider} did not answer: {error}", kind)


def _identity_errors() -> tuple[type[Exception], ...]:
    """Return the errors that clients of Amazon and Google raise when nobody gives them credentials."""
    places = (("botocore.exceptions", "BotoCoreError"), ("google.auth.exceptions", "GoogleAuthError"))
    classes = (getattr(sys.modules.get(module), name, None) for module, name in places)
    return tuple(kind for kind in classes if isinstance(kind, type))


class _Library:
    """The library's modules, and our records as its own. Found by name, for it need not be installed."""

    def __init__(self) -> None:
        try:
            self.direct: Any = import_module("pydantic_ai.direct")
            self.messages: Any = import_module("pydantic_ai.messages")
            self.models: Any = import_module("pydantic_ai.models")
            self.tools: Any = import_module("pydantic_ai.tools")
            self.exceptions: Any = import_module("pydantic_ai.exceptions")
        except ImportError as error:
            raise ConfigError(
                "This provider is reached through pydantic-ai, which is not installed. "
                "Install it with: pip install 'toolwright[providers]'."
            ) from error

    def parameters_of(self, tools: Sequence[ToolSpec], *, strict: bool | None) -> Any:
        """`strict` None leaves it to the library, which looks at each schema."""
        definitions = [
            self.tools.ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=plain_schema(tool.schema),
                strict=strict,
            )
            for tool in tools
        ]
        return self.models.ModelRequestParameters(function_tools=definitions)

    def messages_of(self, messages: Sequence[ModelMessage], info: ModelInfo) -> Iterator[Any]:
        """Yield what comes between two replies is one request here."""
        parts: list[Any] = []
        for message in messages:
            if not isinstance(message, AssistantMessage):
                parts.append(self._request_part(message, info))
                continue
            if parts:
                yield self.messages.ModelRequest(parts=parts)
            parts = []
            own = message.model in {"", info.full_name}
            reply = [part for entry in message.content for part in self._reply_parts(entry, own=own)]
            if reply:
                yield self.messages.ModelResponse(parts=reply, provider_name=info.provider)
        if parts:
            yield self.messages.ModelRequest(parts=parts)

    def _request_part(self, message: SystemMessage | UserMessage | ToolMessage, info: ModelInfo) -> Any:
        match message:
            case SystemMessage():
                return self.messages.SystemPromptPart(message.text)
            case UserMessage():
                return self.messages.UserPromptPart(self._content(message.told, info))
            case ToolMessage():
                files = self._content(message.attachments, info)
                return self.messages.ToolReturnPart(
                    message.name,
                    [message.output, *files] if files else message.output,
                    message.call_id,
                    outcome="failed" if message.failed else "success",
                )

    def _content(self, content: Sequence[str | Attachment], info: ModelInfo) -> list[Any]:
        pieces = [part if isinstance(part, str) else media_of(part, info.accepts) for part in content]
        return [self._media(part) if isinstance(part, Media) else part for part in pieces if part]

    def _media(self, media: Media) -> Any:
        if not media.url:
            return self.messages.BinaryContent(data=base64.b64decode(media.base64), media_type=media.mime)
        kinds = {"image": "ImageUrl", "pdf": "DocumentUrl", "audio": "AudioUrl", "video": "VideoUrl"}
        return getattr(self.messages, kinds[media.kind])(url=media.url)

    def _reply_parts(self, part: str | Reasoning | ModelCall, *, own: bool) -> Iterator[Any]:
        match part:
            case str() if part:
                yield self.messages.TextPart(part)
            case Reasoning() if own:
                yield self.messages.ThinkingPart(part.text, **part.signature)
            case ModelCall():
                kept = part.signature if own else {}
                yield self.messages.ToolCallPart(part.name, part.arguments, part.id, **kept)


_CACHED = {
    f"{prefix}_cache_{what}": True for prefix in ("anthropic", "bedrock") for what in ("instructions", "messages")
}
"""Marks for the provider's cache, which the library sets only where it is asked to."""


def _settings(settings: ReplySettings, info: ModelInfo, tools: Sequence[ToolSpec]) -> Json:
    profile = profile_of(info)
    fields: Json = {
        **(_CACHED if profile.cache_marks else {}),
        "max_tokens": ReplyRoom(info, profile.output).for_reply((), (), settings),
        "temperature": settings.temperature if profile.sampling else None,
        "top_p": settings.top_p if profile.sampling else None,
        "stop_sequences": list(settings.stop) or None,
        "tool_choice": settings.tool_choice if tools and settings.tool_choice != "auto" else None,
        "extra_headers": dict(settings.headers) or None,
        # Amazon's client has a limit of its own, of the same length, and warns of another one.
        "timeout": None if info.service in ("bedrock", *_NAMES) else SILENCE,
    }
    return {name: value for name, value in fields.items() if value is not None} | dict(settings.options)


def _events(event: Any) -> Iterator[Event]:
    match event.event_kind:
        case "part_start":
            yield from _start(event.part)
        case "part_delta":
            yield from _delta(event.delta)
        case "part_end" if event.part.part_kind == "thinking":
            yield ReasoningEnd(_signature(event.part, "id", "signature"))
        case "part_end" if event.part.part_kind == "tool-call":
            part = event.part
            yield CallEnd(part.tool_call_id, part.tool_name, part.args_as_json_str(), _signature(part, "id"))


def _start(part: Any) -> Iterator[Event]:
    match part.part_kind:
        case "text" if part.content:
            yield TextDelta(part.content)
        case "thinking" if part.content:
            yield ReasoningDelta(part.content)
        case "tool-call":
            yield CallStart(part.tool_call_id, part.tool_name)
            if part.args:
                yield CallDelta(part.tool_call_id, part.args_as_json_str())


def _delta(delta: Any) -> Iterator[Event]:
    match delta.part_delta_kind:
        case "text" if delta.content_delta:
            yield TextDelta(delta.content_delta)
        case "thinking" if delta.content_delta:
            yield ReasoningDelta(delta.content_delta)
        case "tool_call" if isinstance(delta.args_delta, str) and delta.tool_call_id:
            yield CallDelta(delta.tool_call_id, delta.args_delta)


def _signature(part: Any, *names: str) -> Json:
    kept = {name: getattr(part, name) for name in (*names, "provider_details")}
    usage = {name: value for name, value in kept.items() if value is not None}
    return {**usage, "provider_name": part.provider_name} if usage else {}


def _usage(usage: Any) -> Usage:
    """Tokens without overlap. Their input includes the cache, their output the reasoning."""
    reasoning = getattr(usage, "output_reasoning_tokens", 0) or usage.details.get("reasoning_tokens", 0)
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    return Usage(
        input=max(0, usage.input_tokens - read - written),
        output=max(0, usage.output_tokens - reasoning),
        reasoning=reasoning,
        cache_read=read,
        cache_write=written,
    )
