"""What a formatter or a language server can write in its box, and what becomes of it."""

import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from toolwright.errors import ToolError
from toolwright.extensions.programs import make_boxes
from toolwright.process.running.run import ProgramResult, run_program
from toolwright.process.sandbox.program_box import MOST_FOLDERS, ProgramBoxes
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

SHELL = "/bin/sh"


@pytest.fixture(params=["bubblewrap", "landlock"])
async def workspace(outside: Path, request: pytest.FixtureRequest) -> AsyncIterator[Workspace]:
    project = outside / "project"
    (project / ".git").mkdir(parents=True)
    config = {"sandbox": {"mode": request.param, "writable": [str(outside / "open"), str(project / "x")]}}
    (outside / "open").mkdir()
    async with make_workspace(project, config=config, environment={"PATH": os.environ["PATH"]}) as made:
        try:
            await made.sandbox.ready()
        except ToolError as error:
            pytest.skip(str(error))
        yield made


@pytest.fixture
def boxes(workspace: Workspace) -> ProgramBoxes:
    return make_boxes(workspace)


async def as_server(
    workspace: Workspace, boxes: ProgramBoxes, script: str, environment: Mapping[str, str] | None = None
) -> ProgramResult:
    kept = workspace.folders.cache / "servers" / "one"
    box, env = await boxes.of_server(SHELL, environment or {"KEPT": "${kept}"}, kept)
    program = boxes.program(box, [SHELL, "-c", script], cwd=workspace.directory, env=env)
    return await run_program(workspace.scopes, program)


async def test_a_server_finds_again_what_it_has_kept_and_no_temporary_file(
    workspace: Workspace, boxes: ProgramBoxes
) -> None:
    first = await as_server(workspace, boxes, 'echo a > "$KEPT/x" && echo b > "$TMPDIR/y"')
    assert (first.code, first.err) == (0, "")
    second = await as_server(workspace, boxes, 'cat "$KEPT/x"; ls "$TMPDIR"')
    content, *names = second.out.split()
    assert content == "a"
    assert "y" not in names


async def test_a_server_writes_nothing_in_the_project_whatever_the_settings_open_there(
    workspace: Workspace, boxes: ProgramBoxes
) -> None:
    (workspace.directory / "x").mkdir()
    done = await as_server(workspace, boxes, "echo a > x/a; echo b > b; mkdir c; echo d > .git/config")
    assert done.code != 0
    assert sorted(one.name for one in workspace.directory.rglob("*")) == [".git", "x"]


async def test_a_server_writes_where_the_settings_open_a_place_elsewhere(
    workspace: Workspace, boxes: ProgramBoxes
) -> None:
    place = workspace.directory.parent / "open"
    assert (await as_server(workspace, boxes, f"echo a > {place}/a")).code == 0
    assert (place / "a").read_text() == "a\n"


async def as_formatter(workspace: Workspace, boxes: ProgramBoxes, file: Path, script: str) -> tuple[ProgramResult, str]:
    """Return how it ended, and what is then in the file that it took for the one to format."""
    async with boxes.workplace(SHELL, file, writes=True) as place:
        program = boxes.program(place.box, [SHELL, "-c", script, str(file)], cwd=workspace.directory, env={})
        done = await run_program(workspace.scopes, program)
        return done, place.file.read_text()


async def test_what_a_formatter_writes_beside_its_file_stays_in_its_box(
    workspace: Workspace, boxes: ProgramBoxes
) -> None:
    file = workspace.directory / "a.txt"
    for name in ("a.txt", "b.toml", "c.txt"):
        (workspace.directory / name).write_text(f"{name}\n")
    (workspace.directory / "sub").mkdir()
    (workspace.directory / "link").symlink_to("sub")
    script = 'ls; echo new > d; echo x >> b.toml; rm -f c.txt; echo y > "$0.new" && mv "$0.new" "$0"; echo z > sub/e'
    done, text = await as_formatter(workspace, boxes, file, script)
    assert done.out.split() == ["a.txt", "b.toml", "link", "sub"], "settings are there, others of its kind are not"
    assert text == "y\n"
    assert "sub/e" in done.err
    assert {one.name for one in workspace.directory.iterdir()} == {".git", "a.txt", "b.toml", "c.txt", "link", "sub"}
    assert [(workspace.directory / name).read_text() for name in ("a.txt", "b.toml")] == ["a.txt\n", "b.toml\n"]


async def test_in_a_folder_of_many_folders_those_of_programs_are_there(
    workspace: Workspace, boxes: ProgramBoxes
) -> None:
    for number in range(MOST_FOLDERS + 20):
        (workspace.directory / f"a{number}").mkdir()
    (workspace.directory / "node_modules").mkdir()
    file = workspace.directory / "a.txt"
    file.write_text("")
    done, _ = await as_formatter(workspace, boxes, file, "ls")
    assert "node_modules" in done.out.split()
    assert len(done.out.split()) <= MOST_FOLDERS + 1


async def test_nothing_is_left_of_the_places_of_formatters(workspace: Workspace, boxes: ProgramBoxes) -> None:
    file = workspace.directory / "a.txt"
    file.write_text("")
    await as_formatter(workspace, boxes, file, "echo x > ../outside; echo y > b; true")
    scratch = workspace.folders.data / "tmp"
    assert [one.name for place in scratch.iterdir() if place.is_dir() for one in place.iterdir()] == ["tmp", "masks"]
    assert not (workspace.directory.parent / "outside").exists()
