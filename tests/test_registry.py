"""The registry: which tools there are, in which order, and which of them whom is offered."""

import asyncio
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import patience
from toolwright.calls.builtin import BUILTIN
from toolwright.definition import AgentLike, Call, Offer, Tool, ToolContext, tool
from toolwright.errors import UnknownTool
from toolwright.registry import Registry, Source, ready
from toolwright.testing import make_session, make_workspace
from toolwright.tools import builtin

CONDITIONS: dict[str, dict[str, Any]] = {
    "websearch": {"offered": lambda offer: offer.web_search or offer.provider in ("opencode", "toolwright")},
    "codesearch": {"offered": lambda offer: offer.web_search or offer.provider in ("opencode", "toolwright")},
    "lsp": {"offered": lambda offer: offer.lsp},
}


def named(name: str, answer: str = "", **facts: Any) -> Tool:
    async def run(ctx: ToolContext) -> str:
        """Answers."""
        return answer or name

    return tool(id=name, **facts)(run)


class Everybody:
    """An agent from whom nothing is hidden."""

    name = "everybody"

    def decide(self, permission: str, pattern: str) -> Any:
        return "allow"

    def hides(self, permission: str) -> bool:
        return False

    def use(self, kind: type[Any]) -> Any:
        raise NotImplementedError


def offered(switches: Offer | None = None, provider: str = "fake", model: str = "m") -> list[str]:
    registry = Registry(switches or Offer())
    extra = ("websearch", "codesearch", "lsp", "batch", "plan_enter", "plan_exit", "question", "mytool")
    registry.add(builtin())
    registry.add(ready(named(name, **CONDITIONS.get(name, {}))) for name in extra if name not in BUILTIN)
    return registry.offered(provider, model, Everybody())


def test_the_core_tools_come_in_the_order_of_the_mission() -> None:
    order = [
        name for name in BUILTIN if name in ("invalid", "question", "bash", "read", "glob", "grep", "edit", "write")
    ]
    assert order == ["invalid", "question", "bash", "read", "glob", "grep", "edit", "write"]


def test_every_built_in_loads_under_its_own_name_with_text_and_schema() -> None:
    registry = Registry()
    registry.add(builtin())
    assert registry.ids() == list(BUILTIN)
    for made in registry.all():
        assert made.description, made.id
        assert made.parameters["type"] == "object"
        assert json.loads(json.dumps(made.parameters)) == made.parameters
        assert "$ref" not in json.dumps(made.parameters)


def test_invalid_is_there_but_never_offered() -> None:
    assert "invalid" in BUILTIN
    assert "invalid" not in offered()


@pytest.mark.parametrize(
    ("model", "patches"),
    [
        ("m", False),
        ("gpt-5", True),
        ("gpt-5.1-codex", True),
        ("gpt-4o", False),
        ("gpt-oss-20b", False),
        ("claude", False),
    ],
)
def test_models_taught_to_patch_get_apply_patch_instead_of_edit_and_write(model: str, patches: bool) -> None:
    found = offered(model=model)
    assert ("apply_patch" in found) is patches
    for name in ("edit", "write", "multiedit"):
        assert (name in found) is not patches


@pytest.mark.parametrize(
    ("switches", "provider", "there", "missing"),
    [
        (Offer(), "fake", ["question", "mytool"], ["websearch", "codesearch", "lsp", "batch", "plan_enter"]),
        (Offer(client="api"), "fake", [], ["question"]),
        (Offer(client="acp"), "fake", ["question"], []),
        (Offer(client="desktop"), "fake", ["question"], []),
        (Offer(), "opencode", ["websearch", "codesearch"], []),
        (Offer(), "toolwright", ["websearch", "codesearch"], []),
        (Offer(web_search=True), "fake", ["websearch", "codesearch"], []),
        (Offer(lsp=True, batch=True), "fake", ["lsp", "batch"], []),
        (Offer(plan_mode=True), "fake", ["plan_enter", "plan_exit"], []),
        (Offer(plan_mode=True, client="app"), "fake", [], ["plan_enter", "plan_exit"]),
    ],
)
def test_some_tools_need_their_switch_client_or_provider(
    switches: Offer, provider: str, there: list[str], missing: list[str]
) -> None:
    found = offered(switches, provider)
    assert set(there) <= set(found)
    assert not set(missing) & set(found)


