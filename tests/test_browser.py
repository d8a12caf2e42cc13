"""The user's browser: which is opened, what it gets of the terminal, and that no argument holds the address."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE, wait_until
from toolwright.process.programs import browser
from toolwright.process.programs.browser import LASTS, leave_page, open_browser
from toolwright.process.programs.lookup import Lookup

ADDRESS = "https://a.example/login?state=secret&x=<\"'>"
OPEN = """
import os
import sys
from pathlib import Path
from toolwright.process.programs.browser import open_browser
from toolwright.process.programs.lookup import Lookup

programs, state = Lookup(os.environ["PATH"]), Path(os.environ["STATE"])
opened = open_browser("http://127.0.0.1/?secret", programs, state, has_terminal="terminal" in sys.argv)
print("none" if opened is None else "the terminal" if opened.fills_terminal else "a window", flush=True)
if opened is not None:
    opened.wait()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of programs that nobody else may write, as lookups want it."""
    made = tmp_path / "programs"
    made.mkdir(mode=0o755)
    return made


def test_without_a_screen_no_window_is_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(folder, "firefox")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    started = open_browser(ADDRESS, Lookup(str(folder)), folder.parent / "state")
    assert (started is None) == (sys.platform == "linux")


def opened(folder: Path, *words: str, **variables: str) -> str:
    """Return what is opened, and all that is written."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", OPEN, *words],
        cwd=folder,
        env={
            "PATH": str(folder),
            "STATE": str(folder.parent / "state"),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            **variables,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return done.stdout + done.stderr


def program(folder: Path, name: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\necho noise; echo noise >&2; echo $1 > {folder.parent / 'visited'}\n")
    file.chmod(0o755)
    return file


def test_nothing_is_opened_where_there_is_no_browser(folder: Path) -> None:
    assert opened(folder) == "none\n"
    assert not (folder.parent / "state").exists()


def test_a_browser_with_a_window_writes_nothing_on_our_terminal_and_is_told_no_address(folder: Path) -> None:
    made = program(folder, "browser")
    assert opened(folder, BROWSER=f"{made} %s") == "a window\n"
    visited = (folder.parent / "visited").read_text().strip()
    [page] = (folder.parent / "state" / "open").iterdir()
    assert visited == page.as_uri()
    assert "http://127.0.0.1/?secret" in page.read_text()


@pytest.mark.parametrize(
    ("words", "variables", "expected"),
    [
        (["terminal"], {"BROWSER": "w3m %s"}, "the terminal\nnoise\nnoise\n"),
        ([], {"BROWSER": "w3m %s"}, "none\n"),
        (["terminal"], {"TERM": "xterm"}, "none\n"),
    ],
    ids=["named, with a terminal", "named, without one", "not named"],
)
def test_a_browser_that_fills_the_terminal_is_used_where_it_is_named(
    folder: Path, words: list[str], variables: dict[str, str], expected: str
) -> None:
    program(folder, "w3m")
    # Which of the two writes first is not said.
    assert sorted(opened(folder, *words, **variables).splitlines()) == sorted(expected.splitlines())


def test_the_file_holds_the_address_and_goes_when_nobody_waits_for_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(folder, "firefox")
    monkeypatch.setenv("DISPLAY", ":7")
    started = open_browser(ADDRESS, Lookup(str(folder)), folder.parent / "state")
    assert started is not None
    [page] = (folder.parent / "state" / "open").iterdir()
    assert "https://a.example/login?state=secret&amp;x=&lt;&quot;&#x27;&gt;" in page.read_text()
    started.forget()
    assert not page.exists()


def test_the_file_is_for_its_owner_alone_also_where_the_folder_was_not(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    page = leave_page(ADDRESS, tmp_path)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700


def test_the_file_goes_by_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(folder, "firefox")
    monkeypatch.setattr(browser, "LASTS", 0.01)
    monkeypatch.setenv("DISPLAY", ":7")
    open_browser(ADDRESS, Lookup(str(folder)), folder.parent)
    wait_until(lambda: list((folder.parent / "open").iterdir()) == [])


def test_what_a_killed_program_has_left_goes_with_the_next(tmp_path: Path) -> None:
    left, fresh = leave_page(ADDRESS, tmp_path), leave_page(ADDRESS, tmp_path)
    os.utime(left, (left.stat().st_mtime - 2 * LASTS,) * 2)
    leave_page(ADDRESS, tmp_path)
    assert not left.exists()
    assert fresh.exists()
