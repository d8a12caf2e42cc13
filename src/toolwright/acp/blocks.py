"""Content that an editor sends with a prompt, as text and files."""

from typing import Any

from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import INVALID_PARAMS, RpcError
from toolwright.session.prompt import Attached


def read_blocks(blocks: Any) -> tuple[str, tuple[Attached, ...]]:
    """The words and the files of a prompt; RpcError for what cannot be taken."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise RpcError("prompt must be a list of content blocks.", INVALID_PARAMS)
    texts: list[str] = []
    files: list[Attached] = []
    for block in blocks:
        match block.get("type"):
            case "text":
                texts.append(_text_field(block, "text"))
            case "image":
                mime = _text_field(block, "mimeType")
                files.append(Attached(url=f"data:{mime};base64,{_text_field(block, 'data')}", mime=mime))
            case "resource_link":
                _link(block, texts, files)
            case "resource":
                _resource(block.get("resource"), texts, files)
            case other:
                raise RpcError(f"Content of type {str(other)[:40]!r} cannot be taken.", INVALID_PARAMS)
    text = "\n\n".join(filter(None, texts))
    if not text.strip() and not files:
        raise RpcError("The prompt is empty.", INVALID_PARAMS)
    return text, tuple(files)


def _link(block: Json, texts: list[str], files: list[Attached]) -> None:
    uri, name = _text_field(block, "uri"), str(block.get("name") or "")
    if uri.startswith("file://"):
        files.append(Attached(url=uri, filename=name))
    else:
        texts.append(f"[{name or uri}]({uri})")


def _resource(resource: Any, texts: list[str], files: list[Attached]) -> None:
    if not isinstance(resource, dict):
        raise RpcError("A resource must be an object.", INVALID_PARAMS)
    uri, mime = _text_field(resource, "uri"), str(resource.get("mimeType") or "")
    if "text" in resource:
        texts.append(f"{uri}:\n```\n{_text_field(resource, 'text')}\n```")
    else:
        kind = mime or "application/octet-stream"
        files.append(Attached(url=f"data:{kind};base64,{_text_field(resource, 'blob')}", mime=kind, filename=uri))


def _text_field(block: Json, key: str) -> str:
    value = block.get(key)
    if not isinstance(value, str):
        raise RpcError(f"{key} of content is a text, not {repr(value)[:40]}.", INVALID_PARAMS)
    return value
