"""The administrator's file stands above all: its denials nothing undoes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw, home, tw
from toolwright.config import places
from toolwright.errors import ConfigError
from toolwright.models.scripted import ScriptedTurn
from toolwright.permission.rules import Rule
from toolwright.session.budget import Budget
from toolwright.testing import ScriptedModel, make_workspace
from toolwright.workspace import Workspace

__all__ = ["home", "tw"]


def managed(project: Path, settings: Any, **more: Any) -> Workspace:
    file = project.parent / "managed.json"
    file.write_text(settings if isinstance(settings, str) else json.dumps(settings, indent=1))
    environment = {"TOOLWRIGHT_MANAGED_CONFIG": str(file), **more.pop("environment", {})}
    return make_workspace(project, environment=environment, **more)


ALLOWING: dict[str, Any] = {
    "the user": {"user": {"permission": "allow"}},
    "the user for the agent": {"user": {"agent": {"build": {"permission": {"bash": "allow"}}}}},
    "a trusted project": {"project": {"permission": {"bash": {"*": "allow"}}}},
    "an agent of a trusted project": {"project": {"agent": {"build": {"permission": "allow"}}}},
    "TOOLWRIGHT_PERMISSION": {"environment": {"TOOLWRIGHT_PERMISSION": '"allow"'}},
    "TOOLWRIGHT_CONFIG_CONTENT": {"environment": {"TOOLWRIGHT_CONFIG_CONTENT": '{"permission": "allow"}'}},
    "the caller": {"config": {"permission": "allow"}},
    "rules of the caller": {"rules": [Rule("*", "*", "allow")]},
}


@pytest.mark.parametrize("who", ALLOWING)
def test_its_denials_hold_whoever_allows(project: Path, who: str) -> None:
    said = dict(ALLOWING[who])
    user = project.parent / f"{project.name}.home" / ".config" / "toolwright" / "toolwright.json"
    user.parent.mkdir(parents=True)
    user.write_text(json.dumps(said.pop("user", {})))
    (project / "toolwright.json").write_text(json.dumps(said.pop("project", {})))
    workspace = managed(project, {"permission": {"bash": {"rm *": "deny"}, "webfetch": "deny"}}, **said)
    ruled = workspace.session().ruled_agent
    assert [ruled.decide("bash", "rm x"), ruled.decide("webfetch", "y")] == ["deny", "deny"]
    assert ruled.decide("bash", "ls") == "allow"
    assert workspace.session(rules=[Rule("webfetch", "*", "allow")]).ruled_agent.decide("webfetch", "y") == "deny"
    assert workspace.session("general", parent=workspace.session()).ruled_agent.decide("webfetch", "y") == "deny"


def test_its_rules_for_one_agent_hold_for_it_alone(project: Path) -> None:
    workspace = managed(project, {"agent": {"plan": {"permission": {"bash": "deny"}}}}, config={"permission": "allow"})
    assert workspace.session("plan").ruled_agent.decide("bash", "ls") == "deny"
    assert workspace.session("build").ruled_agent.decide("bash", "ls") == "allow"


def test_it_does_not_loosen_what_the_user_denies(project: Path) -> None:
    workspace = managed(project, {"permission": "allow"}, config={"permission": {"bash": "deny"}})
    assert workspace.session().ruled_agent.decide("bash", "ls") == "deny"


def test_a_file_that_a_variable_names_takes_nothing_from_the_one_of_the_machine(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = project.parent / "etc.json"
    machine.write_text('{"permission": {"bash": "deny"}, "sandbox": "landlock", "budget": {"steps": 3}}')
    monkeypatch.setattr(places, "MANAGED", machine)
    workspace = managed(project, {"permission": "allow", "budget": {"tokens": 5}})
    assert workspace.session().ruled_agent.decide("bash", "ls") == "deny"
    assert (workspace.settings.budget.steps, workspace.settings.budget.tokens) == (3, 5)


BROKEN = ["{", '{"permission": "never"}', "[]", '{"sandbox": "of"}']


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_one_stops_everything_and_is_named(project: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"(?s)managed\.json.*administrator"):
        managed(project, text)


COMMANDS = [("config",), ("tool", "list"), ("trust",), ("trust", "--list"), ("agent", "list"), ("permission", "list")]


@pytest.mark.parametrize("command", COMMANDS)
def test_one_that_is_missing_though_named_stops_every_command(
    tw: Tw, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TOOLWRIGHT_MANAGED_CONFIG", "/nowhere/managed.json")
    outcome = tw(*command)
    assert outcome.code == 1
    assert "/nowhere/managed.json" in outcome.err


def test_explain_names_it_with_its_line(tw: Tw, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = project.parent / "managed.json"
    file.write_text('{\n "permission": {\n  "bash": {"rm *": "deny"}\n }\n}')
    monkeypatch.setenv("TOOLWRIGHT_MANAGED_CONFIG", str(file))
    outcome = tw("permission", "explain", "bash", '{"command": "rm x"}')
    assert f"* managed          bash rm *: deny  {file}:3" in outcome.out
    assert tw("tool", "call", "bash", '{"command": "rm x"}', "--yes").code == 3


def test_what_it_denies_to_commands_no_general_allow_gives_back(project: Path) -> None:
    allowed = {"environment": {"allow": ["*", "AWS_KEY", "MY_TOKEN", "?WS_*", "aws_x"]}}
    workspace = managed(project, {"environment": {"deny": ["AWS_*"]}}, config=allowed)
    assert workspace.settings.environment.deny == ("AWS_*",)
    assert workspace.settings.environment.allow == ("MY_TOKEN",)


@pytest.mark.parametrize("how", ["settings", "workspace", "prompt"])
async def test_no_budget_goes_beyond_its_own(project: Path, how: str) -> None:
    looking: ScriptedTurn = {"tools": [{"name": "list", "args": {}}]}
    model = ScriptedModel(looking, looking, looking, {"text": "Done."})
    more: dict[str, Any] = {"config": {"budget": {"steps": 50}}} if how == "settings" else {}
    more |= {"budget": Budget(steps=50)} if how == "workspace" else {}
    async with managed(project, {"budget": {"steps": 2}}, model=model, **more) as workspace:
        turn = await workspace.prompt("Look.", budget=Budget(steps=50) if how == "prompt" else None)
    assert "2 of 2 steps" in str(turn.error)


@pytest.mark.parametrize("level", ["user", "environment", "caller"])
def test_a_sandbox_that_the_administrator_wants_is_switched_off_by_nobody(project: Path, level: str) -> None:
    more: dict[str, Any] = {"config": {"sandbox": "off"}} if level == "caller" else {}
    if level == "environment":
        more = {"environment": {"TOOLWRIGHT_CONFIG_CONTENT": '{"sandbox": "off"}'}}
    if level == "user":
        user = project.parent / f"{project.name}.home" / ".config" / "toolwright" / "toolwright.json"
        user.parent.mkdir(parents=True)
        user.write_text('{"sandbox": "off"}')
    assert managed(project, {"sandbox": "auto"}, **more).settings.sandbox.mode == "auto"


def test_a_sandbox_that_the_administrator_leaves_open_may_be_made_definite(project: Path) -> None:
    assert managed(project, {"sandbox": "auto"}, config={"sandbox": "landlock"}).settings.sandbox.mode == "landlock"
    assert managed(project, {"sandbox": "landlock"}, config={"sandbox": "auto"}).settings.sandbox.mode == "landlock"
