"""What a tool is: made by the decorator or by hand, the same to everybody."""

import functools
import json
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest

import toolwright
from tests.contexts import HostedContext
from toolwright.definition import (
    Abort,
    AgentLike,
    Attachment,
    Call,
    Result,
    Tool,
    ToolContext,
    as_tool,
    described,
    is_tool_name,
    tool,
)
from toolwright.errors import InvalidArguments, ToolError
from toolwright.schema.basics import Problem
from toolwright.testing import make_session, make_workspace

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
        ruled = workspace.session(name).ruled_agent
        [form] = [one for one in await workspace.registry.tools("", "", ruled) if one.id == "tailored"]
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
    session.home.bus.subscribe(events.append)
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


async def outcome(project: Path, thing: Any, **arguments: Any) -> Result:
    """What a call of this tool comes to, through the door."""
    made = as_tool(thing)
    session = make_session(project, tools=[made])
    return await session.run_call(Call(id="call_1", tool=made.id, arguments=arguments))


@dataclass
class Stay:
    guest: str
    until: date
    beds: int = 1


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Pair(NamedTuple):
    x: int
    y: int


def book(stay: Stay, max_price: float | None = None, colours: frozenset[Colour] = frozenset()) -> dict[str, Any]:
    """Book a room.

    Args:
        stay: Who, and until when.
        max_price: In euros.
    """
    return {"stay": stay, "max": max_price, "colours": colours}


def test_a_docstring_tells_the_arguments_and_the_description_is_without_them() -> None:
    made = as_tool(book)
    assert made.description == "Book a room."
    assert made.parameters["properties"]["stay"]["description"] == "Who, and until when."
    assert made.parameters["properties"]["maxPrice"] == {"type": "number", "description": "In euros."}


async def test_a_plain_function_without_a_context_gets_values_of_its_types(project: Path) -> None:
    result = await outcome(project, book, stay={"guest": "Ada", "until": "2026-01-31"}, maxPrice=20, colours=["red"])
    assert json.loads(result.output) == {
        "stay": {"guest": "Ada", "until": "2026-01-31", "beds": 1},
        "max": 20.0,
        "colours": ["red"],
    }


async def test_null_for_an_optional_argument_means_its_default_and_digits_are_a_number(project: Path) -> None:
    stay = {"guest": "Ada", "until": "2026-01-31", "beds": "2"}
    result = await outcome(project, book, stay=json.dumps(stay), maxPrice=None, colours=None)
    assert json.loads(result.output) == {"stay": stay | {"beds": 2}, "max": None, "colours": []}


async def test_null_means_the_default_even_where_the_type_has_null(project: Path) -> None:
    def pick(first: int | None = 5, second: Any = 6) -> list[Any]:
        return [first, second]

    assert (await outcome(project, pick, first=None, second=None)).output == "[5, 6]"


async def test_null_for_a_required_argument_is_a_value_only_where_its_type_has_it(project: Path) -> None:
    def show(one: int | None) -> str:
        return repr(one)

    def count(one: int) -> str:
        return repr(one)

    assert (await outcome(project, show, one=None)).output == "None"
    assert "- one: expected a whole number, got null" in (await outcome(project, count, one=None)).output
    assert (await outcome(project, tool(id="anything")(lambda one: one), one=None)).output == "null"


async def test_problems_with_nested_values_name_the_argument_they_are_in(project: Path) -> None:
    stay = {"guest": "Ada", "until": "soon", "bed": 2}
    result = await outcome(project, book, stay=stay, max_price="dear")
    assert result.error is not None
    assert result.error.kind == "schema"
    assert result.output.splitlines()[1:-1] == [
        '- maxPrice: expected a number, got "dear"',
        "- stay.bed: is unknown; Stay has guest, until, beds",
    ]


async def test_arguments_may_be_given_as_python_spells_them(project: Path) -> None:
    stay = {"guest": "Ada", "until": "2026-01-31"}
    result = await outcome(project, book, stay=stay, max_price=3)
    assert json.loads(result.output)["max"] == 3


async def test_a_misspelt_optional_argument_stops_the_call_before_anything_happens(project: Path) -> None:
    done: list[str] = []

    def deploy(target: str, dry_run: bool = False) -> str:
        done.append(target)
        return target

    result = await outcome(project, deploy, target="production", dryrunn=True)
    assert "- dryrunn: is no argument of this tool; did you mean dryRun?" in result.output
    assert done == []


