"""Every attack of the catalogue comes to nothing, in every kind of box there is, for root and for anybody else."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.sandbox.catalogue import ATTACKS, HARMLESS
from tests.process.lasting import lasting_folder

PYTHON = "/usr/bin/python3"
ROOT = Path(__file__).parents[3]
NOBODY = {"bubblewrap": 65531, "landlock": 65530}
USERS = ("root", "nobody") if os.geteuid() == 0 else ("ourselves",)
CASES = [(rung, user) for rung in ("bubblewrap", "landlock") for user in USERS]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes tried here are those of Linux"),
    pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"the attempts need {PYTHON}"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
    pytest.mark.xdist_group("attacks on the sandbox"),
]


@pytest.fixture(params=CASES, ids=[f"{rung} as {user}" for rung, user in CASES], scope="module")
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    return _told(*request.param)


@cache
def _told(rung: str, user: str) -> dict[str, Any]:
    """All attempts, made in a process of their own."""
    owner = NOBODY[rung] if user == "nobody" else os.geteuid()
    folder = Path(tempfile.mkdtemp(prefix="toolwright-attacks-", dir=lasting_folder()))
    try:
        sources = _sources(folder)
        (folder / "ground").mkdir()
        os.chown(folder / "ground", owner, -1)
        folder.chmod(0o755)
        command = [PYTHON, "-m", "tests.attacks.sandbox.ground", rung, str(folder / "ground")]
        if user == "nobody":
            command = ["setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups", *command]
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, cwd="/", check=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if "does not work on this machine" in done.stdout[:2000] + done.stderr:
        pytest.skip(f"{rung} does not work here")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _sources(folder: Path) -> Path:
    """A copy of what the attempts import, where any user can read it and no box hides it."""
    sources = folder / "sources"
    passed_over = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "toolwright", sources / "toolwright", ignore=passed_over)
    for name in ("process", "attacks"):
        shutil.copytree(ROOT / "tests" / name, sources / "tests" / name, ignore=passed_over)
    (sources / "tests" / "__init__.py").touch()
    return sources


@pytest.mark.parametrize("kind", ATTACKS)
def test_no_attack_changes_or_learns_anything(kind: str, told: dict[str, Any]) -> None:
    come_to = {name: _achieved(told[name], one.changes, one.prints) for name, one in ATTACKS[kind].items()}
    assert {name: outcome for name, outcome in come_to.items() if outcome} == {}


def test_no_shared_memory_is_left(told: dict[str, Any]) -> None:
    assert not told["segments"]["left"]


def test_what_is_harmless_works_as_without_a_box(told: dict[str, Any]) -> None:
    broken = {
        name: told[name]
        for name, (_, printed) in HARMLESS.items()
        if told[name]["error"] or printed not in told[name]["printed"] or told[name]["code"] != 0
    }
    assert broken == {}
    empty = [name for name, (_, printed) in HARMLESS.items() if not printed]
    assert {name: told[name]["printed"] for name in empty if told[name]["printed"] != "(no output)"} == {}


def _achieved(outcome: dict[str, Any], changes: tuple[str, ...], prints: str) -> str:
    """What an attempt has come to; empty if it changed nothing but what was granted, and learnt nothing."""
    granted = [
        name.replace("data/", "home/.local/share/toolwright/", 1) if name.startswith("data/") else name
        for name in changes
    ]
    if outcome["error"] or prints not in outcome["printed"]:
        return f"it was not tried: {outcome['printed']}"
    if outcome["different"] != sorted(granted):
        return f"changed {outcome['different']}: {outcome['printed']}"
    return f"printed {outcome['printed']}" if "SECRET" in outcome["printed"] else ""
