"""Out of the box: every attempt fails, under every kind of sandbox the machine has, for root and for anybody else."""

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

from tests.process import escapes
from toolwright.errors import ToolError
from toolwright.process.box import Box
from toolwright.process.keeper.landlock import SCOPES_SINCE
from toolwright.process.sandbox import Sandbox, SandboxSettings
from toolwright.process.scope import Scopes

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


@pytest.fixture(scope="module", params=CASES, ids=[f"{rung} as {user}" for rung, user in CASES])
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    rung, user = request.param
    return tell(rung, user)


@cache
def tell(rung: str, user: str) -> dict[str, Any]:
    """All attempts, made once in a process of their own."""
    owner = NOBODY[rung] if user == "nobody" else os.geteuid()
    with _scratch(owner) as folder:
        command = [escapes.PYTHON, str(Path(escapes.__file__)), rung, folder]
        if user == "nobody":
            command = ["setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups", *command]
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, cwd="/", timeout=120, check=False)
    if "does not work on this machine" in done.stderr:
        pytest.skip(f"{rung} does not work here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("name", escapes.HARMLESS)
def test_what_is_harmless_just_works(told: dict[str, Any], name: str) -> None:
    assert told[name]["code"] == 0, told[name]["printed"]


@pytest.mark.parametrize("name", escapes.ATTEMPTS)
def test_an_attempt_changes_nothing_and_learns_nothing(told: dict[str, Any], name: str) -> None:
    attempt = told[name]
    assert attempt["ran"]
    assert attempt["empty"], "processes were left"
    assert attempt["after"] == told["write the project"]["after"]
    assert not [word for word in NEVER_PRINTED if word in attempt["printed"]]


def test_the_rung_is_named(told: dict[str, Any]) -> None:
    assert told["rung"] in RUNGS
    assert told["lines"][0].lower().startswith(f"commands run in a sandbox by {told['rung']}")


def test_tracing_is_refused(told: dict[str, Any]) -> None:
    assert told["trace a process outside"]["printed"] == "-1\n"


def test_signals_do_not_get_out(told: dict[str, Any]) -> None:
    if told["rung"] == "landlock" and told["landlock"] < SCOPES_SINCE:
        pytest.skip("this kernel's Landlock does not know of signals")
    assert "reached" not in told["signal a process outside"]["printed"]


def test_a_bomb_stays_small(told: dict[str, Any]) -> None:
    [count] = [int(line) for line in told["bomb"]["printed"].splitlines() if line.isdecimal()]
    assert count < 1000


def test_the_network_is_there_or_not_as_told(told: dict[str, Any]) -> None:
    assert "connected" in told["reach a server, online"]["printed"]
    assert "connected" not in told["reach a server"]["printed"]
    assert told["send a packet, online"]["received"]
    assert not told["send a packet"]["received"]


def test_a_filter_on_calls_cannot_be_gone_round(told: dict[str, Any]) -> None:
    if told["rung"] != "landlock":
        pytest.skip("bubblewrap takes the network itself away")
    assert told["go round the filter"]["printed"] == "-1\n"


async def test_landlock_without_namespaces_still_keeps_commands_from_writing_outside() -> None:
    with _scratch(os.geteuid()) as name:
        places = escapes.make_places(Path(name))
        scopes = Scopes()
        box = Box(rung="landlock", writable=(places["project"],), temp=places["data"], mounts=False)
        sandbox = Sandbox(
            SandboxSettings(), directory=places["project"], root=places["project"], data=places["data"], scopes=scopes
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


class _scratch:  # noqa: N801 - used like a function
    """A folder outside the temporary ones, which the sandbox replaces."""

    def __init__(self, owner: int) -> None:
        self._owner = owner

    def __enter__(self) -> str:
        base = next(place for place in ("/var/lib", str(Path.home()), str(ROOT)) if os.access(place, os.W_OK))
        self._folder = tempfile.mkdtemp(prefix="toolwright-escapes-", dir=base)
        os.chown(self._folder, self._owner, -1)
        return self._folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
