"""Starting: cheap, helpful, and the same exit codes everywhere."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import toolwright
from tests.cli.conftest import Tw
from toolwright.cli import COMMANDS

HEAVY = ("asyncio", "sqlite3", "argparse", "json", "typing", "dataclasses", "logging", "subprocess", "httpx", "yaml")


def loaded(*arguments: str) -> set[str]:
    """The modules that a command has loaded, of those that cost something."""
    code = (
        "import sys; before = set(sys.modules); from toolwright.cli import main; main(sys.argv[1:]);"
        " print('MODULES', *sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("MODULES")[2].split())


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["-h"], ["help"]])
def test_version_and_help_load_nothing_but_themselves(arguments: list[str]) -> None:
    found = loaded(*arguments)
    assert {name for name in found if name.startswith("toolwright")} <= {
        *("toolwright", "toolwright.cli", "toolwright.version")
    }
    assert not found & set(HEAVY)


@pytest.mark.parametrize("arguments", [["tool", "list"], ["tool", "call", "glob", '{"pattern": "*.nothing"}']])
def test_a_single_call_loads_no_model_no_http_no_database(tmp_path: Path, arguments: list[str]) -> None:
    found = loaded("--directory", str(tmp_path), *arguments)
    assert "toolwright.workspace" in found
    assert not found & {
        "sqlite3",
        "http.client",
        "httpx",
        "httpx2",
        "yaml",
        "textual",
        "tree_sitter",
        "PIL",
        "rapidfuzz",
    }
    assert not {name for name in found if name.startswith(("toolwright.models.", "toolwright.session.turns.loop"))}


def test_the_version_is_a_constant(tw: Tw) -> None:
    assert (tw("--version").out, tw("-V").out) == (f"{toolwright.__version__}\n",) * 2


def test_help_names_every_command_and_every_exit_code(tw: Tw) -> None:
    text = tw("--help").out
    assert all(f"  {name} " in text for name in COMMANDS)
    assert "0 done, 1 failed, 2 usage, 3 refused by permission, 4 aborted or timed out, 5 limit reached" in text


def test_no_command_is_a_usage_error_that_helps(tw: Tw) -> None:
    outcome = tw()
    assert outcome.code == 2
    assert "tw COMMAND" in outcome.out


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_a_help_of_its_own(tw: Tw, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        tw(command, "--help")
    assert ended.value.code == 0
    assert f"usage: tw {command}" in capsys.readouterr().out


SUBCOMMANDS = ["tool list", "tool show", "tool call", "agent list", "agent show", "agent create"] + [
    f"permission {action}" for action in ("explain", "test", "list", "revoke")
]


@pytest.mark.parametrize("words", SUBCOMMANDS)
def test_every_subcommand_has_one_too(tw: Tw, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        tw(*words.split(), "--help")
    assert ended.value.code == 0
    assert f"usage: tw {words}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("columns", "usage"),
    [
        (
            "60",
            """\
usage: tw auth [-h] [--directory DIR] [--trust] [--pure]
               [--login | --remove] [--method WAY]
               [--port PORT] [--tunnel]
               [provider]

""",
        ),
        (
            "16",
            """\
usage: tw auth
       [-h]
       [--directory DIR]
       [--trust]
       [--pure]
       [--login | --remove]
       [--method WAY]
       [--port PORT]
       [--tunnel]
       [provider]

""",
        ),
    ],
)
def test_a_usage_too_long_for_the_terminal_is_broken_between_its_options(
    tw: Tw, columns: str, usage: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The versions of Python break it at different places."""
    monkeypatch.setenv("COLUMNS", columns)
    with pytest.raises(SystemExit):
        tw("auth", "--help")
    assert capsys.readouterr().out.startswith(usage)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tol", "list"], "There is no command 'tol'. Did you mean 'tool'?"),
        (["frobnicate"], "There is no command 'frobnicate'. There are: "),
        (["--frobnicate"], "There is no option '--frobnicate'. See tw --help."),
        (["tool"], "say what to do: list, show, call, as in tw tool list. See tw tool --help."),
        (["tool", "list", "--nope"], "there is no option --nope. See tw tool list --help."),
        (["tool", "fly"], "there is no tw tool fly; there are: list, show, call. See tw tool --help."),
        (["tool", "lst"], "there is no tw tool lst; did you mean tw tool list? See tw tool --help."),
        (["session", "shwo", "last"], "did you mean tw session show?"),
        (["permission", "explain"], "the following arguments are required: tool. See"),
        (["--directory"], "--directory needs the name of a folder."),
        (["--trust"], "Name a command. See tw --help."),
        (["attach", "nonsense", "hi"], "There is no run 'nonsense'. tw run --bg begins one."),
        (["run", "hi", "-m", "scripted/none.json"], "none.json cannot be read as a script: No such file or directory."),
        (["serve", "--port", "99999"], "argument --port: 99999 is not between 0 and 65535. See tw serve --help."),
        (["session", "list", "--limit", "-1"], "argument --limit/-n/--max-count: -1 is not above 0."),
        (["session", "import", "none.json"], "none.json cannot be read as a session: No such file or directory."),
        (["models", "nope"], "There is no provider 'nope'. There are: "),
        (["tool", "show"], "the following arguments are required: id. See tw tool show --help."),
        (["agent", "create", "x"], "the following arguments are required: --description"),
        (["tool", "list", "--model", "half"], "--model takes provider/model, not 'half'."),
        (["--directory", "/nowhere/at/all", "tool", "list"], "/nowhere/at/all is not a folder"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_one_message_and_exit_code_two(
    tw: Tw, arguments: list[str], message: str
) -> None:
    outcome = tw(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert outcome.err.startswith("tw: ")
    assert "Traceback" not in outcome.err


def test_a_mistake_in_the_configuration_is_one_message_and_exit_code_one(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission": {"bash": "maybe"}}')
    outcome = tw("tool", "list")
    assert (outcome.code, outcome.out) == (1, "")
    assert "toolwright.json:1: permission.bash: expected" in outcome.err


def test_the_common_options_stand_anywhere(tw: Tw, tmp_path: Path, project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission": {"read": {"*.env": "allow"}}}')
    for arguments in (
        ["--trust", "--directory", str(project), "config"],
        ["config", "--trust", "--directory", str(project)],
        ["--trust", "config", "--directory", str(project)],
    ):
        assert "(trusted)" in tw(*arguments).out


def test_a_warning_about_an_unknown_key_goes_to_stderr(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text('{"permision": {}}')
    outcome = tw("tool", "list")
    assert outcome.code == 0
    assert "warning: " in outcome.err
    assert "did you mean 'permission'?" in outcome.err
    assert "warning" not in outcome.out


def test_python_dash_m_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "toolwright", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == toolwright.__version__


def test_a_reader_that_goes_away_is_no_reason_to_complain(tmp_path: Path) -> None:
    start = shlex.join([sys.executable, "-m", "toolwright", "--directory", str(tmp_path)])
    command = f"{start} tool list --json | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert done.stderr == ""
