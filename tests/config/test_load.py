"""Which files are read, which wins, and how a mistake in one is told."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolwright.config.load import Config, load_config
from toolwright.errors import ConfigError
from toolwright.machine.folders import Folders
from toolwright.testing import make_workspace


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def load(directory: Path, home: Path, **environment: str) -> Config:
    surroundings = {"HOME": str(home), **environment}
    return load_config(directory, Folders.of(surroundings), surroundings)


def write(file: Path, value: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return file


def test_without_any_file_there_is_nothing_set(project: Path, home: Path) -> None:
    config = load(project, home)
    assert (config.data, config.sources, config.warnings) == ({}, (), ())
    assert config.root == project.resolve()


ORDER = [
    "home/.config/opencode/config.json",
    "home/.config/opencode/opencode.json",
    "home/.config/opencode/opencode.jsonc",
    "home/.config/toolwright/toolwright.json",
    "home/.config/toolwright/toolwright.jsonc",
    "home/.opencode/opencode.json",
    "home/.toolwright/toolwright.json",
    "project/opencode.json",
    "project/opencode.jsonc",
    "project/toolwright.json",
    "project/toolwright.jsonc",
    "project/.opencode/opencode.json",
    "project/.toolwright/toolwright.jsonc",
    "project/sub/opencode.json",
    "project/sub/.toolwright/toolwright.json",
]


@pytest.mark.parametrize("strongest", range(1, len(ORDER) + 1))
def test_each_file_beats_all_before_it(tmp_path: Path, project: Path, home: Path, strongest: int) -> None:
    (project / ".git").mkdir()
    (project / "sub").mkdir()
    for name in ORDER[:strongest]:
        write(tmp_path / name, {"model": name})
    config = load(project / "sub", home)
    assert config.data["model"] == ORDER[strongest - 1]
    assert [str(Path(source.name).relative_to(tmp_path)) for source in config.sources] == ORDER[:strongest]


def test_variables_come_after_the_files(project: Path, home: Path, tmp_path: Path) -> None:
    write(project / "toolwright.json", {"model": "file", "permission": {"bash": "ask"}})
    extra = write(tmp_path / "extra.json", {"model": "named", "small_model": "named"})
    folder = write(tmp_path / "dir" / "opencode.json", {"username": "folder"}).parent
    environment = {
        "OPENCODE_CONFIG": str(extra),
        "OPENCODE_CONFIG_DIR": str(folder),
        "OPENCODE_CONFIG_CONTENT": '{"model": "theirs",}',
        "TOOLWRIGHT_CONFIG_CONTENT": '{"model": "ours"} // strongest',
        "OPENCODE_PERMISSION": '{"webfetch": "deny"}',
    }
    config = load(project, home, **environment)
    assert (config.data["model"], config.data["small_model"], config.data["username"]) == ("ours", "named", "folder")
    assert config.data["permission"] == {"bash": "ask", "webfetch": "deny"}
    levels = {source.name: source.level for source in config.sources}
    assert levels["OPENCODE_PERMISSION"] == "override"
    assert levels[str(extra)] == "user"


def _make_folder(path: Path) -> None:
    path.mkdir()


def _make_pipe(path: Path) -> None:
    os.mkfifo(path)


def _make_broken_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


@pytest.mark.parametrize("make", [_make_folder, _make_pipe, _make_broken_link])
def test_what_has_the_name_of_settings_and_is_no_file_is_not_passed_over(
    project: Path, home: Path, make: Callable[[Path], None]
) -> None:
    make(project / "toolwright.json")
    with pytest.raises(ConfigError, match=r"toolwright\.json cannot be read: "):
        load(project, home)


def test_a_file_that_a_variable_names_must_be_there(project: Path, home: Path, tmp_path: Path) -> None:
    named = str(tmp_path / "nope.json")
    with pytest.raises(ConfigError, match=r"There is no file .*nope\.json, but TOOLWRIGHT_CONFIG names it\."):
        load(project, home, TOOLWRIGHT_CONFIG=named)
    assert load(project, home, TOOLWRIGHT_CONFIG_DIR=named).warnings == (
        f"there is no folder {named}, but TOOLWRIGHT_CONFIG_DIR names it",
    )


def test_a_misspelt_variable_with_settings_is_told(project: Path, home: Path) -> None:
    config = load(
        project, home, TOOLWRIGHT_PERMISION='{"bash": "deny"}', TOOLWRIGHT_SESSION="ses_1", TOOLWRIGHT_LOG="info"
    )
    assert config.warnings == ("the variable TOOLWRIGHT_PERMISION means nothing; did you mean TOOLWRIGHT_PERMISSION?",)


def test_the_search_goes_up_to_the_root_of_the_work_tree_and_no_further(project: Path, home: Path) -> None:
    write(project / "toolwright.json", {"model": "above"})
    inner = project / "inner"
    write(inner / "toolwright.json", {"small_model": "inner"})
    (inner / ".git").write_text("gitdir: elsewhere")
    deep = inner / "a" / "b"
    deep.mkdir(parents=True)
    config = load(deep, home)
    assert config.root == inner.resolve()
    assert config.data == {"small_model": "inner"}


def test_objects_are_merged_lists_replaced_and_two_lists_joined(project: Path, home: Path) -> None:
    write(
        home / ".config/toolwright/toolwright.json",
        {"instructions": ["a", "b"], "plugin": ["p"], "disabled_providers": ["x"], "provider": {"one": {"name": "1"}}},
    )
    write(
        project / "toolwright.json",
        {"instructions": ["b", "c"], "plugin": ["q"], "disabled_providers": ["y"], "provider": {"two": {"name": "2"}}},
    )
    data = load(project, home).data
    assert data["instructions"] == ["a", "b", "c"]
    assert data["plugin"] == ["p", "q"]
    assert data["disabled_providers"] == ["y"]
    assert set(data["provider"]) == {"one", "two"}


def test_a_catch_all_of_the_user_is_not_lost_under_a_rule_of_the_project(project: Path) -> None:
    home = project.parent / "project.home"
    write(home / ".config/toolwright/toolwright.json", {"permission": {"bash": "ask"}})
    write(project / "toolwright.json", {"permission": {"bash": {"git *": "allow"}}})
    ruled = make_workspace(project).session().ruled_agent
    assert [ruled.decide("bash", command) for command in ("git log", "rm x")] == ["allow", "ask"]


def test_a_general_allow_of_the_project_does_not_undo_what_the_user_denied(project: Path) -> None:
    home = project.parent / "project.home"
    write(home / ".config/toolwright/toolwright.json", {"permission": {"bash": "deny"}})
    write(project / "toolwright.json", {"permission": {"*": "allow"}})
    assert make_workspace(project).session().ruled_agent.decide("bash", "ls") == "deny"


MISTAKES: list[tuple[str, str]] = [
    ('{\n  "permission": {\n    "bash": "maybe"\n  }\n}', r":3: permission\.bash: expected"),
    ('{\n "permission": {"bash": {"rm *": "perhaps"}}\n}', r':2: permission\.bash\.rm \*: expected one of "allow"'),
    ('{"agent": {"a": {"color": "??"}}}', r":1: agent\.a\.color: expected text like"),
    ('{"agent": {"a": {"steps": 0}}}', r":1: agent\.a\.steps: expected 1 or more, got 0"),
    ('{\n\n"truncate": {"max_lines": "many"}}', r":3: truncate\.max_lines: expected a whole number"),
    ('{"model" "x"}', r":1:10: Expecting ':' delimiter"),
    ("[1]", r":1: expected an object in braces"),
    ('{"username": "{file:nowhere.txt}"}', r":1: \{file:nowhere\.txt\} cannot be read"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_names_file_line_place_and_what_was_expected(
    project: Path, home: Path, text: str, message: str
) -> None:
    file = write(project / "toolwright.json", text)
    with pytest.raises(ConfigError, match=message) as raised:
        load(project, home)
    assert str(file.resolve()) in str(raised.value)
    assert file.read_text() == text


def test_all_mistakes_of_a_file_are_told_at_once(project: Path, home: Path) -> None:
    write(project / "toolwright.json", '{\n"model": 1,\n"shell": 2\n}')
    with pytest.raises(ConfigError) as raised:
        load(project, home)
    lines = str(raised.value).splitlines()
    assert [line.rpartition("toolwright.json:")[2] for line in lines[1:]] == [
        "2: model: expected a string, got 1",
        "3: shell: expected a string, got 2",
    ]


def test_an_unknown_key_is_a_warning_with_the_nearest_name(project: Path, home: Path) -> None:
    file = write(
        project / "toolwright.json", '{\n  "permision": {},\n  "experimental": {"batch_tol": true},\n  "xyzzy": 1\n}'
    )
    config = load(project, home)
    place = file.resolve()
    assert config.warnings == (
        f"{place}:2: unknown key 'permision'; did you mean 'permission'?",
        f"{place}:3: unknown key 'experimental.batch_tol'; did you mean 'batch_tool'?",
        f"{place}:4: unknown key 'xyzzy'; it is ignored",
    )


def test_settings_of_the_reference_that_mean_nothing_here_are_taken_in_silence(project: Path, home: Path) -> None:
    write(project / "opencode.json", {"$schema": "x", "theme": "dark", "keybinds": {}, "share": "manual"})
    assert load(project, home).warnings == ()


@pytest.mark.parametrize("name", ["toolwright.json", ".toolwright/agent/a.md"])
def test_a_file_that_is_not_text_is_named(project: Path, home: Path, name: str) -> None:
    file = project / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(ConfigError, match=rf"{name} cannot be read"):
        load(project, home)


@pytest.mark.parametrize("head", ["---\ntools:\n\tbash: false\n---\n", "---\npermission: deny\n\nNo end above.\n"])
@pytest.mark.parametrize("trust", [True, False])
def test_an_agent_whose_head_cannot_be_read_is_not_offered_and_the_others_are(
    project: Path, head: str, trust: bool
) -> None:
    write(project / ".opencode/agent/broken.md", head + "Prompt.\n")
    write(project / ".opencode/agent/fine.md", "---\ndescription: Fine\n---\nPrompt.\n")
    workspace = make_workspace(project, trust=trust)
    assert "fine" in workspace.agents
    assert "broken" not in workspace.agents
    assert re.search(r"broken\.md:\d+: .*Until then there is no agent 'broken'", "".join(workspace.config.warnings))


def test_a_markdown_agent_with_a_wrong_setting_is_named(project: Path, home: Path) -> None:
    write(project / ".toolwright/agent/a.md", "---\nmode: sometimes\n---\nx")
    with pytest.raises(ConfigError, match=r'agent/a\.md: mode: expected one of "primary"'):
        load(project, home)


def test_reading_changes_nothing_on_disk(project: Path, home: Path) -> None:
    file = write(project / "opencode.json", '{"model": "a/b"}')
    before = sorted(project.parent.rglob("*"))
    load(project, home)
    assert sorted(project.parent.rglob("*")) == before
    assert file.read_text() == '{"model": "a/b"}'


def test_settings_are_typed_and_have_defaults(project: Path, home: Path) -> None:
    write(project / "toolwright.json", {"edit": {"drift": "refuse"}, "budget": {"cost": 2}, "sandbox": "landlock"})
    settings = load(project, home).settings
    assert (settings.edit.drift, settings.budget.cost, settings.budget.steps) == ("refuse", 2, None)
    assert (settings.sandbox.mode, settings.sandbox.network, settings.truncate.max_lines) == ("landlock", True, 2000)
