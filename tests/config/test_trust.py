"""The user's word on projects, in a file of plain paths."""

from pathlib import Path

import pytest

from toolwright.config.trust import Trust
from toolwright.errors import ConfigError


def test_a_project_is_trusted_from_when_it_is_said_until_it_is_taken_back(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "data" / "trust.json")
    one, two = tmp_path / "one", tmp_path / "two"
    assert not trust.includes(one)
    trust.add(one)
    trust.add(two)
    trust.add(one)
    assert trust.roots() == [str(two), str(one)]
    assert trust.includes(one)
    assert trust.remove(one)
    assert not trust.remove(one)
    assert trust.roots() == [str(two)]


def test_a_folder_inside_a_trusted_one_is_another_project(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "trust.json")
    trust.add(tmp_path / "one")
    assert not trust.includes(tmp_path / "one" / "vendored")
    assert not trust.includes(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"projects": {}}', '{"projects": "all"}', "null", '{"projects": [3]}'])
def test_a_mistake_in_the_file_trusts_nobody_and_is_not_overwritten(tmp_path: Path, text: str) -> None:
    trust = Trust(tmp_path / "trust.json")
    trust.file.write_text(text)
    for attempt in (trust.roots, lambda: trust.includes(tmp_path), lambda: trust.add(tmp_path)):
        with pytest.raises(ConfigError, match=r"trust\.json"):
            attempt()
    assert trust.file.read_text() == text
