"""Programs that a command plants in the project, under the names of our own: none of them runs outside of a box."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolwright.errors import ToolError
from toolwright.machine.own_files import PROGRAMS
from toolwright.testing import ScriptedUser
from toolwright.workspace import Workspace, open_workspace

NAMES = (
    *PROGRAMS,
    "bash",
    "zsh",
    "dash",
    "ruff",
    "gofmt",
    "basedpyright-langserver",
    "clangd",
    "vi",
    "xdg-open",
    "my-server",
)
PLANT = """
import os, pathlib
for name in NAMES:
    program = pathlib.Path(".venv/bin", name)
    program.parent.mkdir(parents=True, exist_ok=True)
    real = next((f"{one}/{name}" for one in REAL.split(":") if os.access(f"{one}/{name}", os.X_OK)), "true")
    program.write_text(f'#!/bin/sh\\ntouch MARKS/{name} 2>/dev/null\\nexec {real} "$@"\\n')
    program.chmod(0o755)
"""
"""Each leaves a mark outside of the project, where no box lets it write, and goes on as what it stands for."""
TOOL = '{}export default {{ description: "d", args: {{}}, execute: async () => "x" }}\n'
NEEDY = """# /// script
# requires-python = ">=3.9"
# ///
default = {"description": "d", "args": {}, "execute": lambda args, ctx: "x"}
"""


class Place:
    """A project that nobody trusts, with its environment activated; a user who wants all there is."""

    def __init__(self, folder: Path) -> None:
        self.project, self.home, self.marks = folder / "project", folder / "home", folder / "marks"
        for one in (self.project, self.home, self.marks):
            one.mkdir()
        # So that the project ends here, and not where this checkout does.
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        self.path = f"{self.project}/.venv/bin:{os.environ['PATH']}"
        self.environment = {"HOME": str(self.home), "PATH": self.path, "VIRTUAL_ENV": str(self.project / ".venv")}
        tools = self.home / ".config" / "toolwright" / "tool"
        tools.mkdir(parents=True)
        (tools / "mine.js").write_text(TOOL.format(""))
        (tools / "needy.py").write_text(NEEDY)
        text = PLANT.replace("NAMES", repr(NAMES)).replace("REAL", repr(os.environ["PATH"]))
        (self.project / "plant.py").write_text(text.replace("MARKS", str(self.marks)))
        (self.project / "ruff.toml").write_text("")
        (self.project / "go.mod").write_text("module x\n")

    def open(self, mode: str, **config: Any) -> Workspace:
        settings = {"permission": "allow", "formatter": True, "lsp": True, "sandbox": {"mode": mode}, **config}
        return open_workspace(
            self.project, config=settings, environment=self.environment, answer=ScriptedUser.saying(*["once"] * 99)
        )

    @property
    def marked(self) -> list[str]:
        return sorted(one.name for one in self.marks.iterdir())


@pytest.fixture
def place(outside: Path) -> Place:
    return Place(outside)


async def _require(workspace: Workspace, rung: str) -> None:
    try:
        assert await workspace.sandbox.ready() == rung
    except ToolError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("rung", ["bubblewrap", "landlock"])
async def test_no_program_that_a_command_has_planted_is_taken_for_one_of_ours(place: Place, rung: str) -> None:
    async with place.open(rung) as workspace:
        await _require(workspace, rung)
        planted = await workspace.call("bash", command="python3 plant.py && ls .venv/bin", description="plant")
        assert "bwrap" in planted.output
    async with place.open(rung) as workspace:
        workspace.sandbox.distrust()
        second = await workspace.call("bash", command="echo second; rm !(keep)", description="look")
        assert second.metadata["sandbox"] == rung
        assert "second" in second.output
        await workspace.call("write", filePath="a.py", content="x  =  1\n")
        await workspace.call("write", filePath="a.go", content="package  x\n")
        await workspace.call("lsp", operation="documentSymbol", filePath="a.py")
        await workspace.call("grep", pattern="x")
        tools = [(await workspace.call(name)).output for name in ("mine", "needy")]
    assert place.marked == []
    assert tools == ["x", "x"]


def test_doctor_uses_none_of_them_and_says_so(place: Place) -> None:
    subprocess.run([sys.executable, "plant.py"], cwd=place.project, check=True)
    environment = {**place.environment, "PATH": f"{place.project}/.venv/bin"}
    command = [sys.executable, "-m", "toolwright", "doctor", "--json"]
    done = subprocess.run(command, cwd=place.project, env=environment, capture_output=True, text=True, check=False)
    told = [one["told"] for one in json.loads(done.stdout) if one["what"] == "programs"]
    git = place.project / ".venv" / "bin" / "git"
    expected = f"git is not used: {git} lies in the project, where commands may write; install it elsewhere"
    assert expected in told, done.stdout
    assert place.marked == []


async def test_a_server_of_the_user_is_not_taken_from_the_project_until_that_is_trusted(place: Place) -> None:
    subprocess.run([sys.executable, "plant.py"], cwd=place.project, check=True)
    mcp = {"mine": {"type": "local", "command": ["my-server"]}}
    async with place.open("auto", mcp=mcp) as workspace:
        server = workspace.mcp["mine"]
        await server.settled()
        assert "lies in the project, where commands may write" in server.error
    assert place.marked == []
