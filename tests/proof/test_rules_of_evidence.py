"""What counts as evidence, rule by rule: ends that are hidden, selections, answers by heart, claims, the network."""

import ast
from pathlib import Path

import pytest

from toolwright.errors import UsageError
from toolwright.proof.claims import claims_of
from toolwright.proof.commands import files_of, steps_of
from toolwright.proof.conditions import check_conditions
from toolwright.proof.doubts import LISTED, WorkChange, check_reasons
from toolwright.proof.expected import Expected, answers_by_heart, expected_of
from toolwright.proof.goal import goal_of
from toolwright.proof.kinds import kind_of
from toolwright.proof.runs import counts_of, hides_its_end, is_narrowed, is_test_run
from toolwright.proof.said import claim_reasons
from toolwright.proof.sources import reaches_beyond, suspicions
from toolwright.proof.weakened import weakened


@pytest.mark.parametrize(
    ("command", "hides"),
    [
        ("make test | tail -5", True),
        ("set -o pipefail; make test | tail -5", False),
        ("make test || true", True),
        ("make lint || make test", False),
        ("cat list | xargs pytest", True),
        ("cat list | pytest -", False),
        ("pytest", False),
    ],
)
def test_a_pipe_hides_how_a_check_ended_unless_the_shell_is_told_otherwise(command: str, hides: bool) -> None:
    assert hides_its_end(command) is hides


JS = "test{mark}('adds', {options}() => {{\n  assert.equal(add(1, 2), 3);\n}});\n"


@pytest.mark.parametrize(
    ("mark", "options", "kinds"),
    [
        ("", "", []),
        (".only", "", ["test_narrowed"]),
        ("", "{ only: true }, ", ["test_narrowed"]),
        ("", "{only:true}, ", ["test_narrowed"]),
        (".skip", "", ["test_skipped"]),
        ("", "{ skip: true }, ", ["test_skipped"]),
    ],
)
def test_a_test_of_javascript_that_is_made_the_only_one_or_passed_over_is_weaker(
    mark: str, options: str, kinds: list[str]
) -> None:
    before, after = JS.format(mark="", options=""), JS.format(mark=mark, options=options)
    assert [one.kind for one in weakened("a.test.js", before, after, {"adds"})] == kinds


TEST = "import pytest\n\n\nclass T:\n    def test_one(self):\n        assert f() == 3\n"


@pytest.mark.parametrize(
    "mark",
    ["pytestmark = pytest.mark.skip\n", "pytest.skip('later', allow_module_level=True)\n", "@pytest.mark.skip\n"],
)
def test_a_mark_on_a_module_or_a_class_passes_over_the_tests_within(mark: str) -> None:
    after = TEST.replace("\n\nclass", f"\n\n{mark}class")
    assert {one.kind for one in weakened("test_a.py", TEST, after, {"T.test_one", "test_one"})} == {"test_skipped"}
    inside = TEST.replace("class T:\n", "class T:\n    __test__ = False\n")
    assert {one.kind for one in weakened("test_a.py", TEST, inside, {"T.test_one", "test_one"})} == {"test_skipped"}


def test_tests_that_are_new_or_whose_file_is_new_are_no_weaker() -> None:
    assert list(weakened("test_a.py", None, TEST, {"test_one"})) == []
    assert [one.kind for one in weakened("test_a.py", TEST, None, set())] == ["test_deleted"]


@pytest.mark.parametrize(
    ("code", "by_heart"),
    [
        ("def add(a, b):\n    if a == 20:\n        return 42\n    return 0\n", True),
        ("def add(a, b):\n    if a == 7777:\n        return 42\n    return a + b\n", False),
        ("def add(a, b):\n    if a == 20:\n        return a + b\n    return b + a\n", False),
        ("def add(a, b):\n    match a:\n        case 20:\n            return 42\n    return 0\n", True),
        ("def add(a, b):\n    match a:\n        case 7777:\n            return 42\n    return a + b\n", False),
    ],
)
def test_an_answer_is_by_heart_if_a_test_gives_the_value_and_expects_the_answer(code: str, by_heart: bool) -> None:
    expected = expected_of([("test_calc.py", "def test_add():\n    assert add(20, 22) == 42\n")])
    assert bool(list(answers_by_heart(ast.parse(code), expected))) is by_heart


