"""tw config: what holds, and where it comes from."""

import json
from pathlib import Path

import jsonschema_rs
import pytest

from tests.cli.conftest import Tw


def test_it_names_every_file_weakest_first_and_what_they_come_to(tw: Tw, project: Path, home: Path) -> None:
    user = home / ".config" / "toolwright" / "toolwright.json"
    user.parent.mkdir(parents=True)
    user.write_text('{"model": "a/b", "shell": "bash"}')
    (project / "opencode.jsonc").write_text('{"model": "c/d"} // mine')
    text = tw("config").out
    lines = text.splitlines()
    assert lines[0] == f"project   {project.resolve()}  (not trusted)"
    assert [line.split()[0] for line in lines[2:4]] == ["user", "project"]
    assert tw("config", "--json", "--trust").json == {"model": "c/d", "shell": "bash"}
    untrusted = tw("config", "--json")
    assert untrusted.json == {"model": "a/b", "shell": "bash"}
    assert untrusted.err == "warning: not trusted, left out: model (tw trust)\n"


def test_no_secret_is_shown(tw: Tw, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PART", "from the environment")
    user = home / ".config" / "toolwright" / "toolwright.json"
    user.parent.mkdir(parents=True)
    options = {"apiKey": "sk-plain", "headers": {"X-Auth-Token": "abc", "X-Other": "{env:PART}-1"}, "setCacheKey": True}
    user.write_text(json.dumps({"provider": {"mine": {"name": "Mine", "options": options}}}))
    shown = tw("config", "--json").json["provider"]["mine"]
    headers = {"X-Auth-Token": "********", "X-Other": "********"}
    assert shown == {"name": "Mine", "options": {"apiKey": "********", "headers": headers, "setCacheKey": True}}


def test_no_secret_of_a_server_is_shown_wherever_it_stands(tw: Tw, home: Path) -> None:
    (home / ".config/toolwright").mkdir(parents=True)
    written = {
        "mcp": {
            "a": {"type": "local", "command": ["run", "--api-key", "hush1", "--token=hush2", "--verbose", "on"]},
            "b": {"type": "remote", "url": "https://me:hush3@x.example/mcp?api_key=hush4&page=2"},
            "c": {"type": "remote", "url": "https://x.example", "headers": {"X-Team": "hush5"}},
            "d": {"type": "local", "command": ["run", "sk-hush6-0123456789"], "environment": {"LOGIN": "hush7"}},
        },
    }
    (home / ".config/toolwright/toolwright.json").write_text(json.dumps(written))
    for shown in (tw("config").out, tw("config", "--json").out, tw("doctor").out):
        assert "hush" not in shown
        assert "--verbose" in shown
        assert "page=2" in shown


def test_without_a_file_it_says_which_would_be_read(tw: Tw, project: Path) -> None:
    assert f"no configuration file; {project.resolve() / 'toolwright.json'} would be read" in tw("config").out


def test_the_schema_is_one_that_editors_take(tw: Tw) -> None:
    schema = tw("config", "--schema").json
    assert jsonschema_rs.meta.is_valid(schema)
    assert jsonschema_rs.is_valid(schema, {"permission": {"bash": {"git *": "allow"}}})
    assert not jsonschema_rs.is_valid(schema, {"permission": {"bash": "maybe"}})


@pytest.mark.parametrize("slip", ["bsah", "bas", "edti", "webfech", "reads"])
def test_a_misspelt_permission_is_told_with_its_line(tw: Tw, project: Path, slip: str) -> None:
    (project / "toolwright.json").write_text('{\n"permission": ' + json.dumps({slip: "deny"}) + "}")
    assert f"toolwright.json:2: unknown key 'permission.{slip}'; did you mean" in tw("doctor").out


def test_a_file_that_breaks_off_has_no_pointer_into_an_empty_line(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text('{"model": \n')
    told = tw("config").err
    assert "toolwright.json:2:1: Expecting value." in told
    assert "^" not in told
