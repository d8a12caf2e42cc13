"""What commands learn of our environment, and which shell runs them."""

from pathlib import Path

import pytest

from toolwright.process.programs.environment import Withholding, choose_shell, with_git_setting
from toolwright.process.programs.lookup import Lookup


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


@pytest.mark.parametrize("name", ["CDPATH", "GLOBIGNORE", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT"])
def test_what_would_have_a_line_read_otherwise_than_it_was_judged_is_withheld(name: str) -> None:
    assert Withholding().apply({name: "1"}) == {}
    assert Withholding(except_for=(name,)).apply({name: "1"}) == {name: "1"}


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


@pytest.mark.parametrize(
    ("name", "value", "seen"),
    [
        ("ANYTHING", "yes", True),
        ("ANYTHING", "", True),
        ("ANYTHING", "8080", True),
        ("ANYTHING", "v1.2.3", True),
        ("ANYTHING", "two-words_here", True),
        ("ANYTHING", "/usr/lib:/opt/lib", True),
        ("ANYTHING", "~/x", True),
        ("ANYTHING", "http://localhost:8080/x", True),
        ("ANYTHING", "http://127.0.0.1", True),
        ("ANYTHING", "http://example.com/x", False),
        ("ANYTHING", "x" * 25, False),
        ("ANYTHING", "a sentence; with signs", False),
        ("ANYTHING", "/" + "x" * 999, True),
        ("ANYTHING", "/" + "x" * 1000, False),
        ("ANYTHING", "/" + "0123456789abcdef" * 2, False),
        ("MY_AUTH", "yes", False),
        ("DATABASE_DSN", "yes", False),
        ("SESSION", "yes", False),
        ("AUTHOR", "yes", True),
        ("HTTP_PROXY", "http://proxy:8080", True),
        ("HTTP_PROXY", "http://me:word@proxy:8080", False),
        ("CARGO_X", "ghp_0123456789abcdef", False),
        ("PATH", "/nix/0123456789abcdef0123456789abcdef/bin", True),
        ("LS_COLORS", "0123456789abcdef0123456789abcdef", True),
        ("CFLAGS", "-O2 -Wall; anything", True),
    ],
)
def test_what_no_list_names_is_seen_if_its_name_tells_nothing_and_its_value_is_plain(
    name: str, value: str, seen: bool
) -> None:
    assert (name in Withholding().apply({name: value})) == seen


@pytest.mark.parametrize(
    ("count", "settings", "before"), [("", {}, 0), ("2", {}, 2), ("x", {}, 0), ("-1", {}, 0), ("0", {}, 0)]
)
def test_a_setting_of_git_is_added_after_those_that_are_given(
    count: str, settings: dict[str, str], before: int
) -> None:
    given = {"GIT_CONFIG_COUNT": count} if count else settings
    assert with_git_setting(given, "core.pager", "cat") == {
        "GIT_CONFIG_COUNT": str(before + 1),
        f"GIT_CONFIG_KEY_{before}": "core.pager",
        f"GIT_CONFIG_VALUE_{before}": "cat",
    }


@pytest.mark.parametrize(
    ("count", "seen"), [("1", True), ("2", False), ("999", False), ("1000", False), ("x", False), ("", True)]
)
def test_settings_of_git_that_are_not_all_there_are_withheld(count: str, seen: bool) -> None:
    pair = {"GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "A"}
    given = {"GIT_CONFIG_COUNT": count, **pair} if count else pair
    assert Withholding().apply(given) == (given if seen else {})


@pytest.mark.parametrize("count", ["", "0", "1", "1000", "1000000000000"])
def test_a_secret_among_settings_of_git_is_withheld_whatever_the_count_says(count: str) -> None:
    given = {
        "GIT_CONFIG_COUNT": count,
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "A",
        "GIT_CONFIG_KEY_7": "http.extraHeader",
        "GIT_CONFIG_VALUE_7": "AUTHORIZATION: basic x",
    }
    assert Withholding().apply(given) == {}


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
    assert choose_shell(Lookup(str(tmp_path)), own, preferred) == str(tmp_path / chosen)
