"""What commands learn of our environment, and which shell runs them."""

from pathlib import Path

import pytest

from toolwright.process.environment import Withholding, choose_shell


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("PATH", True),
        ("HOME", True),
        ("LANG", True),
        ("TERM", True),
        ("SSH_AUTH_SOCK", False),
        ("VIRTUAL_ENV", True),
        ("OPENAI_API_KEY", False),
        ("github_token", False),
        ("Client_Secret", False),
        ("DB_PASSWORD", False),
        ("MYSQL_PASSWD", False),
        ("AWS_CREDENTIALS_FILE", False),
    ],
)
def test_what_looks_like_a_secret_is_withheld(name: str, seen: bool) -> None:
    assert (name in Withholding().apply({name: "x"})) == seen


@pytest.mark.parametrize(
    ("key", "value", "seen"),
    [
        ("safe.directory", "*", True),
        ("url.https://github.com/.insteadOf", "git@github.com:", True),
        ("http.extraHeader", "AUTHORIZATION: basic x", False),
        ("credential.helper", "!echo", False),
        ("url.https://me:word@example.com/.insteadOf", "x", False),
    ],
)
def test_settings_of_git_come_all_together_or_not_at_all(key: str, value: str, seen: bool) -> None:
    given = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "Ada L.",
        "GIT_CONFIG_KEY_1": key,
        "GIT_CONFIG_VALUE_1": value,
    }
    assert Withholding().apply(given) == (given if seen else {})


def test_exceptions_are_let_through() -> None:
    rule = Withholding(except_for=("GITHUB_TOKEN", "NPM_*"))
    environment = {"GITHUB_TOKEN": "1", "NPM_AUTH_TOKEN": "2", "OPENAI_API_KEY": "3"}
    assert rule.apply(environment) == {"GITHUB_TOKEN": "1", "NPM_AUTH_TOKEN": "2"}


def test_the_rule_can_be_replaced() -> None:
    assert Withholding(names=("INTERNAL_*",)).apply({"INTERNAL_X": "1", "API_KEY": "2"}) == {"API_KEY": "2"}


@pytest.mark.parametrize(
    ("preferred", "own", "chosen"),
    [
        ("", "zsh", "zsh"),
        ("dash", "zsh", "dash"),
        ("", "fish", "bash"),
        ("", "nu", "bash"),
        ("missing", "zsh", "zsh"),
        ("", "", "bash"),
    ],
)
def test_the_shell_is_the_preferred_one_the_users_or_bash(
    tmp_path: Path, preferred: str, own: str, chosen: str
) -> None:
    for name in ("zsh", "dash", "fish", "nu", "bash"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": str(tmp_path), "SHELL": own}
    assert choose_shell(environment, preferred) == str(tmp_path / chosen)
