"""What the conformance suite of the protocol expects of a server, as a program's own tools, commands and resources."""

import asyncio
import base64
import json
import struct
from typing import Any

from toolwright import Attachment, Result, Tool, ToolContext, ToolError, tool
from toolwright.extension import Resource
from toolwright.mcp.client.elicitation import elicit
from toolwright.protocols.json_types import Json

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

LOGGED = ("Tool execution started", "Tool processing data", "Tool execution completed")


@tool
async def test_tool_with_logging(ctx: ToolContext) -> str:
    """Say what it does."""
    for words in LOGGED:
        ctx.metadata(words)
    return "Done."


async def _filled_in(ctx: ToolContext, message: str, properties: Json) -> str:
    form = {"message": message, "requestedSchema": {"type": "object", "properties": properties}}
    return json.dumps(await elicit(ctx, "fixture", form))


@tool
async def test_elicitation(ctx: ToolContext, message: str) -> str:
    """Ask for a name and an address."""
    return await _filled_in(ctx, message, {"username": {"type": "string"}, "email": {"type": "string"}})


@tool
async def test_elicitation_sep1034_defaults(ctx: ToolContext) -> str:
    """Ask with an answer for each kind of field."""
    properties: Json = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return await _filled_in(ctx, "Who are you?", properties)


@tool
async def test_elicitation_sep1330_enums(ctx: ToolContext) -> str:
    """Ask with every form that choices have."""
    words = ["option1", "option2", "option3"]
    titled = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
    properties: Json = {
        "untitledSingle": {"type": "string", "enum": words},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": words}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await _filled_in(ctx, "Which?", properties)


RESOURCES = (
    Resource(uri="test://static-text", read=lambda: "This is the content of the static text resource."),
    Resource(uri="test://static-binary", read=lambda: base64.b64decode(PNG), mime="image/png"),
    Resource(uri="test://template/{id}/data", read=lambda **of: json.dumps(of), mime="application/json"),
    Resource(uri="test://watched-resource", read=lambda: "as it is"),
)
COMMANDS = {
    "test_simple_prompt": {"template": "This is a simple prompt for testing."},
    "test_prompt_with_arguments": {"template": "Prompt with arguments: arg1='$1', arg2='$2'"},
    "test_prompt_with_embedded_resource": {"template": "Please process @notes.txt."},
    "test_prompt_with_image": {"template": "Please analyze @dot.png."},
}
FILES = {"notes.txt": b"Embedded resource content for testing.", "dot.png": base64.b64decode(PNG)}
"""What the commands mention."""

TOOLS = (
    test_tool_with_logging,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    DEFINED,
)
