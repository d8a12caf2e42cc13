"""Rules: the last that fits wins inside a layer, and no layer gives back what a stronger promise took."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from toolwright.calls.request import HostPattern, PathPattern, Request
from toolwright.definition import Action
from toolwright.machine.folders import Folders
from toolwright.permission.judge import judged
from toolwright.permission.rules import Layer, LayerName, Policy, Rule, decide
from toolwright.testing import make_workspace
from toolwright.text.wildcard import matches


def rules(*lines: str) -> tuple[Rule, ...]:
    """Rules as `bash rm *: deny`."""
    made = []
    for line in lines:
        head, _, action = line.rpartition(": ")
        permission, _, pattern = head.partition(" ")
        made += [Rule(permission, pattern, known) for known in ("allow", "ask", "deny") if known == action]
    return tuple(made)


CASES: list[tuple[list[str], str, str, Action]] = [
    ([], "bash", "rm", "ask"),
    (["bash rm: deny"], "bash", "rm", "deny"),
    (["bash *: allow"], "bash", "rm", "allow"),
    (["bash *: allow", "bash rm: deny"], "bash", "rm", "deny"),
    (["bash rm: deny", "bash *: allow"], "bash", "rm", "allow"),
    (["edit src/*: allow"], "edit", "src/foo.ts", "allow"),
    (["edit src/*: allow"], "edit", "etc/passwd", "ask"),
    (["edit src/*: deny", "edit src/components/*: allow"], "edit", "src/components/B.tsx", "allow"),
    (["edit src/components/*: allow", "edit src/*: deny"], "edit", "src/components/B.tsx", "deny"),
    (["edit *: ask", "edit src/*: allow", "edit src/secret.ts: deny"], "edit", "src/secret.ts", "deny"),
    (["edit *: ask", "edit test/*: deny", "edit src/*: allow"], "edit", "src/foo.ts", "allow"),
    (["bash *: allow"], "unknown_tool", "x", "ask"),
    (["* *: deny"], "bash", "rm", "deny"),
    (["* rm: deny"], "bash", "rm", "deny"),
    (["mcp_* *: allow"], "mcp_server_tool", "x", "allow"),
    (["* *: deny", "bash *: allow"], "bash", "rm", "allow"),
    (["bash *: allow", "* *: deny"], "bash", "rm", "deny"),
    (["* *: ask", "mcp_* *: allow", "mcp_dangerous *: deny"], "mcp_dangerous", "x", "deny"),
    (["task orchestrator-*: deny", "task orchestrator-fast: allow"], "task", "orchestrator-fast", "allow"),
    (["task orchestrator-*: deny", "task orchestrator-fast: allow"], "task", "orchestrator-slow", "deny"),
]


@pytest.mark.parametrize(("lines", "permission", "pattern", "action"), CASES)
def test_the_last_rule_that_fits_wins(lines: list[str], permission: str, pattern: str, action: Action) -> None:
    assert decide(permission, pattern, rules(*lines)) == action


VISIBLE: list[tuple[list[str], str, bool]] = [
    (["* *: allow"], "bash", True),
    (["* *: allow", "bash *: deny"], "bash", False),
    (["* *: allow", "edit *: deny"], "edit", False),
    (["bash *: allow", "bash rm *: deny"], "bash", True),
    (["* *: ask"], "bash", True),
    (["bash *: deny", "bash echo *: allow"], "bash", True),
    (["bash echo *: allow", "bash *: deny"], "bash", False),
    (["* *: deny"], "bash", False),
    (["* *: deny", "bash *: allow"], "bash", True),
    (["* *: deny", "bash *: allow"], "edit", False),
    (["task orchestrator-*: allow", "task *: deny"], "task", False),
    (["task *: deny", "task general: allow"], "task", True),
    (["task general: deny"], "task", True),
]


@pytest.mark.parametrize(("lines", "permission", "visible"), VISIBLE)
def test_a_tool_denied_outright_is_not_offered(lines: list[str], permission: str, visible: bool) -> None:
    assert Policy("a", (Layer("user", rules(*lines)),)).hides(permission) is not visible


def test_what_a_caller_may_not_see_its_child_does_not_either() -> None:
    parent = Policy("parent", (Layer("user", rules("* *: allow", "bash *: deny")),))
    child = Policy("child", (Layer("user", rules("* *: allow")),), parent)
    assert child.hides("bash")


UNDOING: list[tuple[str, LayerName, LayerName, bool]] = [
    ("the user may loosen a default", "defaults", "user", True),
    ("what plan may not do, a general allow does not give back", "agent", "user", False),
    ("nor one for this run only", "agent", "override", False),
    ("only a setting on the agent itself does", "agent", "agent (user)", True),
    ("what the user forbids no project allows", "user", "project", False),
    ("nor does an agent of the project", "user", "agent (project)", False),
    ("nor what they forbid for this run", "override", "agent (project)", False),
    ("what the user says of an agent no project undoes", "agent (user)", "agent (project)", False),
    ("the user may undo it for one run", "user", "override", True),
    ("the session has the last word", "user", "session", True),
]


@pytest.mark.parametrize(("why", "denying", "allowing", "undone"), UNDOING, ids=[case[0] for case in UNDOING])
def test_which_layer_may_undo_a_deny_of_which(why: str, denying: LayerName, allowing: LayerName, undone: bool) -> None:
    policy = Policy("a", (Layer(denying, rules("edit *: deny")), Layer(allowing, rules("edit *: allow"))))
    assert policy.decide("edit", "a.txt").action == ("allow" if undone else "deny")
    assert policy.hides("edit") is not undone or allowing == "session"


@pytest.mark.parametrize(("said", "standing", "action"), [
    ("allow", "deny", "deny"), ("allow", "ask", "ask"), ("ask", "deny", "deny"),
    ("ask", "allow", "ask"), ("deny", "allow", "deny"), ("deny", "ask", "deny"),
])  # fmt: skip
def test_a_project_that_is_not_trusted_can_only_tighten(said: Action, standing: Action, action: Action) -> None:
    user = Layer("user", (Rule("edit", "*", standing),))
    project = Layer("project", (Rule("edit", "*", said),), tightens_only=True)
    assert Policy("a", (user, project)).decide("edit", "a.txt").action == action


def test_where_nothing_was_said_an_untrusted_project_does_not_allow() -> None:
    assert (
        Policy("a", (Layer("project", rules("edit *: allow"), tightens_only=True),)).decide("edit", "x").action == "ask"
    )


def test_a_path_is_known_by_all_its_spellings() -> None:
    path = PathPattern("src/a.py", also=("a.py", "/home/ada/src/a.py"))
    for spelling in ("src/*", "a.py", "/home/*"):
        assert decide("edit", path, [Rule("edit", "*", "allow"), Rule("edit", spelling, "deny")]) == "deny"


def test_an_allowing_rule_without_the_root_says_nothing_about_the_folders_above_the_project() -> None:
    path = PathPattern("a.py", also=("/home/ada/src/a.py",))
    allowed = {
        spelling: decide("edit", path, rules("edit *: deny", f"edit {spelling}: allow"))
        for spelling in ("**/*.py", "*/src/*", "*.py", "/home/ada/src/*")
    }
    assert allowed == {"**/*.py": "deny", "*/src/*": "deny", "*.py": "allow", "/home/ada/src/*": "allow"}
    assert decide("edit", path, rules("edit *: allow", "edit **/*.py: deny")) == "deny"


def test_a_restricting_rule_sees_through_the_case_of_a_path_and_an_allowing_one_does_not() -> None:
    path = PathPattern("conf/.ENV")
    assert decide("read", path, rules("read *: allow", "read *.env: deny")) == "deny"
    assert decide("read", path, rules("read *: allow", "read *.env: ask")) == "ask"
    assert decide("read", path, rules("read *: deny", "read *.env: allow")) == "deny"
    assert decide("bash", "LS", rules("bash *: allow", "bash ls: deny")) == "allow"


NATIVE: list[tuple[str, str, str, Action]] = [
    ("build", "read", ".env", "deny"),
    ("build", "read", "a/.env.local", "deny"),
    ("build", "read", "x.env", "deny"),
    ("build", "read", ".env.example", "allow"),
    ("build", "read", ".env.sample", "allow"),
    ("build", "read", "env", "allow"),
    ("build", "external_directory", "/etc/*", "ask"),
    ("build", "external_directory", "{output}/tool_1", "allow"),
    ("build", "doom_loop", "read", "ask"),
    ("build", "question", "*", "allow"),
    ("build", "plan_exit", "*", "deny"),
    ("plan", "edit", "src/a", "deny"),
    ("plan", "edit", ".opencode/plans/p.md", "allow"),
    ("plan", "edit", ".toolwright/plans/p.md", "allow"),
    ("plan", "plan_exit", "*", "allow"),
    ("explore", "edit", "a", "deny"),
    ("explore", "read", "a", "allow"),
    ("explore", "read", ".env", "deny"),
    ("explore", "external_directory", "/etc/*", "deny"),
    ("explore", "external_directory", "{output}/tool_1", "allow"),
    ("general", "todowrite", "*", "deny"),
    ("general", "edit", "a", "allow"),
    ("title", "read", "a", "deny"),
    ("summary", "bash", "ls", "deny"),
    ("compaction", "edit", "a", "deny"),
    ("compaction", "external_directory", "{output}/tool_1", "allow"),
]


@pytest.mark.parametrize(("agent", "permission", "pattern", "action"), NATIVE)
def test_what_the_built_in_agents_may_do(
    project: Path, agent: str, permission: str, pattern: str, action: Action
) -> None:
    workspace = make_workspace(project)
    given_pattern = pattern.replace("{output}", str(workspace.truncator.folder))
    assert workspace.session(agent).ruled_agent.decide(permission, given_pattern) == action


def test_the_folders_are_the_users(tmp_path: Path) -> None:
    folders = Folders.of({"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")})
    assert folders.tool_output == tmp_path / "data" / "toolwright" / "tool-output"


ACTIONS = st.sampled_from(["allow", "ask", "deny"])
RULES = st.lists(
    st.builds(
        Rule,
        st.sampled_from(["*", "bash", "edit", "b*"]),
        st.sampled_from(["*", "a", "a*", "?", "b"]),
        ACTIONS,
    ),
    max_size=5,
).map(tuple)
POLICIES = st.lists(RULES, min_size=1, max_size=4).map(lambda chain: [Layer("user", one) for one in chain])
QUESTIONS = st.tuples(st.sampled_from(["bash", "edit", "read"]), st.sampled_from(["a", "b", "ab", ""]))


@settings(max_examples=rounds(70, 300))
@given(rules=RULES, question=QUESTIONS)
def test_one_layer_decides_as_the_plainest_reading_does(rules: tuple[Rule, ...], question: tuple[str, str]) -> None:
    permission, pattern = question
    fitting = [one for one in rules if matches(permission, one.permission) and matches(pattern, one.pattern)]
    assert decide(permission, pattern, rules) == (fitting[-1].action if fitting else "ask")


@settings(max_examples=rounds(70, 300))
@given(chain=POLICIES, question=QUESTIONS)
def test_a_child_may_do_no_more_than_every_agent_above_it(chain: list[Layer], question: tuple[str, str]) -> None:
    policy: Policy | None = None
    for depth, layer in enumerate(chain):
        policy = Policy(f"agent {depth}", (layer,), policy)
    assert policy is not None
    strictness = ["allow", "ask", "deny"]
    alone = [decide(*question, layer.rules) for layer in chain]
    assert policy.decide(*question).action == max(alone, key=strictness.index)


def test_what_is_remembered_of_a_text_is_not_said_of_an_address_of_the_same_text() -> None:
    policy = Policy("build", (Layer("defaults", (Rule("*", "*", "allow"),)),))
    address = "http://127.0.0.1/"
    assert policy.decide("webfetch", address).action == "allow"
    assert policy.decide("webfetch", PathPattern(address)).action == "allow"
    assert policy.decide("webfetch", HostPattern(address, hosts=("127.0.0.1",))).action == "ask"
    assert policy.decide("webfetch", PathPattern(address, also=("other",))).action == "allow"


def test_a_layer_that_only_tightens_is_the_reason_only_where_it_tightens() -> None:
    user = Layer("user", rules("edit *: ask"))
    project = Layer("project", rules("edit *.py: ask", "edit *.env: deny"), tightens_only=True)
    policy = Policy("a", (user, project))
    assert policy.decide("edit", "x.py").layer == "user"
    assert policy.decide("edit", "x.env").layer == "project"


def test_of_reasons_that_are_as_strict_the_first_is_named() -> None:
    policy = Policy("build", (Layer("user", rules("edit a: deny", "edit b: deny")),))
    judgement = judged(policy, Request(permission="edit", patterns=("b", "a")), ())
    assert (judgement.pattern, judgement.action) == ("b", "deny")


def under(*callers: str, own: tuple[str, ...] = (), layer: LayerName = "user") -> Policy:
    """A policy with rules of its own, under that of a caller."""
    return Policy("general", (Layer(layer, rules(*own)),)).under(Policy("build", (Layer(layer, rules(*callers)),)))


@pytest.mark.parametrize(
    ("policy", "hidden"),
    [
        (under("bash *: deny", own=("bash *: allow",)), True),
        (under("bash *: allow", own=("bash *: deny",)), True),
        (under("bash *: allow", own=("bash *: allow",)), False),
        (under("bash rm *: deny", own=("bash *: allow",)), False),
        (under("bash *: deny", "bash ls: allow", own=("bash *: allow",)), False),
        (under("bash *: deny", own=("bash *: allow",), layer="session"), False),
        (under("edit *: deny"), False),
    ],
)
def test_a_tool_that_somebody_above_forbids_outright_is_not_offered_below(policy: Policy, hidden: bool) -> None:
    assert policy.hides("bash") is hidden
    assert policy.hides("bash") is hidden, "also when it is remembered"


def test_what_callers_say_of_a_permission_comes_before_ones_own_rules() -> None:
    policy = under("bash a: ask", "* b: deny", own=("bash c: ask", "edit d: ask"))
    assert policy.about("bash") == (("bash", "a", "ask"), ("*", "b", "deny"), ("bash", "c", "ask"))
    assert policy.asked_by_user("bash") == ("a", "c")
    assert under("bash a: ask", own=("bash b: ask",), layer="defaults").asked_by_user("bash") == ()


@pytest.mark.parametrize(
    ("callers", "own", "restricted"),
    [
        ("bash *: allow", "bash a: ask", True),
        ("bash a: deny", "bash *: allow", True),
        ("bash *: allow", "bash *: allow", False),
        ("edit *: deny", "bash *: allow", False),
    ],
)
def test_any_rule_that_forbids_or_asks_restricts_whoever_has_written_it(
    callers: str, own: str, restricted: bool
) -> None:
    assert under(callers, own=(own,)).restricts("bash") is restricted


def test_what_other_programs_run_later_is_known_from_the_caller_too() -> None:
    assert under("edit .envrc: ask", layer="run later").runs_later("edit", ".envrc")
    assert under(own=("edit .envrc: ask",), layer="run later").runs_later("edit", ".envrc")
    assert not under("edit .envrc: ask", layer="run later").runs_later("edit", "a.py")
    assert not under("edit .envrc: ask").runs_later("edit", ".envrc")
