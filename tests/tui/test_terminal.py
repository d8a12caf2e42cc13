"""Whole sessions of the full screen in a terminal emulator."""

import fcntl
import json
import os
import re
import select
import signal
import struct
import termios
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")
pyte = pytest.importorskip("pyte", reason="a terminal emulator is needed: pip install pyte")

from tests.cli.person import Terminal, at_terminal  # noqa: E402
from tests.tui.stage import call  # noqa: E402
from tests.waiting import PATIENCE, patience_left  # noqa: E402
from toolwright.models.scripted import ScriptedTurn  # noqa: E402

SIZES = ((60, 16), (100, 30), (300, 80))
HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x1b]0;evil\x07\x1b[2J\x9b31m"
CLEAN = call("bash", command="echo made; rm -rf ../elsewhere", description="Clean")
COLOURS = [{"label": one, "description": ""} for one in ("red", "blue")]
CHOICE = call(
    "question",
    questions=[{"question": f"Which {one}?", "header": one, "options": COLOURS} for one in ("first", "second")],
)
LEFT = "\x1b[?1049l"
"""The terminal is told to show what it showed before."""


class Emulator:
    """What a person sees."""

    def __init__(self, terminal: Terminal, size: tuple[int, int]) -> None:
        self.terminal = terminal
        self.screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self.screen)
        self.sent = b""
        """All that was written to the terminal."""

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.screen.display).split())

    def expect(self, text: str) -> None:
        while text not in self.words:
            assert select.select([self.terminal.screen], [], [], PATIENCE)[0], f"{text!r} never came:\n{self.words}"
            self._read()
            # To look at the screen takes longer than to draw on it.
            with suppress(OSError):
                while select.select([self.terminal.screen], [], [], 0)[0]:
                    self._read()

    def insist(self, keys: str, text: str) -> None:
        """Press keys until something comes of it: a question takes no answer in its first moment.

        What is to come may be broken into two lines where it is long.
        """
        left = patience_left()
        while text.replace(" ", "") not in self.words.replace(" ", ""):
            assert left(), f"{text!r} never came:\n{self.words}"
            self._press_and_look(keys)

    def clear_and_leave(self) -> None:
        """Until it ends, for answers that were pressed once too often may still be on their way to the prompt."""
        left = patience_left()
        with suppress(OSError):
            while True:
                assert left(), f"it does not end:\n{self.words}"
                self._press_and_look("\x15\x04")

    def _press_and_look(self, keys: str) -> None:
        self.press(keys)
        while select.select([self.terminal.screen], [], [], 0.3)[0]:
            self._read()

    def press(self, keys: str) -> None:
        os.write(self.terminal.screen, keys.encode())

    def paste(self, text: str) -> None:
        """More than a terminal holds: what is shown is read meanwhile."""

        def write() -> None:
            data = f"\x1b[200~{text}\x1b[201~".encode()
            while data:
                data = data[os.write(self.terminal.screen, data[:1024]) :]

        threading.Thread(target=write, daemon=True).start()

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.terminal.screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.terminal.send(signal.SIGWINCH)

    def ends_with(self, code: int) -> None:
        with suppress(OSError):
            while select.select([self.terminal.screen], [], [], PATIENCE)[0]:
                self._read()
        assert self.terminal.process.wait(PATIENCE) == code, self.words

    def _read(self) -> None:
        piece = os.read(self.terminal.screen, 65536)
        if not piece:
            raise OSError
        self.sent += piece
        # An answer to what textual asks about the terminal is no part of what is seen.
        self._stream.feed(re.sub(rb"\x1b\[[<>=?][0-9;$]*[a-zA-Z]|\x1bP[^\x1b]*\x1b\\", b"", piece))


