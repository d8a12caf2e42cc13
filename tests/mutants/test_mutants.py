"""The mutants themselves, on a package with one condition that is tested and one that is not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.sites import mutants_of

HERE = Path(__file__).parent
PACKAGE = """
def grade(points: int) -> str:
    if points < 0:
        raise ValueError(points)
    return "top" if points > 90 else "plain"
"""
TESTS = """
import pytest

from toolwright.grades import grade


@pytest.mark.parametrize("points", [0, 50])
def test_a_grade_is_plain(points: int) -> None:
    assert grade(points) == "plain"


def test_fewer_than_no_points_are_an_error() -> None:
    with pytest.raises(ValueError):
        grade(-1)
"""


@pytest.mark.slow
def test_a_condition_that_no_test_holds_is_printed_and_one_that_is_held_is_not(tmp_path: Path) -> None:
    project = tmp_path / "project"
    package = project / "src" / "toolwright"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "grades.py").write_text(PACKAGE)
    shutil.copytree(HERE, project / "tests" / "mutants", ignore=shutil.ignore_patterns("test_*", "__pycache__"))
    (project / "tests" / "__init__.py").touch()
    (project / "tests" / "test_grades.py").write_text(TESTS)
    (project / "pyproject.toml").touch()
    command = [sys.executable, "-m", "tests.mutants", "--number", "9", "--seed", "3", "--workers", "1"]
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COVERAGE"))}
    environment = {**outside, "PYTHONPATH": str(package.parent)}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    survivors = [line for line in done.stdout.splitlines() if line.startswith("survived: ")]
    assert [line.split()[1] for line in survivors] == ["src/toolwright/grades.py:5"] * 2, done.stdout + done.stderr
    assert "2 of 4 mutants were killed (seed 3); 2 survived" in done.stdout


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("if a:\n    raise b\n", {"guard": ["False"]}),
        ("if a:\n    b()\n", {}),
        ("a < 3", {"comparison": ["(a <= 3)"], "limit": ["4"]}),
        ("a == 'x'", {"comparison": ["(a != 'x')"]}),
        ("0 < a < 3", {}),
        ("not a", {"not dropped": ["a"]}),
        ("a and b", {"and/or": ["(a or b)"], "condition dropped": ["b", "a"]}),
        ("[a for a in b if a]", {"filter dropped": ["True"]}),
        ("MOST = 100", {"limit": ["101"]}),
        ("NONE = 0", {}),
        ("MOST = 60 * 60", {}),
        ("ON = True", {}),
        ("def f(most=100): pass", {}),
        ("assert a < 3", {}),
        ("f'{a < 3}'", {}),
        ("if TYPE_CHECKING:\n    a < 3\n", {}),
        ("if sys.platform == 'darwin':\n    raise a\n", {}),
        ("class A(Protocol):\n    a < 3\n", {}),
    ],
)
def test_each_kind_of_place_is_changed_in_its_own_way(
    tmp_path: Path, source: str, changes: dict[str, list[str]]
) -> None:
    file = tmp_path / "module.py"
    file.write_text(source)
    found = dict[str, list[str]]()
    for mutant in mutants_of(file):
        found.setdefault(mutant.kind, []).append(mutant.after)
    assert {kind: sorted(after) for kind, after in found.items()} == {
        kind: sorted(after) for kind, after in changes.items()
    }


def test_a_change_is_made_in_its_place_alone(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("ä = 1; b = ä < 2; c = ä < 2\n")
    changed = {mutant.apply(file.read_bytes()).decode() for mutant in mutants_of(file) if mutant.kind == "comparison"}
    assert changed == {"ä = 1; b = (ä <= 2); c = ä < 2\n", "ä = 1; b = ä < 2; c = (ä <= 2)\n"}
