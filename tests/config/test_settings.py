"""Every setting in a row: what an untrusted project, a trusted one, the user and the administrator can do with it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolwright.calls.truncate import OutputLimits
from toolwright.config.load import Config, load_config
from toolwright.config.merge import merged
from toolwright.config.native_agents import native_agents
from toolwright.config.schema import config_schema
from toolwright.machine.folders import Folders
from toolwright.models.known.catalog import Catalog
from toolwright.settings import Settings
from toolwright.settings.derive import leaves
from toolwright.settings.record import FOREIGN

NOTHING: Any = object()

# setting: the user's value, the project's, and what holds if the project is not trusted and if it is;
# then the administrator's value, and what is left of the user's beside it.
ROWS: dict[str, tuple[Any, Any, Any, Any, Any, Any]] = {
    "default_agent": ("plan", "build", "plan", "build", "explore", "explore"),
    "model": ("a/mine", "b/theirs", "a/mine", "b/theirs", "c/d", "c/d"),
    "small_model": ("a/mine", "b/theirs", "a/mine", "b/theirs", "c/d", "c/d"),
    "run_later": (
        {".npmrc": False, "a/": True},
        {".envrc": False, "b/": True},
        {".npmrc": False, "a/": True, "b/": True},
        {".npmrc": False, "a/": True, ".envrc": False, "b/": True},
        {".npmrc": True, "c/": False},
        {".npmrc": True, "a/": True, "c/": False},
    ),
    "disabled_providers": (["x"], ["y"], ["x", "y"], ["y"], ["z"], ["z", "x"]),
    "enabled_providers": (["x"], ["y"], ["x"], ["y"], ["x", "z"], ["x"]),
    "command": (
        {"mine": {"template": "m"}},
        {"theirs": {"template": "t"}},
        {"mine": {"template": "m"}},
        {"mine": {"template": "m"}, "theirs": {"template": "t"}},
        {"mine": {"template": "n"}},
        {"mine": {"template": "n"}},
    ),
    "mcp": (
        {"mine": {"command": ["m"]}},
        {"mine": {"command": ["evil"]}},
        {"mine": {"command": ["m"]}},
        {"mine": {"command": ["evil"]}},
        {"mine": {"enabled": False}},
        {"mine": {"command": ["m"], "enabled": False}},
    ),
    "formatter": (False, {"x": {"command": ["evil"]}}, False, {"x": {"command": ["evil"]}}, False, False),
    "lsp": (False, {"x": {"command": ["evil"]}}, False, {"x": {"command": ["evil"]}}, False, False),
    "instructions": (
        ["~/mine.md"],
        ["docs/a.md", "/etc/hostname", "~/.ssh/id", "../up.md", "https://x.example/y", "a/../../b"],
        ["~/mine.md", "docs/a.md"],
        ["~/mine.md", "docs/a.md", "/etc/hostname", "~/.ssh/id", "../up.md", "https://x.example/y", "a/../../b"],
        ["/srv/rules.md"],
        ["~/mine.md", "/srv/rules.md"],
    ),
    "plugin": (["mine"], ["./evil.js"], ["mine"], ["mine", "./evil.js"], ["theirs"], ["mine", "theirs"]),
    "hooks": (
        {"Stop": [{"hooks": []}]},
        {"PreToolUse": [{"hooks": [{"command": "evil"}]}]},
        {"Stop": [{"hooks": []}]},
        {"Stop": [{"hooks": []}], "PreToolUse": [{"hooks": [{"command": "evil"}]}]},
        {"Stop": []},
        {"Stop": []},
    ),
    "foreign.claude": (["commands"], ["hooks"], ["commands"], ["hooks"], ["commands"], ["commands"]),
    "foreign.codex": (["mcp"], ["hooks"], ["mcp"], ["hooks"], ["mcp"], ["mcp"]),
    "foreign.gemini": (["mcp"], [], ["mcp"], [], [], []),
    "foreign.plugins": (["/a"], [], ["/a"], [], [], []),
    "foreign.skills": (False, True, False, True, False, False),
    "shell": ("zsh", "./evil.sh", "zsh", "./evil.sh", "bash", "bash"),
    "sandbox.mode": ("bubblewrap", "off", "bubblewrap", "off", "landlock", "landlock"),
    "sandbox.writable": (["/mine"], ["/"], ["/mine"], ["/"], ["/srv"], []),
    "sandbox.readable": (
        ["/usr"],
        ["/usr/lib", "/home"],
        ["/usr/lib"],
        ["/usr/lib", "/home"],
        ["/usr/bin"],
        ["/usr/bin"],
    ),
    "sandbox.keys": ({"a": "1"}, {"b": "1"}, {"a": "1"}, {"a": "1", "b": "1"}, {"a": "2"}, {"a": "2"}),
    "sandbox.network": (False, True, False, True, True, False),
    "sandbox.capture": (False, True, False, True, True, True),
    "read.form": ("file", "path", "path", "path", "file", "file"),
    "sandbox.reveal": (["a"], ["*"], ["a"], ["*"], [], []),
    "environment.allow": (["MINE"], ["*"], ["MINE"], ["*"], ["OTHER"], []),
    "environment.deny": (["MINE"], ["THEIRS"], ["MINE", "THEIRS"], ["THEIRS"], ["AWS_*"], ["AWS_*", "MINE"]),
    "edit.drift": ("refuse", "replace", "refuse", "replace", "merge", "refuse"),
    "edit.gate": (False, True, False, True, True, True),
    "encoding": ("cp1252", "utf-7", "cp1252", "utf-7", "latin-1", "latin-1"),
    "search.url": (
        "https://a.example",
        "https://b.example",
        "https://a.example",
        "https://b.example",
        "https://c.example",
        "https://c.example",
    ),
    "search.headers": ({"a": "1"}, {"b": "1"}, {"a": "1"}, {"a": "1", "b": "1"}, {"a": "2"}, {"a": "2"}),
    "search.timeout": (5, 50, 5, 50, 7, 7),
    "search.backend": ("mcp", "searxng", "mcp", "searxng", "searxng", "searxng"),
    "acp.files": ("editor", "disk", "editor", "disk", "disk", "disk"),
    "acp.terminal": (False, True, False, True, True, False),
    "copies.leave_out": (["a"], ["b"], ["a"], ["b"], ["c"], ["c", "a"]),
    "copies.check": ("make test", "evil", "make test", "evil", "make ci", "make ci"),
    "truncate.max_lines": (100, 5000, 100, 5000, 50, 50),
    "truncate.max_bytes": (100, 90, 90, 90, 500, 100),
    "truncate.direction": ("head", "tail", "tail", "tail", "both", "both"),
    "truncate.agent": (
        {"build": {"max_lines": 10}},
        {"build": {"max_lines": 20}, "plan": {"max_lines": 9000}},
        {"build": {"max_lines": 10}, "plan": {"max_lines": 2000}},
        {"build": {"max_lines": 20}, "plan": {"max_lines": 9000}},
        {"build": {"max_lines": 5}},
        {"build": {"max_lines": 5}},
    ),
    "truncate.tool": (
        {"bash": {"max_lines": 10}},
        {"bash": {"max_lines": 20}},
        {"bash": {"max_lines": 10}},
        {"bash": {"max_lines": 20}},
        {"bash": {"max_lines": 50}},
        {"bash": {"max_lines": 10}},
    ),
    "theme": ("light", "contrast", "light", "contrast", "dark", "dark"),
    "keybinds": ({"a": "f1"}, {"b": "f2"}, {"a": "f1"}, {"a": "f1", "b": "f2"}, {"a": "f3"}, {"a": "f3"}),
    "telemetry": (False, True, False, True, True, True),
    "copies.variables": ({"A": "1"}, {"B": "2"}, {"A": "1"}, {"A": "1", "B": "2"}, {"A": "3"}, {"A": "3"}),
    "copies.setup": (["a"], ["b"], ["a"], ["b"], ["c"], ["c"]),
    "copies.teardown": (["a"], ["b"], ["a"], ["b"], ["c"], ["c"]),
    "copies.network": ("own", "shared", "own", "shared", "own", "own"),
    "copies.merge": ("by_hand", "at_end", "by_hand", "at_end", "by_hand", "by_hand"),
    "background.agents": (5, 50, 5, 50, 4, 4),
    "background.total": (5, 50, 5, 50, 4, 4),
    "background.seconds": (50, 500, 50, 500, 40, 40),
    "batch.max_calls": (5, 50, 5, 50, 4, 4),
    "budget.steps": (5, 50, 5, 50, 100, 5),
    "budget.tokens": (500, 50, 50, 50, 100, 100),
    "budget.cost": (0.5, 5, 0.5, 5, 0.25, 0.25),
    "budget.seconds": (5, 50, 5, 50, 100, 5),
    "compaction.auto": (True, False, True, False, False, False),
    "compaction.prune": (True, False, True, False, False, False),
    "compaction.reserved": (5, 50, 5, 50, 7, 7),
    "experimental.batch_tool": (False, True, False, True, True, True),
    "experimental.plan_mode": (False, True, False, True, True, True),
    "experimental.continue_loop_on_deny": (False, True, False, True, True, False),
    "experimental.primary_tools": (["a"], ["b"], ["a"], ["b"], ["c"], ["c", "a"]),
    "experimental.lsp_tool": (False, True, False, True, True, True),
    "experimental.web_search": (False, True, False, True, True, True),
    "experimental.mcp_timeout": (5, 50, 5, 50, 7, 7),
    "experimental.chatMaxRetries": (5, 50, 5, 50, 7, 7),
    "experimental.openTelemetry": (False, True, False, True, True, True),
    "experimental.disable_paste_summary": (False, True, False, True, True, True),
    "experimental.hook": ({"a": 1}, {"b": 1}, {"a": 1}, {"a": 1, "b": 1}, {"a": 2}, {"a": 2}),
}

# These are not values but sets of rules and entries, each with a test of its own below.
APART = {"permission", "tools", "agent", "provider"}


def nested(name: str, value: Any) -> dict[str, Any]:
    first, _, rest = name.partition(".")
    return {first: nested(rest, value) if rest else value}


def write(file: Path, value: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), "utf-8")
    return file


def loaded(folder: Path, *, trusted: bool, **said: Mapping[str, Any]) -> Config:
    """What `user`, `project` and `managed` files come to."""
    home = folder.parent / "home"
    environment = {"HOME": str(home)}
    if "user" in said:
        write(home / ".config/toolwright/toolwright.json", said["user"])
    if "project" in said:
        write(folder / "toolwright.json", said["project"])
    if "managed" in said:
        environment["TOOLWRIGHT_MANAGED_CONFIG"] = str(write(folder.parent / "managed.json", said["managed"]))
    return load_config(folder, Folders.of(environment), environment, trusted=trusted)


def value_of(config: Config, name: str) -> Any:
    found: Any = config.data
    for key in name.split("."):
        found = found.get(key, NOTHING) if isinstance(found, Mapping) else NOTHING
    return found


def test_every_setting_has_its_row() -> None:
    settings = {".".join(path) for path, _ in leaves(Settings)}
    assert settings == ROWS.keys() | APART
    every = set(config_schema()["properties"])
    others = {"$schema", "mode", "tool_output", "permissions", "policies", "agents", "commands", "providers", "plugins"}
    assert every - set(FOREIGN) - others == {name.partition(".")[0] for name in settings}


@pytest.mark.parametrize("name", ROWS)
def test_an_untrusted_project(project: Path, name: str) -> None:
    user, theirs, untrusted, _, _, _ = ROWS[name]
    config = loaded(project, trusted=False, user=nested(name, user), project=nested(name, theirs))
    assert value_of(config, name) == untrusted
    told = any(
        line.startswith("not trusted, left out: ") and name.partition(".")[0] in line for line in config.warnings
    )
    assert told == (not _all_of(theirs, untrusted))


@pytest.mark.parametrize("name", ROWS)
def test_an_untrusted_project_where_the_user_has_said_nothing(project: Path, name: str) -> None:
    """It never does more than with the user's own value beside it: what is user_only has no effect at all."""
    note = {".".join(path): note for path, note in leaves(Settings)}[name]
    config = loaded(project, trusted=False, project=nested(name, ROWS[name][1]))
    assert note.setting is not None
    if note.setting.untrusted == "user_only":
        assert value_of(config, name) is NOTHING


