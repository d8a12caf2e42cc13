"""Protection that asks all day is switched off: what is harmless and common must pass."""

import subprocess
from pathlib import Path

import pytest

from tests.attacks.shell.everyday import EVERYDAY
from tests.attacks.shell.ground import BOX, HAS_GIT, Ground, default_policy, make_ground
from toolwright.machine.folders import Folders
from toolwright.permission.defaults import protected_rules
from toolwright.permission.rules import Layer, Policy

LINES = 1100
MOST_ASKED = 34
OUTWARD = (
    "git push",
    "git push -u origin HEAD",
    "git push --force-with-lease",
    "git push origin --delete feature/x",
    "git push --tags",
    'BRANCH=$(git branch --show-current); git push -u origin "$BRANCH"',
    'gh pr create --title "x" --body "y"',
    "gh pr create --title x --body \"$(cat <<'EOF'\n## Summary\n- a `b`\nEOF\n)\"",
    "gh workflow run ci.yml",
    "make deploy ENV=staging",
    "DJANGO_SETTINGS_MODULE=proj.settings python3 manage.py migrate",
    "php artisan migrate",
    "alembic upgrade head",
    "npx knex migrate:latest",
    'psql "$DATABASE_URL" -f sub/schema.sql',
    "createdb -h localhost test",
    "docker compose down -v",
    "docker rm -f app",
)
"""What of an ordinary day reaches beyond this machine, or cannot be taken back: that is asked about."""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    found = make_ground(tmp_path_factory.mktemp("day"))
    # what must not be read, and shows up by its name or under git, is the matter of other tests
    if HAS_GIT:
        subprocess.run(["git", "rm", "-q", "--cached", "prod.env"], cwd=found.tree.directory, check=True)
    (found.tree.directory / "prod.env").unlink()
    return found


@pytest.fixture(scope="module")
def rules(ground: Ground) -> Policy:
    ours = protected_rules(Folders.of({"HOME": str(ground.home)}), Path("/nowhere"))
    protected = Layer("protected", ours, tightens_only=True)
    return Policy("build", (*default_policy(ground.home).layers, protected))


def test_hardly_anything_asks_in_a_box_and_nothing_is_denied(ground: Ground, rules: Policy) -> None:
    found = {command: ground.verdict(command, rules, confinement=BOX) for command in EVERYDAY}
    assert len(found) >= LINES
    assert [command for command, action in found.items() if action == "deny"] == []
    asked = [command for command, action in found.items() if action == "ask" and command not in OUTWARD]
    assert len(asked) <= MOST_ASKED, "\n".join(asked)
    assert {command for command in OUTWARD if found.get(command) != "ask"} == set()


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'print(1)'",
        "node -e 1",
        "perl -pe 's/a/b/' README.md",
        "echo 'print(1)' | python3",
        "MY_NAME=./x prog",
        "ls --new-option",
        "PATH=$PWD/node_modules/.bin:$PATH eslint .",
    ],
)
def test_what_a_box_contains_asks_without_one_and_where_commands_are_restricted(
    command: str, ground: Ground, rules: Policy
) -> None:
    restricted = default_policy(ground.home, "bash rm *: ask")
    assert ground.verdict(command, rules, confinement=BOX) == "allow"
    assert ground.verdict(command, rules) == "ask"
    assert ground.verdict(command, restricted, confinement=BOX) == "ask"


@pytest.mark.parametrize("command", ["cat .env", "cat < .env", "cp .env x", "mv .env x", "grep A .env", "source .env"])
def test_a_secret_is_not_shown_in_a_box_either(command: str, ground: Ground, rules: Policy) -> None:
    assert ground.verdict(command, rules, confinement=BOX) == "deny"
