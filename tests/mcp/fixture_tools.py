"""The tools that the conformance suite of the protocol calls at a server, as a program's own tools."""

import asyncio
import base64
import struct
from typing import Any

from toolwright import Attachment, Result, Tool, ToolContext, ToolError, tool

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = base64.b64encode(
    b"RIFF"
    + struct.pack("<I", 38)
    + b"WAVEfmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    + b"data\2\0\0\0\x80\x80"
).decode()
IMAGE = Attachment(mime="image/png", url=f"data:image/png;base64,{PNG}")
SOUND = Attachment(mime="audio/wav", url=f"data:audio/wav;base64,{WAV}")
TEXT = Attachment(mime="text/plain", url="data:text/plain;base64," + base64.b64encode(b"An embedded text.").decode())


@tool
def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@tool
def test_image_content() -> Result:
    """Return a picture."""
    return Result("", attachments=(IMAGE,))


@tool
def test_audio_content() -> Result:
    """Return a sound."""
    return Result("", attachments=(SOUND,))


@tool
def test_embedded_resource() -> Result:
    """Return a file."""
    return Result("", attachments=(TEXT,))


@tool
def test_multiple_content_types() -> Result:
    """Return a text, a picture and a file."""
    return Result("Several kinds:", attachments=(IMAGE, TEXT))


@tool
def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


@tool
async def test_tool_with_progress(ctx: ToolContext) -> str:
    """Say how far it is."""
    for number in (0, 50, 100):
        ctx.metadata(f"{number} %")
        await asyncio.sleep(0.02)  # as the suite asks for
    return "Done."


async def _defined(_: ToolContext, arguments: dict[str, Any]) -> Result:
    return Result(f"got {sorted(arguments)}")


DEFINED = Tool(
    id="json_schema_2020_12_tool",
    description="Take an address by a definition of its schema.",
    parameters={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
        },
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False,
    },
    run=_defined,
)

TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    DEFINED,
)
