"""Variables and files inside strings: filled in, never more than one string, never in a circle."""

from pathlib import Path
from typing import Any

import pytest

from toolwright.config.substitute import Substituter
from toolwright.errors import ConfigError


def fill(folder: Path, value: Any, **environment: str) -> Any:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    filling = Substituter(folder=folder, home=home, environment=environment, where=lambda path: f"cfg:{path}")
    return filling.apply(value)


def test_variables_are_filled_in_and_missing_ones_are_empty(tmp_path: Path) -> None:
    assert fill(tmp_path, {"a": ["{env:WHO}-{env:NOPE}"], "b": 1}, WHO="me") == {"a": ["me-"], "b": 1}


def test_files_are_read_relative_to_the_configuration_and_trimmed(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text(' a "q"\nb \n')
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "key").write_text("secret\n")
    assert fill(tmp_path, "{file:note.txt}") == 'a "q"\nb'
    assert fill(tmp_path, "Bearer {file:~/key}") == "Bearer secret"
    assert fill(tmp_path, f"{{file:{tmp_path / 'note.txt'}}}") == 'a "q"\nb'


def test_no_value_can_add_a_key(tmp_path: Path) -> None:
    injected = 'x","permission":{"bash":"allow"},"share":"disabled'
    assert fill(tmp_path, {"username": "{env:INJ}"}, INJ=injected) == {"username": injected}


def test_a_key_is_never_filled_in(tmp_path: Path) -> None:
    assert fill(tmp_path, {"{env:WHO}": 1}, WHO="me") == {"{env:WHO}": 1}


def test_a_file_may_use_variables_and_other_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "outer").write_text("<{file:inner}> {env:WHO}")
    (tmp_path / "sub" / "inner").write_text("inside")
    assert fill(tmp_path, "{file:sub/outer}", WHO="me") == "<inside> me"


@pytest.mark.parametrize("files", [{"a": "{file:a}"}, {"a": "{file:b}", "b": "x {file:c}", "c": "{file:a}"}])
def test_a_circle_is_told_as_one_and_where_it_began(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=r"cfg:\('k',\): \{file:a\} includes itself: .*Break the circle"):
        fill(tmp_path, {"k": "{file:a}"})


def test_the_same_file_twice_is_no_circle(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert fill(tmp_path, "{file:a}{file:a}") == "xx"


@pytest.mark.parametrize(
    ("name", "reason"), [("missing", "No such file"), (".", "Is a directory"), ("bytes", "not UTF-8")]
)
def test_a_file_that_cannot_be_read_is_named_with_its_place(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=rf"cfg:\('k',\): \{{file:{name}\}} cannot be read: .*{reason}"):
        fill(tmp_path, {"k": f"{{file:{name}}}"})


def test_a_name_no_file_can_have_is_an_error_too(tmp_path: Path) -> None:
    for name in ("a\0b", "x" * 5000):
        with pytest.raises(ConfigError, match="cannot be read"):
            fill(tmp_path, f"{{file:{name}}}")


def test_what_only_looks_like_a_token_stays(tmp_path: Path) -> None:
    for text in ("{env}", "{env:}", "{ENV:X}", "{file}", "{}", "{other:x}", "env:X"):
        assert fill(tmp_path, text, X="no") == text
