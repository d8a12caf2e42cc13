"""Set-ups of other programs, read where they lie: what carries over, what is refused, and what is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.config.setups import lay_out
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

VARIABLES = {"GITHUB_TOKEN": "ghs", "DOCS_KEY": "dk", "FIGMA_TOKEN": "ft", "GEMINI_TOOLS_KEY": "gk"}
EVERYTHING = {
    "claude": ["agents", "commands", "hooks", "mcp"],
    "codex": ["hooks", "mcp"],
    "gemini": ["mcp"],
}


def opened(project: Path, *programs: str, trust: bool = True, **settings: Any) -> Workspace:
    """A project with the set-ups of some programs, all of which the user wants read."""
    for program in programs:
        lay_out(program, project)
    config = {"foreign": EVERYTHING, **settings}
    return make_workspace(project, config=config, trust=trust, environment=VARIABLES)


def left_out(workspace: Workspace, kind: str) -> dict[str, str]:
    return {one.name: one.reason for one in workspace.config.foreign if one.kind == kind and one.reason}


def decided(workspace: Workspace, agent: str, permission: str, pattern: str = "x") -> str:
    return workspace.agents.ruled(workspace.agents[agent]).decide(permission, pattern)


# Claude Code.


def test_servers_of_an_mcp_json_carry_over_with_their_variables(project: Path) -> None:
    workspace = opened(project, "claude")
    servers = workspace.settings.mcp
    assert list(servers) == ["github", "database", "old-events"]
    assert (servers["github"].type, servers["github"].headers) == ("remote", {"Authorization": "Bearer ghs"})
    assert servers["database"].command == ("npx", "-y", "@example/server-postgres", "postgres://localhost/dev")
    assert servers["database"].environment == {"LOG_LEVEL": "warn"}
    assert "ghs" in workspace.config.secrets


def test_a_server_that_is_not_understood_or_switched_off_is_left_out_with_the_reason(project: Path) -> None:
    reasons = left_out(opened(project, "claude"), "MCP servers")
    assert reasons == {
        "vault": "its 'headersHelper' is not understood here and might restrict it",
        "socket": "it is reached by 'ws', which is not spoken here",
        "keyed": "the variable NOT_SET_ANYWHERE is not set",
        "retired": "Claude Code's settings switch it off",
        "empty": "it names neither a program nor an address",
    }


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"deniedMcpServers": [{"serverName": "a"}]}, "switch it off"),
        ({"allowedMcpServers": [{"serverName": "b"}]}, "switch it off"),
        ({"allowedMcpServers": []}, "switch it off"),
        ({"deniedMcpServers": [{"serverUrl": "https://*"}]}, "in a way not understood"),
        ({"disabledMcpjsonServers": "a"}, "expected a list of servers"),
    ],
)
@pytest.mark.parametrize("file", ["settings.json", "settings.local.json"])
def test_whatever_switches_a_server_off_in_claudes_own_settings_does_so_here(
    project: Path, settings: Any, reason: str, file: str
) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / file).write_text(json.dumps(settings))
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"a": {"command": "x"}}}))
    workspace = opened(project)
    assert not workspace.settings.mcp
    assert [reason in one for one in left_out(workspace, "MCP servers").values()] == [True]


def test_servers_of_the_user_come_from_claudes_own_file(project: Path) -> None:
    home = project.parent / "project.home"
    home.mkdir()
    said = {"mcpServers": {"a": {"command": "a"}}, "projects": {str(project): {"mcpServers": {"b": {"command": "b"}}}}}
    (home / ".claude.json").write_text(json.dumps(said))
    assert list(opened(project, trust=False).settings.mcp) == ["a", "b"]


def test_our_own_server_of_the_same_name_stays_whole_and_can_switch_another_off(project: Path) -> None:
    servers = {"github": {"type": "local", "command": ["mine"]}, "database": {"enabled": False}}
    mcp = opened(project, "claude", mcp=servers).settings.mcp
    assert (mcp["github"].command, mcp["github"].url, dict(mcp["github"].headers)) == (("mine",), "", {})
    assert (mcp["database"].enabled, mcp["database"].command[0]) == (False, "npx")


def test_an_agent_has_the_tools_that_its_file_leaves_it_and_no_others(project: Path) -> None:
    workspace = opened(project, "claude")
    agent = workspace.agents["code-reviewer"]
    assert (agent.mode, agent.model, agent.color) == ("subagent", "", "purple")
    assert agent.prompt.startswith("You review code.")
    allowed = [("read", "x"), ("grep", "x"), ("bash", "git diff HEAD"), ("github_get_issue", "*")]
    denied = [("edit", "x"), ("bash", "git push"), ("webfetch", "x"), ("github_close_issue", "*"), ("mytool", "*")]
    assert [decided(workspace, "code-reviewer", *one) for one in allowed] == ["allow"] * len(allowed)
    assert [decided(workspace, "code-reviewer", *one) for one in denied] == ["deny"] * len(denied)
    assert decided(workspace, "code-reviewer", "external_directory") == "ask"
    assert workspace.agents.ruled(agent).hides("edit")


def test_what_it_is_left_is_no_more_than_everybody_has(project: Path) -> None:
    workspace = opened(project, "claude", permission={"read": "ask", "bash": {"git diff *": "deny"}})
    assert decided(workspace, "code-reviewer", "read") == "ask"
    assert decided(workspace, "code-reviewer", "bash", "git diff x") == "deny"


def test_an_agent_is_denied_what_its_file_takes_from_it(project: Path) -> None:
    workspace = opened(project, "claude")
    assert decided(workspace, "doc-writer", "bash", "ls") == "deny"
    assert decided(workspace, "doc-writer", "webfetch") == "deny"
    assert [decided(workspace, "doc-writer", "edit", one) for one in ("src/a/b.py", "README.md")] == ["deny", "allow"]
    assert workspace.agents["doc-writer"].steps == 12
    assert decided(workspace, "planner", "edit") == "deny"


def test_an_agent_that_is_not_understood_is_left_out_with_the_reason(project: Path) -> None:
    workspace = opened(project, "claude")
    assert left_out(workspace, "agents") == {
        "apart": "its 'isolation' is not understood here and might restrict it",
        "plan": "there is an agent of that name",
    }
    assert "apart" not in workspace.agents.by_name
    assert "guarded" in workspace.agents.by_name
    assert workspace.agents["plan"].native


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("tools: WebFetch(domain:example.com)", "cannot be said here"),
        ("disallowedTools: Teleport", "it may not use 'Teleport'"),
        ("permissionMode: dontAsk", "might restrict it"),
        ("tools: {Read: true}", "not a list of names"),
        ("tools: Bash(a(b))", "is not understood here"),
        ("maxTurns: many", "expected a whole number"),
        ("denied-tools: Bash", "'denied-tools' is not understood"),
    ],
)
def test_what_could_restrict_an_agent_and_is_not_understood_leaves_it_out(
    project: Path, line: str, reason: str
) -> None:
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/a.md").write_text(f"---\nname: a\ndescription: d\n{line}\n---\nGo.\n")
    workspace = opened(project)
    assert "a" not in workspace.agents.by_name
    assert reason in left_out(workspace, "agents")["a"]


def test_an_agent_without_any_tools_has_none(project: Path) -> None:
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/a.md").write_text("---\nname: a\ndescription: d\ntools: []\n---\nGo.\n")
    assert decided(opened(project), "a", "read") == "deny"


def test_commands_carry_over_without_their_models_and_those_with_guards_do_not(project: Path) -> None:
    workspace = opened(project, "claude")
    command = workspace.commands["git/commit"]
    assert (command.description, command.model) == ("Commit what is staged", "")
    assert "careful" not in workspace.commands
    assert any("'hooks' is not understood and might restrict" in one for one in workspace.commands.problems)


@pytest.mark.parametrize("wanted", [True, False])
def test_skills_are_read_unless_the_settings_say_otherwise(project: Path, wanted: bool) -> None:
    lay_out("claude", project)
    workspace = make_workspace(project, config={"foreign": {"skills": wanted}})
    assert sorted(workspace.skills.all()) == (["notes", "release"] if wanted else [])


@pytest.mark.parametrize(("program", "says"), [("claude", "no shell here"), ("codex", "codex says no")])
async def test_hooks_guard_our_calls(project: Path, program: str, says: str) -> None:
    async with opened(project, program) as workspace:
        result = await workspace.call("bash", command="echo hi", description="greets")
    assert says in result.output
    assert result.error is not None


# Codex and Gemini CLI.


def test_servers_of_codex_carry_over(project: Path) -> None:
    workspace = opened(project, "codex")
    servers = workspace.settings.mcp
    assert list(servers) == ["docs", "figma", "browser"]
    assert servers["docs"].environment == {"DOCS_KEY": "dk", "DOCS_LANG": "en"}
    assert servers["docs"].timeout == 45500
    assert servers["figma"].headers == {"X-Region": "eu", "Authorization": "Bearer ft"}
    assert servers["figma"].enabled_tools == ("get_file", "get_styles")
    assert servers["figma"].disabled_tools == ("get_styles",)
    assert not servers["browser"].enabled
    reasons = left_out(workspace, "MCP servers")
    assert list(reasons) == ["asking", "one_asking", "elsewhere"]
    assert "need an approval" in reasons["one_asking"]


def test_servers_of_gemini_carry_over(project: Path) -> None:
    workspace = opened(project, "gemini")
    servers = workspace.settings.mcp
    assert list(servers) == ["python-tools", "web"]
    assert (servers["python-tools"].cwd, servers["python-tools"].timeout) == ("./tools", 15000)
    assert servers["python-tools"].environment == {"API_KEY": "gk", "PLAIN": "yes"}
    assert servers["python-tools"].enabled_tools == ("search", "fetch")
    assert (servers["web"].headers, servers["web"].disabled_tools) == ({"X-Team": "blue"}, ("post",))
    assert left_out(workspace, "MCP servers") == {
        "cloud": "its 'authProviderType' is not understood here and might restrict it",
        "off": "Gemini CLI's settings switch it off",
    }


def test_of_two_programs_servers_by_one_name_one_counts_and_the_other_is_told(project: Path) -> None:
    for name, text in (
        (".mcp.json", '{"mcpServers": {"x": {"command": "claude"}}}'),
        (".codex/config.toml", '[mcp_servers.x]\ncommand = "codex"\nenv = {A = "1"}'),
    ):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    workspace = opened(project)
    assert workspace.settings.mcp["x"].command == ("claude",)
    assert dict(workspace.settings.mcp["x"].environment) == {}
    assert ".mcp.json names one too" in left_out(workspace, "MCP servers")["x"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".mcp.json", "{"),
        (".mcp.json", "[]"),
        (".mcp.json", '{"mcpServers": 5}'),
        (".codex/config.toml", "["),
        (".codex/config.toml", "mcp_servers = 1"),
        (".gemini/settings.json", '{"mcpServers": {"a": {"command": "x"}}, "mcp": {"excluded": "a"}}'),
        (".mcp.json", '{"mcpServers": {"a": {"command": "x", "args": 5}}}'),
        (".mcp.json", '{"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}'),
        (".codex/config.toml", '[mcp_servers.a]\ncommand = "x"\nenabled_tools = "all"'),
    ],
)
def test_a_broken_file_of_another_program_stops_nothing_and_is_told(project: Path, name: str, text: str) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(text)
    workspace = opened(project)
    assert not workspace.settings.mcp
    assert len(left_out(workspace, "MCP servers")) == 1


# Trust and settings.


def test_nothing_is_read_that_the_settings_do_not_want(project: Path) -> None:
    for program in ("claude", "codex", "gemini"):
        lay_out(program, project)
    workspace = make_workspace(project, environment=VARIABLES)
    assert not workspace.settings.mcp
    assert "code-reviewer" not in workspace.agents.by_name
    assert workspace.config.foreign == ()


def test_a_project_that_is_not_trusted_has_no_say_in_what_is_read(project: Path) -> None:
    lay_out("claude", project)
    (project / "toolwright.json").write_text(json.dumps({"foreign": EVERYTHING}))
    assert make_workspace(project, trust=False).config.foreign == ()
    assert make_workspace(project, trust=True).config.foreign != ()


def test_of_a_project_that_is_not_trusted_no_server_counts_and_no_variable_is_filled_in(project: Path) -> None:
    workspace = opened(project, "claude", "codex", "gemini", trust=False)
    assert not workspace.settings.mcp
    assert not {"ghs", "ft", "gk"} & workspace.config.secrets
    assert decided(workspace, "code-reviewer", "edit") == "deny"


def test_a_project_that_is_not_trusted_takes_no_place_from_the_users_own(project: Path) -> None:
    home = project.parent / "project.home"
    (home / ".claude" / "agents").mkdir(parents=True)
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"a": {"command": "mine"}, "b": {"command": "mine"}}}))
    (home / ".claude" / "agents" / "x.md").write_text("---\nname: x\ndescription: mine\n---\nMine.\n")
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"a": {"command": "theirs"}}}))
    (project / "opencode.json").write_text(json.dumps({"mcp": {"b": {"command": ["theirs"]}}, "agent": {"x": {}}}))
    workspace = opened(project, trust=False)
    assert [one.command for one in workspace.settings.mcp.values()] == [("mine",), ("mine",)]
    assert workspace.agents["x"].prompt == "Mine."


def test_a_link_to_a_file_of_the_user_is_not_followed_before_trust(project: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("---\nname: s\ndescription: d\n---\nthe secret\n")
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/s.md").symlink_to(secret)
    assert "s" not in opened(project, trust=False).agents.by_name


# OpenCode 2.


def test_a_set_up_of_opencode_2_carries_over(project: Path) -> None:
    lay_out("opencode2", project)
    workspace = make_workspace(project)
    assert [decided(workspace, "build", "bash", one) for one in ("git status", "git push x")] == ["allow", "deny"]
    assert decided(workspace, "build", "task", "explore") == "deny"
    assert decided(workspace, "reviewer", "edit") == "deny"
    assert workspace.agents["reviewer"].options == {"reasoningEffort": "high"}
    assert "gone" not in workspace.agents.by_name
    assert "hello" in workspace.commands
    servers = workspace.settings.mcp
    assert (servers["files"].timeout, servers["docs"].timeout) == (90000, 20000)
    assert not servers["paused"].enabled
    assert servers["docs"].oauth == {"clientId": "abc", "callbackPort": 8123}
    assert workspace.config.warnings == ()


def test_an_agents_file_of_opencode_2_denies_what_it_denies(project: Path) -> None:
    lay_out("opencode2", project)
    workspace = make_workspace(project)
    assert decided(workspace, "careful", "bash", "ls") == "deny"
    assert [decided(workspace, "careful", "edit", one) for one in ("src/a", "docs/a")] == ["deny", "allow"]


def test_servers_beside_those_of_opencode_2_are_kept(project: Path) -> None:
    mcp = {"old": {"type": "local", "command": ["old"]}, "servers": {"new": {"type": "local", "command": ["new"]}}}
    (project / "opencode.json").write_text(json.dumps({"mcp": mcp}))
    assert list(make_workspace(project).settings.mcp) == ["old", "new"]
