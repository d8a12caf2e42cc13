"""A toolwright at work with one kind of program that never ends: `python -m tests.process.at_work KIND FOLDER`.

Every program is the same script, under the name that is looked for: it notes its process and that of one it has
started, in FOLDER/pids, and sleeps.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from toolwright.config.places import own_programs
from toolwright.files.pdf import read_pages
from toolwright.files.query import Query
from toolwright.files.search import find_files, find_lines
from toolwright.testing import make_workspace

SCRIPT = '#!/bin/sh\nsleep 1000 &\necho $$ $! >> "{folder}/pids"\nwait\n'
BEGUN_AT_ONCE = SCRIPT.replace("\n", "\nuntil grep -qs '^flags:.*20000$' /proc/$$/fdinfo/*; do :; done\n", 1)
"""The same for one that is not held back until it is sure to end with us, which makes one of its pipes asynchronous."""
NAMES = ("python", "rg", "shfmt", "git", "uv", "npm", "bun", "server", "formatter", "hook", "tool")

Work = Callable[[Path], Coroutine[Any, Any, None]]


def set_up(folder: Path) -> Path:
    """A project in the folder, and beside it the programs."""
    programs = folder / "bin"
    programs.mkdir()
    for name in NAMES:
        (programs / name).write_text((BEGUN_AT_ONCE if name == "rg" else SCRIPT).format(folder=folder))
        (programs / name).chmod(0o755)
    project = folder / "project"
    (project / ".toolwright" / "tool").mkdir(parents=True)
    # Else what lies around it is the project, and the programs are in it.
    (project / ".git").mkdir()
    (project / "a.txt").write_text("a\n")
    return project


async def search_names(project: Path) -> None:
    await find_files(project, "*")


async def search_lines(project: Path) -> None:
    await find_lines(Query(pattern="a", base=project))


async def ask_about_shell(project: Path) -> None:
    from toolwright.shell.analysis.shfmt import second_opinion

    await second_opinion("if", own_programs(project).need("shfmt"))


async def read_a_pdf(project: Path) -> None:
    await asyncio.to_thread(read_pages, project / "a.pdf", b"%PDF", 1, 1)


async def convert_a_page(_: Path) -> None:
    from toolwright.web.apart import converted

    await asyncio.to_thread(converted, "<p>" + "a" * 1_000_000, "text", "https://example.com/")


async def copy_for_a_task(project: Path) -> None:
    from toolwright.evaluate.copies import copy_of
    from toolwright.evaluate.tasks import Task

    async with copy_of(Task(id="a", prompt="a", folder=str(project))):
        pass


async def install_python_packages(project: Path) -> None:
    (project / ".toolwright" / "tool" / "mine.py").write_text("# /// script\n# dependencies = ['x']\n# ///\n")
    await call(project, "mine")


async def install_javascript_packages(project: Path) -> None:
    (project / ".toolwright" / "package.json").write_text('{"dependencies": {"x": "1"}}')
    (project / ".toolwright" / "tool" / "mine.js").write_text("export default {}")
    await call(project, "mine")


async def install_a_server(project: Path) -> None:
    from toolwright.lsp.install import install

    await asyncio.to_thread(install, "pyright", project / "servers", own_programs(project), dict(os.environ))


async def type_a_command(project: Path) -> None:
    from toolwright.tui import shell
    from toolwright.tui.blocks import Shell

    await shell.run(Shell("one", "tool"), project, lambda: None)


async def run_a_command(project: Path) -> None:
    await call(project, "bash", command="tool", description="works")


async def load_a_file(project: Path) -> None:
    text = "import os, subprocess\nsubprocess.run(['tool'])\n"
    (project / ".toolwright" / "tool" / "mine.py").write_text(text)
    await call(project, "mine")


async def run_an_executable(project: Path) -> None:
    (project / ".toolwright" / "tool" / "mine.json").write_text('{"description": "d", "command": ["tool"]}')
    await call(project, "mine")


async def run_a_hook(project: Path) -> None:
    await call(project, "list", config={"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "hook"}]}]}})


async def run_a_formatter(project: Path) -> None:
    config = {"formatter": {"mine": {"command": ["formatter", "$FILE"], "extensions": [".txt"], "timeout": 900_000}}}
    await call(project, "write", config=config, filePath="b.txt", content="b\n")


async def start_a_language_server(project: Path) -> None:
    config = {"lsp": {"mine": {"command": ["server"], "extensions": [".txt"]}}}
    await call(project, "write", config=config, filePath="b.txt", content="b\n")


async def start_an_mcp_server(project: Path) -> None:
    await call(project, "mine_tool", config={"mcp": {"mine": {"type": "local", "command": ["server"]}}})


async def call(project: Path, tool: str, config: Mapping[str, object] | None = None, **arguments: object) -> None:
    # The box of a command would hide what the programs note.
    settings = {"permission": "allow", "sandbox": "off", **(config or {})}
    async with make_workspace(project, config=settings, environment=dict(os.environ)) as workspace:
        await workspace.call(tool, **arguments)


BESIDE_US: dict[str, Work] = {
    "a search for names": search_names,
    "a search for lines": search_lines,
    "a second opinion on shell": ask_about_shell,
    "a page that is converted": convert_a_page,
    "a PDF file that is read": read_a_pdf,
}
"""The programs of these lie beside the interpreter, or are it."""
ON_THE_PATH: dict[str, Work] = {
    "git for a task": copy_for_a_task,
    "packages for Python": install_python_packages,
    "packages for JavaScript": install_javascript_packages,
    "the installation of a server": install_a_server,
    "a command typed on the screen": type_a_command,
    "a command of a model": run_a_command,
    "a file that is loaded": load_a_file,
    "an executable as a tool": run_an_executable,
    "a hook": run_a_hook,
    "a formatter": run_a_formatter,
    "a language server": start_a_language_server,
    "an MCP server": start_an_mcp_server,
}
KINDS = (*BESIDE_US, *ON_THE_PATH)


def main() -> None:
    kind, folder = sys.argv[1], Path(sys.argv[2])
    project = set_up(folder)
    os.chdir(project)
    os.environ["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
    if kind in BESIDE_US:
        sys.executable = str(folder / "bin" / "python")
    asyncio.run({**BESIDE_US, **ON_THE_PATH}[kind](project))


if __name__ == "__main__":
    main()
