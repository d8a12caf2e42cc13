"""Every attack of the catalogue is denied or asked about; what is plain beside it is not."""

from pathlib import Path

import pytest

from tests.attacks.shell.catalogue import ATTACKS, DENY, ZSH
from tests.attacks.shell.ground import BOX, HAS_GIT, Ground, make_ground, policy


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return make_ground(tmp_path_factory.mktemp("attacked"))


@pytest.mark.parametrize(
    ("rules", "command"),
    [
        pytest.param(rules, command, id=f"{title[:20]}: {command[:60]}")
        for title, (rules, commands) in ATTACKS.items()
        for command in commands
    ],
)
def test_no_attack_runs_in_silence(rules: tuple[str, ...], command: str, ground: Ground) -> None:
    if "git" in command and not HAS_GIT:
        pytest.skip("git is not installed, so nothing is tracked")
    assert ground.verdict(command, policy(*rules)) != "allow"


@pytest.mark.parametrize("command", ZSH)
def test_nor_does_one_that_zsh_reads_otherwise(command: str, ground: Ground) -> None:
    assert ground.verdict(command, policy(*DENY), shell="/bin/zsh") != "allow"


@pytest.mark.parametrize(
    ("rules", "command"),
    [pytest.param(rules, command) for title, (rules, commands) in ATTACKS.items() if title[:2] in ("14", "15", "16", "17", "18") for command in commands],
)
def test_a_box_does_not_make_up_for_a_rule_about_commands(rules: tuple[str, ...], command: str, ground: Ground) -> None:
    assert ground.verdict(command, policy(*rules), confinement=BOX) != "allow"


def test_each_kind_has_at_least_five_spellings() -> None:
    assert all(len(commands) >= 5 for _, commands in ATTACKS.values())


def test_the_table_holds_the_same_ground_as_the_harmless_one(ground: Ground, tmp_path: Path) -> None:
    """The rules of the catalogue forbid nothing else."""
    for command in ("ls -la", "cat README.md", "git status", "touch sub/new", "cp README.md sub/", "python3 app.py", "rm -rf sub/none"):
        assert ground.verdict(command, policy("edit migrations/*: deny", "read secrets/*: deny")) == "allow"
