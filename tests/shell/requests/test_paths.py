"""From an analysis to questions: which permissions, in which order, about which paths, with which offers."""

import json
from pathlib import Path

import pytest

from toolwright.calls.request import PathPattern, Request
from toolwright.files.paths import Tree
from toolwright.shell import analyse, checks_for, requests_for
from toolwright.shell.state.findings import OPEN, Confinement


@pytest.fixture
def tree(project: Path, tmp_path: Path) -> Tree:
    (project / ".git").mkdir()
    (project / "src").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "notes.txt").write_text("n\n")
    (project / ".env").write_text("A=1\n")
    (project / "prod.env").write_text("A=1\n")
    (project / "link").symlink_to(tmp_path / "outside")
    return Tree(project)


def ask(command: str, tree: Tree, cwd: str = "") -> list[Request]:
    return requests_for(analyse(command, cwd=cwd or str(tree.directory), home="/nowhere/home"), tree.place)


def named(requests: list[Request], permission: str) -> list[str]:
    return [str(pattern) for request in requests if request.permission == permission for pattern in request.patterns]


def test_folders_outside_come_first_then_files_then_commands(tree: Tree, tmp_path: Path) -> None:
    requests = ask(f"cat README.md {tmp_path}/outside/notes.txt > src/new; rm old", tree)
    assert [request.permission for request in requests] == ["external_directory", "read", "edit", "bash"]
    assert named(requests, "external_directory") == [f"{tmp_path}/outside/notes.txt"]
    assert named(requests, "edit") == ["src/new", "old"]


def test_files_meet_the_rules_of_the_tools_under_the_same_spellings(tree: Tree) -> None:
    read = next(one for one in ask("cat .env", tree) if one.permission == "read")
    (pattern,) = read.patterns
    assert isinstance(pattern, PathPattern)
    assert (pattern, ".env" in pattern.spellings) == (f"{tree.root}/.env", True)
    edit = next(one for one in ask("cd src && echo x > a", tree) if one.permission == "edit")
    assert edit.patterns == ("src/a",)


def test_a_wildcard_is_judged_by_the_files_it_names(tree: Tree) -> None:
    assert f"{tree.root}/prod.env" in named(ask("cat *.env", tree), "read")
    assert named(ask("rm prod*", tree), "edit") == ["prod*", "prod.env"]


def test_links_are_followed_to_where_they_lead(tree: Tree, tmp_path: Path) -> None:
    outside = f"{tmp_path}/outside"
    assert named(ask("cat link/notes.txt", tree), "external_directory") == [f"{outside}/notes.txt"]
    assert named(ask("rm link/../x", tree), "external_directory") == [f"{tmp_path}/x"]
    assert named(ask("cd link && rm ../x", tree), "external_directory") == [outside, f"{tmp_path}/x"]
    assert named(ask("cat link/*", tree), "external_directory") == [f"{outside}/*", f"{outside}/notes.txt"]


def test_a_loop_over_names_is_shown_once_and_judged_name_by_name(tree: Tree, tmp_path: Path) -> None:
    first = ask(f"for f in a b; do touch {tmp_path}/outside/$f; done", tree)[0]
    assert first.patterns == (f"{tmp_path}/outside/$f",)
    assert first.implied == (f"{tmp_path}/outside/a", f"{tmp_path}/outside/b")
    assert first.always == (f"{tmp_path}/outside/*",)


def test_running_a_program_is_no_leaving_unless_its_folder_is_neither_ours_nor_the_systems(
    tree: Tree, tmp_path: Path
) -> None:
    binaries = tree.directory / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").symlink_to(tmp_path / "outside" / "notes.txt")
    assert not named(ask(".venv/bin/python x.py", tree), "external_directory")
    assert not named(ask("/usr/bin/env ls", tree), "external_directory")
    assert named(ask(f"{tmp_path}/outside/tool", tree), "external_directory") == [f"{tmp_path}/outside/tool"]


def test_devices_are_no_files(tree: Tree) -> None:
    requests = ask("ls > /dev/null 2>&1 < /dev/stdin; diff <(ls) <(ls)", tree)
    assert [request.permission for request in requests] == ["bash"]


def test_a_command_that_is_understood_carries_no_details(tree: Tree) -> None:
    assert ask("ls", tree)[-1] == Request(permission="bash", patterns=("ls",), always=("ls *",))


def test_a_command_that_is_not_understood_must_be_asked_about_with_reasons(tree: Tree) -> None:
    bash = ask("$CMD x", tree)[-1]
    assert bash.metadata == {
        "reasons": ["`$CMD` names a command that is only known when it runs."],
    }
    assert bash.always == ()
    json.dumps(bash.metadata)