@contextmanager
def talking(
    project: Path,
    *turns: ScriptedTurn,
    size: tuple[int, int] = (100, 30),
    go_on: bool = False,
    options: Sequence[str] = (),
) -> Iterator[Emulator]:
    script = project.parent / "turns.json"
    script.write_text(json.dumps(turns), "utf-8")
    settings = project.parent / "home" / ".config" / "toolwright" / "toolwright.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"permission": {"bash": {"rm *": "ask"}}}), "utf-8")
    arguments = (*options, "--model", f"scripted/{script}", *(("--continue",) if go_on else ()))
    columns, rows = size
    with at_terminal(
        project, *arguments, variables={"TERM": "xterm-256color", "COLUMNS": "", "LINES": ""}, full_screen=True
    ) as terminal:
        fcntl.ioctl(terminal.screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        emulator = Emulator(terminal, size)
        emulator.expect("build ·")
        yield emulator


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_a_whole_session_in_a_terminal(project: Path, size: tuple[int, int]) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    turns: tuple[ScriptedTurn, ...] = (
        {"text": f"I will fix **it** 漢字 e\u0301. {HOSTILE}", **call("read", filePath="calc.py")},
        call("edit", filePath="calc.py", oldString="a - b", newString="a + b"),
        CLEAN,
        {"text": "All done."},
    )
    with talking(project, *turns, size=size) as seen:
        seen.press("fix add\r")
        seen.expect("? why")
        seen.insist("?", "why it is asked")
        seen.insist("\x1b[B", "json:1")
        seen.press("y")
        seen.expect("All done.")
        seen.expect("4 steps")
        seen.resize(80, 24)
        seen.expect("All done.")
        seen.press("/quit\r")
        seen.ends_with(0)
        assert "a + b" in (project / "calc.py").read_text()
        for harm in (b"\x1b]52;", b"\x1b]0;evil", b"\x1b[2J\x9b", b"\xc2\x9b"):
            assert harm not in seen.sent, "nothing of a model reaches the terminal but letters"
        assert LEFT.encode() in seen.sent, "the terminal is as before"


@pytest.mark.slow
def test_inline_prints_what_is_complete_once_into_the_scrollback(project: Path) -> None:
    words = "\n\n".join(f"Paragraph {number}." for number in range(60))
    with talking(project, {"text": words, "chunk": 20}, CLEAN, {"text": "All done."}, options=("--inline",)) as seen:
        seen.press("write\r")
        seen.expect("Paragraph 59.")
        seen.expect("1 step")
        seen.press("clean\r")
        seen.expect("? why")
        seen.insist("y", "All done.")
        seen.expect("2 steps")
        seen.clear_and_leave()
        seen.ends_with(0)
        assert "goes on with it" in seen.words
        assert "All done." in seen.words, "what was printed stays"
    assert LEFT.encode() not in seen.sent, "it is not the other screen of the terminal"
    above = [line.strip() for line in seen.sent.decode().split("\n")]
    assert [above.count(f"Paragraph {number}.") for number in range(60)] == [1] * 60


@pytest.mark.slow
def test_five_thousand_lines_are_pasted(project: Path) -> None:
    with talking(project, {"text": "Read it."}) as seen:
        lines = "".join(f"line {number} 漢字\n" for number in range(5_000))
        seen.paste(lines)
        seen.expect("[pasted 5,000 lines #1]")
        seen.press("\r")
        seen.expect("Read it.")
        seen.press("\x04")
        seen.ends_with(0)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["at the prompt", "at a question", "at a choice", "in a command"])
def test_a_signal_to_end_leaves_the_terminal_as_it_was_and_the_session_to_go_on_with(project: Path, where: str) -> None:
    running = call("bash", command="touch begun; sleep 100", description="Sleep")
    turn, shown = {"at a question": (CLEAN, "? why"), "at a choice": (CHOICE, "2. blue")}.get(
        where, (running, "running bash")
    )
    with talking(project, turn, {"text": "Done."}) as seen:
        if where != "at the prompt":
            seen.press("go\r")
            seen.expect(shown)
        seen.terminal.send(signal.SIGTERM)
        seen.ends_with(4)
        assert LEFT.encode() in seen.sent
    if where != "at the prompt":
        with talking(project, {"text": "Here again."}, go_on=True) as seen:
            seen.expect("▌ go")
            seen.press("more\r")
            seen.expect("Here again.")


@pytest.mark.slow
def test_ctrl_c_stops_a_command_and_twice_at_the_prompt_leaves(project: Path) -> None:
    running = call("bash", command="sleep 100", description="Sleep")
    with talking(project, running, {"text": "Next."}) as seen:
        seen.press("go\r")
        seen.expect("running bash")
        seen.press("\x03")
        seen.expect("Stopped.")
        seen.press("again\r")
        seen.expect("Next. 1 step")
        seen.press("\x03")
        seen.expect("Ctrl-C again")
        # Twice, in case so much time has passed that the first does not count any more.
        seen.press("\x03\x03")
        seen.ends_with(0)


