"""Rules about what is in a folder, held against what is done to the folder; and what is only suspected."""

import pytest

from toolwright.calls.request import Below, PathPattern, Request
from toolwright.definition import Action
from toolwright.permission.approvals import Approval, covered
from toolwright.permission.judge import judged
from toolwright.permission.rules import Layer, LayerName, Policy, Rule


def policy(*rules: tuple[str, Action]) -> Policy:
    own = (Rule("edit", "*", "allow"), *(Rule("edit", pattern, action) for pattern, action in rules))
    return Policy("build", (Layer("user", own),))


@pytest.mark.parametrize(
    ("rule", "below", "action"),
    [
        ("src/*", Below(folder=PathPattern("src")), "deny"),
        ("src/gen/*", Below(folder=PathPattern("src")), "deny"),
        ("src/*", Below(folder=PathPattern("."), names=("src/a",)), "deny"),
        ("src/*", Below(folder=PathPattern("other"), names=("a",)), "allow"),
        ("*.lock", Below(folder=PathPattern("src"), names=("a.lock", "b")), "deny"),
        ("*.lock", Below(folder=PathPattern("src"), names=("A.LOCK",)), "deny"),
        ("*.lock", Below(folder=PathPattern("src"), names=("b",)), "allow"),
        ("*.lock", Below(folder=PathPattern("src"), names=("b",), complete=False), "ask"),
        ("src/*", Below(folder=PathPattern("other"), names=("b",), complete=False), "allow"),
        ("src/*", Below(folder=PathPattern("src"), certain=False), "ask"),
        ("/p/src/*", Below(folder=PathPattern("src", ("/p/src",))), "deny"),
        ("src", Below(folder=PathPattern("src")), "allow"),
    ],
)
def test_a_rule_about_what_is_in_a_folder_fits_the_folder(rule: str, below: Below, action: Action) -> None:
    assert policy((rule, "deny")).decide_below("edit", below).action == action


def test_a_later_rule_that_allows_a_part_leaves_the_rest_forbidden() -> None:
    rules = policy(("src/*", "deny"), ("src/tmp/*", "allow"))
    assert rules.decide_below("edit", Below(folder=PathPattern("src"))).action == "deny"
    assert rules.decide_below("edit", Below(folder=PathPattern("src/tmp"), names=("a",))).action == "allow"


@pytest.mark.parametrize(
    ("rule", "action"), [("x", "ask"), ("x*", "ask"), ("*", "allow"), ("*x", "allow"), ("y", "allow")]
)
def test_what_is_suspected_counts_only_where_a_rule_names_it_and_then_asks(rule: str, action: Action) -> None:
    assert policy((rule, "deny")).decide_suspected("edit", "x").action == action


def test_what_a_box_contains_is_asked_about_only_where_rules_restrict() -> None:
    request = Request(permission="edit", patterns=("a",), must_ask=True, contained=True)
    assert judged(policy(), request, ()).action == "allow"
    assert judged(policy(("b", "deny")), request, ()).action == "ask"
    certain = Request(permission="edit", patterns=("a",), must_ask=True)
    assert judged(policy(), certain, ()).action == "ask"


def test_an_approval_covers_only_what_was_seen() -> None:
    request = Request(
        permission="bash",
        patterns=("rm a", "ls a"),
        exact={"rm a": "cd sub && rm a", "rm $x": ""},
        only_read=("/out/x",),
    )
    assert not covered(request, "rm a", [Approval("bash", "rm *"), Approval("bash", "rm a")])
    assert covered(request, "rm a", [Approval("bash", "cd sub && rm a")])
    assert not covered(request, "rm $x", [Approval("bash", "rm $x"), Approval("bash", "")])
    assert covered(request, "ls a", [Approval("bash", "ls *")])
    assert covered(request, "/out/x", [Approval("bash", "/out/*", reading=True)])
    assert not covered(request, "/out/y", [Approval("bash", "/out/*", reading=True)])


@pytest.mark.parametrize(
    ("guarded", "certain", "action"),
    [(False, False, "ask"), (False, True, "deny"), (True, False, "allow"), (True, True, "allow")],
)
def test_what_is_ours_in_a_folder_is_asked_about_unless_a_box_guards_it(
    guarded: bool, certain: bool, action: Action
) -> None:
    below = Below(folder=PathPattern("src"), names=("x.json",), guarded=guarded, certain=certain)
    assert layered("protected").decide_below("edit", below).action == action


@pytest.mark.parametrize(
    ("guarded", "certain", "action"),
    [(False, False, "ask"), (False, True, "allow"), (True, False, "allow"), (True, True, "allow")],
)
def test_what_runs_later_in_a_folder_is_asked_about_unless_all_of_it_goes_or_a_box_works_on_it(
    guarded: bool, certain: bool, action: Action
) -> None:
    below = Below(folder=PathPattern("src"), names=("x.json",), guarded=guarded, certain=certain)
    assert layered("run later").decide_below("edit", below).action == action


def layered(name: LayerName) -> Policy:
    """Everything is allowed but one name, by a layer that is always there."""
    own = Layer("user", (Rule("edit", "*", "allow"),))
    return Policy("build", (own, Layer(name, (Rule("edit", "src/x.json", "deny"),))))


def test_what_somebody_wants_to_be_asked_about_is_told_with_the_callers_first_and_without_what_always_asks() -> None:
    asks, allows = Rule("edit", "a", "ask"), Rule("edit", "b", "allow")
    caller = Policy("build", (Layer("user", (Rule("edit", "c", "ask"),)),))
    layers = tuple(Layer(name, (asks, allows)) for name in ("defaults", "user", "protected", "run later"))
    assert Policy("general", layers).under(caller).asked_by_user("edit") == ("c", "a")
