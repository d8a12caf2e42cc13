"""Answers of a server's tool as results of ours: text, attachments, and a note for what cannot be shown."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from toolwright.definition import Attachment, Result
from toolwright.errors import ToolError
from toolwright.mcp.protocol import object_of, text_of
from toolwright.protocols.json_types import Json

SHOWABLE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"})
"""Types that go to a model as they are."""
LARGEST = 10 * 1024 * 1024
"""Bytes that an attachment may have."""
LEAVES = 200
"""Values that are looked for in the text, to see whether it says the same."""


def result_of(answer: Json, tool_id: str) -> Result:
    """The result of a call; an answer that calls itself an error is one."""
    content = answer.get("content")
    blocks = [object_of(block) for block in content] if isinstance(content, list) else []
    texts, attachments = split(blocks)
    structured = answer.get("structuredContent")
    if structured is not None and not _repeats(texts, structured):
        texts.append(json.dumps(structured, ensure_ascii=False))
    output = "\n\n".join(texts)
    if answer.get("isError"):
        return Result.failed(ToolError(output or f"{tool_id} failed and does not say why."))
    metadata: Json = {} if structured is None else {"structured": structured}
    return Result(output, metadata=object_of(answer.get("metadata")) | metadata, attachments=tuple(attachments))


def split(blocks: Sequence[Json]) -> tuple[list[str], list[Attachment]]:
    """The texts among the blocks, and what is attached."""
    texts: list[str] = []
    attachments: list[Attachment] = []
    for block in blocks:
        piece = _shown_block(block)
        if isinstance(piece, Attachment):
            attachments.append(piece)
        elif piece:
            texts.append(piece)
    return texts, attachments


def _shown_block(block: Json) -> str | Attachment:
    match block.get("type"):
        case "text":
            return text_of(block.get("text"))
        case "image":
            return _attached(block.get("data"), text_of(block.get("mimeType")), "an image")
        case "audio":
            return f"(Audio of type {_mime(block)}, which cannot be heard here, was left out.)"
        case "resource_link":
            name = text_of(block.get("title")) or text_of(block.get("name"))
            return f"(Resource {name or 'without a name'}: {text_of(block.get('uri'))})"
        case "resource":
            return resource(object_of(block.get("resource")))
        case kind:
            return f"(Content of the unknown kind {kind!r:.60} was left out.)"


def resource(content: Json) -> str | Attachment:
    """One content of a resource."""
    if isinstance(text := content.get("text"), str):
        return text
    uri = text_of(content.get("uri"))
    return _attached(content.get("blob"), text_of(content.get("mimeType")), uri or "a file", filename=uri or None)


def _attached(data: Any, mime: str, what: str, filename: str | None = None) -> str | Attachment:
    mime = mime.partition(";")[0].strip().lower()
    if not isinstance(data, str) or not data:
        return f"({what} came without content and was left out.)".capitalize()
    if mime not in SHOWABLE:
        return f"({what} of type {mime or 'unknown'}, about {_bytes(data):,} bytes, was left out.)"
    if _bytes(data) > LARGEST:
        return f"({what} of {_bytes(data):,} bytes was left out: at most {LARGEST:,} are possible.)"
    return Attachment(mime=mime, url=f"data:{mime};base64,{data}", filename=filename)


def _bytes(data: str) -> int:
    return len(data) * 3 // 4


def _mime(block: Json) -> str:
    return text_of(block.get("mimeType")) or "unknown"


def _repeats(texts: Sequence[str], structured: Any) -> bool:
    """Tell whether the text says what the structured content says, as servers do for older clients."""
    if any(_is_json(text, structured) for text in texts):
        return True
    leaves = list(islice(_leaves(structured), LEAVES + 1))
    whole = "\n".join(texts)
    return bool(texts) and 0 < len(leaves) <= LEAVES and all(leaf in whole for leaf in leaves)


def _is_json(text: str, value: Any) -> bool:
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False


def _leaves(value: Any) -> Iterator[str]:
    """Everything in a value that is not a container, as text."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield value if isinstance(value, str) else json.dumps(value)
