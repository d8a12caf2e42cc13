"""The Anthropic messages format."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolwright.definition import Attachment
from toolwright.models.encode import Once, dump, join_body, merge, place, without
from toolwright.models.formats.anthropic_reply import AnthropicReader
from toolwright.models.formats.call_ids import plain_id
from toolwright.models.formats.media import Media, media_of
from toolwright.models.formats.schemas import answer_schema, plain_schema
from toolwright.models.formats.wire import NOOP, Outgoing, ReplyRoom, has_calls
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

MAX_OUTPUT = 8192
"""Tokens a reply may have where nobody has said; this format demands a number."""
VERSION = "2023-06-01"
INTERLEAVED = "interleaved-thinking-2025-05-14"
"""Lets the model think between calls, not only before the first."""

_MARK = b',"cache_control":{"type":"ephemeral"}}'
_NAMES: Mapping[str, str] = {
    "effort": "output_config.effort",
    "serviceTier": "service_tier",
}


class AnthropicWire:
    """Requests and replies of one model in this format.

    The end of the system text and the last two messages are marked for the provider's cache, so each request
    finds all but its newest part there.
    """

    whole_replies = False

    def __init__(self, info: ModelInfo, betas: Sequence[str] = ()) -> None:
        self._info = info
        self._profile = profile_of(info)
        self._room = ReplyRoom(info, self._profile.output)
        self._betas = tuple(betas)
        self._message = Once(self._encode)
        self._tool = Once(_encode_tool)

    def reader(self, provider: str) -> AnthropicReader:
        return AnthropicReader(provider)

    def request(self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings) -> Outgoing:
        choice: str = settings.tool_choice
        if not tools and has_calls(messages):
            tools, choice = (NOOP,), "none"
        thinks = _thinking(settings) if self._may_think(messages) else {}
        lists: dict[str, Iterable[bytes]] = {}
        if tools:
            lists["tools"] = map(self._tool, tools)
        system = [
            block for message in messages if isinstance(message, SystemMessage) for block in self._message(message)[1]
        ]
        if system:
            lists["system"] = [*system[:-1], _marked(system[-1])]
        lists["messages"] = self._messages(messages)
        fields = self._fields(settings, thinks)
        fields["max_tokens"] = self._max_tokens(messages, tools, settings, thinks)
        fields = merge(fields, {"tool_choice": _choice(choice, thinks)} if tools else {})
        options = {name: value for name, value in settings.options.items() if name != "thinking"}
        fields = without(merge(fields, place(options, _NAMES)), settings.omit)
        if schema := answer_schema(settings, self._profile):
            fields = merge(fields, {"output_config": {"format": {"type": "json_schema", "schema": schema}}})
        return Outgoing(path="messages", body=join_body(fields, **lists), headers=self._headers(thinks))

    def _headers(self, thinks: Json) -> Mapping[str, str]:
        betas = [*self._betas, INTERLEAVED] if thinks.get("type") == "enabled" else self._betas
        chosen = {"anthropic-beta": ",".join(dict.fromkeys(betas))} if betas else {}
        return {"anthropic-version": VERSION, **chosen}

    def _fields(self, settings: ReplySettings, thinks: Json) -> Json:
        free = self._profile.sampling and not thinks
        fields: Json = {
            "model": self._info.api_id,
            "temperature": settings.temperature if free else None,
            "top_p": settings.top_p if free else None,
            "top_k": settings.top_k if free else None,
            "stop_sequences": list(settings.stop) or None,
            "thinking": thinks or None,
            "stream": True,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def _max_tokens(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings, thinks: Json
    ) -> int:
        """The reply and, on top of it, the thinking, within what the model can."""
        reply = self._room.for_reply(messages, tools, settings, MAX_OUTPUT) or MAX_OUTPUT
        wanted = reply + int(thinks.get("budget_tokens") or 0)
        return min(wanted, self._info.limits.output or wanted)

    def _may_think(self, messages: Sequence[ModelMessage]) -> bool:
        """Not in the middle of a turn that was begun without signed thinking: the provider refuses that."""
        if not messages or not isinstance(messages[-1], ToolMessage):
            return True
        replies = (message for message in reversed(messages) if isinstance(message, AssistantMessage))
        last = next(replies, None)
        return last is None or (self._is_own(last) and any(isinstance(part, Reasoning) for part in last.content))

    def _is_own(self, message: AssistantMessage) -> bool:
        return message.model in {"", self._info.full_name}

    def _messages(self, messages: Sequence[ModelMessage]) -> Iterator[bytes]:
        """Messages of one side in a row are one message here."""
        groups: list[tuple[bytes, list[bytes]]] = []
        for message in messages:
            role, blocks = self._message(message)
            if isinstance(message, SystemMessage) or not blocks:
                continue
            if groups and groups[-1][0] == role:
                groups[-1][1].extend(blocks)
            else:
                groups.append((role, list(blocks)))
        for _, group in groups[-2:]:
            group[-1] = _marked(group[-1])
        for role, group in groups:
            yield b'{"role":"%s","content":[%s]}' % (role, b",".join(group))

    def _encode(self, message: ModelMessage) -> tuple[bytes, tuple[bytes, ...]]:
        match message:
            case SystemMessage():
                return b"system", tuple(map(dump, self._content((message.text,))))
            case UserMessage():
                return b"user", tuple(map(dump, self._content(message.told)))
            case ToolMessage():
                return b"user", (dump(self._result(message)),)
            case AssistantMessage():
                return b"assistant", tuple(map(dump, self._reply(message)))

    def _content(self, content: Iterable[str | Attachment]) -> Iterator[Json]:
        for part in content:
            piece = part if isinstance(part, str) else media_of(part, self._info.accepts)
            if isinstance(piece, Media):
                yield _media_block(piece)
            elif piece.strip():
                yield {"type": "text", "text": piece}

    def _result(self, message: ToolMessage) -> Json:
        block: Json = {"type": "tool_result", "tool_use_id": _call_id(message.call_id)}
        if message.failed:
            block["is_error"] = True
        text = message.output or ("failed" if message.failed else "")
        if message.attachments:
            block["content"] = list(self._content((text, *message.attachments)))
        elif text:
            block["content"] = text
        return block

    def _reply(self, message: AssistantMessage) -> Iterator[Json]:
        """An earlier reply. Thinking goes back with its seal, and only where something follows it."""
        waiting: list[Json] = []
        for part in message.content:
            if isinstance(part, Reasoning):
                waiting += _sealed(part) if self._is_own(message) else ()
                continue
            if isinstance(part, str) and not part.strip():
                continue
            yield from waiting
            waiting = []
            if isinstance(part, ModelCall):
                yield {"type": "tool_use", "id": _call_id(part.id), "name": part.name, "input": part.arguments}
            else:
                yield {"type": "text", "text": part}


def _call_id(call_id: str) -> str:
    return plain_id(call_id, longest=64)


def _sealed(part: Reasoning) -> list[Json]:
    if part.signature.get("redacted"):
        return [{"type": "redacted_thinking", "data": part.signature["redacted"]}]
    if part.signature.get("signature"):
        return [{"type": "thinking", "thinking": part.text, "signature": part.signature["signature"]}]
    return []


def _media_block(media: Media) -> Json:
    if media.kind not in {"image", "pdf"}:
        words = f"[{media.filename} ({media.mime}) is not shown: this interface takes images and PDF files.]"
        return {"type": "text", "text": words}
    source = (
        {"type": "url", "url": media.url}
        if media.url
        else {"type": "base64", "media_type": media.mime, "data": media.base64}
    )
    return {"type": "image" if media.kind == "image" else "document", "source": source}


def _marked(block: bytes) -> bytes:
    return block[:-1] + _MARK


def _thinking(settings: ReplySettings) -> Json:
    """The setting for thinking as the wire has it; empty where it is off."""
    chosen: Any = settings.options.get("thinking")
    if not isinstance(chosen, Mapping) or chosen.get("type", "enabled") == "disabled":
        return {}
    return {"type": "enabled", **place(chosen, {"budgetTokens": "budget_tokens"})}


def _choice(choice: str, thinks: Json) -> Json:
    names = {"required": "any", "none": "none"}
    # Thinking and a forced call exclude each other.
    return {"type": "auto" if thinks and choice == "required" else names.get(choice, "auto")}


def _encode_tool(tool: ToolSpec) -> bytes:
    return dump({"name": tool.name, "description": tool.description, "input_schema": plain_schema(tool.schema)})
