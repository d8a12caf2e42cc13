"""tw eval --fleet with what is missing or wrong: one sentence each."""

import json
import os
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Tw


@pytest.fixture
def tasks(tmp_path: Path) -> str:
    file = tmp_path / "tasks.jsonl"
    file.write_text(json.dumps({"id": "a", "prompt": "Fix it"}) + "\n")
    return str(file)


def test_without_ray_the_extra_is_named(tw: Tw, tasks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    old = tmp_path / "out/steps/a.0.jsonl"
    old.parent.mkdir(parents=True)
    old.touch()
    outcome = tw("eval", tasks, "--out", str(tmp_path / "out"), "--fleet")
    assert outcome.code == 2
    assert outcome.err == "tw: A fleet needs Ray, which is not installed: pip install 'toolwright[fleet]'.\n"
    assert not old.exists()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["{}", "ray://{}"])
def test_a_cluster_that_cannot_be_reached_is_named(tw: Tw, tasks: str, tmp_path: Path, form: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = form.format(f"127.0.0.1:{taken.getsockname()[1]}")
        outcome = tw("eval", tasks, "--out", str(tmp_path / "out"), "--fleet", "--address", address)
    assert outcome.code == 2
    assert outcome.err == f"tw: The cluster at {address} cannot be reached: Connection refused.\n"


def test_a_cluster_that_wants_a_token_is_told_in_one_line(
    tw: Tw, tasks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray has an error of its own for it; what else it has to say on the terminal stands in its log."""

    class AuthenticationError(Exception):
        pass

    def refuse(**_: object) -> None:
        os.write(2, b"attempt 1 of 20\n")
        raise AuthenticationError("The token\nis missing.")

    ray = SimpleNamespace(is_initialized=lambda: False, init=refuse, shutdown=lambda: None)
    monkeypatch.setitem(sys.modules, "ray", ray)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        outcome = tw("eval", tasks, "--out", str(tmp_path / "out"), "--fleet", "--address", address)
    assert outcome.code == 2
    assert outcome.err.startswith(f"tw: The cluster at {address} cannot be used: The token is missing. ")
    assert "RAY_AUTH_MODE=token" in outcome.err
    assert (tmp_path / "out/logs/ray.log").read_text() == "attempt 1 of 20\n"
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--address", "h:1"], "are for --fleet"),
        (["--fleet", "--per-node", "0"], "--per-node takes a number from 1 on"),
        (["--fleet", "--limit", "x"], "PROVIDER=REQUESTS/TOKENS"),
    ],
)
def test_wrong_options_are_said(tw: Tw, tasks: str, tmp_path: Path, options: list[str], told: str) -> None:
    outcome = tw("eval", tasks, "--out", str(tmp_path / "out"), *options)
    assert outcome.code == 2
    assert told in outcome.err
    assert outcome.err.count("\n") == 1
