"""Files as they go along with a result or a prompt: their kind, and their content as an address."""

import base64
import mimetypes
from collections.abc import Mapping

_BEGINNINGS: Mapping[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF-": "application/pdf",
}


def kind_of(content: bytes, name: str) -> str:
    """The media type of a file by its first bytes, else by its name, else by whether it is text."""
    for beginning, kind in _BEGINNINGS.items():
        if content.startswith(beginning):
            return kind
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if known := mimetypes.guess_type(name)[0]:
        return known
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/plain"


def data_url(kind: str, content: bytes) -> str:
    """The content of a file as an address."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