@pytest.mark.parametrize(
    ("message", "kinds"),
    [
        ("I ran `make check` and it passes.", ["claim_not_backed"]),
        ("I ran `make` and it passes.", ["claim_not_backed"]),
        ("I ran `calc.add` and it passes.", []),
    ],
)
def test_only_what_can_be_a_command_is_looked_for_among_those_that_ran(message: str, kinds: list[str]) -> None:
    assert sorted({one.kind for one in claim_reasons(message, [], [])}) == kinds


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("curl -o out.html http://localhost:8000/", False),
        ("curl -H host.test http://127.0.0.1:8000/", False),
        ("curl --max-time 3.5 http://localhost/", False),
        ("curl http://shop.test/", True),
        ("curl -s shop.test", True),
        ("curl -o /dev/null $URL", True),
    ],
)
def test_a_condition_may_ask_this_machine_and_no_other(tmp_path: Path, command: str, refused: bool) -> None:
    goal = goal_of(command)
    assert goal is not None
    if refused:
        with pytest.raises(UsageError, match="depends on the network"):
            check_conditions(goal, str(tmp_path))
    else:
        check_conditions(goal, str(tmp_path))


@pytest.mark.parametrize(
    ("path", "text", "reaches"),
    [
        ("a_test.go", "package a\n\nfunc init() {\n\tsign = 1\n}\n", True),
        ("a_test.go", 'package a\n\nfunc TestA(t *testing.T) {\n\tt.Log("fine")\n}\n', False),
        ("a.test.js", "const assert = require('assert');\nassert.equal = () => {};\n", True),
        ("a.test.js", "test('a', () => { assert.equal(f(3), 4); });\n", False),
        ("tests/__init__.py", "", False),
        ("tests/__init__.py", "import calc\n", True),
        ("test_a.py", "import calc\n\n\ndef test_a():\n    calc.add = max\n", True),
        ("test_a.py", "from unittest.mock import patch\n\npatch('calc.add').start()\n", True),
        ("test_a.py", "import atexit\n\natexit.register(print)\n", True),
        ("test_a.py", "import calc\n\n\ndef test_a(monkeypatch):\n    monkeypatch.setattr(calc, 'one', 4)\n", False),
    ],
)
def test_a_new_test_that_changes_what_others_run_proves_nothing_about_them(path: str, text: str, reaches: bool) -> None:
    assert reaches_beyond(path, text) is reaches


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        ("class A:\n    def __eq__(self, other):\n        return self.x == other.x\n", []),
        ("class A:\n    def __eq__(self, other):\n        return self is not None\n", ["always_equal"]),
        ("class A:\n    def __eq__(*both):\n        return len(both) == 2\n", ["always_equal"]),
        ("class A:\n    def __bool__(self):\n        'Always.'\n        return True\n", ["always_equal"]),
        ("class A:\n    def __bool__(self):\n        return self.x\n", []),
        ("import calc\n\ncalc = 3\n", []),
        ("import calc\n\ncalc.add = max\n", ["patches_shared_code"]),
        ("import calc\n\ncalc.add, x = max, 1\n", ["patches_shared_code"]),
        ("import calc\n\ndel calc.add\n", ["patches_shared_code"]),
        ("from calc import Sum\n\nSum.add = max\n", ["patches_shared_code"]),
        ("self.add = max\n", []),
        ("import sys\n\nx = sys.modules\n", ["knows_the_check"]),
        ("import atexit\n\natexit.register(print)\n", ["knows_the_check"]),
        ("import sys\n\nx = sys.version\n", []),
    ],
)
def test_code_that_makes_a_check_hold_by_itself_is_told_from_code_that_does_its_work(
    code: str, kinds: list[str]
) -> None:
    found = suspicions("work.py", "", code, Expected(frozenset()))
    assert sorted({one.kind for one in found}) == kinds


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("calc.py", "work"),
        ("json.py", "check"),
        ("src/json.py", "check"),
        ("lib/json.py", "check"),
        ("json/__init__.py", "check"),
        ("shop/json.py", "work"),
        ("shop/src/json.py", "work"),
        ("tests/calc.py", "test"),
        (".hidden/calc.py", "check"),
    ],
)
def test_a_module_that_takes_the_place_of_one_of_pythons_is_a_part_of_the_check(path: str, kind: str) -> None:
    assert kind_of(path) == kind


