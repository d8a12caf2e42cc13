"""Explaining: the engine's own decision, with every rule that had a say in it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from toolwright.calls.acts import Act
from toolwright.calls.request import Request
from toolwright.permission.approvals import Approval
from toolwright.permission.explain import explain, lines
from toolwright.permission.judge import judged
from toolwright.permission.rules import Layer, LayerName, Policy, Rule

ACTIONS = st.sampled_from(["allow", "ask", "deny"])
RULES = st.builds(Rule, st.sampled_from(["*", "bash"]), st.sampled_from(["*", "a", "a*", "b"]), ACTIONS)
NAMES: list[LayerName] = ["defaults", "agent", "user", "project", "agent (user)", "agent (project)", "session"]


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    policy: Policy | None = None
    for depth in range(draw(st.integers(1, 3))):
        layers = tuple(
            Layer(name, tuple(draw(st.lists(RULES, max_size=2))), draw(st.booleans()) if "project" in name else False)
            for name in NAMES
        )
        policy = Policy(f"agent {depth}", layers, policy)
    assert policy is not None
    return policy


REQUESTS = st.builds(
    Request,
    permission=st.just("bash"),
    patterns=st.lists(st.sampled_from(["a", "ab", "b", "c"]), min_size=1, max_size=2).map(tuple),
    implied=st.lists(st.sampled_from(["a", "b"]), max_size=1).map(tuple),
    must_ask=st.booleans(),
)
APPROVALS = st.lists(st.builds(Approval, st.just("bash"), st.sampled_from(["*", "a", "a*"])), max_size=2)


@settings(max_examples=rounds(70, 300), deadline=None)
@given(policy=policies(), request=REQUESTS, approvals=APPROVALS)
def test_the_winner_it_names_is_the_decision(policy: Policy, request: Request, approvals: list[Approval]) -> None:
    told = explain(policy, request, approvals)
    assert told.action == judged(policy, request, approvals).action
    strictness = ["allow", "ask", "deny"]
    for pattern in (*request.patterns, *request.implied):
        under = [one for one in told.patterns if one.pattern == pattern]
        strictest = max((one.action for one in under), key=strictness.index)
        assert strictest == policy.decide("bash", pattern).action
        for one in under:
            counting = [match for match in one.matches if match.counts]
            assert one.decision.rule is (counting[-1].rule if counting else None)
    assert told.advice
    assert lines(told)[0] == f"bash: {told.action}"


def test_it_reads_as_a_story_with_file_and_line() -> None:
    policy = Policy(
        "plan",
        (
            Layer("defaults", (Rule("*", "*", "allow", "built in"),)),
            Layer("agent", (Rule("edit", "*", "deny", "built in"),)),
            Layer("user", (Rule("edit", "*", "allow", "toolwright.json:7"),)),
        ),
    )
    told = explain(policy, Request(permission="edit", patterns=("src/a.py",)), ())
    assert lines(told) == [
        "edit: deny",
        "  'src/a.py' → deny  [agent plan]",
        "      defaults         * *: allow  built in",
        "    * agent            edit *: deny  built in",
        "    x user             edit *: allow  toolwright.json:7",
        (
            "  Only a later rule would change it. `edit *: deny` is built in, layer agent; no answer and no"
            " approval overrules a deny."
        ),
    ]


def test_it_shows_the_rules_of_every_agent_above() -> None:
    parent = Policy("build", (Layer("user", (Rule("bash", "*", "deny"),)),))
    child = Policy("general", (Layer("defaults", (Rule("*", "*", "allow"),)),), parent)
    told = explain(child, Request(permission="bash", patterns=("ls",)), ())
    assert told.action == "deny"
    assert [(one.policy.agent, one.action) for one in told.patterns] == [("general", "allow"), ("build", "deny")]


def test_it_tells_what_always_would_store_and_what_was_approved() -> None:
    policy = Policy("build", (Layer("user", (Rule("bash", "*", "ask"),)),))
    request = Request(permission="bash", patterns=("git log -5",), always=("git log *",))
    assert explain(policy, request, ()).advice == "Answering `always` would store: bash git log *."
    approved = explain(policy, request, [Approval("bash", "git log *")])
    assert (approved.action, [one.pattern for one in approved.approvals]) == ("allow", ["git log *"])
    assert "tw permission revoke" in approved.advice


@pytest.mark.parametrize(
    ("more", "advice"),
    [
        ({"acts": {"git push --force": Act(kind="final", program="git", words=("git", "push", "--force"))}},
         "It is asked every time, because it cannot be taken back."),
        ({"acts": {"git push": Act(kind="changes", program="git", words=("git", "push"))}, "always": ("git push *",)},
         "Answering `always` would store: bash git push *."),
        ({"must_ask": True}, "It is always asked, because not all of the command could be understood."),
        ({"must_ask": True, "permission": "edit", "metadata": {"reasons": ["a is read-only."]}},
         "It is always asked: a is read-only."),
    ],
)  # fmt: skip
def test_it_says_what_a_lasting_answer_would_be_or_why_there_is_none(more: dict[str, Any], advice: str) -> None:
    policy = Policy("build", (Layer("defaults", (Rule("*", "*", "allow"), Rule("act", "*", "ask"))),))
    pattern = next(iter(more.get("acts", {"x": ()})))
    told = explain(policy, Request(**{"permission": "bash", "patterns": (pattern,), **more}), ())
    assert told.action == "ask"
    assert told.advice.startswith(advice)


def test_where_no_rule_fits_it_says_so(tmp_path: Path) -> None:
    told = explain(Policy("build", ()), Request(permission="x", patterns=("y",), always=()), ())
    assert "    no rule fits, so it is asked" in lines(told)
    assert told.advice == "It can only be allowed once at a time."
