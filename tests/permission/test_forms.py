"""The ways a configuration says permissions, and the rules they come to."""

import re
from pathlib import Path
from typing import Any, cast

import pytest

from toolwright.errors import UsageError
from toolwright.permission.forms import given_rules, rules_from, with_legacy_tools
from toolwright.permission.rules import Rule
from toolwright.testing import make_workspace

HOME = Path("/home/ada")

FORMS: list[tuple[Any, list[str]]] = [
    ("ask", ["* *: ask"]),
    ({}, []),
    ({"bash": "allow"}, ["bash *: allow"]),
    (
        {"bash": {"*": "allow", "rm": "deny"}, "edit": "allow", "webfetch": "ask"},
        ["bash *: allow", "bash rm: deny", "edit *: allow", "webfetch *: ask"],
    ),
    ({"mcp_*": {"*": "ask"}, "zz": "allow"}, ["mcp_* *: ask", "zz *: allow"]),
    (
        {"external_directory": {"~/x/*": "allow", "$HOME/y": "deny", "~": "ask", "$HOME": "deny", "a~/b": "allow"}},
        [
            "external_directory /home/ada/x/*: allow",
            "external_directory /home/ada/y: deny",
            "external_directory /home/ada: ask",
            "external_directory /home/ada: deny",
            "external_directory a~/b: allow",
        ],
    ),
    ([{"action": "shell", "resource": "x", "effect": "deny"}], ["bash x: deny"]),
    ([{"action": "shel*", "resource": "x", "effect": "deny"}], ["shel* x: deny", "bash x: deny"]),
    ([{"action": "sub*", "resource": "x", "effect": "ask"}], ["sub* x: ask", "task x: ask"]),
    ([{"action": "sub*", "resource": "x", "effect": "allow"}], ["sub* x: allow"]),
    ([{"action": "*", "resource": "x", "effect": "deny"}], ["* x: deny"]),
]


@pytest.mark.parametrize(("form", "expected"), FORMS)
def test_every_form_becomes_rules_in_the_order_written(form: Any, expected: list[str]) -> None:
    assert [str(rule) for rule in rules_from(form, HOME)] == expected


LEGACY: list[tuple[Any, Any, Any]] = [
    (None, None, {}),
    ("ask", None, "ask"),
    (None, {"write": False, "edit": True}, {"edit": "allow"}),
    (None, {"*": False, "read": True}, {"*": "deny", "read": "allow"}),
    ({"bash": "allow"}, {"bash": False}, {"bash": "allow"}),
    (
        {"bash": {"git *": "allow"}, "read": "ask"},
        {"write": False, "bash": False, "mytool": True},
        {"edit": "deny", "bash": {"git *": "allow"}, "mytool": "allow", "read": "ask"},
    ),
    ("ask", {"bash": False}, {"bash": "deny", "*": "ask"}),
]


@pytest.mark.parametrize(("permission", "tools", "expected"), LEGACY)
def test_the_older_booleans_lie_under_the_permissions(permission: Any, tools: Any, expected: Any) -> None:
    merged = with_legacy_tools(permission, tools)
    assert merged == expected
    if isinstance(expected, dict):
        assert list(merged) == list(expected)


def test_a_rule_knows_the_file_and_line_it_was_written_in(project: Path) -> None:
    (project / "toolwright.jsonc").write_text(
        '{\n  // why\n  "permission": {\n    "bash": {\n      "rm *": "deny"\n    }\n  }\n}'
    )
    decision = make_workspace(project).session().ruled_agent.policy.decide("bash", "rm x")
    assert decision.rule is not None
    assert decision.rule.source == f"{project.resolve() / 'toolwright.jsonc'}:5"
    assert decision.layer == "project"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (7, "7 is no rule: give Rule(permission, pattern, action), or the form of a setting."),
        (["bash"], "'bash' is no rule: give Rule("),
        ([Rule("bash", "*", cast("Any", "perhaps"))], "'perhaps' is none of"),
        ({"bash": 3}, "is no permission"),
    ],
)
def test_rules_that_a_program_gives_and_that_are_none_are_refused_with_what_to_give(given: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)):
        given_rules(given)


def test_rules_that_a_program_gives_are_records_or_the_form_of_a_setting() -> None:
    rule = Rule("bash", "*", "ask")
    assert given_rules([rule]) == given_rules((rule,)) == (rule,)
    assert [(one.permission, one.pattern, one.action) for one in given_rules({"bash": "ask"})] == [("bash", "*", "ask")]
