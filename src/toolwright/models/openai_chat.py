"""The OpenAI chat completions format, which most other providers and local servers speak too."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolwright.models.call_ids import nine_id, plain_id
from toolwright.models.chat_reply import ChatReader
from toolwright.models.encode import Once, dump, join_body, merge, place
from toolwright.models.info import ModelInfo
from toolwright.models.media import Media, media_of
from toolwright.models.model import (
    AssistantMessage,
    Json,
    ModelCall,
    ModelMessage,
    Reasoning,
    Settings,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from toolwright.models.schemas import plain_schema
from toolwright.models.wire import NOOP, Outgoing, has_calls, most_output
from toolwright.record import record
from toolwright.tool import Attachment

_CACHED = {"type": "ephemeral"}
_NAMES: Mapping[str, str] = {
    "reasoningEffort": "reasoning_effort",
    "textVerbosity": "verbosity",
    "parallelToolCalls": "parallel_tool_calls",
    "promptCacheKey": "prompt_cache_key",
    "serviceTier": "service_tier",
    "logitBias": "logit_bias",
    "maxCompletionTokens": "max_completion_tokens",
}


@record(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Where servers of this format differ."""

    max_tokens: str = "max_tokens"
    """The field that limits the reply."""
    cache_key: bool = False
    cache_marks: bool = False
    nine_ids: bool = False
    """Call ids of nine letters and digits, and a word of the assistant between a result and the user."""
    needs_tools: bool = False
    """Refuses a history with calls when no tool is declared."""


def dialect_of(info: ModelInfo, *, cache_key: bool = False) -> Dialect:
    """The dialect, told by the names of provider and model."""
    provider, model = info.provider.lower(), info.api_id.lower()
    return Dialect(
        max_tokens="max_completion_tokens" if provider in {"openai", "azure"} else "max_tokens",
        cache_key=cache_key or provider == "openai",
        cache_marks="claude" in model or "anthropic" in model,
        nine_ids=provider.startswith("mistral") or any(name in model for name in ("mistral", "devstral", "codestral")),
        needs_tools="litellm" in provider,
    )


