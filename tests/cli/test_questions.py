"""Permission questions at a terminal: what is shown, and what each answer does."""

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

WRITE = json.dumps({"filePath": "n.txt", "content": "new line\n"})


class Terminal:
    """A process with a person at it."""

    def __init__(self, process: "subprocess.Popen[bytes]", screen: int) -> None:
        self.process = process
        self.screen = screen
        self.seen = ""

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + 20
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            self.seen += os.read(self.screen, 4096).decode()

    def type(self, text: str) -> None:
        os.write(self.screen, f"{text}\n".encode())

    def exit_code(self) -> int:
        return self.process.wait(timeout=20)


@contextmanager
def at_terminal(project: Path, *arguments: str) -> Iterator[Terminal]:
    screen, other = pty.openpty()
    environment = {"HOME": str(project.parent / "home"), "PATH": os.environ["PATH"]}
    process = subprocess.Popen(
        [sys.executable, "-m", "toolwright", "tool", "call", *arguments],
        cwd=project,
        env=environment,
        stdin=other,
        stdout=subprocess.DEVNULL,
        stderr=other,
    )
    os.close(other)
    try:
        yield Terminal(process, screen)
    finally:
        process.kill()
        process.wait()
        os.close(screen)


@pytest.fixture
def asking(project: Path) -> Path:
    (project / "toolwright.json").write_text('{"permission": {"edit": "ask"}}')
    return project


def test_the_diff_and_the_rule_that_always_would_store_are_shown(asking: Path) -> None:
    with at_terminal(asking, "write", WRITE) as terminal:
        terminal.wait_for("edit: n.txt")
        terminal.wait_for("+new line")
        terminal.wait_for("a always in this project (stores: edit *)")
        terminal.type("y")
        assert terminal.exit_code() == 0
    assert (asking / "n.txt").read_text() == "new line\n"


@pytest.mark.parametrize("answer", ["n", "no and here is why", ""])
def test_a_no_leaves_everything_as_it_was(asking: Path, answer: str) -> None:
    with at_terminal(asking, "write", WRITE) as terminal:
        terminal.wait_for("Allow?")
        terminal.type(answer)
        assert terminal.exit_code() == 3
    assert not (asking / "n.txt").exists()


def test_advice_reaches_the_caller(asking: Path) -> None:
    with at_terminal(asking, "write", WRITE) as terminal:
        terminal.wait_for("Allow?")
        terminal.type("n use b.txt instead")
        terminal.wait_for("and says: use b.txt instead")
        assert terminal.exit_code() == 3


def test_always_is_kept_for_the_project_and_a_word_that_is_no_answer_asks_again(asking: Path) -> None:
    with at_terminal(asking, "write", WRITE) as terminal:
        terminal.wait_for("Allow?")
        terminal.type("perhaps")
        terminal.seen = ""
        terminal.wait_for("Allow?")
        terminal.type("a")
        assert terminal.exit_code() == 0
    stored = json.loads((asking.parent / "home/.local/share/toolwright/approvals.json").read_text())
    assert stored == {"projects": {str(asking.resolve()): [{"permission": "edit", "pattern": "*"}]}}
    with at_terminal(asking, "write", json.dumps({"filePath": "m.txt", "content": "x"})) as terminal:
        assert terminal.exit_code() == 0
    assert (asking / "m.txt").read_text() == "x"


def test_of_several_rules_only_the_chosen_one_is_stored(project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission": {"bash": "ask"}}')
    with at_terminal(project, "bash", '{"command": "ls && pwd"}') as terminal:
        terminal.wait_for("stores: 1. bash ls *, 2. bash pwd *; a 1 stores only the first")
        terminal.type("a 3")
        terminal.wait_for("a 3")
        terminal.type("a 2")
        assert terminal.exit_code() == 0
    stored = next((project.parent / "home").rglob("approvals.json")).read_text("utf-8")
    assert '"pwd *"' in stored
    assert '"ls *"' not in stored
