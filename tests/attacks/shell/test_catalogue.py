"""Every attack of the catalogue is denied or asked about; what is plain beside it is not."""

from collections import Counter

import pytest

from tests.attacks.shell.catalogue import ATTACKS, ZSH, Attack
from tests.attacks.shell.ground import BOX, HAS_GIT, Ground, make_ground, policy

ABOUT_COMMANDS = ("14", "15", "16", "17", "18")
SPELLINGS = 5


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return make_ground(tmp_path_factory.mktemp("attacked"))


def named(attack: Attack) -> str:
    return f"{attack.kind[:20]}: {attack.command[:60]}"


@pytest.mark.parametrize("attack", ATTACKS, ids=named)
def test_no_attack_runs_in_silence(attack: Attack, ground: Ground) -> None:
    if "git" in attack.command and not HAS_GIT:
        pytest.skip("git is not installed, so nothing is tracked")
    shell = "/bin/zsh" if attack.kind == ZSH else "bash"
    assert ground.verdict(attack.command, policy(*attack.rules), shell=shell) != "allow"


@pytest.mark.parametrize("attack", [one for one in ATTACKS if one.kind.startswith(ABOUT_COMMANDS)], ids=named)
def test_a_box_does_not_make_up_for_a_rule_about_commands(attack: Attack, ground: Ground) -> None:
    assert ground.verdict(attack.command, policy(*attack.rules), confinement=BOX) != "allow"


def test_each_kind_has_at_least_five_spellings() -> None:
    assert all(count >= SPELLINGS for count in Counter(attack.kind for attack in ATTACKS).values())


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat README.md",
        "git status",
        "touch sub/new",
        "cp README.md sub/",
        "python3 app.py",
        "rm -rf sub/none",
    ],
)
def test_the_rules_of_the_catalogue_leave_alone_what_they_do_not_name(command: str, ground: Ground) -> None:
    assert ground.verdict(command, policy("edit migrations/*: deny", "read secrets/*: deny")) == "allow"