def test_a_check_is_followed_into_what_it_runs_and_no_further_than_six_deep(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test: lint\n\t@sh run.sh\nlint:\n\truff check\nother:\n\tfalse\n")
    (tmp_path / "run.sh").write_text("# comment\nnpm test && echo done\n")
    (tmp_path / "package.json").write_text('{"scripts": {"pretest": "tsc", "test": "node a.js", "start": "x"}}')
    (tmp_path / "a.js").touch()
    steps = [one.text for one in steps_of("make test", tmp_path)]
    assert {"sh run.sh", "ruff check", "npm test", "echo done", "tsc", "node a.js"} <= set(steps)
    assert not {"false", "x", "# comment"} & set(steps)
    assert set(files_of("make test", tmp_path)) == {"Makefile", "run.sh", "package.json", "a.js"}
    assert list(steps_of("make -f none.mk test", tmp_path))[1:] == []
    (tmp_path / "again.sh").write_text("sh again.sh\n")
    assert len(list(steps_of("sh again.sh", tmp_path))) == 7


def test_of_many_changed_parts_of_a_check_the_first_are_listed() -> None:
    check, restored = (tuple(f"{kind}{number}" for number in range(20)) for kind in ("a", "b"))
    change = WorkChange(work=(), tests=(), check=check, restored=restored)
    kinds = [one.kind for one in check_reasons(change, weight="doubt", why="")]
    assert (kinds.count("check_changed"), kinds.count("tests_changed"), LISTED) == (12, 12, 12)
    same = WorkChange(work=(), tests=(), check=("a",), restored=("a", "b"))
    assert [(one.kind, one.path) for one in check_reasons(same, weight="doubt", why="")] == [
        ("check_changed", "a"),
        ("tests_changed", "b"),
    ]


@pytest.mark.parametrize(
    ("message", "claims"),
    [
        ("All tests pass.", [("tests_pass", "")]),
        ("The tests do not pass.", []),
        ("Once the build is fixed, all tests pass.", []),
        ("12 of 14 tests passed.", [("count", "12"), ("tests_pass", "")]),
        ("It is 3/4 and they pass.", [("count", "3")]),
        ("I ran `make check`.", [("ran", "make check")]),
        ("I fixed `src/a.py`.", [("changed", "src/a.py")]),
        ("I would change a.py.", []),
        ("I changed a.py; all tests pass.", [("changed", "a.py"), ("tests_pass", "")]),
        ("```\nAll tests pass.\n```", []),
        ("Done.", []),
        ("", []),
    ],
)
def test_a_message_claims_what_it_says_has_been_done(message: str, claims: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.value) for one in claims_of(message)] == claims


@pytest.mark.parametrize(
    ("output", "counted"),
    [
        ("==== 3 passed, 1 failed, 2 skipped in 0.1s ====", (3, 1, 2)),
        ("==== 2 failed in 0.1s ====", (0, 2, 0)),
        ("1 passed in a\n4 passed in b", (5, 0, 0)),
        ("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)", (2, 2, 1)),
        ("Ran 2 tests in 0.1s\n\nOK", (2, 0, 0)),
        ("# tests 3\n# pass 2\n# fail 1\n# skipped 1", (2, 1, 1)),
        ("  4 passing (3ms)\n  1 failing\n  2 pending", (4, 1, 2)),
        ("no tests ran in 0.01s", (0, 0, 0)),
        ("all is well", None),
        ("v1.3 passed on", None),
    ],
)
def test_tests_are_counted_as_their_runner_tells_of_them(output: str, counted: tuple[int, int, int] | None) -> None:
    counts = counts_of(output)
    assert (counts and (counts.passed, counts.failed, counts.skipped)) == counted
    assert counts is None or counts.ran == counts.passed + counts.failed


@pytest.mark.parametrize(
    ("command", "runs", "narrowed"),
    [
        ("pytest", True, False),
        ("CI=1 timeout 60 python -m pytest -k one", True, True),
        ("cd app && make check", True, False),
        ("npm run test", True, False),
        ("go test -run One ./...", True, True),
        ("pytest tests/test_a.py::test_one", True, True),
        ("echo pytest", False, False),
        ("ruff check", False, False),
    ],
)
def test_a_run_of_tests_is_known_by_its_command_and_so_is_a_selection(command: str, runs: bool, narrowed: bool) -> None:
    assert (is_test_run(command), is_narrowed(command)) == (runs, narrowed)
