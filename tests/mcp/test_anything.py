"""Whatever a server says, nothing breaks: every definition is a tool or a reason, every answer a result."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.definition import Result, Tool, ToolContext, is_tool_name
from toolwright.errors import InvalidArguments
from toolwright.mcp.client.content import result_of
from toolwright.mcp.client.elicitation import _accepted, _choice, _default
from toolwright.mcp.client.servers import prompt_text
from toolwright.mcp.client.tools import BadTool, tool_id, tool_of
from toolwright.models.formats.schemas import gemini_schema, plain_schema
from toolwright.session.turns.turn import _schema_for_model

KEYS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "anyOf",
        "allOf",
        "oneOf",
        "not",
        "if",
        "$ref",
        "$defs",
        "default",
        "const",
        "pattern",
        "minimum",
        "maxLength",
        "additionalProperties",
        "description",
        "title",
        "format",
        "content",
        "text",
        "data",
        "mimeType",
        "resource",
        "uri",
        "blob",
        "isError",
        "structuredContent",
        "messages",
        "name",
        "inputSchema",
        "enumNames",
    ]
)
WORDS = st.sampled_from(["object", "string", "array", "text", "image", "audio", "resource", "#/x", "#", "[", "x"])
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | WORDS | st.text(max_size=5)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, ANYTHING, max_size=5)


async def execute(_: ToolContext, name: str, __: Any) -> Result:
    return Result(name)


@settings(deadline=None)
@given(name=st.text(max_size=80) | WORDS, schema=ANYTHING | OBJECTS, arguments=ANYTHING)
def test_a_definition_is_a_tool_or_a_reason(name: str, schema: Any, arguments: Any) -> None:
    made = tool_of("a server", {"name": name, "inputSchema": schema}, execute)
    if isinstance(made, BadTool):
        assert made.reason
        return
    assert isinstance(made, Tool)
    gemini_schema(plain_schema(_schema_for_model(made.parameters)))
    try:
        made.parse(arguments)
    except InvalidArguments as error:
        assert str(error)  # noqa: PT017 - either way is right


@settings(deadline=None)
@given(server=st.text(max_size=100), name=st.text(max_size=100))
def test_every_id_is_one_that_all_providers_accept(server: str, name: str) -> None:
    assert is_tool_name(tool_id(server, name))


@settings(deadline=None)
@given(answer=OBJECTS)
def test_an_answer_is_a_result(answer: dict[str, Any]) -> None:
    assert isinstance(result_of(answer, "s_tool").output, str)


@settings(deadline=None)
@given(answer=OBJECTS)
def test_a_prompt_is_a_text(answer: dict[str, Any]) -> None:
    assert isinstance(prompt_text(answer), str)


@settings(deadline=None)
@given(fields=st.lists(OBJECTS, max_size=3), said=st.lists(st.lists(WORDS, max_size=2), max_size=3))
def test_a_form_is_a_question_and_its_answer_an_answer(fields: list[dict[str, Any]], said: list[list[str]]) -> None:
    for one in fields:
        _choice("server", "Why?", "field", one, _default(one, needed=True))
    assert _accepted([f"f{n}" for n in range(len(fields))], fields, said)["action"] in ("accept", "decline")