@pytest.mark.parametrize("name", ROWS)
def test_a_trusted_project(project: Path, name: str) -> None:
    user, theirs, _, trusted, _, _ = ROWS[name]
    config = loaded(project, trusted=True, user=nested(name, user), project=nested(name, theirs))
    assert value_of(config, name) == trusted


@pytest.mark.parametrize("name", ROWS)
def test_the_administrator_above_the_user_and_a_trusted_project(project: Path, name: str) -> None:
    user, _, _, _, managed, left = ROWS[name]
    config = loaded(project, trusted=True, user=nested(name, user), managed=nested(name, managed))
    assert value_of(config, name) == left
    alone = loaded(project, trusted=True, user={}, project={}, managed=nested(name, managed))
    assert value_of(alone, name) == managed


def _all_of(said: Any, kept: Any) -> bool:
    """Whether all that was said took effect."""
    if isinstance(said, list):
        return isinstance(kept, list) and set(said) <= set(kept)
    if isinstance(said, dict):
        return isinstance(kept, dict) and all(key in kept and _all_of(said[key], kept[key]) for key in said)
    return bool(said == kept)


def test_no_agent_and_no_provider_that_ships_is_a_projects_to_change(project: Path) -> None:
    agents = {agent.name for agent in native_agents(Folders.of({"HOME": str(project)}))}
    providers = {provider.id for provider in Catalog({}).providers()} | {"scripted"}
    assert {"build", "title"} <= agents
    assert {"openai", "ollama"} <= providers
    project_says = {
        "agent": {name: {"prompt": "Theirs."} for name in (*agents, "new")},
        "provider": {name: {"options": {"baseURL": "https://x.example"}} for name in (*providers, "new")},
    }
    config = loaded(project, trusted=False, project=project_says)
    assert {name: said for name, said in config.data["agent"].items() if said} == {"new": {"prompt": "Theirs."}}
    assert list(config.data["provider"]) == ["new"]


def test_the_limits_stand_in_for_those_of_another_module(tmp_path: Path) -> None:
    limits = Settings().truncate
    assert (limits.max_lines, limits.max_bytes) == (OutputLimits().max_lines, OutputLimits().max_bytes)


def test_lists_are_joined_at_the_top_alone() -> None:
    lower = {"instructions": ["a"], "provider": {"x": {"options": {"instructions": ["a"]}}}}
    higher = {"instructions": ["b"], "provider": {"x": {"options": {"instructions": ["b"]}}}}
    found = merged([lower, higher])
    assert found["instructions"] == ["a", "b"]
    assert found["provider"]["x"]["options"]["instructions"] == ["b"]
