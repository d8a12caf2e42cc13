"""Files of OpenCode 2 mean here what they mean there, and what cannot be followed is said."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolwright.errors import ConfigError
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace


def opened(project: Path, settings: Any, *, trust: bool = True) -> Workspace:
    (project / "opencode.jsonc").write_text(json.dumps(settings, indent=1))
    return make_workspace(project, trust=trust)


def rule(action: str, resource: str, effect: str) -> dict[str, str]:
    return {"action": action, "resource": resource, "effect": effect}


LIST = [
    rule("*", "*", "ask"),
    rule("read", "*", "allow"),
    rule("shell", "git *", "allow"),
    rule("shell", "git push *", "deny"),
    rule("subagent", "explore", "deny"),
    rule("edit", "docs/*", "allow"),
    rule("*", "secret/*", "deny"),
]
DECISIONS = [
    ("bash", "git status", "allow"),
    ("bash", "git push origin", "deny"),
    ("bash", "ls", "ask"),
    ("task", "explore", "deny"),
    ("task", "general", "ask"),
    ("edit", "docs/a.md", "allow"),
    ("edit", "secret/a", "deny"),
    ("read", "secret/a", "deny"),
]


@pytest.mark.parametrize(("permission", "pattern", "action"), DECISIONS)
def test_a_list_of_rules_holds_in_its_order(project: Path, permission: str, pattern: str, action: str) -> None:
    workspace = opened(project, {"permissions": LIST})
    assert workspace.session().ruled_agent.decide(permission, pattern) == action
    assert workspace.config.warnings == ()


def test_a_rule_of_a_list_has_its_line(project: Path) -> None:
    workspace = opened(project, {"permissions": [rule("shell", "rm *", "deny")]})
    decided = workspace.session().ruled_agent.policy.decide("bash", "rm x").rule
    assert decided is not None
    assert decided.source.endswith("opencode.jsonc:3")


@pytest.mark.parametrize("action", ["shell", "sh*", "*", "s?ell"])
def test_a_denial_of_shell_in_any_spelling_is_one_of_bash(project: Path, action: str) -> None:
    workspace = opened(project, {"permissions": [rule(action, "*", "deny")]})
    assert workspace.session().ruled_agent.decide("bash", "ls") == "deny"


def test_agents_commands_providers_plugins_and_servers_are_found(project: Path) -> None:
    settings = {
        "agents": {"a": {"system": "A.", "permissions": [rule("edit", "*", "deny")]}, "b": {"disabled": True}},
        "agent": {"c": {"prompt": "C."}},
        "commands": {"go": {"template": "Go."}},
        "providers": {"p": {"package": "@ai-sdk/openai", "settings": {"baseURL": "http://x"}, "models": {"m": {}}}},
        "plugins": [{"package": "one"}],
        "mcp": {"servers": {"s": {"type": "remote", "url": "http://x"}}},
    }
    workspace = opened(project, settings)
    found = workspace.settings
    assert (workspace.agents["a"].prompt, workspace.agents["c"].prompt) == ("A.", "C.")
    assert "b" not in workspace.agents.by_name
    assert workspace.session("a").ruled_agent.decide("edit", "x") == "deny"
    assert found.command["go"].template == "Go."
    assert (found.provider["p"].npm, found.provider["p"].options) == ("@ai-sdk/openai", {"baseURL": "http://x"})
    assert (found.plugin, list(found.mcp)) == (({"package": "one"},), ["s"])


def test_a_server_that_is_called_servers_stays_one(project: Path) -> None:
    settings = opened(project, {"mcp": {"servers": {"type": "local", "command": ["x"]}}}).settings
    assert settings.mcp["servers"].command == ("x",)


@pytest.mark.parametrize("where", ["policies", "experimental"])
def test_policies_that_deny_are_followed(project: Path, where: str) -> None:
    policies = [rule("provider.use", "openai", "deny"), rule("tool.use", "shell:git push *", "deny")]
    workspace = opened(project, {where: policies if where == "policies" else {"policies": policies}})
    assert workspace.settings.disabled_providers == ("openai",)
    assert workspace.session().ruled_agent.decide("bash", "git push x") == "deny"
    assert "openai" not in [one.id for one in workspace.connections.catalog.providers()]


NOT_UNDERSTOOD: list[Any] = [
    {"policies": [rule("provider.use", "open*", "deny")]},
    {"policies": [rule("mcp.use", "x", "deny")]},
    {"policies": [rule("tool.use", "shell:*", "allow")]},
    {"policies": [{"effect": "deny"}]},
    {"policies": "deny"},
    {"experimental": {"policies": {"x": "deny"}}},
    {"permissions": [{"action": "shell", "resource": "*"}]},
    {"permissions": [rule("shell", "*", "never")]},
    {"permissions": [{"action": 1, "resource": "*", "effect": "deny"}]},
    {"permissions": 5},
    {"permission": "ask", "permissions": []},
    {"agents": {"a": {"permission": "ask", "permissions": []}}},
    {"agent": {"a": {}}, "agents": {"a": {}}},
    {"mcp": {"servers": {"s": {"type": "local", "command": ["x"], "disabled": "yes"}}}},
    {"mcp": {"s": {"command": ["x"]}, "servers": {"s": {"command": ["y"]}}}},
    {"agents": {"a": {"disallowedTools": ["bash"]}}},
    {"agent": {"a": {"allowed-tools": "Read"}}},
]


@pytest.mark.parametrize("settings", NOT_UNDERSTOOD)
@pytest.mark.parametrize("trust", [True, False])
def test_what_could_be_a_restriction_and_is_not_understood_is_an_error(
    project: Path, settings: Any, trust: bool
) -> None:
    with pytest.raises(ConfigError, match=r"opencode\.jsonc:\d+: "):
        opened(project, settings, trust=trust)


def test_the_reference_may_name_limits_its_own_way(project: Path) -> None:
    truncate = opened(project, {"tool_output": {"max_lines": 5, "max_bytes": 6}, "truncate": {"max_bytes": 7}}).settings
    assert (truncate.truncate.max_lines, truncate.truncate.max_bytes) == (5, 7)


SLIPS = [
    ({"agent": {"a": {"permision": {}}}}, "unknown key 'agent.a.permision'; did you mean 'permission'?"),
    ({"sandbox": {"mod": "off"}}, "unknown key 'sandbox.mod'; did you mean 'mode'?"),
    ({"permission": {"extrenal_directory": "deny"}}, "did you mean 'external_directory'?"),
    ({"agent": {"a": {"permission": {"webfetcch": "deny"}}}}, "did you mean 'webfetch'?"),
    ({"truncate": {"tool": {"bash": {"max_line": 5}}}}, "did you mean 'max_lines'?"),
    ({"mcp": {"x": {"comand": ["y"]}}}, "did you mean 'command'?"),
    ({"agents": {"a": {"promt": "x"}}}, "unknown key 'agents.a.promt'; did you mean 'prompt'?"),
    ({"experimental": {"chatMaxRetries": 3}}, "experimental.chatMaxRetries has no effect so far"),
]


@pytest.mark.parametrize(("settings", "warning"), SLIPS)
def test_what_is_said_in_vain_is_told_at_any_depth(project: Path, settings: Any, warning: str) -> None:
    warnings = opened(project, settings).config.warnings
    assert any(line.endswith(warning) and "opencode.jsonc:" in line for line in warnings), warnings


QUIET: list[Any] = [
    {"permission": {"deploy": "deny", "my_tool": "ask", "*": "ask"}},
    {"agent": {"a": {"reasoningEffort": "high", "top_k": 5, "thinking": {}}}},
    {"formatter": False, "lsp": False},
    {"theme": "dark", "$schema": "x"},
]


@pytest.mark.parametrize("settings", QUIET)
def test_what_may_well_be_meant_is_not(project: Path, settings: Any) -> None:
    assert opened(project, settings).config.warnings == ()


def test_no_more_than_twenty_are_told(project: Path) -> None:
    assert len(opened(project, {f"modl{number}": 1 for number in range(100)}).config.warnings) == 20
