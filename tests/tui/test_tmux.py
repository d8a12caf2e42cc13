"""The full screen in tmux, as people have it: its questions, its habits, few colours and none."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from tests.tui.stage import call
from tests.waiting import patience_left
from toolwright.models.scripted import ScriptedTurn

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux on this machine"),
]
LONG = "    return sum(price * count for price, count in zip(prices, counts, strict=True)) if prices else 0"
TURNS: tuple[ScriptedTurn, ...] = (
    {"text": "I look first.", **call("read", filePath="basket.py")},
    call("grep", pattern="def "),
    call("edit", filePath="basket.py", oldString="    return 0", newString=LONG),
    {"text": "Done, with `strict`.\n\n```python\nx = 1\n```\n"},
)

WORK: tuple[ScriptedTurn, ...] = (
    call("glob", pattern="*.py"),
    call("todowrite", todos=[{"content": "Fix the sum", "status": "completed", "priority": "low", "id": "1"}]),
    call("write", filePath="CHANGES.md", content="# Changes\n"),
    call("bash", command="until [ -e go ]; do sleep 0.1; done", description="Wait"),
    call("read", filePath="basket.py"),
    call("edit", filePath="basket.py", oldString="    return 0", newString=LONG),
    {"text": "Done, *with* [a link](https://example.org)."},
)
"""All that a turn shows, and a command that waits until the test lets it go."""
TW = shlex.join([sys.executable, "-m", "toolwright"])
LOOKS = 150
"""Looks at the screen between two presses of a key."""


class Tmux:
    """A server of its own with one pane."""

    def __init__(self, socket: Path) -> None:
        self._command = ("tmux", "-S", str(socket), "-f", "/dev/null")

    def run(self, *arguments: str) -> str:
        return subprocess.run([*self._command, *arguments], check=True, capture_output=True, text=True).stdout

    def press(self, *keys: str) -> None:
        self.run("send-keys", *keys)

    def type(self, text: str) -> None:
        self.run("send-keys", "-l", text)

    def screen(self, *, codes: bool = False) -> str:
        return self.run("capture-pane", "-p", *(("-e",) if codes else ()))

    def enter(self, line: str) -> None:
        self.type(line)
        self.press("Enter")

    def until(self, true: Callable[[str], object]) -> str:
        """Wait until the screen is as it is to be."""
        left = patience_left()
        while not true(shown := self.screen()):
            assert left(), f"it never came:\n{shown}"
        return shown

    def see(self, text: str, keys: str = "") -> str:
        """Wait until a text is there, pressing keys now and then: a question takes no answer in its first moment."""
        left = patience_left()
        looks = 0
        while text not in (shown := self.screen()):
            assert left(), f"{text!r} never came:\n{shown}"
            if keys and looks % LOOKS == 0:
                self.press(keys)
            looks += 1
        return shown


@contextmanager
def shell_in_tmux(project: Path, size: tuple[int, int], variables: str = "") -> Iterator[Tmux]:
    """An interactive shell in the folder of a project, with a home of its own."""
    tmux = Tmux(project.parent / "tmux")
    shell = f"cd '{project}' && HOME='{project.parent / 'home'}' {variables} PS1='sh> ' exec bash --norc -i"
    tmux.run("new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), shell)
    try:
        yield tmux
    finally:
        tmux.run("kill-server")


@contextmanager
def tw_in_tmux(
    project: Path,
    size: tuple[int, int],
    variables: str = "",
    term: str = "tmux-256color",
    turns: Sequence[ScriptedTurn] = TURNS,
) -> Iterator[Tmux]:
    """tw at work in a shell, answered by a script."""
    (project / "basket.py").write_text("def total(prices, counts):\n    return 0\n")
    script = project.parent / "turns.json"
    script.write_text(json.dumps(turns))
    settings = project.parent / "home/.config/toolwright/toolwright.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"permission": {"edit": {"*.py": "ask"}}, "model": f"scripted/{script}"}))
    with shell_in_tmux(project, size, f"TERM={term} {variables}") as tmux:
        tmux.enter(TW)
        tmux.see("build ·")
        yield tmux


@pytest.mark.parametrize(("size", "most"), [((60, 20), 10), ((80, 24), 12), ((120, 40), 16)])
def test_a_question_leaves_the_talk_in_sight_and_can_be_read_to_its_end(
    project: Path, size: tuple[int, int], most: int
) -> None:
    with tw_in_tmux(project, size) as tmux:
        tmux.type("fix the sum")
        tmux.press("Enter")
        shown = tmux.see("Allow once")
        lines = shown.rstrip("\n").splitlines()
        question = next(number for number, line in enumerate(lines) if "build wants to change basket.py" in line)
        assert len(lines) - question <= most
        assert "grep  def" in "\n".join(lines[:question])
        joined = re.sub(r"[\s█]+", "", "".join(lines[question:]))
        assert re.sub(r"\s", "", LONG) in joined, "no letter of what is to be approved is left out"
        tmux.see("why it is asked", keys="?")
        tmux.press("Escape")
        tmux.see("Done, with", keys="y")
        tmux.see("1 file changed, +1 -1")


def test_one_suspends_searches_and_copies(project: Path) -> None:
    with tw_in_tmux(project, (80, 24)) as tmux:
        tmux.type("fix the sum")
        tmux.press("Enter")
        tmux.see("Allow once")
        tmux.see("1 file changed", keys="y")
        tmux.press("C-f")
        tmux.see("type what to look for")
        tmux.type("strict")
        tmux.see("of 2 lines")
        tmux.press("Escape")
        tmux.press("F5")
        tmux.see("(python, 1 line)")
        tmux.press("Enter")
        tmux.see("copied to the terminal's clipboard")
        tmux.type("half a prompt")
        tmux.see("half a prompt")
        tmux.press("C-z")
        tmux.see("Stopped")
        tmux.type("fg")
        tmux.press("Enter")
        tmux.see("half a prompt")


@pytest.mark.parametrize(("variables", "term"), [("NO_COLOR=1", "tmux-256color"), ("COLORTERM=", "screen")])
def test_few_colours_or_none_are_enough(project: Path, variables: str, term: str) -> None:
    with tw_in_tmux(project, (80, 24), variables, term) as tmux:
        tmux.type("fix the sum")
        tmux.press("Enter")
        tmux.see("Allow once")
        codes = {
            code for found in re.findall(r"\x1b\[([0-9;]*)m", tmux.screen(codes=True)) for code in found.split(";")
        }
        assert not codes & {"38", "48"}, "no colour but those of the terminal"
        if variables.startswith("NO_COLOR"):
            assert codes <= {"", "0", "1", "2", "3", "4", "7", "22", "23", "24", "27", "39", "49"}
        assert re.search(r"2 -\s+return 0", tmux.screen())


def test_the_first_minute_leads_from_no_key_to_a_model_and_loses_no_prompt(project: Path) -> None:
    bare = f"env -i PATH=/usr/bin:/bin LANG=C.UTF-8 TERM=tmux-256color HOME={shlex.quote(str(project.parent))} {TW}"
    with shell_in_tmux(project, (80, 24)) as tmux:
        tmux.enter(f"{bare} 'hello there'")
        tmux.see("Connect a model")
        tmux.type("anthropic")
        tmux.until(lambda shown: "Anthropic" in shown and "OpenAI" not in shown)
        tmux.press("Enter")
        tmux.see("paste the key")
        tmux.type("sk-of-nobody")
        tmux.see("•" * 12)
        tmux.press("Enter")
        shown = tmux.see("Models of Anthropic")
        assert "sk-of-nobody" not in shown
        assert re.search(r"anthropic/claude-\S+ +[\d,]+k · \$[\d.]+ in, \$[\d.]+ out · reasoning", shown)
        tmux.press("Escape")
        tmux.until(lambda shown: "No model yet." in shown and "hello there" in shown)
        tmux.press("C-c")
        tmux.see("Ask anything")
        tmux.enter("/model anthropic/claude-haiku-4-5")
        tmux.see("build · anthropic/claude-haiku-4-5")
        tmux.press("C-d")
        tmux.see("sh>")
        tmux.enter(f"clear; {bare}")
        tmux.see("build · anthropic/claude-haiku-4-5")


def test_a_turn_tells_what_is_done_and_its_changes_can_be_read(project: Path) -> None:
    # What a shell has exported says nothing about the size of the terminal.
    with tw_in_tmux(project, (120, 40), "COLUMNS=120 LINES=40", turns=WORK) as tmux:
        tmux.enter("fix the sum")
        tmux.see("running bash  until [ -e go ]")
        (project / "go").touch()
        tmux.see("Allow once")
        shown = tmux.see("2 files changed, +2 -1", keys="y")
        assert "  ▌ fix the sum" in shown, "a margin, and a bar beside what the person said"
        assert "• glob  *.py  (1 file)" in shown
        assert re.search(r"• todowrite .*\(1 done\)", shown)
        assert re.search(r"• write  CHANGES\.md[^\n]*\n\s+1 \+ # Changes", shown)
        assert "Done, with a link (https://example.org)." in shown
        assert "todo 1/1" in shown
        assert re.search(r"basket\.py  \+1 -1", shown), "what was changed stands in the panel"
        (project / "basket.py").write_text("all = 'different'\n")
        tmux.enter("/diff")
        tmux.see("What the session has changed")
        tmux.see("others have changed it since")
        tmux.press("Escape")
        tmux.run("resize-window", "-x", "200", "-y", "50")
        tmux.until(lambda shown: re.search(r"2 -\s+return 0 .* 2 \+\s+return sum", shown))
