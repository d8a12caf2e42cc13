"""Which servers a file has, where its project begins, and which programs are taken."""

from dataclasses import replace
from pathlib import Path

import pytest

from toolwright.lsp.servers import Finder, LanguageServer, ServerChoice, chosen_servers, known_servers, language_id
from toolwright.process.programs.lookup import Lookup


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def put(path: Path, text: str = "", *, program: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if program:
        path.chmod(0o755)
    return path


def finder(project: Path, bin_folder: Path, *, trusted: bool = True, **choices: ServerChoice) -> Finder:
    return Finder(
        servers=chosen_servers(choices),
        directory=project,
        top=project,
        environment={},
        lookup=Lookup(str(bin_folder), project=[project]),
        installed=project.parent / "installed",
        trusted=trusted,
    )


def known(name: str) -> LanguageServer:
    return next(server for server in known_servers() if server.id == name)


def test_every_server_of_the_data_can_be_started_and_fits_some_file() -> None:
    assert len(known_servers()) >= 36
    for server in known_servers():
        assert server.commands
        assert server.extensions or server.names
        assert all(ending.startswith(".") for ending in server.extensions)
    assert len({server.id for server in known_servers()}) == len(known_servers())


def test_an_earlier_group_of_marks_wins_however_far_up_it_is(project: Path, bin_folder: Path) -> None:
    put(project / "go.work")
    put(project / "service" / "go.mod")
    assert finder(project, bin_folder).root(known("gopls"), project / "service" / "main.go") == project
    (project / "go.work").unlink()
    assert finder(project, bin_folder).root(known("gopls"), project / "service" / "main.go") == project / "service"


def test_marks_may_have_wildcards(project: Path, bin_folder: Path) -> None:
    put(project / "App" / "App.csproj")
    assert finder(project, bin_folder).root(known("csharp"), project / "App" / "x" / "Main.cs") == project / "App"


def test_a_crate_of_a_workspace_has_the_root_of_the_workspace(project: Path, bin_folder: Path) -> None:
    put(project / "Cargo.toml", "[workspace]\n")
    put(project / "crates" / "one" / "Cargo.toml", "[package]\n")
    assert finder(project, bin_folder).root(known("rust"), project / "crates" / "one" / "src" / "lib.rs") == project


def test_a_file_without_an_ending_is_known_by_its_name(project: Path) -> None:
    assert known("dockerfile").fits("Dockerfile")
    assert language_id(project / "Dockerfile") == "dockerfile"


def test_deno_and_typescript_do_not_both_take_a_project(project: Path, bin_folder: Path) -> None:
    put(bin_folder / "deno", program=True)
    put(bin_folder / "typescript-language-server", program=True)
    put(project / "node_modules" / "typescript" / "lib" / "tsserver.js")
    found = finder(project, bin_folder).for_file(project / "a.ts")
    assert [one.server.id for one in found] == ["typescript"]
    assert found[0].init["tsserver"]["path"] == str(project / "node_modules/typescript/lib/tsserver.js")
    put(project / "deno.json")
    assert [one.server.id for one in finder(project, bin_folder).for_file(project / "a.ts")] == ["deno"]


def test_typescript_seven_is_its_own_server(project: Path, bin_folder: Path) -> None:
    put(project / "node_modules" / "typescript" / "package.json", '{"version": "7.0.2"}')
    tsc = put(project / "node_modules" / ".bin" / "tsc", program=True)
    [found] = finder(project, bin_folder).for_file(project / "a.ts")
    assert found.argv == (str(tsc), "--lsp", "--stdio")


def test_our_own_typescript_serves_projects_that_have_none(project: Path, bin_folder: Path, tmp_path: Path) -> None:
    put(bin_folder / "typescript-language-server", program=True)
    ours = put(tmp_path / "installed" / "node_modules" / "typescript" / "lib" / "tsserver.js")
    made = finder(project, bin_folder)
    [found] = made.for_file(project / "a.ts")
    assert found.init["tsserver"]["path"] == str(ours)
    put(project / "node_modules" / "typescript" / "package.json", '{"version": "7.0.2"}')
    put(project / "node_modules" / ".bin" / "tsc", program=True)
    assert [one.server.id for one in made.for_file(project / "a.ts")] == ["typescript-native"]


def test_of_the_servers_for_python_the_first_that_is_there_is_taken(project: Path, bin_folder: Path) -> None:
    put(bin_folder / "basedpyright-langserver", program=True)
    assert [one.server.id for one in finder(project, bin_folder).for_file(project / "a.py")] == ["basedpyright"]
    put(bin_folder / "ty", program=True)
    assert [one.server.id for one in finder(project, bin_folder).for_file(project / "a.py")] == ["ty"]
    assert [one.server.id for one in finder(project, bin_folder).here()] == ["ty"]


def test_programs_of_the_project_come_before_those_of_the_path_once_it_is_trusted(
    project: Path, bin_folder: Path
) -> None:
    put(bin_folder / "ty", program=True)
    own = put(project / ".venv" / "bin" / "ty", program=True)
    put(project / ".venv" / "bin" / "python", program=True)
    [trusted] = finder(project, bin_folder).for_file(project / "a.py")
    assert trusted.argv[0] == str(own)
    assert trusted.init["pythonPath"] == str(project / ".venv/bin/python")
    [untrusted] = finder(project, bin_folder, trusted=False).for_file(project / "a.py")
    assert untrusted.argv[0] == str(bin_folder / "ty")
    assert "pythonPath" not in untrusted.init


def test_a_server_that_may_run_code_of_the_project_waits_for_trust(project: Path, bin_folder: Path) -> None:
    put(bin_folder / "rust-analyzer", program=True)
    assert finder(project, bin_folder).for_file(project / "a.rs")
    untrusted = finder(project, bin_folder, trusted=False)
    assert not untrusted.for_file(project / "a.rs")
    assert untrusted.waits_for_trust(known("rust"), project / "a.rs")
    assert not untrusted.waits_for_trust(known("gopls"), project / "a.go")  # it would not be here either way
    assert not finder(project, bin_folder).waits_for_trust(known("rust"), project / "a.rs")


def test_installed_servers_are_found(project: Path, bin_folder: Path) -> None:
    own = put(project.parent / "installed" / "node_modules" / ".bin" / "bash-language-server", program=True)
    [found] = finder(project, bin_folder).for_file(project / "a.sh")
    assert found.argv == (str(own), "start")


def test_a_server_installed_with_this_program_is_found_though_it_is_not_on_the_path(
    project: Path, bin_folder: Path, tmp_path: Path
) -> None:
    beside = put(tmp_path / "venv" / "bin" / "ty", program=True)
    made = replace(finder(project, bin_folder), lookup=Lookup("", beside=beside.parent))
    assert [one.argv[0] for one in made.for_file(project / "a.py")] == [str(beside)]
    first = put(bin_folder / "ty", program=True)
    made = replace(made, lookup=Lookup(str(bin_folder), beside=beside.parent))
    assert [one.argv[0] for one in made.for_file(project / "a.py")] == [str(first)]


def test_the_settings_disable_change_and_add_servers(project: Path, bin_folder: Path) -> None:
    put(bin_folder / "ty", program=True)
    put(bin_folder / "mine", program=True)
    off = ServerChoice(disabled=True)
    mine = ServerChoice(command=("mine", "--stdio"), extensions=(".py", ".mine"), initialization={"a": 1})
    found = finder(project, bin_folder, ty=off, mine=mine).for_file(project / "a.py")
    assert [one.server.id for one in found] == ["mine"]
    assert found[0].argv == (str(bin_folder / "mine"), "--stdio")
    assert found[0].init == {"a": 1}
    assert found[0].root == project


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"),
        ("a.tsx", "typescriptreact"),
        ("a.html.erb", "erb"),
        ("x", "plaintext"),
        ("makefile", "makefile"),
    ],
)
def test_languages_have_the_names_servers_know(name: str, language: str) -> None:
    assert language_id(Path("/p") / name) == language


