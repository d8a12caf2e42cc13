"""tw run --bg, ps, logs, stop: runs that live in the user's own server, and outlive terminals and its end."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw
from tests.waiting import wait_until
from toolwright.app import own_server
from toolwright.app.runs import KEPT, BackgroundRun, Runs
from toolwright.app.server_secret import notes_folder
from toolwright.client import Client
from toolwright.errors import UsageError

NAP = {"name": "bash", "args": {"command": "touch begun; until [ -e go ]; do sleep 0.05; done", "description": "Wait"}}


@pytest.fixture
def ended(tw: Tw) -> Iterator[None]:
    """Whatever was started ends with the test."""
    yield
    with suppress(ProcessLookupError):
        os.killpg(os.getpgid(own_server.pid()), signal.SIGTERM)
    wait_until(lambda: not own_server.address())


def script(project: Path, name: str, *calls: Any) -> str:
    file = project / name
    file.write_text(json.dumps({"turns": [{"tools": list(calls)}], "default": {"text": "Well rested."}}))
    return f"scripted/{file}"


def state(tw: Tw) -> str:
    return str(tw("ps", "--json").json[-1]["state"])


@pytest.mark.slow
@pytest.mark.usefixtures("ended")
def test_a_run_goes_on_without_its_terminal_and_after_its_server_was_killed(tw: Tw, project: Path, home: Path) -> None:
    settings = home / ".config" / "toolwright"
    settings.mkdir(parents=True)
    (settings / "toolwright.json").write_text('{"sandbox": "off"}')
    begun = tw("run", "--bg", "--model", script(project, "first.json", NAP), "take a nap")
    session_id = begun.out.strip()
    assert begun.code == 0
    assert session_id.startswith("ses_")
    [run] = tw("ps", "--json").json
    assert (run["session"], run["state"], run["directory"], run["prompt"]) == (
        session_id,
        "working",
        str(project),
        "take a nap",
    )
    wait_until((project / "begun").exists)
    first, address = own_server.pid(), own_server.address()
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: own_server.pid() not in (0, first))
    assert own_server.address() == address  # so that those who are attached come back
    (project / "go").touch()
    wait_until(lambda: state(tw) == "done")
    shown = tw("logs", run["name"]).out
    assert "the program ended in the middle of it" in shown
    assert "Well rested." in shown
    (project / "go").unlink()
    again = tw("run", "--bg", "--model", script(project, "second.json", NAP), "and again")
    assert tw("stop", again.out.strip()).err == f"{Runs.of(_folders()).named('last').name} is stopped\n"
    wait_until(lambda: state(tw) == "stopped")
    assert (notes_folder(os.environ) / "own.json").stat().st_mode & 0o077 == 0


@pytest.mark.slow
@pytest.mark.usefixtures("ended")
def test_a_loop_in_a_run_is_listed_until_it_is_stopped(tw: Tw, project: Path, home: Path) -> None:
    settings = home / ".config" / "toolwright"
    settings.mkdir(parents=True)
    (settings / "toolwright.json").write_text('{"sandbox": "off"}')
    session_id = tw("run", "--bg", "--model", script(project, "none.json"), "look").out.strip()
    wait_until(lambda: state(tw) == "done")

    async def loop(method: str, body: Any = None) -> Any:
        async with Client(own_server.address(), directory=str(project)) as client:
            return await client.send(method, f"/tw/session/{session_id}/loops", body)

    asyncio.run(loop("POST", {"text": "look again", "seconds": 3600, "if_changed": "nothing.txt", "times": 2}))
    [run] = tw("ps", "--json").json
    line = "every 1h where nothing.txt has changed: look again (0 of 2 rounds)"
    assert (run["state"], line in run["loop"], line in tw("ps").out) == ("looping", True, True)
    assert asyncio.run(loop("DELETE")) == ["loop-1"]
    assert state(tw) == "done"


@pytest.mark.slow
@pytest.mark.usefixtures("ended")
def test_nothing_of_a_folder_that_calls_itself_as_we_do_is_run(tw: Tw, project: Path) -> None:
    (project / "toolwright").mkdir()
    (project / "toolwright" / "__init__.py").touch()
    (project / "toolwright" / "__main__.py").write_text(f"open({str(project / 'taken')!r}, 'w')")
    assert tw("run", "--bg", "--model", script(project, "none.json"), "look").code == 0
    wait_until(lambda: state(tw) == "done")
    assert not (project / "taken").exists()


def _folders() -> Any:
    from toolwright.machine.folders import Folders

    return Folders.of()


def test_without_any_there_is_nothing_to_list_and_no_server_is_started(tw: Tw) -> None:
    assert tw("ps").err == "nothing runs in the background; tw run --bg begins something\n"
    assert own_server.address() == ""
    assert "There is no run 'x'. tw run --bg begins one." in tw("stop", "x").err


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("--continue",), "--continue cannot be given with --bg."),
        (("--copy",), "--copy cannot be given with --bg."),
        (("--trust",), "--trust is for this once"),
    ],
)
def test_what_cannot_be_had_in_the_background_is_said(tw: Tw, given: tuple[str, ...], why: str) -> None:
    outcome = tw("run", "--bg", *given, "Go.")
    assert outcome.code == 2
    assert why in outcome.err
    assert own_server.address() == ""


def test_runs_are_kept_by_name_and_the_oldest_that_are_over_go(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs.json")
    runs.put(BackgroundRun(session="ses_first", name="quiet-heron", directory="/p", began=0))
    for number in range(1, KEPT + 10):
        runs.put(
            BackgroundRun(session=f"ses_{number}", name=f"one-{number}", directory="/p", began=number, state="done")
        )
    assert len(runs.all()) == KEPT
    assert [one.name for one in runs.unfinished()] == ["quiet-heron"]
    runs.end(runs.named("qu"), "failed", 5, "It broke.")
    assert (runs.named("ses_first").state, runs.named("quiet-heron").error) == ("failed", "It broke.")
    assert runs.named("last").name == f"one-{KEPT + 9}"
    with pytest.raises(UsageError, match="may be any of these runs"):
        runs.named("one-1")


def test_only_one_is_the_server_of_a_user_at_a_time(tw: Tw) -> None:
    with own_server.held("http://127.0.0.1:1") as first, own_server.held("http://127.0.0.1:2") as second:
        assert (first, second) == (True, False)
        assert own_server.address() == "http://127.0.0.1:1"
    assert own_server.address() == ""
