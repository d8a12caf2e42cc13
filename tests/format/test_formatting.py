"""Formatters after a change: what they may do to a file, and what is told of them."""

import os
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.process.running.test_scope import marked
from toolwright.format.formatting import _restore, _state, kept
from toolwright.format.registry import Chooser, FormatterChoice, chosen_formatters, known_formatters
from toolwright.process.programs.lookup import Lookup
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))


Stage = Callable[..., Workspace]


@pytest.fixture(params=["auto", "off"], ids=["boxed", "unboxed"])
def stage(request: pytest.FixtureRequest) -> Stage:
    """Open a workspace with formatters. What becomes of a file is the same with a box and without."""

    def opened(project: Path, **formatters: Any) -> Workspace:
        config = {"permission": "allow", "formatter": formatters, "sandbox": {"mode": request.param}}
        return make_workspace(project, config=config, environment={"PATH": os.environ["PATH"]})

    return opened


def shell(script: str, *extensions: str, **more: Any) -> dict[str, Any]:
    return {"command": ["sh", "-c", script, "$FILE"], "extensions": list(extensions or (".txt",)), **more}


async def test_a_formatter_changes_the_file_and_is_named(project: Path, stage: Stage) -> None:
    async with stage(project, upper=shell('tr a-z A-Z < "$0" > "$0.new" && mv "$0.new" "$0"')) as workspace:
        result = await workspace.call("write", filePath="a.txt", content="hello\n")
        assert "Formatted with upper" in result.output
        assert (project / "a.txt").read_text() == "HELLO\n"
        edited = await workspace.call("edit", filePath="a.txt", oldString="HELLO", newString="bye")
        assert edited.error is None
        assert (project / "a.txt").read_text() == "BYE\n"


async def test_a_formatter_that_changes_nothing_is_not_mentioned(project: Path, stage: Stage) -> None:
    async with stage(project, idle=shell("true")) as workspace:
        result = await workspace.call("write", filePath="a.txt", content="hello\n")
    assert "ormat" not in result.output


async def test_one_that_fails_leaves_the_text_as_written_and_says_why(project: Path, stage: Stage) -> None:
    async with stage(project, bad=shell('echo broken > "$0"; echo "no such option" >&2; exit 3')) as workspace:
        result = await workspace.call("write", filePath="a.txt", content="hello\n")
    assert result.error is None
    assert "The formatter bad failed" in result.output
    assert "no such option" in result.output
    assert (project / "a.txt").read_text() == "hello\n"


async def test_one_that_is_not_there_has_failed(project: Path, stage: Stage) -> None:
    async with stage(project, mine={"command": ["no-such-formatter", "$FILE"], "extensions": [".txt"]}) as workspace:
        result = await workspace.call("write", filePath="a.txt", content="x\n")
    assert result.error is None
    assert "The formatter mine failed" in result.output
    assert "no-such-formatter" in result.output


async def test_one_that_takes_too_long_is_stopped(project: Path, stage: Stage) -> None:
    async with stage(project, slow=shell('echo half > "$0"; sleep 1000', timeout=300)) as workspace:
        result = await workspace.call("write", filePath="a.txt", content="hello\n")
    assert "took more than 0.3 s" in result.output
    assert (project / "a.txt").read_text() == "hello\n"


async def test_one_that_removes_the_file_has_failed(project: Path, stage: Stage) -> None:
    async with stage(project, gone=shell('rm "$0"')) as workspace:
        result = await workspace.call("write", filePath="a.txt", content="hello\n")
    assert "failed" in result.output
    assert (project / "a.txt").read_text() == "hello\n"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ('rm "$0"; mkdir "$0"', ("something else in the place of the file",)),
        ('rm "$0"; ln -s /etc/passwd "$0"', ("something else in the place of the file",)),
        ('rm "$0"; mkfifo "$0"', ("something else in the place of the file",)),
        ('rm -r "$(dirname "$0")"', ("removed the file", "Read-only file system", "Device or resource busy")),
        ('head -c 100 /dev/zero > "$0"', ("no text",)),
        ('chmod 000 "$0"; exit 1', ("exit code 1",)),
        ('head -c 3000000 /dev/zero | tr "\\0" x; exit 7', ("exit code 7",)),
        ('echo half > "$0"; kill -9 $$', ("signal 9", "exit code 137")),
    ],
)
async def test_whatever_one_leaves_behind_when_it_fails_the_file_is_as_written(
    project: Path, stage: Stage, script: str, said: tuple[str, ...]
) -> None:
    async with stage(project, bad=shell(script)) as workspace:
        result = await workspace.call("write", filePath="deep/a.txt", content="hello\n")
        assert "The formatter bad failed, so the file is as written" in result.output
        assert any(one in result.output for one in said), result.output
        assert len(result.output) < 1000
        written = project / "deep" / "a.txt"
        assert not written.is_symlink()
        assert written.read_text() == "hello\n"
        assert written.stat().st_mode & 0o600 == 0o600
        edited = await workspace.call("edit", filePath="deep/a.txt", oldString="hello", newString="bye")
        assert edited.error is None, edited.output


