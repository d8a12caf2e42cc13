"""tw eval --fleet with what is missing or wrong: one sentence each."""

import json
import socket
import sys
from pathlib import Path

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
