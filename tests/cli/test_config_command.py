"""tw config: what holds, and where it comes from."""

from pathlib import Path

import jsonschema_rs

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
    assert tw("config", "--json").json == {"model": "c/d", "shell": "bash"}


def test_without_a_file_it_says_which_would_be_read(tw: Tw, project: Path) -> None:
    assert f"no configuration file; {project.resolve() / 'toolwright.json'} would be read" in tw("config").out


def test_the_schema_is_one_that_editors_take(tw: Tw) -> None:
    schema = tw("config", "--schema").json
    assert jsonschema_rs.meta.is_valid(schema)
    assert jsonschema_rs.is_valid(schema, {"permission": {"bash": {"git *": "allow"}}})
    assert not jsonschema_rs.is_valid(schema, {"permission": {"bash": "maybe"}})
