"""What a newcomer types in the first minutes, and what they see."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import toolwright
from tests.cli.conftest import Tw
from tests.cli.person import at_terminal
from tests.session.trial import call, calls, says
from toolwright.cli.dispatch import os_trouble
from toolwright.cli.run.input import with_piped
from toolwright.errors import ConfigError, UsageError
from toolwright.machine import folders


def program(*arguments: str, folder: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """`tw` as its own process, with nothing of this machine's user."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder.parent / "home"), **more}
    return subprocess.run(
        [sys.executable, "-m", "toolwright", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def script(project: Path) -> str:
    """A model that writes a file, answers, and then answers once more."""
    file = project.parent / "script.json"
    turns = [calls(call("write", filePath="new.txt", content="one\n")), says("Written."), says("Again.")]
    file.write_text(json.dumps(turns))
    return f"scripted/{file}"


def test_help_and_version_in_the_words_people_try(tw: Tw) -> None:
    for words in (("--version",), ("-v",), ("-V",), ("version",)):
        assert tw(*words).out == f"{toolwright.__version__}\n"
    with pytest.raises(SystemExit) as ended:
        tw("help", "run")
    assert ended.value.code == 0
    assert tw("help", "nope").code == 2


@pytest.mark.parametrize("variables", [{}, {"PYTHONDONTWRITEBYTECODE": "1"}])
def test_the_demo_runs_through_and_says_how_to_go_on(project: Path, variables: dict[str, str]) -> None:
    shop = project / "an odd ü shop"
    done = program("demo", "--directory", str(shop), folder=project, **variables)
    assert (done.returncode, "\nTraceback" in done.stderr) == (0, False), done.stderr
    assert "+        self.prices.extend([price] * count)" in done.stdout
    assert "AssertionError: 2.5 != 7.5" in done.stderr
    assert "│ OK" in done.stderr
    # Where commands are watched, a cache that came and went in the turn is no change.
    assert not variables or "deleted (not text" not in done.stdout
    [command] = re.findall(r"^  tw (session revert .*?)  ", done.stdout, re.MULTILINE)
    assert command == f"session revert last --directory '{shop}'"
    assert program("undo", "--directory", str(shop), folder=project).returncode == 0
    assert "self.prices.append(price)" in (shop / "basket.py").read_text()


def test_the_demo_leaves_a_folder_alone_that_has_something_in_it(tw: Tw, project: Path) -> None:
    (project / "mine.txt").write_text("mine")
    outcome = tw("demo", "--directory", str(project))
    assert outcome.code == 2
    assert [file.name for file in project.iterdir()] == ["mine.txt"]


def test_a_change_is_previewed_as_a_diff_and_undone(tw: Tw, project: Path, script: str) -> None:
    assert tw("run", "Go", "--model", script).code == 0
    preview = tw("undo", "--preview").out
    assert "delete" in preview
    assert "-one" in preview
    assert (project / "new.txt").exists()
    assert tw("undo").code == 0
    assert not (project / "new.txt").exists()
    again = tw("undo")
    assert again.code == 2
    assert "no turn left to undo" in again.err


def test_a_session_is_named_by_its_beginning_its_two_words_or_last(tw: Tw, script: str) -> None:
    tw("run", "Go", "--model", script)
    [info] = tw("session", "list", "--json").json
    for name in (info["id"], info["id"][:20], info["slug"], "last"):
        assert info["id"] in tw("session", "show", name).out
    assert tw("session", "show", "ses_").code == 2
    deleted = tw("session", "delete", "last")
    assert (deleted.code, deleted.err) == (0, f"deleted {info['id']} and the sessions of its subagents\n")


@pytest.mark.parametrize("command", [("session", "delete"), ("session", "revert"), ("session", "show")])
def test_a_session_of_another_project_is_not_touched(
    tw: Tw, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    tw("run", "Go", "--model", script)
    [info] = tw("session", "list", "--json").json
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    outcome = tw(*command, info["id"])
    assert outcome.code == 2
    assert "belongs to another project. Go to" in outcome.err


@pytest.mark.parametrize("broken", ["database", "trust"])
def test_a_broken_file_of_our_own_is_one_sentence(tw: Tw, home: Path, script: str, broken: str) -> None:
    data = home / ".local/share/toolwright"
    data.mkdir(parents=True)
    (data / ("toolwright.db" if broken == "database" else "trust.json")).mkdir()
    outcome = tw("run", "Go", "--model", script)
    assert outcome.code != 0
    assert "Traceback" not in outcome.err
    assert len([line for line in outcome.err.splitlines() if line.startswith("tw: ")]) == 1


@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full"])
def test_closed_and_full_streams_make_no_traceback(project: Path, closing: str) -> None:
    command = f'"$0" -m toolwright tool list {closing}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable],
        cwd=project,
        env={"PATH": os.environ["PATH"], "HOME": str(project.parent / "home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode == (1 if "full" in closing else 0)


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_are_for_those_who_want_them(
    project: Path, script: str, variables: dict[str, str], coloured: bool
) -> None:
    with at_terminal(project, "run", "Go", "--model", script, variables=variables) as terminal:
        assert terminal.exit_code() == 0
        assert ("\x1b[" in terminal.seen) is coloured
        assert "• write new.txt" in terminal.words


def test_the_log_tells_requests_decisions_and_processes_but_no_contents(project: Path) -> None:
    file = project.parent / "script.json"
    secret = "sk-live-0123456789"
    turns = [calls(call("bash", command=f"echo {secret}", description="Say")), says("Done.")]
    file.write_text(json.dumps(turns))
    done = program("run", "Go", "--model", f"scripted/{file}", folder=project, TOOLWRIGHT_LOG="debug,json")
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    modules = {line["module"] for line in lines}
    assert {"toolwright.models.transport.retry", "toolwright.call", "toolwright.permission.gate"} <= modules
    assert "toolwright.process.jobs.jobs" in modules
    assert all(line["time"].endswith("Z") and line["level"] == "debug" for line in lines)
    assert secret not in done.stderr


def test_what_comes_from_another_program_and_is_not_used_is_told_on_the_first_run(
    tw: Tw, project: Path, script: str
) -> None:
    (project / ".claude/commands").mkdir(parents=True)
    (project / ".claude/commands/fix.md").write_text("Fix it.")
    assert "not used here: commands of Claude Code; tw doctor tells why" in tw("run", "Go", "--model", script).err
    assert "not used here" not in tw("run", "Go", "--model", script).err


@pytest.mark.parametrize("words", [["/review main"], ["--command", "review", "main"]])
def test_a_run_that_begins_with_a_command_is_gone_on_with(tw: Tw, script: str, words: list[str]) -> None:
    tw("run", *words, "--model", script)
    tw("run", "and now?", "--continue", "--model", script)
    [session, below] = tw("session", "list", "--all", "--json").json
    shown = tw("session", "show", session["id"]).out
    assert [text for text in ("/review main", "task  /review", "Written.", "and now?") if text in shown] == [
        "/review main",
        "task  /review",
        "Written.",
        "and now?",
    ]
    assert "Review" in tw("session", "show", below["id"]).out


def test_a_command_that_is_none_is_told_and_sent_as_words(tw: Tw, script: str) -> None:
    assert "There is no command /revew (tw command list has them)" in tw("run", "/revew main", "--model", script).err
    assert "There is no command" not in tw("run", "/etc is a folder", "--model", script).err


def test_what_waits_for_trust_is_told_on_the_first_run(tw: Tw, project: Path, script: str) -> None:
    (project / ".opencode/tool").mkdir(parents=True)
    (project / ".opencode/tool/db.ts").write_text("export default {}")
    told = "not used until you trust the project: 1 file of agents, commands and code; tw trust shows them"
    assert told in tw("run", "Go", "--model", script).err
    assert told not in tw("run", "Go", "--model", script).err


def test_a_misspelt_setting_is_told_by_commands_that_use_it_and_by_no_other(tw: Tw, project: Path, script: str) -> None:
    (project / "toolwright.json").write_text('{"modle": "x"}')
    assert "toolwright.json:1: unknown key 'modle'; did you mean 'model'?" in tw("run", "Go", "--model", script).err
    for quiet in (("session", "list"), ("auth",), ("models",)):
        assert "modle" not in tw(*quiet).err


def test_keys_of_another_program_are_told_beside_our_own(tw: Tw, home: Path) -> None:
    (home / ".local/share/opencode").mkdir(parents=True)
    (home / ".local/share/opencode/auth.json").write_text('{"anthropic": {"type": "api", "key": "sk-secret"}}')
    told = tw("auth").err
    assert "keys of OpenCode" in told
    assert "tw auth PROVIDER stores one" in told
    assert "sk-secret" not in told


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (("tw", "per"), "permission"),
        (("tw", "session", "rev"), "revert"),
        (("tw", "session", "revert", "--pre"), "--preview"),
        (("tw", "run", "--max-c"), "--max-cost"),
        (("tw", "--cont"), "--continue"),
        (("tw", "--continue", "--pl"), "--plain"),
        (("tw", "completion", "f"), "fish"),
    ],
)
def test_a_shell_completes_commands_actions_and_options(tw: Tw, typed: tuple[str, ...], expected: str) -> None:
    script = tw("completion", "bash").out
    words = " ".join(f"'{word}'" for word in typed)
    asked = f'COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _tw; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("tw per", ["permission"]),
        ("tw session rev", ["revert"]),
        ("tw session revert --pre", ["--preview"]),
        ("tw session show rev", []),
        ("tw run --max-c", ["--max-cost"]),
        ("tw completion f", ["fish"]),
    ],
)
def test_fish_completes_commands_actions_and_options(tw: Tw, typed: str, expected: list[str]) -> None:
    script = tw("completion", "fish").out
    asked = ["fish", "--no-config", "-c", f"{script}\ncomplete -C '{typed}'"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert [line.partition("\t")[0] for line in found.splitlines()] == expected


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_reads_the_script(tw: Tw) -> None:
    script = tw("completion", "zsh").out
    asked = ["zsh", "-f", "-c", f"autoload -Uz compinit; compinit -D -u\n{script}\nprint $_comps[tw]"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert "_bash_complete" in done.stdout
    assert not done.stderr


def test_where_the_whole_file_system_is_read_only_a_folder_in_memory_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    monkeypatch.setattr(folders, "MEMORY", str(tmp_path))
    made = folders.make_temporary("toolwright-")
    assert made.is_dir()
    assert made.parent == tmp_path
    monkeypatch.setattr(folders, "MEMORY", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="Set TMPDIR to one that can"):
        folders.make_temporary("toolwright-")


def test_without_a_null_device_that_is_what_is_told(tw: Tw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "devnull", str(tmp_path / "null"))
    told = tw("tool", "call", "bash", "echo hi")
    assert f"No command can be started, since {tmp_path / 'null'} is not there." in told.out + told.err
    assert "broke" not in told.out + told.err


def test_an_empty_list_says_that_it_is_empty(tw: Tw) -> None:
    assert tw("session", "list").err == "no sessions in this project yet; tw run and tw begin one\n"
    assert "no plugins; " in tw("plugin", "list").err
    assert tw("trust", "--list").err == "no projects are trusted\n"


def test_ctrl_c_while_the_program_is_being_loaded_makes_no_traceback(tw: Tw, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("toolwright.cli.dispatch.run_command", interrupted)
    assert (tw("tool", "list").code, tw("tool", "list").err) == (4, "")


def test_a_folder_that_may_not_be_entered_is_named_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = PermissionError(13, "Permission denied", str(tmp_path / "opencode.json"))
    assert os_trouble(refused) == f"{tmp_path / 'opencode.json'}: Permission denied"
    monkeypatch.setattr("os.access", lambda *_: False)  # for root every folder is open
    assert os_trouble(refused) == f"{tmp_path}: Permission denied"


@pytest.mark.parametrize("wrong", ["sk-ä", "my key is 7", "sk-\udcff"])
def test_what_is_no_key_is_not_stored(tw: Tw, wrong: str) -> None:
    assert "This is no key" in tw("auth", "openai", stdin=wrong).err
    assert "openai" not in tw("auth").out


def test_a_list_is_no_session(tw: Tw, project: Path) -> None:
    (project / "list.json").write_text("[]")
    assert "list.json is no exported session: it needs" in tw("session", "import", "list.json").err


def test_a_folder_that_is_gone_is_named(tw: Tw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    told = "The folder you are in was deleted: change to another, or name one with --directory"
    assert tw("tool", "list").err == f"tw: {told}. tw doctor checks the folders that are used.\n"
    assert f"bad  settings  {told}" in tw("doctor").out


def test_undo_walks_back_turn_by_turn_and_redo_forward_again(tw: Tw, project: Path) -> None:
    script = project.parent / "turns.json"
    turns = [
        *(calls(call("write", filePath="one.txt", content="1\n")), says("Written.")),
        *(calls(call("write", filePath="two.txt", content="2\n")), says("Written.")),
    ]
    script.write_text(json.dumps(turns))
    assert tw("run", "--yes", "-m", f"scripted/{script}", "first").code == 0
    script.write_text(json.dumps(turns[2:]))
    assert tw("run", "--yes", "-m", f"scripted/{script}", "--continue", "second").code == 0

    def there() -> list[str]:
        return sorted(path.name for path in project.glob("*.txt"))

    assert there() == ["one.txt", "two.txt"]
    for command, left in (
        ("undo", ["one.txt"]),
        ("undo", []),
        ("redo", ["one.txt"]),
        ("redo", ["one.txt", "two.txt"]),
    ):
        assert tw(command).code == 0
        assert there() == left
    assert "Nothing was undone" in tw("redo").err


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], str]]:
    """A prompt with these bytes on standard input."""
    file = tmp_path / "piped"
    with ExitStack() as streams:

        def prompt(data: bytes) -> str:
            file.write_bytes(data)
            monkeypatch.setattr("sys.stdin", streams.enter_context(file.open()))
            return with_piped("Look")

        yield prompt


def test_what_is_piped_in_and_is_no_text_is_refused(piped: Callable[[bytes], str]) -> None:
    with pytest.raises(UsageError, match=r"Standard input is not text\. Send a file along with --file\."):
        piped(b"\x7fELF\0\0")


def test_what_is_piped_in_and_is_not_all_utf_8_is_told(
    piped: Callable[[bytes], str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert piped("größe �".encode()) == "Look\n\ngröße �"
    assert capsys.readouterr().err == ""
    assert piped(b"gr\xf6\xdfe") == "Look\n\ngr��e"
    assert capsys.readouterr().err == "standard input is not all UTF-8; what is not is sent as �\n"
