"""Names near a wanted one."""

import pytest

from toolwright.files.names import containing, misspelt

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
