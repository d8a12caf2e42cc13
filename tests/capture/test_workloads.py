"""What people run all day: formatters, builds, package managers, git. All of it goes with undo."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.capture.case import PYTHON, captured, git, look, python
from tests.outside import needs_checkout

pytestmark = pytest.mark.slow


def sources(project: Path, suffix: str, text: str, many: int = 60) -> None:
    for number in range(many):
        folder = project / f"d{number % 6}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number}{suffix}").write_text(text)


def commit(project: Path, message: str) -> None:
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", message)


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program}")


async def test_nothing_is_written_for_a_command_that_changes_nothing() -> None:
    async with captured() as case:
        await case.run("echo hi")
        assert case.shell.workspace.files.journal.everything(case.shell.session.id) == []
        assert not list(case.shell.workspace.files.journal.stores.glob("*"))


async def test_sed_over_many_files_in_one_call_and_in_many() -> None:
    async with captured() as case:
        sources(case.project, ".txt", "foo bar\n")
        await case.is_undone("find . -name '*.txt' | xargs sed -i s/foo/baz/")
        await case.is_undone("for f in */*.txt; do sed -i s/foo/baz/ $f; done")


@needs_checkout
async def test_a_formatter() -> None:
    async with captured() as case:
        sources(case.project, ".py", "x = {  'a':1 }\n")
        await case.is_undone(f"{sys.executable} -m ruff format -q --no-cache .")


async def test_a_codemod_of_the_projects_own() -> None:
    async with captured() as case:
        sources(case.project, ".py", "old\n")
        (case.project / "fix.py").write_text(
            "import pathlib\n"
            "for p in pathlib.Path('.').rglob('f*.py'):\n"
            "    if p.name != 'fix.py': p.write_text(p.read_text().replace('old', 'new'))\n"
        )
        await case.is_undone(f"{PYTHON} fix.py && touch gen.txt")


async def test_a_build() -> None:
    needs("make", "cc")
    async with captured() as case:
        sources(case.project, ".c", "static int unused; int main(void) { return unused; }\n", many=12)
        (case.project / "Makefile").write_text(
            "OBJECTS = $(patsubst %.c,build/%.o,$(wildcard */*.c))\nall: $(OBJECTS)\n"
            "build/%.o: %.c\n\t@mkdir -p $(dir $@)\n\t@$(CC) -c -o $@ $<\n"
        )
        await case.is_undone("make -s -j2")


async def test_git_checkout_with_its_own_state() -> None:
    needs("git")
    async with captured() as case:
        sources(case.project, ".txt", "one\n")
        commit(case.project, "one")
        git(case.project, "checkout", "-q", "-b", "other")
        sources(case.project, ".txt", "two\n")
        shutil.rmtree(case.project / "d3")
        (case.project / "new").mkdir()
        (case.project / "new" / "file").write_text("new\n")
        commit(case.project, "two")
        await case.is_undone("git checkout -q HEAD~1")
        assert git(case.project, "status", "--short", "--branch") == "## other\n"


async def test_git_commit_reset_stash_and_clean() -> None:
    needs("git")
    async with captured() as case:
        sources(case.project, ".txt", "one\n")
        commit(case.project, "one")
        (case.project / "d1" / "f1.txt").write_text("worked on\n")
        (case.project / "untracked").write_text("mine\n")
        head = git(case.project, "rev-parse", "HEAD")
        settings = "git -c user.email=a@b.c -c user.name=A"
        await case.is_undone(f"{settings} stash -q -u")
        assert git(case.project, "stash", "list") == ""
        await case.is_undone("git reset -q --hard")
        await case.is_undone("git clean -fdxq || true")
        await case.is_undone(f"echo x > d2/f2.txt; {settings} commit -qam three")
        assert git(case.project, "rev-parse", "HEAD") == head


async def test_what_git_has_done_since_stays_and_the_files_go_back() -> None:
    needs("git")
    async with captured() as case:
        sources(case.project, ".txt", "one\n", many=6)
        commit(case.project, "one")
        await case.run("echo two > d0/f0.txt; git add -A")
        (case.project / "d1" / "f1.txt").write_text("the user's\n")
        git(case.project, "add", "-A")
        await case.undo()
        assert (case.project / "d0" / "f0.txt").read_text() == "one\n"
        assert (case.project / "d1" / "f1.txt").read_text() == "the user's\n"


async def test_many_files_unpacked_and_deleted() -> None:
    needs("tar")
    async with captured() as case:
        sources(case.project, ".txt", "packed\n", many=300)
        await case.run("tar cf all.tar d*")
        await case.is_undone("rm -rf d*")
        for folder in case.project.glob("d*"):
            shutil.rmtree(folder)
        await case.is_undone("tar xf all.tar")


async def test_a_large_new_folder_goes_and_comes_as_a_whole() -> None:
    async with captured() as case:
        (case.project / ".gitignore").write_text("node_modules\n")
        await case.is_undone(
            python(
                "import os\nfor i in range(1500):\n    os.makedirs(f'node_modules/p{i % 50}', exist_ok=True)\n"
                "    open(f'node_modules/p{i % 50}/{i}.js', 'w').write('x' * i)\n"
                "open('package-lock.json', 'w').write('{}')"
            )
        )


async def test_a_large_new_folder_that_the_user_has_worked_in_stays() -> None:
    async with captured() as case:
        await case.run(
            python(
                "import os\nos.mkdir('lib')\nfor i in range(1500): open(f'lib/{i}.js', 'w').write('x')\nopen('a', 'w')"
            )
        )
        (case.project / "lib" / "7.js").write_text("mine")
        await case.undo()
        assert not (case.project / "a").exists()
        assert (case.project / "lib" / "7.js").read_text() == "mine"


async def test_a_virtual_environment() -> None:
    async with captured() as case:
        await case.is_undone(f"{PYTHON} -m venv --without-pip v")


async def test_the_users_own_change_in_between_is_kept_and_said() -> None:
    async with captured() as case:
        sources(case.project, ".txt", "one\n", many=6)
        await case.run(python("for n in range(2): open(f'd{n}/f{n}.txt', 'w').write('two\\n')"))
        (case.project / "d0" / "f0.txt").write_text("the user's\n")
        with pytest.raises(Exception, match="was changed after call"):
            await case.undo()
        assert (case.project / "d1" / "f1.txt").read_text() == "two\n"


async def test_what_is_no_file_is_named() -> None:
    async with captured() as case:
        await case.run("mkfifo pipe")
        result = await case.run("rm pipe")
        assert "undo cannot restore 1 that this changed or deleted, such as pipe" in result.output


async def test_a_file_in_the_home_that_was_approved_goes_back_too() -> None:
    async with captured() as case:
        place = case.project.parent / "notes"
        place.write_text("before\n")
        before = look(case.project.parent / "nothing")
        await case.run(f"echo after >> {place}")
        assert place.read_text() == "before\nafter\n"
        await case.undo()
        assert place.read_text() == "before\n"
        assert before == {}