@pytest.mark.slow
@pytest.mark.parametrize("keys", ["", "n", "o"])
def test_ctrl_c_at_a_question_stops_the_turn_also_while_words_are_typed(project: Path, keys: str) -> None:
    asked, field = (CLEAN, "what to do instead") if keys == "n" else (CHOICE, "your own words; Enter")
    with talking(project, asked, {"text": "Next."}) as seen:
        seen.press("go\r")
        seen.expect("? why" if keys == "n" else "2. blue")
        if keys:
            seen.insist(keys, field)
            seen.press("half")
            seen.expect("half")
        seen.press("\x03")
        seen.expect("Stopped.")
        assert "Which second?" not in seen.words
        seen.press("again\r")
        seen.expect("Next.")
        seen.press("\x04")
        seen.ends_with(0)


@pytest.mark.slow
def test_a_session_goes_on_after_a_kill(project: Path) -> None:
    with talking(project, {"text": "First."}, {"text": "x"}) as seen:
        seen.press("one\r")
        seen.expect("First.")
        seen.expect("1 step")
        seen.terminal.send(signal.SIGKILL)
    with talking(project, {"text": "Second."}, go_on=True) as seen:
        seen.expect("First.")
        seen.press("two\r")
        seen.expect("Second.")


@pytest.mark.slow
def test_the_editor_writes_the_prompt(project: Path, outside: Path) -> None:
    editor = outside / "editor.sh"
    editor.write_text('#!/bin/sh\necho "from the editor" > "$1"\n')
    editor.chmod(0o755)
    script = project.parent / "turns.json"
    script.write_text(json.dumps([{"text": "Got it."}]), "utf-8")
    variables = {"TERM": "xterm-256color", "EDITOR": str(editor), "COLUMNS": "", "LINES": ""}
    with at_terminal(project, "--model", f"scripted/{script}", variables=variables, full_screen=True) as terminal:
        fcntl.ioctl(terminal.screen, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        seen = Emulator(terminal, (100, 30))
        seen.expect("build ·")
        seen.press("/editor\r")
        seen.expect("from the editor")
        seen.press("\r")
        seen.expect("Got it.")


@pytest.mark.slow
def test_no_color_draws_without_colours(project: Path) -> None:
    script = project.parent / "turns.json"
    script.write_text(json.dumps([{"text": "Plain `code`."}]), "utf-8")
    variables = {"TERM": "xterm-256color", "NO_COLOR": "1", "COLUMNS": "", "LINES": ""}
    with at_terminal(project, "--model", f"scripted/{script}", variables=variables, full_screen=True) as terminal:
        fcntl.ioctl(terminal.screen, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        seen = Emulator(terminal, (100, 30))
        seen.expect("build ·")
        seen.press("go\r")
        seen.expect("Plain code.")
        for found in re.finditer(rb"\x1b\[(?:38|48);2;(\d+);(\d+);(\d+)m", seen.sent):
            assert found[1] == found[2] == found[3], "only shades of grey"


@pytest.mark.slow
def test_the_demo_is_played_inside_and_left_again(project: Path) -> None:
    with talking(project, {"text": "Hello."}) as emulator:
        emulator.press("/demo\r")
        emulator.expect("wants to run a command")
        emulator.insist("y", "Nothing else was changed.")
        emulator.clear_and_leave()
        emulator.ends_with(0)
        assert b"that was the demo" in emulator.sent


@pytest.mark.slow
def test_ctrl_z_gives_the_terminal_back_until_it_is_continued(project: Path) -> None:
    with talking(project, {"text": "Hello."}) as emulator:
        emulator.expect("build ·")
        emulator.press("\x1a")
        process = emulator.terminal.process.pid
        left = patience_left()
        while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            assert left(), "it is not suspended"
        emulator.terminal.send(signal.SIGCONT)
        emulator.insist("hi\r", "Hello.")
        emulator.clear_and_leave()
        emulator.ends_with(0)
