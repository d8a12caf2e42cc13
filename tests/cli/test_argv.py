"""Options and words: in any order, with a helpful word about those there are not."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from tests.cli.conftest import Tw
from toolwright.cli import COMMANDS, HELP

EXAMPLE = re.compile(r"^  (?:.*\| )?tw (.*?)(?:   .*| [<>&].*)?$", re.MULTILINE)
"""Without what is piped into it or out of it, and without the remark after it."""


def _examples() -> list[str]:
    """What the help of any command tells people to try."""
    found = EXAMPLE.findall(HELP.format(commands="").partition("try\n")[2])
    for command in COMMANDS:
        made = import_module(f"toolwright.cli.commands.{command}_command")._parser()
        found += EXAMPLE.findall(made.epilog or "")
    return found


def test_the_help_has_examples() -> None:
    assert len(_examples()) > 40


@pytest.mark.parametrize("example", _examples())
def test_every_example_in_a_help_is_a_command_line_that_is_understood(example: str) -> None:
    words = shlex.split(example)
    command, *arguments = words if words[0] in COMMANDS else ["chat", *words]
    module = import_module(f"toolwright.cli.commands.{command}_command")
    made = module._parser()
    if (command, arguments[:1]) == ("eval", ["compare"]):
        made, arguments = module._compare_parser(), arguments[1:]
    # After -- comes the command line of another program.
    made.parse_args(arguments[: arguments.index("--")] if "--" in arguments else arguments)


@pytest.mark.parametrize(
    "words", ["grep --json add", "--json grep add", "grep add --json", "--agent=plan grep --json add"]
)
def test_options_of_a_call_stand_anywhere(tw: Tw, project: Path, words: str) -> None:
    (project / "basket.py").write_text("def add(): ...\n")
    assert "basket.py" in tw("tool", "call", *words.split()).json["output"]


@pytest.mark.parametrize(
    "words", ["--json list --agent plan", "--agent plan list --json", "--trust --agent plan --json list"]
)
def test_options_of_an_action_stand_before_it_too(tw: Tw, words: str) -> None:
    assert "read" in [one["id"] for one in tw("tool", *words.split()).json]


def test_an_option_with_a_value_stands_between_the_words_too(tw: Tw, project: Path) -> None:
    (project / "a.txt").write_text("hello\n")
    assert tw("tool", "call", "read", "--agent", "plan", "a.txt").code == 0
    assert tw("tool", "call", "--", "read", "a.txt").code == 0
    assert "--agent" in tw("tool", "call", "read", "a.txt", "--agent").err


@pytest.mark.parametrize(
    "words", ["rm -rf build", "--agent plan rm -rf build", "rm -rf --agent plan build", "-- rm -rf build"]
)
def test_a_command_to_be_explained_keeps_its_own_options(tw: Tw, words: str) -> None:
    assert "'rm -rf build' → allow" in tw("permission", "explain", "bash", *words.split()).out


def test_a_call_by_hand_does_not_take_an_option_it_does_not_know_for_a_word(tw: Tw, project: Path) -> None:
    (project / "build").mkdir()
    misspelt = tw("tool", "call", "bash", "rm -r build", "--dryrun")
    assert (misspelt.code, misspelt.out) == (2, "")
    assert misspelt.err == "tw: there is no option --dryrun; did you mean --dry-run? See tw tool call --help.\n"
    loose = tw("tool", "call", "bash", "rm", "-r", "build")
    assert loose.code == 2
    assert "there is no option -r; put words that begin with - into quotes with the rest." in loose.err
    assert (project / "build").is_dir()


def test_a_word_too_many_is_named(tw: Tw) -> None:
    assert tw("tool", "list", "x").err == "tw: unexpected: x. See tw tool list --help.\n"


@pytest.mark.parametrize(("tool", "missing"), [("write", "content"), ("edit", "newString"), ("task", "prompt")])
def test_a_call_by_hand_makes_no_argument_up(tw: Tw, project: Path, tool: str, missing: str) -> None:
    outcome = tw("tool", "call", tool, "new.txt")
    assert outcome.code == 1
    assert f"{missing}: is missing" in outcome.err
    assert not (project / "new.txt").exists()


def test_a_command_by_hand_is_titled_by_itself(tw: Tw) -> None:
    assert tw("tool", "call", "bash", "echo hi", "--json").json["title"] == "echo hi"


def test_of_an_option_given_twice_the_last_counts_and_that_is_told(tw: Tw) -> None:
    twice = tw("tool", "list", "--agent", "plan", "--agent=build")
    assert twice.err == "--agent is given twice; build counts, plan does not\n"
    assert twice.out == tw("tool", "list", "--agent", "build").out
    assert tw("tool", "list", "--agent", "build", "--agent", "build").err == ""


def test_options_of_the_command_that_is_explained_are_its_own(tw: Tw) -> None:
    outcome = tw("permission", "explain", "bash", "ls", "-h")
    assert "'ls -h'" in outcome.out
    assert "usage" not in outcome.out.lower()
