"""Out of the box: every attempt fails, under every kind of sandbox the machine has, for root and for anybody else."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.process import escapes
from tests.process.lasting import lasting_folder
from tests.process.places import ours_of
from tests.waiting import PATIENCE
from toolwright.errors import ToolError
from toolwright.process.box.box import Box, Wall
from toolwright.process.keeper.landlock import SCOPES_SINCE
from toolwright.process.running.scope import Scopes
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes tried here are those of Linux"),
    pytest.mark.skipif(not Path(escapes.PYTHON).exists(), reason=f"the attempts need {escapes.PYTHON}"),
]

ROOT = Path(__file__).parents[2]
NOBODY = {"bubblewrap": 65534, "landlock": 65533}
"""Ordinary users, one for each kind, for the system counts all processes of one together."""
RUNGS = ("bubblewrap", "landlock")
USERS = ("root", "nobody") if os.geteuid() == 0 else ("ourselves",)
CASES = [(rung, user) for rung in RUNGS for user in USERS]
NEVER_PRINTED = ("SECRET", "opened", "made", "seen", "read\n", "connected")


@pytest.mark.parametrize(("rung", "user"), CASES, ids=[f"{rung} as {user}" for rung, user in CASES])
def test_every_attempt_fails_and_what_is_harmless_works(rung: str, user: str) -> None:
    told = tell(rung, user)
    assert told["rung"] == rung
    assert told["lines"][0].lower().startswith(f"commands run in a sandbox by {rung}")
    assert {name: told[name]["printed"] for name in escapes.HARMLESS if told[name]["code"] != 0} == {}
    assert {name: problem for name in escapes.ATTEMPTS if (problem := escaped(told, name))} == {}
    assert special_cases(told) == []
    assert told["keepers"] <= len(("plain", "anchored")), "a keeper died and had to be replaced"


def _sources(folder: Path) -> Path:
    """A copy of what the attempts import, where any user can read it and no box hides it."""
    sources = folder / "sources"
    passed_over = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "toolwright", sources / "toolwright", ignore=passed_over)
    shutil.copytree(ROOT / "tests" / "process", sources / "tests" / "process", ignore=passed_over)
    (sources / "tests" / "__init__.py").touch()
    return sources


def tell(rung: str, user: str) -> dict[str, Any]:
    """All attempts, made in a process of their own."""
    owner = NOBODY[rung] if user == "nobody" else os.geteuid()
    with _scratch(owner) as folder:
        sources = _sources(Path(folder))
        command = [escapes.PYTHON, str(sources / "tests" / "process" / "escapes.py"), rung, folder]
        if user == "nobody":
            command = ["setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups", *command]
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, cwd="/", timeout=PATIENCE, check=False)
    if "does not work on this machine" in done.stderr:
        pytest.skip(f"{rung} does not work here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def escaped(told: dict[str, Any], name: str) -> str:
    """What an attempt has achieved; empty if it changed nothing, learnt nothing and left nothing."""
    attempt = told[name]
    if not attempt["ran"] or not attempt["empty"]:
        return "the sandbox failed" if not attempt["ran"] else "processes were left"
    if attempt["after"] != told["write the project"]["after"]:
        return f"something was changed: {attempt['after']}"
    learnt = [word for word in NEVER_PRINTED if word in attempt["printed"]]
    return f"{learnt} in {attempt['printed']}" if learnt else ""


def special_cases(told: dict[str, Any]) -> list[str]:
    """Attempts whose failure shows in another way."""
    printed = {name: attempt["printed"] for name, attempt in told.items() if isinstance(attempt, dict)}
    nested, *lines = printed["open a project inside"].splitlines()
    counts = [int(line) for line in printed["bomb"].splitlines() if line.isdecimal()]
    # Landlock shows all processes of the machine, those of another test among them.
    most = escapes.LIMIT if told["rung"] == "bubblewrap" else 2 * escapes.LIMIT + 50
    knows_signals = told["rung"] != "landlock" or told["landlock"] >= SCOPES_SINCE
    within = f"This is itself running in a toolwright sandbox ({told['rung']})."
    cases = {
        "a sandbox inside works as well as it can": nested in RUNGS,
        "a sandbox inside knows where it is": within in lines,
        "tracing is refused": printed["trace a process outside"] == "-1\n",
        "signals do not get out": "reached" not in printed["signal a process outside"] or not knows_signals,
        "a bomb stays small": len(counts) == 1 and counts[0] <= most,
        "with the network a server is reached": "connected" in printed["reach a server, online"],
        "without it none is": "connected" not in printed["reach a server"],
        "with the network a packet arrives": told["send a packet, online"]["received"],
        "without it none does": not told["send a packet"]["received"],
        "a filter cannot be gone round": told["rung"] != "landlock" or printed["go round the filter"] == "-1\n",
    }
    return [case for case, holds in cases.items() if not holds]


async def test_landlock_without_namespaces_still_keeps_commands_from_writing_outside() -> None:
    with _scratch(os.geteuid()) as name:
        places = escapes.make_places(Path(name))
        scopes = Scopes()
        box = Box(rung="landlock", walls=(Wall(places["project"], "write"),), temp=places["data"], mounts=False)
        sandbox = Sandbox(
            SandboxSettings(),
            directory=places["project"],
            root=places["project"],
            ours=ours_of(places["home"], places["data"]),
            scopes=scopes,
        )
        before = escapes.state_of(places)
        env = {"PATH": os.environ["PATH"], "OUT": str(places["outside"])}
        command = 'echo x > in && cat in; echo x > "$OUT/new"; rm "$OUT/kept"; mv "$OUT/kept" .; ln "$OUT/kept" k'
        try:
            told = await escapes.attempt(scopes, sandbox, box, command, env)
            after = escapes.state_of(places)
        except ToolError as error:
            pytest.skip(str(error))
        finally:
            await scopes.close()
            places["temp"].unlink()
        assert told["printed"].startswith("x\n")
        assert after == before


@pytest.mark.parametrize("rung", RUNGS)
async def test_where_not_everything_is_readable_the_rest_is_out_of_sight(
    rung: Literal["bubblewrap", "landlock"],
) -> None:
    with _scratch(os.geteuid()) as name:
        places = escapes.make_places(Path(name))
        scopes = Scopes()
        project, outside = places["project"], places["outside"]
        (places["home"] / "shown").mkdir()
        (places["home"] / "shown" / "file").write_text("shown")
        sandbox = Sandbox(
            SandboxSettings(mode=rung, readable=("~/shown",)),
            directory=project,
            root=project,
            ours=ours_of(places["home"], places["data"]),
            scopes=scopes,
        )
        command = f"cat {outside}/kept; cat {places['home']}/shown/file seed; ls /usr > /dev/null && echo system"
        try:
            told = await escapes.attempt(scopes, sandbox, await sandbox.box(), command, {"PATH": os.environ["PATH"]})
        except ToolError as error:
            pytest.skip(str(error))
        finally:
            await scopes.close()
            sandbox.close()
            places["temp"].unlink()
        complaint, *rest = told["printed"].splitlines()
        assert complaint.startswith(f"cat: {outside}/kept: ")
        assert rest == ["shownkeptsystem"]


class _scratch:  # noqa: N801 - used like a function
    """A folder outside the temporary ones, which the sandbox replaces."""

    def __init__(self, owner: int) -> None:
        self._owner = owner

    def __enter__(self) -> str:
        self._folder = tempfile.mkdtemp(prefix="toolwright-escapes-", dir=lasting_folder())
        os.chown(self._folder, self._owner, -1)
        return self._folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