async def test_any_other_unknown_argument_is_named_in_the_output(project: Path) -> None:
    def ping(host: str) -> str:
        return f"{host} is there"

    assert (await outcome(project, ping, host="a", colour=None)).output == "a is there"
    result = await outcome(project, ping, host="a", colour="red")
    assert result.error is None
    assert result.output == "a is there\n\n(Ignored, because this tool has no such argument: colour)"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("plain", "plain"),
        ({"a": [1, None]}, '{"a": [1, null]}'),
        ([date(2026, 1, 31), Path("x"), Colour.RED], '["2026-01-31", "x", "red"]'),
        (Stay("Ada", date(2026, 1, 31)), '{"guest": "Ada", "until": "2026-01-31", "beds": 1}'),
        (Pair(1, 2), '{"x": 1, "y": 2}'),
        ({3, 1, 2}, "[1, 2, 3]"),
        ({"e", "d", "c", "b", "a", 2, 1}, '["a", "b", "c", "d", "e", 1, 2]'),
        ({1: True}, '{"1": true}'),
        (float("inf"), '"inf"'),
        ("é", "é"),
        ({"é": 1}, '{"é": 1}'),
        (7, "7"),
        (True, "true"),
        (None, "null"),
        (Result("as it is"), "as it is"),
    ],
)
async def test_what_a_function_returns_is_text_or_json(project: Path, answer: Any, text: str) -> None:
    def give() -> Any:
        return answer

    assert (await outcome(project, give)).output == text


async def test_a_result_that_holds_itself_is_the_tools_fault(project: Path) -> None:
    def give() -> Any:
        endless: list[Any] = []
        endless.append(endless)
        return endless

    result = await outcome(project, give)
    assert result.error is not None
    assert result.output.startswith("give returned list, which is no text, Result or JSON")


class Shop:
    """A shop."""

    def __init__(self, name: str) -> None:
        self.name = name

    @tool
    async def search(self, ctx: ToolContext, what: str) -> str:
        """Search the shop."""
        return f"{self.name}: {what} for {ctx.agent}"

    def price(self, what: str) -> int:
        return len(what) + len(self.name)

    async def __call__(self, what: str = "all") -> str:
        return f"{self.name} sells {what}"


async def test_methods_are_tools_of_their_instance(project: Path) -> None:
    shop = Shop("Ada's")
    assert (await outcome(project, shop.search, what="tea")).output == "Ada's: tea for build"
    assert (await outcome(project, Shop("Bob's").search, what="tea")).output == "Bob's: tea for build"
    assert (await outcome(project, shop.price, what="tea")).output == "8"
    assert shop.search.parameters["required"] == ["what"]


def test_a_method_without_its_instance_is_refused() -> None:
    with pytest.raises(TypeError, match=r"as in Shop\(\)\.search"):
        as_tool(Shop.search)


async def test_objects_and_partials_that_can_be_called_are_tools(project: Path) -> None:
    assert (await outcome(project, Shop("Ada's"), what="tea")).output == "Ada's sells tea"
    assert as_tool(Shop("Ada's")).description == "A shop."

    def charge(key: str, amount: int) -> str:
        return f"{len(key)} {amount}"

    charging = as_tool(functools.partial(charge, key="secret"))
    assert "secret" not in json.dumps(charging.parameters)
    assert (await outcome(project, charging, amount=3)).output == "6 3"


async def test_a_plain_function_that_returns_something_to_await_is_awaited(project: Path) -> None:
    async def later() -> int:
        return 3

    def now() -> Any:
        return later()

    assert (await outcome(project, now)).output == "3"


def test_a_thing_that_is_no_tool_is_refused() -> None:
    word: Any = "read"
    with pytest.raises(TypeError, match="A tool is a function or a Tool, not str: 'read'"):
        as_tool(word)


def test_a_tool_without_a_docstring_is_a_tool_without_a_description() -> None:
    def bare(x: int) -> int:
        return x

    assert as_tool(bare).description == ""


def test_a_context_is_shown_in_a_few_words() -> None:
    host: Any = None
    long = "x" * 500
    shown = repr(HostedContext(session_id=long, message_id=long, call_id=long, agent=long, directory=Path(), host=host))
    assert len(shown) < 200
    assert "ToolContext" in shown


def test_a_value_that_is_exact_takes_no_digits_in_text() -> None:
    @tool
    def wait(seconds: Annotated[int, toolwright.Field(exact=True)] = 1) -> int:
        return seconds

    assert wait.parse({"seconds": None}) == {}
    with pytest.raises(InvalidArguments):
        wait.parse({"seconds": "3"})


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