@pytest.mark.parametrize(
    ("environment", "config", "switches"),
    [
        ({}, {}, {"web_search": False, "lsp": False, "batch": False, "plan_mode": False}),
        ({"OPENCODE_EXPERIMENTAL": "TRUE"}, {}, {"web_search": True, "lsp": True, "plan_mode": True}),
        ({"OPENCODE_ENABLE_EXA": "1"}, {}, {"web_search": True, "lsp": False}),
        ({"TOOLWRIGHT_EXPERIMENTAL_LSP_TOOL": "1"}, {}, {"lsp": True, "web_search": False}),
        ({"OPENCODE_EXPERIMENTAL_PLAN_MODE": "no"}, {}, {"plan_mode": False}),
        ({}, {"experimental": {"batch_tool": True}}, {"batch": True}),
    ],
)
def test_switches_come_from_settings_and_variables(
    project: Path, environment: dict[str, str], config: Any, switches: dict[str, bool]
) -> None:
    (project / "toolwright.json").write_text(json.dumps(config))
    found = make_workspace(project, environment=environment).registry.circumstances
    assert {name: getattr(found, name) for name in switches} == switches


def test_the_earlier_of_two_with_one_name_stays_and_the_other_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    registry = Registry()
    registry.add([ready(named("weather", "first"), "plugin a")])
    with caplog.at_level(logging.WARNING):
        registry.add([ready(named("weather", "second"), "tool/weather.py"), ready(named("other"), "tool/other.py")])
    assert registry.ids() == ["weather", "other"]
    assert [str(clash) for clash in registry.clashes] == [
        "The tool 'weather' of tool/weather.py is left out: plugin a already has that name."
    ]
    assert "tool/weather.py" in caplog.text


async def test_a_tool_replaced_while_a_session_runs_is_the_new_one_from_the_next_call(project: Path) -> None:
    session = make_session(project, tools=[named("weather", "rain"), named("other")])
    registry = session.home.caller.registry
    before = registry.ids()
    assert (await session.run_call(Call(id="call_1", tool="weather", arguments={}))).output == "rain"
    registry.register(named("weather", "sun"))
    assert (await session.run_call(Call(id="call_2", tool="weather", arguments={}))).output == "sun"
    assert registry.ids() == before


def test_a_tool_is_loaded_when_it_is_first_needed_and_once() -> None:
    loads: list[str] = []

    def load() -> Tool:
        loads.append("x")
        return named("lazy")

    registry = Registry()
    registry.add([Source(id="lazy", load=load, origin="here")])
    assert registry.ids() == ["lazy"]
    assert loads == []
    assert registry["lazy"] is registry["LAZY"]
    assert loads == ["x"]


def test_an_unknown_name_gets_the_nearest_or_all_and_never_invalid() -> None:
    registry = Registry()
    registry.add(ready(named(name)) for name in ("invalid", "read", "grep"))
    with pytest.raises(UnknownTool, match=r"There is no tool 'raed'\. Did you mean 'read'\?"):
        registry["raed"]
    with pytest.raises(UnknownTool, match=r"There is no tool 'teleport'\. There are: read, grep\."):
        registry["teleport"]
    with pytest.raises(UnknownTool):
        registry["read "]


def test_a_name_in_two_cases_is_not_guessed() -> None:
    registry = Registry()
    registry.add([ready(named("Read")), ready(named("READ"))])
    assert registry.name("READ") == "READ"
    with pytest.raises(UnknownTool):
        registry.name("read")


async def test_tools_are_made_ready_all_at_once(project: Path) -> None:
    async def slow(made: Tool, agent: AgentLike) -> Tool:
        await barrier.wait()
        return made

    barrier = asyncio.Barrier(3)
    tools = [replace(named(f"slow{n}"), init=slow) for n in range(3)]
    workspace = make_workspace(project, tools=tools)
    async with patience():
        made = await workspace.registry.tools("", "", workspace.session().ruled_agent)
    assert {one.id for one in made} >= {"slow0", "slow1", "slow2"}


EXPLORING = {"bash", "glob", "grep", "list", "read"}


def test_what_an_agent_may_not_do_it_is_not_shown(project: Path) -> None:
    workspace = make_workspace(project, tools=[named("mytool")])
    assert {"edit", "write", "mytool"} <= set(workspace.session("build").offered())
    exploring = set(workspace.session("explore").offered())
    assert exploring >= EXPLORING
    assert not exploring & {"edit", "write", "multiedit", "apply_patch", "mytool", "task", "question"}
    assert workspace.session("title").offered() == ()


def test_a_denied_custom_tool_is_not_shown(project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission": {"mytool": "deny"}}')
    assert "mytool" not in make_workspace(project, tools=[named("mytool")]).session().offered()


def test_deny_all_but_one_shows_that_one(project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission": {"*": "deny", "read": "allow", "mcp_*": "ask"}}')
    workspace = make_workspace(project, tools=[named("mcp_x"), named("mytool")])
    assert set(workspace.session().offered()) == {"read", "mcp_x"}