class ChatWire:
    """Requests and replies of one model in this format."""

    def __init__(self, info: ModelInfo, dialect: Dialect) -> None:
        self._info = info
        self._dialect = dialect
        self._message = Once(self._encode)
        self._tool = Once(_encode_tool)

    def reader(self, provider: str) -> ChatReader:
        return ChatReader(provider, keeps_details=self._info.reasoning_field == "reasoning_details")

    def request(self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: Settings) -> Outgoing:
        if not tools and self._dialect.needs_tools and has_calls(messages):
            tools = (NOOP,)
        lists = {"messages": self._messages(messages)}
        if tools:
            lists["tools"] = map(self._tool, tools)
        fields = merge(self._fields(settings, tools), place(settings.options, _NAMES))
        return Outgoing(path="chat/completions", body=join_body(fields, **lists))

    def _fields(self, settings: Settings, tools: Sequence[ToolSpec]) -> Json:
        fields: Json = {
            "model": self._info.api_id,
            self._dialect.max_tokens: most_output(settings, self._info),
            "temperature": settings.temperature if self._info.temperature else None,
            "top_p": settings.top_p if self._info.temperature else None,
            "stop": list(settings.stop) or None,
            "tool_choice": settings.tool_choice if tools else None,
            "prompt_cache_key": settings.cache_key if self._dialect.cache_key and settings.cache_key else None,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        return {name: value for name, value in fields.items() if value is not None}

    def _messages(self, messages: Sequence[ModelMessage]) -> Iterator[bytes]:
        """Every message, system texts as one, and the files of a run of results after the run."""
        systems = [message.text for message in messages if isinstance(message, SystemMessage)]
        others = [message for message in messages if not isinstance(message, SystemMessage)]
        if any(systems):
            yield dump({"role": "system", "content": self._marked_text("\n\n".join(filter(None, systems)))})
        marked = len(others) - 2 if self._dialect.cache_marks else len(others)
        late: list[Attachment] = []
        after_result = False
        for number, message in enumerate(others):
            if not isinstance(message, ToolMessage):
                yield from self._files_of_results(late)
                late = []
                if self._dialect.nine_ids and after_result and isinstance(message, UserMessage):
                    yield dump({"role": "assistant", "content": "Done."})
            encoded = self._message(message) if number < marked else self._encode(message, mark=True)
            if encoded:
                yield encoded
            after_result = isinstance(message, ToolMessage)
            if isinstance(message, ToolMessage):
                late.extend(message.attachments)
        yield from self._files_of_results(late)

    def _files_of_results(self, attachments: Sequence[Attachment]) -> Iterator[bytes]:
        if not attachments:
            return
        if self._dialect.nine_ids:
            yield dump({"role": "assistant", "content": "Done."})
        yield dump(
            {
                "role": "user",
                "content": self._parts(("The files that came with the results above:", *attachments)),
            }
        )

    def _encode(self, message: ModelMessage, *, mark: bool = False) -> bytes:
        match message:
            case UserMessage():
                return self._user(message, mark=mark)
            case AssistantMessage():
                return self._assistant(message, mark=mark)
            case ToolMessage():
                content = self._marked_text(message.output) if mark else message.output
                return dump({"role": "tool", "tool_call_id": self._call_id(message.call_id), "content": content})
            case SystemMessage():
                return dump({"role": "system", "content": message.text})

    def _user(self, message: UserMessage, *, mark: bool) -> bytes:
        parts = self._parts(message.content)
        if not parts:
            return b""
        if len(parts) == 1 and parts[0]["type"] == "text" and not mark:
            return dump({"role": "user", "content": parts[0]["text"]})
        if mark:
            parts[-1]["cache_control"] = _CACHED
        return dump({"role": "user", "content": parts})

    def _assistant(self, message: AssistantMessage, *, mark: bool) -> bytes:
        text = "".join(part for part in message.content if isinstance(part, str))
        calls = [self._call(part) for part in message.content if isinstance(part, ModelCall)]
        if not text and not calls:
            return b""
        fields: Json = {"role": "assistant", "content": self._marked_text(text) if mark and text else text}
        fields |= self._reasoning(message)
        if calls:
            fields["tool_calls"] = calls
        return dump(fields)

    def _reasoning(self, message: AssistantMessage) -> Json:
        """Earlier reasoning in the field the server wants it in; there even when empty, for some insist."""
        stretches = [part for part in message.content if isinstance(part, Reasoning)]
        match self._info.reasoning_field:
            case "":
                return {}
            case "reasoning_details":
                own = message.model in {"", self._info.full_name}
                details = [entry for part in stretches for entry in part.signature.get("reasoning_details", ()) if own]
                return {"reasoning_details": details} if details else {}
            case field:
                return {field: "".join(part.text for part in stretches)}

    def _call(self, call: ModelCall) -> Json:
        arguments = dump(call.arguments).decode()
        function = {"name": call.name, "arguments": arguments}
        return {"id": self._call_id(call.id), "type": "function", "function": function}

    def _call_id(self, call_id: str) -> str:
        return nine_id(call_id) if self._dialect.nine_ids else plain_id(call_id, longest=40)

    def _marked_text(self, text: str) -> str | list[Json]:
        return [{"type": "text", "text": text, "cache_control": _CACHED}] if self._dialect.cache_marks else text

    def _parts(self, content: Iterable[str | Attachment]) -> list[Json]:
        given = (part if isinstance(part, str) else media_of(part, self._info.accepts) for part in content)
        return [
            _media_part(part) if isinstance(part, Media) else {"type": "text", "text": part} for part in given if part
        ]


def _media_part(media: Media) -> Json:
    match media.kind:
        case "image":
            return {"type": "image_url", "image_url": {"url": media.address}}
        case "pdf":
            return {"type": "file", "file": {"filename": media.filename, "file_data": media.address}}
        case "audio":
            form = {"audio/mpeg": "mp3", "audio/mp3": "mp3"}.get(media.mime, "wav")
            return {"type": "input_audio", "input_audio": {"data": media.base64, "format": form}}
        case "video":
            return {"type": "video_url", "video_url": {"url": media.address}}


def _encode_tool(tool: ToolSpec) -> bytes:
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": plain_schema(tool.schema),
    }
    return dump({"type": "function", "function": function})
