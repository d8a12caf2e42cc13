"""No command reaches what is on the list of ours, in any kind of box, whoever runs it and wherever all of it lies."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.sandbox.own_ground import SECRET

PYTHON = "/usr/bin/python3"
ROOT = Path(__file__).parents[3]
NOBODY = 65528
USERS = ("root", "nobody") if os.geteuid() == 0 else ("ourselves",)
RUNGS = ("bubblewrap", "landlock")
KINDS = (
    "beside",
    "the home as project",
    "the home as project, by links",
    "nothing is there yet",
    "by variables in the project",
    "installed in the project",
    "editable in the project",
)
CASES = [(kind, rung, user) for kind in KINDS for rung in RUNGS for user in USERS]
COPIES = [("in a copy of a project", "bubblewrap", USERS[0]), ("in a copy of a project", "landlock", USERS[-1])]
ALONE = [("beside", "landlock alone", user) for user in USERS]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes tried here are those of Linux"),
    pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"the attempts need {PYTHON}"),
    pytest.mark.xdist_group("attacks on what is ours"),
]


@pytest.mark.parametrize(("kind", "rung", "user"), [*CASES, *COPIES, *ALONE], ids=lambda one: re.sub(r"\W+", "-", one))
def test_no_command_reads_or_writes_what_is_ours_whatever_was_allowed(
    kind: str, rung: str, user: str, outside: Path
) -> None:
    told = _told(kind, rung, user, outside)
    printed = [one["printed"] for one in told.values()]
    assert [text for text in printed if "TRIED" not in text] == []
    assert [text for text in printed if SECRET in text] == []
    assert {name: one["different"] for name, one in told.items() if one["different"]} == {}


def test_without_a_box_the_same_program_reaches_all_of_it(outside: Path) -> None:
    """Otherwise the tests above would prove nothing."""
    told = _told("beside", "off", USERS[-1], outside)["with nothing allowed"]
    assert SECRET in told["printed"]
    assert {Path(path).name for path in told["different"]} >= {"keys.json", "toolwright", "opencode", ".ray"}


def _told(kind: str, rung: str, user: str, base: Path) -> dict[str, Any]:
    """All attempts, made in a process of their own."""
    owner = NOBODY if user == "nobody" else os.geteuid()
    tests = base / "tests-of-it"
    for name in ("process", "attacks"):
        shutil.copytree(ROOT / "tests" / name, tests / "tests" / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tests / "tests" / "__init__.py").touch()
    python, sources = _installed(kind, base)
    for path in (base, *base.rglob("*")):
        os.chown(path, owner, -1, follow_symlinks=False)
    base.chmod(0o755)
    command = [python, "-m", "tests.attacks.sandbox.own_ground", kind, rung, str(base)]
    if user == "nobody":
        command = ["setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups", *command]
    env = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": ":".join([str(tests), *sources]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=base, check=False)
    if "does not work on this machine" in done.stderr:
        pytest.skip(f"{rung} does not work here")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _installed(kind: str, base: Path) -> tuple[str, list[str]]:
    """Install toolwright as the kind wants it: the interpreter to start, and what more it imports from."""
    passed_over = shutil.ignore_patterns("__pycache__")
    package = ROOT / "src" / "toolwright"
    if "in the project" not in kind or "variables" in kind:
        shutil.copytree(package, base / "sources" / "toolwright", ignore=passed_over)
        return PYTHON, [str(base / "sources")]
    environment = base / "project" / ".venv"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(environment)], check=True)
    packages = next((environment / "lib").glob("python*/site-packages"))
    if kind == "installed in the project":
        shutil.copytree(package, packages / "toolwright", ignore=passed_over)
    else:
        shutil.copytree(package, base / "project" / "src" / "toolwright", ignore=passed_over)
        (packages / "toolwright.pth").write_text(f"{base / 'project' / 'src'}\n")
    (environment / "bin" / "tw").write_text("#!/bin/sh\n")
    return str(environment / "bin" / "python"), []
