"""tw trust: a project's rules and code take effect when the user says so."""

from pathlib import Path

from tests.cli.conftest import Tw


def test_trust_is_given_listed_and_taken_back(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission": {"read": {"*.env": "allow"}}}')
    (project / ".env").write_text("A=1\n")
    read = ("tool", "call", "read", '{"filePath": ".env"}')
    assert tw(*read).code == 3
    assert tw("trust").code == 0
    assert tw("trust", "--list").out == f"{project.resolve()}\n"
    assert tw(*read).code == 0
    assert "no longer trusted" in tw("trust", "--remove").err
    assert "was not trusted" in tw("trust", "--remove").err
    assert tw(*read).code == 3
    assert tw(*read, "--trust").code == 0
    assert tw("trust", "--list").out == ""


def test_a_damaged_file_of_trust_is_one_message(tw: Tw, home: Path) -> None:
    file = home / ".local" / "share" / "toolwright" / "trust.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    outcome = tw("tool", "list")
    assert outcome.code == 1
    assert "trust.json" in outcome.err
