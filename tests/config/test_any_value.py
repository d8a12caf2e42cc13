"""Whatever a file holds, it is read, or refused with a sentence that names it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from toolwright.config.jsonc import parse, positions
from toolwright.config.load import Config, load_config
from toolwright.config.markdown import read_document
from toolwright.config.schema import agent_schema, config_schema
from toolwright.errors import ConfigError
from toolwright.machine.folders import Folders

TOP = sorted(config_schema()["properties"])
INNER = sorted(
    {
        *agent_schema()["properties"],
        *("servers", "policies", "permissions", "action", "resource", "effect", "mode", "deny", "allow", "max_lines"),
        *("bash", "build", "plan", "shell", "tool", "agent", "options", "models", "url", "template", "command"),
    }
)
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**20),
    st.floats(allow_nan=False),
    st.sampled_from(
        ["", "allow", "deny", "ask", "off", "{env:X}", "{file:x}", "{file:../x}", "~/x", "*", "\x00", "\ud800"]
    ),
)
VALUES = st.recursive(
    PLAIN,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(st.sampled_from(INNER), below, max_size=4)),
    max_leaves=12,
)
FILES = st.dictionaries(st.sampled_from(TOP), VALUES, min_size=1, max_size=4)
ANY = settings(max_examples=rounds(50, 150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def load(project: Path, level: str, trusted: bool) -> Config:
    home = project.parent / "home"
    environment = {"HOME": str(home)}
    if level == "managed":
        environment["TOOLWRIGHT_MANAGED_CONFIG"] = str(project / "toolwright.json")
    return load_config(project, Folders.of(environment), environment, trusted=trusted)


@ANY
@given(value=FILES, level=st.sampled_from(["project", "managed"]), trusted=st.booleans())
@example(
    value={"permission": 5, "policies": [{"action": "tool.use", "resource": "x", "effect": "deny"}]},
    level="project",
    trusted=True,
)
@example(
    value={"disabled_providers": 5, "policies": [{"action": "provider.use", "resource": "x", "effect": "deny"}]},
    level="project",
    trusted=True,
)
@example(value={"mode": {"a": 5}, "agent": {"a": 5}}, level="project", trusted=False)
@example(value={"sandbox": None, "truncate": None, "budget": None}, level="managed", trusted=False)
def test_any_value_of_any_setting_is_read_or_refused(project: Path, value: Any, level: str, trusted: bool) -> None:
    (project / "toolwright.json").write_text(json.dumps(value))
    (project / "x").write_text("text")
    try:
        config = load(project, level, trusted)
    except ConfigError as error:
        assert "toolwright.json" in str(error)  # noqa: PT017 - either is right
    else:
        assert config.settings.sandbox.mode in ("auto", "bubblewrap", "landlock", "seatbelt", "off")


@ANY
@given(text=st.text(alphabet='{}[]":,/*\\ \nab1', max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        parse(text, "x")
    except ConfigError:
        return
    positions(text)


@ANY
@given(text=st.text(alphabet="ab:-[]{}'\"|>&*#!?, \n1", max_size=60))
@example(text="!!python/object:os.system x")
@example(text="? [a, b]\n: c")
def test_any_head_is_read_or_refused(text: str) -> None:
    try:
        document = read_document(f"---\n{text}\n---\nbody", "x")
    except ConfigError:
        return
    assert isinstance(document.head, dict)


@pytest.mark.parametrize("given_", [{"model": object()}, {"a": {1, 2}}, {"budget": {"steps": 0}}])
def test_a_caller_that_says_what_no_file_could_is_told(project: Path, given_: Any) -> None:
    with pytest.raises(ConfigError, match="config="):
        load_config(project, Folders.of({"HOME": "/x"}), {}, given=given_)