async def test_what_one_started_ends_with_it_and_changes_nothing_later(project: Path, stage: Stage) -> None:
    script = 'sleep 600 & (while :; do echo late > "$0"; sleep 0.01; done) & true'
    mark = {"FORMATTER_MARK": os.urandom(8).hex()}
    async with stage(project, leaves=shell(script, environment=mark)) as workspace:
        await workspace.call("write", filePath="a.txt", content="hello\n")
        assert marked(f"FORMATTER_MARK={mark['FORMATTER_MARK']}") == []


async def test_a_file_that_one_wrote_anew_without_a_change_can_be_edited_at_once(project: Path, stage: Stage) -> None:
    async with stage(project, same=shell('cp "$0" "$0.new" && mv "$0.new" "$0"')) as workspace:
        result = await workspace.call("write", filePath="a.txt", content="hello\n")
        assert "ormat" not in result.output
        edited = await workspace.call("edit", filePath="a.txt", oldString="hello", newString="bye")
        assert edited.error is None, edited.output


async def test_mark_line_ends_and_mode_are_kept(project: Path, stage: Stage) -> None:
    file = project / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfone\r\n")
    file.chmod(0o750)
    script = 'printf "two\\nthree\\n" > "$0.new"; chmod 600 "$0.new"; mv "$0.new" "$0"'
    async with stage(project, plain=shell(script)) as workspace:
        await workspace.call("read", filePath="a.txt")
        await workspace.call("edit", filePath="a.txt", oldString="one", newString="1")
    assert file.read_bytes() == b"\xef\xbb\xbftwo\r\nthree\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750


async def test_extended_attributes_outlive_a_formatter_that_puts_a_new_file_in_place(
    project: Path, stage: Stage
) -> None:
    file = project / "a.txt"
    file.write_text("one\n")
    try:
        os.setxattr(file, "user.origin", b"here")
    except (OSError, AttributeError):
        pytest.skip("the file system here keeps no extended attributes")
    async with stage(project, plain=shell('echo two > "$0.new"; mv "$0.new" "$0"')) as workspace:
        await workspace.call("read", filePath="a.txt")
        await workspace.call("edit", filePath="a.txt", oldString="one", newString="1")
    assert file.read_text() == "two\n"
    assert os.getxattr(file, "user.origin") == b"here"


@pytest.mark.parametrize("script", ['echo two > "$0.new"; mv "$0.new" "$0"', 'rm "$0"'])
async def test_the_other_names_of_a_file_are_kept_whatever_is_put_in_its_place(
    project: Path, stage: Stage, script: str
) -> None:
    file, other = project / "a.txt", project / "other"
    file.write_text("one\n")
    other.hardlink_to(file)
    async with stage(project, plain=shell(script)) as workspace:
        await workspace.call("read", filePath="a.txt")
        await workspace.call("edit", filePath="a.txt", oldString="one", newString="1")
    assert file.read_text() == ("1\n" if "rm" in script else "two\n")
    assert file.samefile(other) or not Path("/proc/self/fd").exists()
    assert sorted(one.name for one in project.iterdir()) == ["a.txt", "other"]


async def test_formatters_run_in_order_in_the_project_folder(project: Path, stage: Stage) -> None:
    (project / "sub").mkdir()
    add = 'pwd >> "$0"; echo {} >> "$0"'
    async with stage(project, one=shell(add.format(1)), two=shell(add.format(2))) as workspace:
        await workspace.call("write", filePath="sub/a.txt", content="x\n")
    assert (project / "sub/a.txt").read_text() == f"x\n{project}\n1\n{project}\n2\n"


