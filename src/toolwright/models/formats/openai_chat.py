"""The OpenAI chat completions format, which most other providers and local servers speak too."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from toolwright.definition import Attachment
from toolwright.models.encode import Growing, Once, dump, join_body, merge, place, without
from toolwright.models.formats.call_ids import nine_id, plain_id
from toolwright.models.formats.media import Media, media_of
from toolwright.models.formats.one_call import apart, one_call_each
from toolwright.models.formats.openai_chat_reply import ChatReader
from toolwright.models.formats.schemas import answer_schema, plain_schema, strict_answer, strict_schema
from toolwright.models.formats.wire import NOOP, Outgoing, ReplyRoom, has_calls
from toolwright.models.info import ModelInfo
from toolwright.models.known.profiles import Profile
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
from toolwright.record import record

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


@record(slots=True)
class _Written:
    """A conversation as far as it is encoded."""

    systems: list[str] = field(default_factory=list[str])
    pieces: list[bytes] = field(default_factory=list[bytes])
    files: list[Attachment] = field(default_factory=list[Attachment])
    """What came with the results since the last message that was none."""
    after_result: bool = False


class ChatWire:
    """Requests and replies of one model in this format."""

    whole_replies = True

    def __init__(self, info: ModelInfo, profile: Profile) -> None:
        self._info = info
        self._profile = profile
        self._room = ReplyRoom(info, profile.output)
        self._pairs = profile.call_ids == "nine"
        """Whether a result and the user must be kept apart by a word of the assistant."""
        self._message = Once(self._encode)
        self._written = Growing(_Written, self._write)
        self._tool = Once(_encode_tool)
        self._strict_tool = Once(_encode_strict_tool)
        self._apart = Once(one_call_each)

    def reader(self, provider: str) -> ChatReader:
        return ChatReader(provider, text_calls=self._profile.text_calls)

    def request(self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings) -> Outgoing:
        if not tools and self._profile.needs_tools and has_calls(messages):
            tools = (NOOP,)
        lists: dict[str, Iterable[bytes]] = {"messages": self._messages(messages)}
        if tools:
            strict = self._profile.strict and "strict" not in settings.omit
            lists["tools"] = map(self._strict_tool if strict else self._tool, tools)
        fields = merge(self._fields(messages, tools, settings), place(settings.options, _NAMES))
        fields = without(fields, settings.omit)
        if schema := answer_schema(settings, self._profile):
            fields["response_format"] = {"type": "json_schema", "json_schema": strict_answer(schema)}
        return Outgoing(path="chat/completions", body=join_body(fields, **lists))

    def _fields(self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings) -> Json:
        profile = self._profile
        counted = profile.stream_options and "stream" not in settings.omit
        fields: Json = {
            "model": self._info.api_id,
            profile.max_tokens: self._room.for_reply(messages, tools, settings),
            "temperature": settings.temperature if profile.sampling else None,
            "top_p": settings.top_p if profile.sampling else None,
            "stop": list(settings.stop) or None,
            "tool_choice": settings.tool_choice if tools else None,
            "prompt_cache_key": settings.cache_key if profile.cache_key and settings.cache_key else None,
            "stream": True,
            "stream_options": {"include_usage": True} if counted else None,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def _messages(self, messages: Sequence[ModelMessage]) -> list[bytes]:
        """Every message, system texts as one, and the files of a run of results after the run."""
        if not self._profile.parallel_calls:
            messages = list(apart(messages, self._apart))
        plain = max(0, len(messages) - 2) if self._profile.cache_marks else len(messages)
        written = self._written.through(messages[:plain])
        last = replace(written, systems=[*written.systems], pieces=[*written.pieces], files=[*written.files])
        for message in messages[plain:]:
            self._write(last, message, mark=True)
        last.pieces += self._files_of_results(last.files)
        if not any(last.systems):
            return last.pieces
        text = self._marked_text("\n\n".join(filter(None, last.systems)))
        return [dump({"role": "system", "content": text}), *last.pieces]

    def _write(self, written: "_Written", message: ModelMessage, *, mark: bool = False) -> None:
        if isinstance(message, SystemMessage):
            written.systems.append(message.text)
            return
        is_result = isinstance(message, ToolMessage)
        if not is_result:
            written.pieces += self._files_of_results(written.files)
            written.files.clear()
            if self._pairs and written.after_result and isinstance(message, UserMessage):
                written.pieces.append(dump({"role": "assistant", "content": "Done."}))
        encoded = self._encode(message, mark=True) if mark else self._message(message)
        if encoded:
            written.pieces.append(encoded)
        written.after_result = is_result
        if isinstance(message, ToolMessage):
            written.files += message.attachments

    def _files_of_results(self, attachments: Sequence[Attachment]) -> Iterator[bytes]:
        if not attachments:
            return
        if self._pairs:
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
        parts = self._parts(message.told)
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
        """Earlier reasoning in the field it came in, or in the one that the profile names.

        A named field is there even when it is empty, for some servers insist on it.
        """
        stretches = [part for part in message.content if isinstance(part, Reasoning)]
        own = message.model in {"", self._info.full_name}
        match self._profile.reasoning_field:
            case "none":
                return {}
            case "auto" | "reasoning_details":
                return _as_it_came(stretches) if own else {}
            case field:
                return {field: "".join(part.text for part in stretches)}

    def _call(self, call: ModelCall) -> Json:
        arguments = dump(call.arguments).decode()
        function = {"name": call.name, "arguments": arguments}
        return {"id": self._call_id(call.id), "type": "function", "function": function}

    def _call_id(self, call_id: str) -> str:
        match self._profile.call_ids:
            case "nine":
                return nine_id(call_id)
            case "forty":
                return plain_id(call_id, longest=40)
            case _:
                return call_id

    def _marked_text(self, text: str) -> str | list[Json]:
        return [{"type": "text", "text": text, "cache_control": _CACHED}] if self._profile.cache_marks else text

    def _parts(self, content: Iterable[str | Attachment]) -> list[Json]:
        pieces = (part if isinstance(part, str) else media_of(part, self._info.accepts) for part in content)
        return [
            _media_part(part) if isinstance(part, Media) else {"type": "text", "text": part} for part in pieces if part
        ]


def _as_it_came(stretches: Sequence[Reasoning]) -> Json:
    """Reasoning under the names it had in the reply: sealed pieces as they were, plain text in its field."""
    fields: Json = {}
    for part in stretches:
        for name in ("reasoning_details", "thinking_blocks"):
            if part.signature.get(name):
                fields[name] = [*fields.get(name, ()), *part.signature[name]]
    for part in stretches:
        field = part.signature.get("field")
        if field and not (field == "reasoning" and "reasoning_details" in fields):
            fields[field] = fields.get(field, "") + part.text
    return fields


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
    return dump({"type": "function", "function": _function(tool, plain_schema(tool.schema))})


def _encode_strict_tool(tool: ToolSpec) -> bytes:
    schema = strict_schema(tool.schema)
    if schema is None:
        return _encode_tool(tool)
    return dump({"type": "function", "function": {**_function(tool, schema), "strict": True}})


def _function(tool: ToolSpec, parameters: Json) -> Json:
    return {"name": tool.name, "description": tool.description, "parameters": parameters}
