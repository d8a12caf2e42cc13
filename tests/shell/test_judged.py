"""The known ways past the rules against the engine's own rules: none of them ends in a silent allow."""

import pytest

from tests.shell.samples import CWD, DELETES_VICTIM, HIDDEN_CODE, HOME, OUTSIDE, WRITES_WITHOUT_COMMAND
from toolwright.definition import Action
from toolwright.files.paths import Tree
from toolwright.permission.rules import Rule, decide
from toolwright.shell import analyse, checks_for, requests_for

ALLOW_ALL = Rule("*", "*", "allow")
ONLY_STATUS = [ALLOW_ALL, Rule("bash", "*", "deny"), Rule("bash", "git status", "allow")]
NO_RM = [ALLOW_ALL, Rule("bash", "rm", "deny"), Rule("bash", "rm *", "deny")]
SOME_COMMANDS = [
    ALLOW_ALL,
    Rule("bash", "*", "deny"),
    *(Rule("bash", pattern, "allow") for pattern in ("echo *", "git *", "ls *", "find *", "cat *", "true")),
]
NOT_OUTSIDE = [ALLOW_ALL, Rule("external_directory", "*", "deny")]


def verdict(command: str, rules: list[Rule]) -> Action:
    """What becomes of the whole line: the strictest answer to anything it needs."""
    analysis = analyse(command, cwd=CWD, home=HOME)
    requests = requests_for(analysis, Tree(CWD).place)
    actions: list[Action] = ["ask" for request in requests if request.must_ask]
    for request in requests:
        actions += [decide(request.permission, one, rules) for one in (*request.patterns, *request.implied)]
    for check in checks_for(analysis, Tree(CWD).place):
        actions += ["deny" for one in check.patterns if decide(check.permission, one, rules) == "deny"]
    return "deny" if "deny" in actions else "ask" if "ask" in actions else "allow"


@pytest.mark.parametrize("command", [*WRITES_WITHOUT_COMMAND, *HIDDEN_CODE, *DELETES_VICTIM])
def test_where_all_but_one_command_is_forbidden_nothing_else_runs(command: str) -> None:
    assert verdict(command, ONLY_STATUS) == "deny"
    assert verdict("git status", ONLY_STATUS) == "allow"


@pytest.mark.parametrize("command", DELETES_VICTIM)
def test_a_forbidden_command_is_forbidden_in_every_disguise(command: str) -> None:
    assert verdict(command, NO_RM) == "deny"


@pytest.mark.parametrize("command", HIDDEN_CODE)
def test_hidden_code_is_never_allowed_in_silence(command: str) -> None:
    assert verdict(command, [ALLOW_ALL]) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "PATH=.:$PATH ls",
        "GIT_EXTERNAL_DIFF=./ls git diff --no-index a victim",
        "LD_PRELOAD=./evil.so ls",
        "git -c alias.z='!touch pwn' z",
        "find . -maxdepth 0 -exec touch pwn \\;",
        "echo hi > /base/outside/x",
    ],
)
def test_a_list_of_allowed_commands_does_not_leak(command: str) -> None:
    assert verdict(command, [*SOME_COMMANDS, Rule("external_directory", "*", "ask")]) != "allow"


@pytest.mark.parametrize("command", [command for command, _ in OUTSIDE])
def test_a_forbidden_outside_stays_out_of_reach(command: str) -> None:
    assert verdict(command, NOT_OUTSIDE) == "deny"


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("echo hi > victim", Rule("edit", "victim", "deny")),
        ("true && echo hi > victim", Rule("edit", "victim", "deny")),
        ("echo hi | cat > victim", Rule("edit", "victim", "deny")),
        ("mv victim elsewhere", Rule("edit", "victim", "deny")),
        ("unlink victim", Rule("edit", "victim", "deny")),
        ("sed -i s/a/b/ victim", Rule("edit", "victim", "deny")),
        ("sed -n 'w victim' a", Rule("edit", "victim", "deny")),
        ("cat .env", Rule("read", "*.env", "deny")),
        ("cat ./sub/../.env", Rule("read", "*.env", "deny")),
        ("head -n 1 < .env", Rule("read", "*.env", "deny")),
        ("for f in a .env; do cat $f; done", Rule("read", "*.env", "deny")),
        ("cp .env copy", Rule("read", "*.env", "deny")),
    ],
)
def test_files_are_judged_as_the_file_tools_would_be(command: str, rule: Rule) -> None:
    assert verdict(command, [ALLOW_ALL, rule]) == "deny"
    assert verdict(command, [ALLOW_ALL]) == "allow"
