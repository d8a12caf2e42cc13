"""Constants of the Model Context Protocol for both sides: versions, keys and codes of its two families.

The older family begins with a handshake and keeps a session. The newer one has neither: every request says for itself
which version it speaks and what its sender can do, and a server that needs something answers with what it needs.
"""

from collections.abc import Mapping
from typing import Any

from toolwright.protocols.json_types import Json
from toolwright.version import VERSION

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions that begin with a handshake, the newest first."""
STATELESS = "2026-07-28"
"""The version without a handshake."""

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_INFO = "io.modelcontextprotocol/clientInfo"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER = "io.modelcontextprotocol/serverInfo"

PARSE_ERROR = -32700
RESOURCE_MISSING = -32002
HEADER_MISMATCH = -32020
VERSION_UNSUPPORTED = -32022

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that a request repeats in its header `Mcp-Name`."""
INPUT_REQUIRED = "input_required"
COMPLETE = "complete"


def ourselves() -> Json:
    return {"name": "toolwright", "version": VERSION}


def object_of(value: Any) -> Json:
    """The value if it is an object, else an empty one: what comes from outside may be anything."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def meta_of(params: Any) -> Mapping[str, Any]:
    return object_of(object_of(params).get("_meta"))


def header_value(text: str) -> str:
    """A value as a header can carry it: as it is, or in base 64 where it has other letters."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    if plain and not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    import base64

    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def plain_value(header: str) -> str:
    """Return the value of such a header; empty if it is broken."""
    if not (header.startswith("=?base64?") and header.endswith("?=")):
        return header
    import base64

    try:
        return base64.b64decode(header[9:-2], validate=True).decode()
    except ValueError:
        return ""