async def test_a_file_in_a_folder_with_odd_letters_is_formatted(project: Path, stage: Stage) -> None:
    (project / "a b'$x").mkdir()
    async with stage(project, add=shell('echo 1 >> "$0"')) as workspace:
        await workspace.call("write", filePath="a b'$x/ü.txt", content="x\n")
    assert (project / "a b'$x/ü.txt").read_text() == "x\n1\n"


async def test_undoing_the_call_brings_back_what_was_there_before_it(project: Path, stage: Stage) -> None:
    (project / "a.txt").write_text("before\n")
    async with stage(project, add=shell('echo formatted >> "$0"')) as workspace, workspace.session() as session:
        await session.call("read", filePath="a.txt")
        await session.call("write", filePath="a.txt", content="after\n")
        entries = workspace.files.journal.entries(session.id)
        assert [entry.path for entry in entries] == [str(project / "a.txt")] * 2
        assert entries[0].after == entries[1].before


async def test_no_formatter_runs_unless_the_settings_say_so(project: Path) -> None:
    async with make_workspace(project, config={"permission": "allow"}) as workspace:
        assert not workspace.files.committed


@pytest.mark.skipif(shutil.which("ruff", path=PATH) is None, reason="ruff is not installed")
async def test_ruff_formats_where_the_project_asks_for_it(project: Path) -> None:
    config = {"permission": "allow", "formatter": True}
    async with make_workspace(project, config=config, environment={"PATH": PATH}) as workspace:
        await workspace.call("write", filePath="a.py", content="x  =  1\n")
        assert (project / "a.py").read_text() == "x  =  1\n"
        (project / "ruff.toml").write_text("")
        await workspace.call("write", filePath="b.py", content="\ufeffx  =  1\n")
    assert (project / "b.py").read_bytes() == b"\xef\xbb\xbfx = 1\n"


def test_every_formatter_of_the_data_names_the_file_or_takes_it_on_its_input() -> None:
    assert len(known_formatters()) >= 23
    for formatter in known_formatters():
        assert formatter.stdin or "$FILE" in formatter.command
        assert formatter.extensions


def test_an_ending_of_two_parts_counts() -> None:
    assert [one.name for one in known_formatters() if one.fits(Path("/a/index.html.erb"))] == ["htmlbeautifier"]


def test_a_formatter_that_may_run_code_of_the_project_waits_for_trust(project: Path, tmp_path: Path) -> None:
    program = project / "node_modules" / ".bin" / "prettier"
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    (project / "package.json").write_text('{"devDependencies": {"prettier": "3"}}')

    def wanted(*, trusted: bool, **choices: FormatterChoice) -> list[str]:
        chooser = Chooser(
            formatters=chosen_formatters(choices),
            directory=project,
            top=project,
            lookup=Lookup(str(tmp_path), project=[project], trusted=trusted),
            trusted=trusted,
        )
        return [one.formatter.name for one in chooser.for_file(project / "a.ts")]

    assert wanted(trusted=True) == ["prettier"]
    assert wanted(trusted=False) == []
    assert wanted(trusted=True, prettier=FormatterChoice(disabled=True)) == []


def test_what_a_formatter_must_not_change_is_put_back() -> None:
    assert kept(b"a\r\n", b"b\n") == b"b\r\n"
    assert kept(b"a\n", b"b\r\n") == b"b\n"
    assert kept(b"a\r\nb\n", b"c\n") == b"c\n"
    assert kept(b"\xef\xbb\xbfa", b"b") == b"\xef\xbb\xbfb"


def test_a_result_is_written_through_no_link_that_has_come_in_its_way(tmp_path: Path) -> None:
    """A job may exchange a folder while the formatter runs."""
    path = tmp_path / "src" / "a.py"
    path.parent.mkdir()
    path.write_text("x=1\n")
    with path.open("rb") as file:
        state = _state(file)
        path.parent.rename(tmp_path / "moved")
        (tmp_path / "outside").mkdir()
        path.parent.symlink_to(tmp_path / "outside")
        with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
            _restore(path, state, b"x = 1\n")
    assert list((tmp_path / "outside").iterdir()) == []
