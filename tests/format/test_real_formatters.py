"""Real formatters, where they are installed: in their box each makes of a file what it makes of it by itself."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.outside import is_seen
from toolwright.errors import ToolError
from toolwright.format.registry import Chooser, chosen_formatters, edition_of
from toolwright.process.programs.lookup import Lookup
from toolwright.testing import make_workspace

PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
RUST = {name: str(Path.home() / folder) for name, folder in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"))}
LONG = "foo(aaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbb, ccccc, 'd')\n"
CRATE = "[package]\nname = 'm'\n"

CASES: dict[str, tuple[str, str, Mapping[str, str], list[str]]] = {
    "ruff": ("a.py", "x  =  1\n", {"pyproject.toml": "[tool.ruff]\n"}, ["ruff", "format"]),
    "ruff with settings in the folder of the file": (
        *("sub/a.py", LONG, {"sub/ruff.toml": "line-length = 30\n[format]\nquote-style = 'single'\n"}),
        ["ruff", "format"],
    ),
    "ruff and what it excludes": (
        *("gen/a.py", "x  =  1\n", {"ruff.toml": "exclude = ['gen']\n"}),
        ["ruff", "format", "--force-exclude"],
    ),
    "black": ("a.py", LONG, {"pyproject.toml": "[tool.black]\nline-length = 60\n[tool.ruff]\n"}, ["black"]),
    "gofmt": ("a.go", "package  x\nfunc  f( ) {}\n", {}, ["gofmt", "-w"]),
    "rustfmt": (
        *("src/lib.rs", "mod foo;\npub async fn f( a:i32)->i32{a}\n"),
        {"Cargo.toml": f"{CRATE}edition = '2021'\n", "src/foo.rs": "fn x() {}\n", "rustfmt.toml": "max_width = 30\n"},
        ["rustfmt", "--edition", "2021"],
    ),
    "clang-format": (
        "a.c",
        "int  main( ){return 0;}\n",
        {".clang-format": "BasedOnStyle: GNU\n"},
        ["clang-format", "-i"],
    ),
    "prettier": (
        *("sub/a.ts", "const x = {a:1}\n"),
        {
            "package.json": '{"devDependencies": {"prettier": "3"}}',
            "sub/prettier.config.mjs": "export default {semi: false}",
        },
        ["prettier", "--write"],
    ),
    "shfmt": (
        *("a.sh", "if true;then\n  echo  1\nfi\n", {".editorconfig": "root = true\n[*.sh]\nindent_style = space\n"}),
        ["shfmt", "-w"],
    ),
}


@pytest.mark.parametrize("rung", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("case", CASES)
async def test_in_its_box_a_formatter_makes_of_a_file_what_it_makes_by_itself(
    project: Path, tmp_path: Path, case: str, rung: str
) -> None:
    name, text, files, command = CASES[case]
    program = shutil.which(command[0], path=PATH)
    if program is None:
        pytest.skip(f"{command[0]} is not installed")
    if command[0] == "prettier" and not is_seen(Path(program).resolve().parent):
        pytest.skip("the modules of prettier lie in a temporary folder, which a box replaces")
    alone = tmp_path / "alone"
    for folder in (project, alone):
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
    (alone / name).parent.mkdir(parents=True, exist_ok=True)
    (alone / name).write_text(text)
    subprocess.run([program, *command[1:], str(alone / name)], cwd=alone, check=True, capture_output=True)
    config = {"permission": "allow", "formatter": True, "sandbox": {"mode": rung}}
    async with make_workspace(project, config=config, environment={"PATH": PATH, **RUST}) as workspace:
        try:
            await workspace.sandbox.ready()
        except ToolError as error:
            pytest.skip(str(error))
        result = await workspace.call("write", filePath=name, content=text)
    assert "failed" not in result.output
    assert (project / name).read_bytes() == (alone / name).read_bytes()
    left = {path for path in project.rglob("*") if path.is_file()}
    assert left == {project / path for path in (name, *files)}


def wanted(project: Path, name: str, programs: tuple[str, ...], *, trusted: bool = True) -> list[str]:
    """Return which formatters a file gets where these programs are there."""
    folder = project.parent / "programs"
    folder.mkdir(exist_ok=True)
    for one in programs:
        (folder / one).touch(mode=0o755)
    chooser = Chooser(
        formatters=chosen_formatters({}),
        directory=project,
        top=project,
        lookup=Lookup(str(folder), project=[project], trusted=trusted),
        trusted=trusted,
    )
    return [one.formatter.name for one in chooser.for_file(project / name)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": "[tool.black]\n"}, ["black"]),
        ({"pyproject.toml": "[tool.black]\n[tool.ruff]\n"}, ["black"]),
        ({"pyproject.toml": "[tool.black]\n[tool.ruff]\n[tool.ruff.format]\n"}, ["ruff"]),
        ({"pyproject.toml": "[tool.black]\n", "ruff.toml": ""}, ["black"]),
        ({"pyproject.toml": "[tool.black]\n", "ruff.toml": "[format]\n"}, ["ruff"]),
        ({"pyproject.toml": "[tool.ruff]\n"}, ["ruff"]),
        ({"pyproject.toml": "[project]\n"}, []),
    ],
)
def test_one_formatter_has_the_python_files_of_a_project(
    project: Path, files: Mapping[str, str], expected: list[str]
) -> None:
    for name, text in files.items():
        (project / name).write_text(text)
    assert wanted(project, "a.py", ("black", "ruff", "uv")) == expected


def test_where_black_is_wanted_and_not_there_nothing_else_formats(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.black]\n[tool.ruff]\n")
    assert wanted(project, "a.py", ("ruff", "uv")) == []


def test_rustfmt_which_obeys_a_file_of_the_project_waits_for_trust(project: Path) -> None:
    assert wanted(project, "a.rs", ("rustfmt",)) == ["rustfmt"]
    assert wanted(project, "a.rs", ("rustfmt",), trusted=False) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, []),
        ({"Cargo.toml": CRATE}, []),
        ({"Cargo.toml": f"{CRATE}edition = '2021'\n"}, ["--edition", "2021"]),
        ({"Cargo.toml": "edition = [broken\n"}, []),
        (
            {
                "Cargo.toml": "[workspace.package]\nedition = '2024'\n",
                "sub/Cargo.toml": f"{CRATE}edition.workspace = true\n",
            },
            ["--edition", "2024"],
        ),
        (
            {"Cargo.toml": f"{CRATE}edition = '2018'\n", "sub/Cargo.toml": f"{CRATE}edition = '2021'\n"},
            ["--edition", "2021"],
        ),
    ],
)
def test_the_edition_is_that_of_the_nearest_crate(project: Path, files: Mapping[str, str], expected: list[str]) -> None:
    for name, text in files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    assert edition_of(project / "sub" / "src" / "lib.rs") == expected
