"""The Gemini format."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from toolwright.definition import Attachment
from toolwright.models.encode import Once, dump, join_body, merge, without
from toolwright.models.formats.gemini_reply import GeminiReader
from toolwright.models.formats.media import Media, media_of
from toolwright.models.formats.schemas import answer_schema, gemini_schema
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

UNSIGNED = "skip_thought_signature_validator"
"""What the provider takes for the missing signature of a call that another model made."""

_AT_TOP = frozenset({"safetySettings", "cachedContent", "labels", "toolConfig"})
_CHOICES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_STRICT = {**_CHOICES, "auto": "VALIDATED"}
"""With arguments that keep to the schemas."""


class GeminiWire:
    """Requests and replies of one model in this format."""

    whole_replies = False

    def __init__(self, info: ModelInfo) -> None:
        self._info = info
        self._profile = profile_of(info)
        self._room = ReplyRoom(info, self._profile.output)
        self._message = Once(self._encode)
        self._tool = Once(_encode_tool)

    @property
    def _path(self) -> str:
        model = self._info.api_id if "/" in self._info.api_id else f"models/{self._info.api_id}"
        return f"{model}:streamGenerateContent?alt=sse"

    def reader(self, provider: str) -> GeminiReader:
        return GeminiReader(provider)

    def request(self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings) -> Outgoing:
        fields: Json = {"generationConfig": self._config(messages, tools, settings)}
        system = [{"text": message.text} for message in messages if isinstance(message, SystemMessage)]
        if system:
            fields["systemInstruction"] = {"parts": system}
        lists: dict[str, Iterable[bytes]] = {"contents": self._contents(messages)}
        if tools:
            modes = _STRICT if self._profile.strict else _CHOICES
            fields["toolConfig"] = {"functionCallingConfig": {"mode": modes[settings.tool_choice]}}
            lists["tools"] = (b'{"functionDeclarations":[%s]}' % b",".join(map(self._tool, tools)),)
        top = {name: value for name, value in settings.options.items() if name in _AT_TOP}
        fields = without(merge(fields, top), settings.omit)
        if (schema := answer_schema(settings, self._profile)) and (form := gemini_schema(schema)):
            held = {"responseMimeType": "application/json", "responseSchema": form}
            fields = merge(fields, {"generationConfig": held})
        return Outgoing(path=self._path, body=join_body(fields, **lists))

    def _config(self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings) -> Json:
        free = self._profile.sampling
        fields: Json = {
            "maxOutputTokens": self._room.for_reply(messages, tools, settings),
            "temperature": settings.temperature if free else None,
            "topP": settings.top_p if free else None,
            "topK": settings.top_k if free else None,
            "stopSequences": list(settings.stop) or None,
        }
        inner = {name: value for name, value in settings.options.items() if name not in _AT_TOP}
        return merge({name: value for name, value in fields.items() if value is not None}, inner)

    def _contents(self, messages: Sequence[ModelMessage]) -> Iterator[bytes]:
        """Messages of one side in a row are one here; files of results come after all results of the row."""
        groups: list[tuple[bytes, list[bytes], list[bytes]]] = []
        for message in messages:
            role, parts, late = self._message(message)
            if not parts:
                continue
            if not groups or groups[-1][0] != role:
                groups.append((role, [], []))
            groups[-1][1].extend(parts)
            groups[-1][2].extend(late)
        for role, first, late_parts in groups:
            yield b'{"role":"%s","parts":[%s]}' % (role, b",".join([*first, *late_parts]))

    def _encode(self, message: ModelMessage) -> tuple[bytes, tuple[bytes, ...], tuple[bytes, ...]]:
        match message:
            case SystemMessage():
                return b"", (), ()
            case UserMessage():
                return b"user", tuple(map(dump, self._parts(message.told))), ()
            case ToolMessage():
                return b"user", (dump(_result(message)),), tuple(map(dump, self._parts(message.attachments)))
            case AssistantMessage():
                return b"model", tuple(map(dump, self._reply(message))), ()

    def _parts(self, content: Iterable[str | Attachment]) -> Iterator[Json]:
        for part in content:
            piece = part if isinstance(part, str) else media_of(part, self._info.accepts)
            if isinstance(piece, Media):
                yield _media_part(piece)
            elif piece:
                yield {"text": piece}

    def _reply(self, message: AssistantMessage) -> Iterator[Json]:
        """An earlier reply. Thoughts stay here; what they were signed with goes back."""
        own = message.model in {"", self._info.full_name}
        first = True
        for part in message.content:
            match part:
                case Reasoning() if own and part.signature.get("thoughtSignature"):
                    yield {"text": "", "thoughtSignature": part.signature["thoughtSignature"]}
                case ModelCall():
                    yield self._call(part, own=own, first=first)
                    first = False
                case str() if part:
                    yield {"text": part}

    def _call(self, call: ModelCall, *, own: bool, first: bool) -> Json:
        """A call and its result carry the same id: newer models refuse parallel results without it."""
        function: Json = {"id": call.id, "name": call.name, "args": call.arguments}
        signature = call.signature.get("thoughtSignature") if own else None
        if signature is None and first and not self._profile.unsigned_calls:
            signature = UNSIGNED
        return {"functionCall": function, **({"thoughtSignature": signature} if signature else {})}


def _result(message: ToolMessage) -> Json:
    return {
        "functionResponse": {
            "id": message.call_id,
            "name": message.name,
            "response": {"error" if message.failed else "output": message.output},
        }
    }


def _media_part(media: Media) -> Json:
    if media.url:
        return {"fileData": {"mimeType": media.mime, "fileUri": media.url}}
    return {"inlineData": {"mimeType": media.mime, "data": media.base64}}


def _encode_tool(tool: ToolSpec) -> bytes:
    declaration: dict[str, Any] = {"name": tool.name, "description": tool.description}
    parameters = gemini_schema(tool.schema)
    if parameters is not None:
        declaration["parameters"] = parameters
    return dump(declaration)
