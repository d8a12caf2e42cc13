"""Names near a wanted one."""

from pathlib import Path

import pytest

from toolwright.files.names import containing, missing_file, misspelt
from toolwright.files.paths import Tree

NAMES = ["config.yaml", "config.yml", "Config.YAML.bak", "readme.md", "main.py", "main_test.py", "domain.py", "x"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("CONFIG.yaml.old", ["config.yaml"]),
        ("README", ["readme.md"]),
        ("Main.py", ["main.py", "domain.py"]),
        ("x1", ["x"]),
        ("nothing.rs", []),
    ],
)
def test_a_name_within_a_name(wanted: str, found: list[str]) -> None:
    assert containing(wanted, NAMES) == found


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("maim.py", ["main.py"]),
        ("mian.py", ["main.py"]),
        ("redame.md", ["readme.md"]),
        ("confg.yaml", ["config.yaml", "config.yml"]),
        ("nothing.rs", []),
        ("y", ["x"]),
    ],
)
def test_a_name_with_a_slip(wanted: str, found: list[str]) -> None:
    assert misspelt(wanted, NAMES) == found


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("READ", "Did you mean one of these?\n{0}/README.md"),
        ("confg.toml", "The nearest name is {0}/config.toml."),
        ("zzzzzz", "Use glob or list to find its name."),
        ("srcc/a.py", "its folder does not exist. The nearest folder is {0}/src."),
        ("other/a.py", "its folder does not exist. The nearest folder that does is {0}."),
        ("src/lib/deep/a.py", "its folder does not exist. The nearest folder that does is {0}/src."),
        ("README.md/a.py", "{0}/README.md is a file, not a folder."),
    ],
)
def test_a_file_that_is_not_there_is_told_with_what_is(tmp_path: Path, wanted: str, words: str) -> None:
    (tmp_path / "src").mkdir()
    for name in ("README.md", "config.toml"):
        (tmp_path / name).touch()
    error = missing_file(Tree(tmp_path).place(wanted))
    assert str(error).startswith(f"There is no file {tmp_path}/{wanted}")
    assert str(error).endswith(words.format(tmp_path))
    assert error.kind == "missing"
