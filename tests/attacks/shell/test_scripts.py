"""Without a box, what a file holds that is run is judged as if it were typed, by whatever name it goes."""

import shutil
from pathlib import Path

import pytest

from tests.attacks.shell.ground import BOX, Ground, make_ground, policy

RULES = policy("bash rm *: deny", "bash git push*: deny")
PROGRAM = shutil.which("rm") or ""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    found = make_ground(tmp_path_factory.mktemp("scripts"))
    project = found.tree.directory
    for name, text in {
        "x.sh": "#!/bin/sh\nset -e\nrm victim\n",
        "y.sh": "ls\n./x.sh\n",
        "loop.sh": "./loop.sh\n. ./loop.sh\nls\n",
        "bare": "git push origin main\n",
        "broken.sh": "if (( rm victim\nrm victim\n",
        "harmless.sh": "#!/bin/sh\nls\necho done\n",
        "words.py": "#!/usr/bin/env python3\nprint('''\nrm victim\n''')\n",
    }.items():
        (project / name).write_text(text)
    program = Path(PROGRAM).read_bytes()
    (project / "copy").write_bytes(program)
    (project / "longer").write_bytes(program + b"x")
    (project / "led").symlink_to(PROGRAM)
    (found.home / ".gitconfig").write_text(
        '[user]\n\tname = x\n[alias]\n\tp = push\n\tforce = p --force\n\twipe = "!rm victim"\n\tst = status\n'
        '[include]\n\tpath = more\n[includeIf "gitdir:~/"]\n\tpath = ~/.other\n'
    )
    (found.home / "more").write_text("[include]\n\tpath = more\n\tpath = deep/one\n[alias]\n\tp2 = push\n")
    (found.home / "deep").mkdir()
    (found.home / "deep/one").write_text("[alias] p3 = p2 --all\n")
    (found.home / ".other").write_text("[alias]\n\tp4 = !git push\n\tp3 = status\n")
    return found


@pytest.mark.parametrize(
    "command",
    [
        *("sh x.sh", "bash ./x.sh a", "./x.sh", "source x.sh", ". ./x.sh", "env sh x.sh", "cd sub && sh ../x.sh"),
        *("sh y.sh", "sh bare", "./bare", "sh broken.sh", "sh words.py"),
        *("./copy victim", "./longer victim", "./led victim", "nohup ./copy victim &"),
    ],
)
def test_what_a_file_would_run_meets_the_rules(command: str, ground: Ground) -> None:
    if "victim" in command and Path(PROGRAM).resolve().name != "rm":
        pytest.skip("here rm is one of the many names of a single program")
    assert ground.verdict(command, RULES) == "ask"
    assert ground.verdict(command, RULES, confinement=BOX) == "allow", "there the program itself is covered"
    assert ground.verdict(command, policy()) == "allow"


@pytest.mark.parametrize(
    "command", ["sh harmless.sh", "./harmless.sh", "./words.py", "sh loop.sh", "sh none.sh", "cat x.sh"]
)
def test_other_files_are_run_in_silence(command: str, ground: Ground) -> None:
    assert ground.verdict(command, RULES) == "allow"


@pytest.mark.parametrize(
    "command", ["git p", "git p origin main", "git -C sub p", "git force", "git wipe", "git p2", "git p3", "git p4"]
)
def test_an_alias_of_git_is_what_it_stands_for(command: str, ground: Ground) -> None:
    assert ground.verdict(command, RULES) == "ask"
    assert ground.verdict(command, RULES, confinement=BOX) == "ask"
    assert ground.verdict("git st", RULES) == "allow"
