"""The OpenAI responses format."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolwright.definition import Attachment
from toolwright.models.encode import Once, dump, join_body, merge, place, without
from toolwright.models.formats.call_ids import plain_id
from toolwright.models.formats.media import Media, media_of
from toolwright.models.formats.openai_responses_reply import ResponsesReader
from toolwright.models.formats.schemas import answer_schema, plain_schema, strict_answer, strict_schema
from toolwright.models.formats.wire import Outgoing, ReplyRoom
from toolwright.models.info import ModelInfo
from toolwright.models.known.profiles import profile_of
from toolwright.models.model import (
    AssistantMessage,
    ModelCall,
    ModelMessage,
    Reasoning,
    ReplySettings,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from toolwright.protocols.json_types import Json

_NAMES: Mapping[str, str] = {
    "reasoningEffort": "reasoning.effort",
    "reasoningSummary": "reasoning.summary",
    "textVerbosity": "text.verbosity",
    "parallelToolCalls": "parallel_tool_calls",
    "promptCacheKey": "prompt_cache_key",
    "promptCacheRetention": "prompt_cache_retention",
    "serviceTier": "service_tier",
    "maxToolCalls": "max_tool_calls",
    "safetyIdentifier": "safety_identifier",
}


class ResponsesWire:
    """Requests and replies of one model in this format. Nothing is stored at the provider."""

    whole_replies = False

    def __init__(self, info: ModelInfo, *, cache_key: bool = True) -> None:
        self._info = info
        self._profile = profile_of(info)
        self._cache_key = cache_key
        self._room = ReplyRoom(info, self._profile.output)
        self._message = Once(self._encode)
        self._tool = Once(_encode_tool)
        self._strict_tool = Once(_encode_strict_tool)

    def reader(self, provider: str) -> ResponsesReader:
        return ResponsesReader(provider)

    def request(self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings) -> Outgoing:
        lists: dict[str, Iterable[bytes]] = {"input": filter(None, map(self._message, messages))}
        if tools:
            strict = self._profile.strict and "strict" not in settings.omit
            lists["tools"] = map(self._strict_tool if strict else self._tool, tools)
        fields = merge(self._fields(messages, tools, settings), place(settings.options, _NAMES))
        fields = without(fields, settings.omit)
        if schema := answer_schema(settings, self._profile):
            fields = merge(fields, {"text": {"format": {"type": "json_schema", **strict_answer(schema)}}})
        return Outgoing(path="responses", body=join_body(fields, **lists))

    def _fields(self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings) -> Json:
        free = self._profile.sampling
        fields: Json = {
            "model": self._info.api_id,
            "max_output_tokens": self._room.for_reply(messages, tools, settings),
            "temperature": settings.temperature if free else None,
            "top_p": settings.top_p if free else None,
            "tool_choice": settings.tool_choice if tools else None,
            "prompt_cache_key": settings.cache_key or None if self._cache_key else None,
            "store": False,
            "include": ["reasoning.encrypted_content"] if self._info.reasoning else None,
            "stream": True,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def _encode(self, message: ModelMessage) -> bytes:
        """The message's items, joined as they will stand in the list."""
        return b",".join(map(dump, self._items(message)))

    def _items(self, message: ModelMessage) -> Iterator[Json]:
        match message:
            case SystemMessage():
                yield {"role": "developer" if self._info.reasoning else "system", "content": message.text}
            case UserMessage():
                parts = self._parts(message.told)
                if parts:
                    yield {"role": "user", "content": parts}
            case ToolMessage():
                yield {
                    "type": "function_call_output",
                    "call_id": plain_id(message.call_id, longest=64),
                    "output": self._parts((message.output, *message.attachments))
                    if message.attachments
                    else message.output,
                }
            case AssistantMessage():
                yield from self._reply(message)

    def _reply(self, message: AssistantMessage) -> Iterator[Json]:
        """An earlier reply. Reasoning is sent back sealed, and only where what it led to follows it."""
        own = message.model in {"", self._info.full_name}
        waiting: list[Json] = []
        for part in message.content:
            if isinstance(part, Reasoning):
                if own and part.signature.get("encrypted_content"):
                    waiting.append(_sealed(part))
                continue
            if part == "":
                continue
            yield from waiting
            waiting = []
            if isinstance(part, ModelCall):
                yield {
                    "type": "function_call",
                    "call_id": plain_id(part.id, longest=64),
                    "name": part.name,
                    "arguments": dump(part.arguments).decode(),
                }
            else:
                yield {"role": "assistant", "content": part}

    def _parts(self, content: Iterable[str | Attachment]) -> list[Json]:
        pieces = (part if isinstance(part, str) else media_of(part, self._info.accepts) for part in content)
        return [_media_part(part) if isinstance(part, Media) else _text(part) for part in pieces if part]


def _sealed(part: Reasoning) -> Json:
    summary = [{"type": "summary_text", "text": part.text}] if part.text else []
    kept: Json = {name: part.signature[name] for name in ("id", "encrypted_content") if name in part.signature}
    return {"type": "reasoning", **kept, "summary": summary}


def _text(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _media_part(media: Media) -> Json:
    match media.kind:
        case "image":
            return {"type": "input_image", "image_url": media.address, "detail": "auto"}
        case "pdf" if media.url:
            return {"type": "input_file", "file_url": media.url}
        case "pdf":
            return {"type": "input_file", "filename": media.filename, "file_data": media.address}
        case _:
            return _text(f"[{media.filename} ({media.mime}) is not shown: this interface takes images and PDF files.]")


def _encode_tool(tool: ToolSpec) -> bytes:
    return _function(tool, plain_schema(tool.schema), strict=False)


def _encode_strict_tool(tool: ToolSpec) -> bytes:
    schema = strict_schema(tool.schema)
    return _encode_tool(tool) if schema is None else _function(tool, schema, strict=True)


def _function(tool: ToolSpec, parameters: Json, *, strict: bool) -> bytes:
    named = {"type": "function", "name": tool.name, "description": tool.description}
    return dump({**named, "parameters": parameters, "strict": strict})