def test_writing_without_a_command_is_a_matter_of_edit_and_of_rules_that_forbid(tree: Tree) -> None:
    analysis = analyse("> src/x", cwd=str(tree.directory), home="/nowhere/home")
    assert [(one.permission, one.patterns) for one in requests_for(analysis, tree.place)] == [("edit", ("src/x",))]
    assert checks_for(analysis, tree.place) == [Request(permission="bash", patterns=("> src/x",), always=())]
    assert not checks_for(analyse("ls > x", cwd="/p", home="/h"), Tree("/p").place)


@pytest.mark.parametrize(
    ("command", "always"),
    [
        ("git log --oneline", ("git log *",)),
        ("npm run build -- --watch", ("npm run build *",)),
        ("ls -la", ("ls *",)),
        ("git status && ls", ("git status *", "ls *")),
        ("git -C src status", ("git -C src status", "git status")),
        ("git --no-pager status", ("git --no-pager status", "git status")),
        ("git remote -v", ("git remote -v",)),
        ("git push", ("git push",)),
        ("git push -u origin main", ("git push -u origin *",)),
        ("git push --force", ("git push --force",)),
        ("git reset --hard HEAD", ("git reset --hard HEAD",)),
        ("git clean -fd", ("git clean -fd",)),
        ("rm -rf build", ("rm -rf build",)),
        ("rm *.txt", ()),
        ("chmod -R 777 src", ("chmod -R 777 src",)),
        ("chmod 644 a", ("chmod *",)),
        ("kill 12", ("kill 12",)),
        ("env ls", ("env ls", "ls")),
        ("sudo ls -l", ("sudo ls -l", "ls -l")),
        ("timeout 5 make test", ("timeout 5 make test", "make test")),
        ("python3 app.py", ("python3 app.py",)),
        ("python3.11 app.py", ("python3.11 app.py",)),
        ("sh -c 'ls -l'", ("sh -c 'ls -l'", "sh -c ls -l", "ls -l")),
        ("/bin/ls -l", ("/bin/ls *", "ls *")),
        ("./run.sh now", ("./run.sh *",)),
        ("/*/ls -d .", ()),
        ("find . -name x", ("find *",)),
        ("find . -exec ls {} +", ("find . -exec ls {} +", "ls {}", "ls .")),
        ('npm run "build all"', ('npm run "build all" *', "npm run build all *")),
        ("npm run $TASK", ()),
        ("cargo run --bin x", ("cargo run --bin x",)),
        ('"ls" -l', ('"ls" *', "ls *")),
    ],
)
def test_a_lasting_approval_is_never_wider_than_its_kind(command: str, always: tuple[str, ...], tree: Tree) -> None:
    assert ask(command, tree)[-1].always == always


def test_a_folder_that_is_reached_in_two_ways_is_one_folder_for_an_approval(tree: Tree) -> None:
    assert ask("cd src && cd ../src && rm x", tree)[-1].always == ("cd src && rm x",)


def test_the_working_folder_may_be_below_the_root(tree: Tree) -> None:
    requests = ask("cat ../README.md", tree, cwd=str(tree.directory / "src"))
    assert named(requests, "read") == [f"{tree.root}/README.md"]


def test_paths_outside_are_asked_for_in_the_order_of_the_line_and_a_wildcard_by_its_own_words(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    for name in ("b.txt", "a.txt"):
        (outside / name).touch()
    (outside / "link").symlink_to("/etc/passwd")

    def asked(command: str) -> Request:
        return requests_for(analyse(command, cwd=str(project), home="/nowhere"), Tree(project).place)[0]

    copied = asked(f"cp {outside}/a.txt {outside}/new.txt")
    assert copied.patterns == (f"{outside}/a.txt", f"{outside}/new.txt")
    wild = asked(f"rm -f {outside}/*")
    assert wild.patterns == (f"{outside}/*", "/etc/passwd")
    assert set(wild.implied) == {f"{outside}/a.txt", f"{outside}/b.txt"}
    assert asked(f"for d in {outside}; do cd $d; done").patterns == (str(outside),)


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("git config user.email a@b.c", [".git/config"]),
        ("cd src && git remote add up nowhere", [".git/config"]),
        ("git branch -m old new", [".git/config"]),
        ("git submodule update --init --recursive", [".git/config", ".git/modules"]),
        ("git worktree remove other", [".git/worktrees", "other"]),
        ("git config user.email; git remote -v; git branch -D x; git submodule update", []),
    ],
)
def test_the_settings_that_git_writes_are_asked_for_where_a_box_shuts_them(
    tree: Tree, command: str, written: list[str]
) -> None:
    def edited(confinement: Confinement) -> list[str]:
        top = str(tree.directory)
        analysis = analyse(command, cwd=top, home="/nowhere/home", top=top, confinement=confinement)
        found = requests_for(analysis, tree.place)
        return sorted(str(name) for one in found if one.permission == "edit" for name in one.patterns)

    assert edited(Confinement(complete=True, private_tmp=True)) == written
    assert edited(OPEN) == [name for name in written if not name.startswith(".git")]
