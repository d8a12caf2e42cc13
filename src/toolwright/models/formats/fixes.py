"""A request that a provider refuses is fixed once, as the error tells, and the fix is kept for the model."""

import json
import logging
import re
import weakref
from collections.abc import Sequence
from dataclasses import field, replace
from functools import partial

from toolwright.definition import Attachment
from toolwright.models.encode import Once
from toolwright.models.formats.media import media_of
from toolwright.models.model import (
    AssistantMessage,
    ModelCall,
    ModelError,
    ModelMessage,
    Reasoning,
    ReplySettings,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from toolwright.protocols.json_types import Json
from toolwright.record import record

log = logging.getLogger("toolwright.models")

MOST = 5
"""Fixes that one request may need."""
LEAST_OUTPUT = 1024
"""Tokens below which a reply is of no use."""

_REASONING = re.compile(
    r"bound to a different|block_binding|invalid_encrypted_content|encrypted.?content|thought.?signature"
    r"|(thinking|reasoning).{0,80}(signature|cannot be modified|must remain)|signature.{0,60}(thinking|invalid)"
)
_NO_TOOLS = re.compile(
    r"(not|n't) support(ed)?( for| by)?( the)? (tools?|function|tool)|tools? (use|calling|calls?)?.{0,20}not supported"
    r"|support tool use|tools? .{0,30}(is|are) not (supported|available)"
)
_NO_STREAM = re.compile(r"stream(ing)?\b.{0,40}(not|n't|un)\s?support|(not|n't) support.{0,20}\bstream(ing)?\b")
_REFUSED = re.compile(
    r"not (be )?(support|permit|allow|recogni|accept|compatib|valid|set|use|enabled)|n't (support|allow|accept)"
    r"|unsupported|unknown|unrecogni|unexpected|extra|forbid|deprecat|invalid|only .{0,40}allowed|must be|cannot"
    r"|incompatible|removed"
)
_NO_FILES = re.compile(
    r"(image|vision|multi-?modal|picture|file|pdf|document)\w*.{0,40}(not|n't|un)[ -]?(be )?(support|accept|allow)"
    r"|(not|n't) (support|accept).{0,40}(image|vision|multi-?modal|picture|file|pdf|document)|not a multi-?modal"
    r"|at most 0 |support image input|unknown variant .?(image|file|document)|image_url.{0,20}only supported by"
)
"""What is said of a picture or another file by a server that takes none."""
_NOT_THE_FILES = frozenset({"auth", "quota", "content_filter", "context_overflow"})
_SCHEMA = re.compile(r"invalid schema for function|invalid_function_parameters|\bstrict\b")
_ANSWER = re.compile(
    r"(output_config|text)\.format|response[ _]?(json_?)?(format|schema|mime)|json_schema|structured.?output|grammar"
)
"""What is said of the schema of an answer by a server that takes none, or not this one."""
_ANSWER_FIELDS = frozenset({"response_format", "format", "responseSchema", "responseMimeType"})
_OUTPUT = re.compile(r"max_?(completion_|output_|new_)?tokens|maximum.{0,30}output|output tokens|can only afford")
_ESSENTIAL = frozenset({"model", "messages", "input", "contents", "system", "tools", "stream", "systemInstruction"})
_LIMITS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"})


@record(slots=True)
class Fixes:
    """The refusals of a model so far, and what fixes them."""

    omitted: frozenset[str] = frozenset()
    max_output: int | None = None
    tools: bool = True
    files: bool = True
    _bare: dict[int, "weakref.ref[AssistantMessage]"] = field(default_factory=dict)
    """The replies that go back without their reasoning. By identity: what the model thinks later is kept again."""
    _strip: Once[AssistantMessage, AssistantMessage] = field(default_factory=lambda: Once(_without_reasoning))
    _in_words: Once[ModelMessage, ModelMessage] = field(default_factory=lambda: Once(_without_files))

    def apply(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings
    ) -> tuple[Sequence[ModelMessage], Sequence[ToolSpec], ReplySettings]:
        """The request as the model takes it."""
        if self._bare:
            messages = [self._stripped(message) for message in messages]
        if not self.files:
            messages = [self._in_words(message) for message in messages]
        if self.omitted or self.max_output is not None:
            most = min(filter(None, (settings.max_output, self.max_output)), default=None)
            settings = replace(settings, omit=self.omitted, max_output=most)
        return messages, tools if self.tools else (), settings

    def learn(self, name: str, error: ModelError, body: bytes, messages: Sequence[ModelMessage]) -> bool:
        """Find out from the error what to leave out; False where it tells nothing that is not done already."""
        done = self._fix(error, json.loads(body), messages, strict=b'"strict":true' in body)
        if done:
            log.warning("%s refused the request (%s). It is asked again %s, from now on.", name, error.said[:200], done)
        return bool(done)

    def no_files(self, name: str, error: ModelError, messages: Sequence[ModelMessage]) -> bool:
        """Leave out files from now on, where the error says that the model takes none; False where it does not."""
        words, seen = _NO_FILES.search(error.said.lower()), any(map(_files_of, messages))
        if not self.files or words is None or not seen or error.kind in _NOT_THE_FILES:
            return False
        self.files = False
        log.warning("%s takes no files (%s). It is told of them in words from now on.", name, error.said[:200])
        return True

    def no_stream(self, name: str) -> bool:
        """Ask for whole replies from now on; False if that was so already."""
        if "stream" in self.omitted:
            return False
        self.omitted |= {"stream"}
        log.warning("%s does not stream. It is asked for whole replies from now on.", name)
        return True

    def _fix(self, error: ModelError, body: Json, messages: Sequence[ModelMessage], *, strict: bool) -> str:
        words = error.said.lower()
        if _REASONING.search(words) and self._strip_all(messages):
            return "without its earlier reasoning"
        if _OUTPUT.search(words) and self._lower_output(words, body):
            return f"for at most {self.max_output} tokens"
        if self.tools and body.get("tools") and _NO_TOOLS.search(words):
            self.tools = False
            return "without tools"
        if body.get("stream") and "stream" not in self.omitted and _NO_STREAM.search(words):
            self.omitted |= {"stream"}
            return "for a whole reply"
        if strict and "strict" not in self.omitted and _SCHEMA.search(words):
            self.omitted |= {"strict"}
            return "without strict schemas"
        if "answer" not in self.omitted and _ANSWER_FIELDS & _field_names(body) and _ANSWER.search(words):
            self.omitted |= {"answer"}
            return "without a schema for its answer"
        name = self._refused_field(error, words, body)
        if name:
            self.omitted |= {name}
            return f"without {name}"
        return ""

    def _refused_field(self, error: ModelError, said: str, body: Json) -> str:
        unknown = _field_names(body) - _ESSENTIAL - _ANSWER_FIELDS - _LIMITS - self.omitted
        names = sorted(unknown, key=len, reverse=True)
        if error.param:
            *_, leaf = error.param.split(".")
            if leaf in names:
                return leaf
        if not _REFUSED.search(said):
            return ""
        return next((name for name in names if re.search(rf"(?<![a-z]){re.escape(name.lower())}(?![a-z])", said)), "")

    def _lower_output(self, said: str, body: Json) -> bool:
        fields: Json = {**body, **(body.get("generationConfig") or {})}
        sent = next((int(fields[name]) for name in _LIMITS if isinstance(fields.get(name), int)), 0)
        if sent <= LEAST_OUTPUT:
            return False
        allowed = max(LEAST_OUTPUT, _allowed_output(said, sent))
        self.max_output = min(allowed, self.max_output or allowed)
        return allowed < sent

    def _strip_all(self, messages: Sequence[ModelMessage]) -> bool:
        fresh = [
            one for one in messages if isinstance(one, AssistantMessage) and id(one) not in self._bare and _reasons(one)
        ]
        bare = self._bare
        for message in fresh:
            number = id(message)
            bare[number] = weakref.ref(message, partial(_forget, bare, number))
        return bool(fresh)

    def _stripped(self, message: ModelMessage) -> ModelMessage:
        held = self._bare.get(id(message))
        if held is None or held() is not message or not isinstance(message, AssistantMessage):
            return message
        return self._strip(message)


def _forget(bare: dict[int, "weakref.ref[AssistantMessage]"], number: int, _: object) -> None:
    bare.pop(number, None)


def _reasons(message: AssistantMessage) -> bool:
    return any(
        isinstance(part, Reasoning) or (isinstance(part, ModelCall) and part.signature) for part in message.content
    )


def _without_reasoning(message: AssistantMessage) -> AssistantMessage:
    kept = (part for part in message.content if not isinstance(part, Reasoning))
    bare = tuple(replace(part, signature={}) if isinstance(part, ModelCall) else part for part in kept)
    return replace(message, content=bare)


def _files_of(message: ModelMessage) -> Sequence[object]:
    if isinstance(message, ToolMessage):
        return message.attachments
    content = message.content if isinstance(message, UserMessage) else ()
    return [piece for piece in content if not isinstance(piece, str)]


def _without_files(message: ModelMessage) -> ModelMessage:
    """The same with words in the place of files."""
    if not _files_of(message):
        return message
    if isinstance(message, UserMessage):
        return replace(message, content=tuple(one if isinstance(one, str) else _words(one) for one in message.content))
    if isinstance(message, ToolMessage):
        output = "\n".join((message.output, *map(_words, message.attachments)))
        return replace(message, output=output, attachments=())
    return message


def _words(file: Attachment) -> str:
    content = media_of(file, {"text"})
    return content if isinstance(content, str) else ""


def _field_names(body: Json) -> set[str]:
    """The names of settings in a request, those inside of others too; not what messages, tools and schemas contain."""
    names: set[str] = set()
    for name, value in body.items():
        names.add(name)
        if isinstance(value, dict) and name not in _ESSENTIAL | _ANSWER_FIELDS:
            names |= _field_names(value)
    return names


def _allowed_output(said: str, sent: int) -> int:
    """The most that the provider says it would take; a quarter of what was sent where it does not say."""
    difference = re.search(r"(\d+) > (\d+) - (\d+)", said)
    if difference is not None:
        return int(difference[2]) - int(difference[3])
    numbers = [int(number) for number in re.findall(r"(?<![\d.])\d{2,9}(?![\d.]*\d)", said.replace(",", ""))]
    smaller = [number for number in numbers if LEAST_OUTPUT <= number < sent]
    named = re.search(r"(?:at most|maximum|up to|less than|<=|limit|supports|afford)[^\d]{0,40}(\d+)", said)
    if named and int(named[1]) in smaller:
        return int(named[1])
    return max(smaller, default=sent // 4)
