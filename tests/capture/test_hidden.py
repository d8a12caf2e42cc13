"""What rules hide can be deleted and replaced where `edit` allows it, by whatever program, without being shown."""

import subprocess
from pathlib import Path

import pytest

from tests.capture.case import Kind, captured, git, look, python
from toolwright.permission.rules import Rule

HIDING = (Rule("*", "*", "allow"), Rule("read", "*.env", "deny"), Rule("read", "*.env.*", "deny"))
SECRET = "KEY=secret\n"
COMMANDS = {
    "deleted": "rm d/.env",
    "deleted with its folder": "rm -rf d",
    "written anew": "echo NEW=2 > d/.env; cat .gitignore",
    "deleted and written": "rm d/.env && echo NEW=2 > d/.env",
    "replaced": "echo NEW=2 > d/t && mv d/t d/.env",
    "by a program": python("import pathlib; pathlib.Path('.env').write_text('B=2')"),
    "cleaned": "git clean -fdxq",
    "untracked": "git rm -q -f .env",
    "to a branch without": "git checkout -q without",
    "there and back": "git checkout -q without && git checkout -q -f with",
    "reset": "git reset -q --hard without",
    "stashed": "echo x >> f; touch new; git stash -q -u && git stash pop -q",
    "a work tree made and gone": "git worktree add -q .wt -b s2 && git worktree remove --force .wt && touch new",
    "its mode": "chmod 600 d/.env",
}


def prepare(project: Path) -> None:
    (project / "d").mkdir(parents=True)
    git(project, "init", "-q")
    git(project, "symbolic-ref", "HEAD", "refs/heads/with")
    git(project, "config", "user.email", "a@b.c")
    git(project, "config", "user.name", "A")
    (project / ".gitignore").write_text("d\n")
    (project / "f").write_text("f\n")
    (project / ".env").write_text(SECRET)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "with")
    git(project, "checkout", "-q", "-b", "without")
    git(project, "rm", "-q", ".env")
    git(project, "commit", "-q", "-m", "without")
    git(project, "checkout", "-q", "with")
    (project / "d" / ".env").write_text(SECRET)


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("name", COMMANDS)
async def test_what_is_hidden_goes_and_comes_as_in_a_plain_shell(name: str, kind: Kind) -> None:
    command = COMMANDS[name]
    async with captured(kind, HIDING) as case:
        plain = case.project.parent / "plain"
        prepare(plain)
        subprocess.run(["/bin/sh", "-c", command], cwd=plain, check=True, capture_output=True)
        prepare(case.project)
        before = look(case.project)
        result = await case.run(command)
        assert result.metadata["exit"] == 0, result.output
        assert "secret" not in result.output
        assert seen(case.project) == seen(plain)
        assert git(case.project, "status", "--short") == git(plain, "status", "--short")
        await case.undo()
        assert look(case.project) == before


def seen(project: Path) -> dict[str, tuple[str, int, bytes | str]]:
    return {path.removeprefix(str(project)): found for path, found in look(project).items()}


async def test_nothing_of_ours_is_seen_in_a_listing_nor_in_the_way_of_git_clean() -> None:
    async with captured("bubblewrap", HIDING) as case:
        prepare(case.project)
        result = await case.run("ls -A; git clean -fdx")
        assert result.output.split() == [".env", ".git", ".gitignore", "d", "f", "Removing", "d/"]


@pytest.mark.parametrize("command", ["mkdir .toolwright", "mkdir t && mv t .opencode", "echo {} > toolwright.json"])
async def test_settings_that_are_not_there_cannot_be_made(command: str) -> None:
    async with captured("bubblewrap", HIDING) as case:
        prepare(case.project)
        result = await case.run(python(f"import subprocess; subprocess.run({command!r}, shell=True)"))
        assert "says what is allowed" in result.output
        assert not any((case.project / name).exists() for name in (".toolwright", ".opencode", "toolwright.json"))


async def test_a_wall_that_a_program_met_is_named_though_it_has_ended_well() -> None:
    async with captured("bubblewrap", HIDING) as case:
        prepare(case.project)
        program = "import subprocess; subprocess.run(['git', 'config', 'core.hooksPath', '.husky'])"
        result = await case.run(python(program))
        assert result.metadata["exit"] == 0
        assert "[sandbox: Commands may not write" in result.output
        assert ".git/config: it decides what programs are run" in result.output


async def test_what_stands_in_the_place_of_a_hidden_file_is_never_taken_for_it() -> None:
    async with captured("bubblewrap", HIDING) as case:
        prepare(case.project)
        (case.project / "d" / "long.env").write_text(SECRET * 20)
        await case.run(python("import os\nopen('t', 'w').write(open('.env').read())\nos.rename('t', '.env')"))
        names = "'d/.env', 'd/long.env'"
        result = await case.run(python(f"for n in ({names}):\n    t = open(n).read(); open(n, 'w').write(t)"))
        assert "d/.env is as it was" in result.output
        assert (case.project / ".env").read_text() == SECRET
        assert (case.project / "d" / ".env").read_text() == SECRET
        assert (case.project / "d" / "long.env").read_text() == SECRET * 20


async def test_another_name_for_a_hidden_file_is_refused() -> None:
    async with captured("bubblewrap", HIDING) as case:
        prepare(case.project)
        result = await case.run(python("import os; os.rename('.env', 'seen')"))
        assert "hidden from commands" in result.output
        assert (case.project / ".env").read_text() == SECRET
