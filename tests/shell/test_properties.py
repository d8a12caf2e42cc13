"""What must hold for every text there is: no crash, no silence, no way of growing without end."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from tests.shell.samples import DELETES_VICTIM, HIDDEN_CODE
from tests.waiting import bounded_work
from toolwright.shell import Analysis, analyse
from toolwright.text.wildcard import matches

PIECES = st.sampled_from(
    [
        *(
            "rm",
            "x",
            " ",
            "\n",
            ";",
            "&",
            "&&",
            "|",
            "||",
            "(",
            ")",
            "{",
            "}",
            "'",
            '"',
            "`",
            "$",
            "$(",
            "${",
            "$((",
            "))",
        ),
        *(
            "<",
            ">",
            ">>",
            "<<E",
            "\nE\n",
            "<(",
            "\\",
            "\\\n",
            "#",
            "*",
            "~",
            "=",
            "[",
            "]",
            "[[",
            "]]",
            "!",
            "if ",
            "then ",
        ),
        *(
            "fi",
            "for ",
            "in ",
            "do ",
            "done",
            "case ",
            "esac",
            "f()",
            "eval ",
            "sh -c ",
            "cd ",
            "1",
            "-",
            "--",
            "/",
            "..",
        ),
        *("%", "@", ":", ",", "\t", "é", "\x7f"),
    ]
)
SCRIPTS = st.lists(PIECES, max_size=25).map("".join)
WRAPPERS = [
    "env",
    "command",
    "nohup",
    "nice -n 5",
    "timeout 3",
    "sudo -u root",
    "stdbuf -o0",
    "setsid",
    "time",
    "busybox",
]


def look_at(command: str) -> Analysis:
    return analyse(command, cwd="/p", home="/h")


@given(SCRIPTS)
@settings(max_examples=rounds(370, 1500), deadline=None)
@example("$((" * 40)
@example("`" * 3)
@example("<<E\n$(\nE\n)")
def test_no_text_breaks_the_analyser_or_goes_unjudged(command: str) -> None:
    analysis = look_at(command)
    if analysis.verdict == "understood":
        assert not analysis.reasons
        return
    assert analysis.reasons
    assert analysis.commands
    assert all(command.always == () for command in analysis.commands)


@given(st.text(max_size=60))
@settings(max_examples=rounds(120, 500), deadline=None)
def test_no_characters_break_the_analyser(command: str) -> None:
    look_at(command)


@given(SCRIPTS, st.sampled_from(["; ", " && ", "\n", " | "]))
@settings(max_examples=rounds(120, 500), deadline=None)
def test_a_command_is_judged_whatever_follows_it(rest: str, separator: str) -> None:
    analysis = look_at("rm x" + separator + rest)
    assert any(matches(text, "rm *") for one in analysis.commands for text in (one.shown, *one.implied))


@given(st.lists(st.sampled_from(WRAPPERS), max_size=6))
@settings(max_examples=rounds(50, 100), deadline=None)
def test_wrappers_around_wrappers_hide_nothing(wrappers: list[str]) -> None:
    (command,) = look_at(" ".join([*wrappers, "rm", "victim"])).commands
    assert "rm victim" in (command.shown, *command.implied)


@given(st.lists(st.sampled_from(["sh -c", "bash -c", "eval", "sudo sh -c", "env -S"]), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_scripts_inside_scripts_hide_nothing(wrappers: list[str]) -> None:
    text = "rm victim"
    for wrapper in wrappers:
        text = wrapper + " '" + text.replace("'", "'\\''") + "'"
    analysis = look_at(text)
    assert "rm victim" in analysis.commands[0].implied or analysis.verdict != "understood"
    assert analysis.verdict != "understood" or "/p/victim" in analysis.paths("delete")


@given(st.sampled_from(DELETES_VICTIM), st.sampled_from(["; ", " && ", "\n", " || "]), st.sampled_from(HIDDEN_CODE))
@settings(max_examples=rounds(50, 200), deadline=None)
def test_a_doubt_in_one_part_is_a_doubt_about_the_whole(first: str, separator: str, second: str) -> None:
    if "END" in first or first.endswith("# comment") or "\nB" in first:
        separator = "\n"
    assert look_at(first + separator + second).verdict != "understood"


@pytest.mark.parametrize(
    "command",
    [
        "(" * 50_000,
        "{ " * 20_000,
        "$(" * 20_000,
        "$((" * 20_000,
        "`" * 50_001,
        '"$(' * 20_000,
        "echo " + "{" * 50_000,
        "echo " + "{a,b}" * 10_000,
        "echo {1..9999}{1..9999}{1..9999}",
        "if " * 20_000,
        "a=" * 40_000,
        "x " * 40_000,
        "ls;" * 30_000,
        "<<E " * 20_000,
        "cat <<E\n" + "$(" * 5_000 + "\nE",
        "".join(f"f{i}() {{ f{i + 1}; f{i + 1}; }}\n" for i in range(40)) + "f40() { ls; }\nf0",
        "for a in 1 2; do " * 30 + "x=$x$a; ls" + "; done" * 30,
        "while true; do " * 35 + "cd ..; ls" + "; done" * 35,
        "eval " + "'eval " * 1 + "ls'" * 1,
        "v=a; " + "v=$v$v; " * 60 + "touch $v",
        "[[ " + "a == (" * 5_000,
        "echo ${" * 10_000,
        "sed '" + "s/a/b/;" * 5_000 + "' f",
        "sed '" + "s/" + "\\a" * 20_000 + "' f",
    ],
    ids=lambda command: command[:20],
)  # fmt: skip
def test_hostile_lines_are_answered(command: str) -> None:
    with bounded_work():
        look_at(command)


def test_a_line_that_is_too_long_is_shown_and_not_examined() -> None:
    analysis = look_at("echo " + "x" * 1_000_000)
    assert (analysis.verdict, analysis.reasons) == ("no", ("It is too long to be examined.",))