def put_typescript(folder: Path, version: str, bin_folder: Path) -> Path:
    """Install TypeScript as npm does: a package, and a link to its compiler on the PATH."""
    put(folder / "package.json", f'{{"version": "{version}"}}')
    if int(version.partition(".")[0]) < 7:
        put(folder / "lib" / "tsserver.js")
    (bin_folder / "tsc").symlink_to(put(folder / "bin" / "tsc", program=True))
    return folder


def test_typescript_beside_the_compiler_on_the_path_will_do_for_its_server(project: Path, bin_folder: Path) -> None:
    package = put_typescript(project.parent / "global" / "node_modules" / "typescript", "5.9.2", bin_folder)
    put(bin_folder / "typescript-language-server", program=True)
    made = finder(project, bin_folder)
    [found] = made.for_file(project / "a.ts")
    assert found.init["tsserver"]["path"] == str(package / "lib" / "tsserver.js")
    assert made.lacks(known("typescript"), project / "a.ts") == ""
    lack = made.lacks(known("typescript-native"), project / "a.ts")
    assert lack == f"needs TypeScript 7, and {package} is version 5"


def test_typescript_seven_on_the_path_is_its_own_server(project: Path, bin_folder: Path) -> None:
    put_typescript(project.parent / "global" / "node_modules" / "typescript", "7.0.1", bin_folder)
    made = finder(project, bin_folder)
    assert [one.server.id for one in made.for_file(project / "a.ts")] == ["typescript-native"]
    put(bin_folder / "typescript-language-server", program=True)
    assert made.lacks(known("typescript"), project / "a.ts").endswith("has no tsserver")


def test_what_a_server_lacks_is_said(project: Path, bin_folder: Path) -> None:
    made = finder(project, bin_folder)
    assert made.lacks(known("typescript"), project / "a.ts") == "tw lsp install typescript"
    assert made.lacks(known("gopls"), project / "a.go") == "needs gopls on PATH"
    put(bin_folder / "typescript-language-server", program=True)
    assert made.lacks(known("typescript"), project / "a.ts") == (
        "typescript-language-server is here, but no typescript: install that in the project, or both by"
        " tw lsp install typescript"
    )
    put(bin_folder / "vscode-eslint-language-server", program=True)
    assert made.lacks(known("eslint"), project / "a.ts").endswith("but no eslint: install that in the project")


def test_a_server_that_is_only_in_the_project_is_said_to_be_there(project: Path) -> None:
    bad = put(project / "bin" / "gopls", program=True)
    put(project / "go.mod")
    untrusted = replace(finder(project, bad.parent, trusted=False), trusted=True)
    assert untrusted.lacks(known("gopls"), project / "a.go") == f"{bad} lies in the project, where commands may write"
