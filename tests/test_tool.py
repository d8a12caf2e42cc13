"""What a tool is: made by the decorator or by hand, the same to everybody."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest

import toolwright
from toolwright.errors import InvalidArguments, ToolError
from toolwright.schema import Problem
from toolwright.testing import make_session, make_workspace
from toolwright.tool import Abort, AgentLike, Attachment, Call, Result, Tool, ToolContext, described, is_tool_name, tool

LINES = 12


@tool
async def greet(ctx: ToolContext, name: Annotated[str, "Who"], times: Annotated[int, "How often"] = 1) -> str:
    """Greets somebody.

    More than once if asked to.
    """
    return f"hello {name} " * times


def test_the_signature_is_the_schema_and_the_docstring_the_text() -> None:
    assert greet.id == "greet"
    assert greet.description == "Greets somebody.\n\nMore than once if asked to."
    assert greet.permission == "greet"
    assert greet.parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Who"},
            "times": {"type": "integer", "description": "How often", "default": 1},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


def test_the_plain_function_is_still_there() -> None:
    assert greet.function is not None
    assert greet.function.__name__ == "greet"


def test_text_may_lie_beside_the_function_and_share_its_constants(tmp_path: Path) -> None:
    (tmp_path / "count.md").write_text("Counts up to ${LINES} lines, never $5 more.\n")
    module = _module(tmp_path, "count", "LINES = 12\n")
    assert module.count.description == "Counts up to 12 lines, never $5 more."


def test_a_placeholder_without_a_constant_is_a_mistake_found_at_once(tmp_path: Path) -> None:
    (tmp_path / "tally.md").write_text("At most ${WORDS} words.")
    with pytest.raises(ValueError, match=r"tally\.md speaks of WORDS"):
        _module(tmp_path, "tally", "")


async def test_a_tool_made_by_hand_with_a_foreign_schema_is_a_tool_like_any_other(project: Path) -> None:
    async def run(ctx: ToolContext, arguments: dict[str, Any]) -> Result:
        return Result(f"{arguments['x-y']}", title="done", metadata={"n": 1})

    schema = {"type": "object", "properties": {"x-y": {"type": "number"}}, "required": ["x-y"]}
    foreign = Tool(id="foreign", description="From elsewhere", parameters=schema, run=run)
    session = make_session(project, tools=[foreign])
    result = await session.run_call(Call(id="call_1", tool="foreign", arguments={"x-y": 2}))
    assert (result.output, result.title, result.metadata) == ("2", "done", {"n": 1, "truncated": False})
    assert (await session.run_call(Call(id="call_2", tool="foreign", arguments={}))).error is not None


async def test_a_tool_may_be_made_ready_for_the_agent_it_is_offered_to(project: Path) -> None:
    async def init(made: Tool, agent: AgentLike) -> Tool:
        return described(made, who=agent.name, edits=agent.decide("edit", "a.txt"))

    @tool(init=init)
    async def tailored(ctx: ToolContext) -> str:
        """Made for $who, for whom edits are: $edits. It costs $5."""
        return ""

    workspace = make_workspace(project, tools=[tailored])
    texts = []
    for name in ("build", "plan"):
        standing = workspace.session(name).standing
        [form] = [one for one in await workspace.registry.tools("", "", standing) if one.id == "tailored"]
        texts.append(form.description)
    assert texts == [
        "Made for build, for whom edits are: allow. It costs $5.",
        "Made for plan, for whom edits are: deny. It costs $5.",
    ]


def test_a_tool_may_word_its_own_complaints() -> None:
    def complain(problems: Any) -> str:
        return " & ".join(shown.message for shown in problems)

    fussy = replace(greet, format_problems=complain)
    with pytest.raises(InvalidArguments, match=r"^is missing; expected a string$"):
        fussy.parse({})
    assert fussy.parse({"name": "x"}) == {"name": "x"}
    assert str(Problem(("a", 0, "b"), "wrong")) == "a[0].b: wrong"


async def test_attachments_get_their_ids_and_owners_when_they_are_recorded(project: Path) -> None:
    @tool(asks=True)
    async def picture(ctx: ToolContext) -> Result:
        """Shows one."""
        return Result("here", attachments=(Attachment(mime="image/png", url="data:image/png;base64,", filename="a"),))

    session = make_session(project, tools=[picture])
    events: list[Any] = []
    session.bus.subscribe(events.append)
    result = await session.run_call(Call(id="call_1", tool="picture", arguments={}), message_id="msg_1")
    [file] = events[-1].to_json()["properties"]["part"]["state"]["attachments"]
    assert file.pop("id").startswith("prt_")
    assert file == {
        "sessionID": session.id,
        "messageID": "msg_1",
        "mime": "image/png",
        "url": "data:image/png;base64,",
        "filename": "a",
        "type": "file",
    }
    assert result.attachments[0].filename == "a"


async def test_a_tool_sees_whose_call_it_is_and_where(project: Path) -> None:
    seen: list[ToolContext] = []

    @tool(asks=True)
    async def look(ctx: ToolContext) -> str:
        """Around."""
        seen.append(ctx)
        return ""

    session = make_session(project, tools=[look], agent="plan")
    await session.run_call(Call(id="call_7", tool="look", arguments={}), message_id="msg_7")
    [ctx] = seen
    assert (ctx.session_id, ctx.message_id, ctx.call_id, ctx.agent) == (session.id, "msg_7", "call_7", "plan")
    assert ctx.directory == project.resolve()
    assert "look" in ctx.offered
    assert not ctx.abort.aborted


def test_a_tool_that_polls_learns_that_it_is_to_stop() -> None:
    abort = Abort()
    abort.raise_if_aborted()
    abort.set("enough")
    with pytest.raises(ToolError, match="enough") as raised:
        abort.raise_if_aborted()
    assert raised.value.kind == "aborted"


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("read", True),
        ("my_tool-2", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("2x", False),
        ("a b", False),
        ("", False),
    ],
)
def test_names_every_provider_takes(name: str, good: bool) -> None:
    assert is_tool_name(name) is good


def test_a_tool_whose_name_a_provider_would_refuse_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="'my tool' is no name for a tool"):
        tool(id="my tool")(lambda ctx: "x")


def test_the_public_names_are_the_things_themselves() -> None:
    from toolwright import tool as public

    assert public is tool
    assert toolwright.Tool is Tool
    assert all(getattr(toolwright, name) is not None for name in toolwright.__all__)
    with pytest.raises(AttributeError):
        toolwright.nothing_of_the_kind  # noqa: B018


def _module(folder: Path, name: str, head: str) -> Any:
    import importlib.util

    code = (
        f'from toolwright import tool\n{head}\n@tool(text="{name}.md")\nasync def {name}(ctx) -> str:\n    return ""\n'
    )
    (folder / f"{name}.py").write_text(code)
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
