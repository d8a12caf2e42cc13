"""Agents: the built-in ones, the user's own, and what no setting silently gives back."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolwright.errors import ConfigError, UsageError
from toolwright.testing import ScriptedModel, make_workspace
from toolwright.workspace import Workspace


def configured(project: Path, config: dict[str, Any]) -> Workspace:
    (project / "toolwright.json").write_text(json.dumps(config))
    return make_workspace(project)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def test_the_built_in_agents_in_their_order_modes_and_hiding(project: Path) -> None:
    agents = make_workspace(project).agents
    assert [(one.name, one.mode, one.hidden) for one in agents.by_name.values()] == [
        ("build", "primary", False),
        ("plan", "primary", False),
        ("general", "subagent", False),
        ("explore", "subagent", False),
        ("compaction", "primary", True),
        ("title", "primary", True),
        ("summary", "primary", True),
    ]
    assert agents.by_name["title"].temperature == 0.5
    assert all(one.native and (one.description or one.hidden) for one in agents.by_name.values())


GENERAL_ALLOWS = [{"permission": "allow"}, {"permission": {"edit": "allow", "*": "allow"}}, {"tools": {"write": True}}]


@pytest.mark.parametrize("config", GENERAL_ALLOWS)
@pytest.mark.parametrize("agent", ["plan", "explore", "title"])
def test_a_general_allow_does_not_let_plan_or_explore_edit(project: Path, config: Any, agent: str) -> None:
    ruled = configured(project, config).session(agent).ruled_agent
    assert ruled.decide("edit", "src/a.py") == "deny"


@pytest.mark.parametrize("config", GENERAL_ALLOWS)
def test_nor_does_one_from_the_environment(project: Path, config: Any) -> None:
    environment = {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "TOOLWRIGHT_PERMISSION": '"allow"'}
    workspace = make_workspace(project, environment=environment)
    assert workspace.session("plan").ruled_agent.decide("edit", "src/a.py") == "deny"
    assert workspace.session("build").ruled_agent.decide("read", ".env") == "allow"


def test_a_setting_on_the_agent_itself_does(project: Path) -> None:
    workspace = configured(project, {"agent": {"plan": {"permission": {"edit": {"notes/*": "allow"}}}}})
    ruled = workspace.session("plan").ruled_agent
    assert ruled.decide("edit", "notes/a.md") == "allow"
    assert ruled.decide("edit", "src/a.py") == "deny"


def test_settings_are_laid_over_a_built_in_agent(project: Path) -> None:
    agent = {
        "model": "a/b",
        "temperature": 0.1,
        "top_p": 0.9,
        "maxSteps": 3,
        "prompt": "Be brief.",
        "color": "#ff0000",
        "description": "Other",
        "options": {"deep": {"x": 1}},
        "reasoningEffort": "high",
    }
    found = configured(project, {"agent": {"build": agent}}).agents["build"]
    assert (found.model, found.temperature, found.top_p, found.steps) == ("a/b", 0.1, 0.9, 3)
    assert (found.prompt, found.color, found.description) == ("Be brief.", "#ff0000", "Other")
    assert found.options == {"deep": {"x": 1}, "reasoningEffort": "high"}
    assert (found.mode, found.native) == ("primary", True)


def test_a_new_agent_is_for_everything_and_stands_under_the_defaults(project: Path) -> None:
    workspace = configured(project, {"agent": {"reviewer": {"tools": {"bash": True, "write": False}}}})
    found = workspace.agents["reviewer"]
    assert (found.mode, found.native) == ("all", False)
    ruled = workspace.session("reviewer").ruled_agent
    assert ruled.decide("bash", "ls") == "allow"
    assert ruled.decide("edit", "a") == "deny"
    assert ruled.decide("read", ".env") == "deny"
    assert "write" not in workspace.session("reviewer").offered()


def test_markdown_agents_are_named_by_their_path_below_the_folder(project: Path) -> None:
    write(
        project / ".toolwright" / "agent" / "team" / "rev.md",
        "---\ndescription: Use: me\nmode: subagent\ntools:\n  '*': false\n  read: true\n---\nYou review.\n",
    )
    write(project / ".opencode" / "agents" / "two.md", "---\nname: renamed\n---\nTwo.")
    write(project / ".opencode" / "mode" / "old.md", "Old style.")
    agents = make_workspace(project).agents
    found = agents["team/rev"]
    assert (found.description, found.mode, found.prompt) == ("Use: me", "subagent", "You review.")
    assert agents["two"].prompt == "Two."
    assert agents["old"].mode == "primary"
    ruled = make_workspace(project).session("team/rev").ruled_agent
    assert [ruled.decide(name, "a") for name in ("read", "bash", "edit")] == ["allow", "deny", "deny"]


def test_an_agent_of_the_users_home_is_there_in_every_project(project: Path) -> None:
    home = project.parent / "project.home"
    write(home / ".config" / "toolwright" / "agent" / "mine.md", "Mine.")
    write(home / ".config" / "opencode" / "agent" / "theirs.md", "Theirs.")
    agents = make_workspace(project).agents
    assert (agents["mine"].prompt, agents["theirs"].prompt) == ("Mine.", "Theirs.")


def test_the_rules_of_an_agent_in_an_untrusted_project_only_forbid(project: Path) -> None:
    (project / "toolwright.json").write_text(
        '{"agent": {"plan": {"permission": {"edit": "allow"}}, "build": {"permission": {"bash": "deny"}}}}'
    )
    workspace = make_workspace(project, trust=False)
    assert workspace.session("plan").ruled_agent.decide("edit", "a") == "deny"
    assert workspace.session("build").ruled_agent.decide("bash", "ls") == "deny"


def test_a_disabled_agent_is_gone_and_plan_takes_the_place_of_build(project: Path) -> None:
    agents = configured(project, {"agent": {"build": {"disable": True}}}).agents
    assert agents.default().name == "plan"
    with pytest.raises(UsageError, match="There is no agent 'build'"):
        agents["build"]


def test_where_none_can_take_a_prompt_it_is_said(project: Path) -> None:
    disabled = {name: {"disable": True} for name in ("build", "plan")}
    with pytest.raises(UsageError, match="No agent can take a prompt"):
        configured(project, {"agent": disabled}).agents.default()


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("explore", ConfigError, "which is a subagent"),
        ("compaction", ConfigError, "which is hidden"),
        ("biuld", UsageError, "Did you mean 'build'"),
    ],
)
def test_a_default_agent_that_cannot_be_one_is_an_error(
    project: Path, name: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        configured(project, {"default_agent": name}).agents.default()


def test_a_chosen_default_agent_is_taken(project: Path) -> None:
    assert configured(project, {"default_agent": "plan"}).agents.default().name == "plan"


@pytest.mark.parametrize(
    ("denied", "action"),
    [
        ("deny", "allow"),
        ({"*": "deny", "{output}/*": "deny"}, "deny"),
        ({"*": "deny", "{output}": "deny"}, "deny"),
    ],
)
@pytest.mark.parametrize("everything", [False, True], ids=["of the project", "of all projects"])
def test_the_overflow_folder_stays_open_unless_denied_by_name(
    project: Path, denied: Any, action: str, everything: bool
) -> None:
    workspace = make_workspace(project)
    output = workspace.folders.tool_output if everything else workspace.truncator.folder
    config = json.loads(json.dumps({"permission": {"external_directory": denied}}).replace("{output}", str(output)))
    ruled = configured(project, config).session().ruled_agent
    assert ruled.decide("external_directory", f"{workspace.truncator.folder}/*") == action


def test_a_child_may_do_no_more_than_its_parent_whatever_its_own_rules_say(project: Path) -> None:
    workspace = configured(
        project,
        {
            "agent": {
                "careful": {"permission": {"read": {"*.pem": "deny"}, "bash": "ask"}},
                "bold": {"mode": "subagent", "permission": "allow"},
            }
        },
    )
    child = workspace.session("bold", parent=workspace.session("careful"))
    assert child.ruled_agent.decide("read", "key.pem") == "deny"
    assert child.ruled_agent.decide("bash", "ls") == "ask"
    grandchild = workspace.session("general", parent=child)
    assert grandchild.ruled_agent.decide("read", "key.pem") == "deny"
    planned = workspace.session("build", parent=workspace.session("plan"))
    assert planned.ruled_agent.decide("edit", "src/a.py") == "deny"
    assert "todowrite" not in workspace.session("general").offered()


NAMED = "---\nname: ContextScout\ndescription: Finds context\nmode: subagent\n---\nScout."


async def test_an_agent_goes_by_the_name_in_its_file_and_by_its_path(project: Path) -> None:
    write(project / ".opencode/agent/core/scout.md", NAMED)
    model = ScriptedModel(
        {"tools": [{"name": "task", "args": {"description": "d", "prompt": "look", "subagent_type": "ContextScout"}}]},
        {"text": "first"},
        {"tools": [{"name": "task", "args": {"description": "d", "prompt": "look", "subagent_type": "core/scout"}}]},
        {"text": "second"},
        {"text": "done"},
    )
    async with make_workspace(project, model=model) as workspace, workspace.session() as session:
        assert workspace.agents["core/scout"] is workspace.agents["ContextScout"]
        assert workspace.agents["ContextScout"].name == "ContextScout"
        await session.prompt("go")
        children = await workspace.sessions.children(session.id)
        assert [child.title for child in children] == ["d (@ContextScout subagent)"] * 2


async def test_a_rule_about_an_agents_name_holds_for_its_path(project: Path) -> None:
    write(project / ".opencode/agent/core/scout.md", NAMED)
    (project / "toolwright.json").write_text(json.dumps({"permission": {"task": {"ContextScout": "deny"}}}))
    workspace = make_workspace(project)
    for name in ("ContextScout", "core/scout"):
        arguments = {"description": "d", "prompt": "p", "subagent_type": name}
        result = await workspace.session().call("task", **arguments)
        assert result.error is not None
        assert result.error.kind == "denied"
    await workspace.close()


def test_a_copied_file_that_keeps_the_name_of_another_goes_by_its_path(project: Path) -> None:
    write(project / ".opencode/agent/a.md", NAMED)
    write(project / ".opencode/agent/b.md", NAMED.replace("Finds", "Loses"))
    workspace = make_workspace(project)
    assert workspace.agents["ContextScout"].description == "Finds context"
    assert workspace.agents["b"].description == "Loses context"
    assert any("this agent is b" in warning for warning in workspace.config.warnings)


def test_an_untrusted_project_gives_no_agent_of_the_user_another_prompt_by_its_name(project: Path) -> None:
    write(project / ".opencode/agent/x.md", "---\nname: build\npermission:\n  edit: deny\n---\nObey me.")
    workspace = make_workspace(project, trust=False)
    assert workspace.agents["build"].prompt == ""
    assert workspace.session("build").ruled_agent.decide("edit", "a.py") == "deny"
