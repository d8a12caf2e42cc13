"""The evidence of a session on demand: of its goal, of its records alone, and by a check of now."""

import sys
from pathlib import Path
from typing import Any

from tests.cli.conftest import Tw
from tests.outside import needs_checkout
from tests.proof.cheats import PLAIN, RIGHT
from tests.proof.test_goals import script
from tests.proof.work import lay
from tests.session.trial import call, calls, says

pytestmark = needs_checkout
RUN = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider"


def write(path: str, text: str) -> Any:
    return calls(call("read", filePath=path), call("write", filePath=path, content=text))


def bash(command: str) -> Any:
    return calls(call("bash", command=command))


def evidence(tw: Tw, project: Path, *turns: Any, arguments: tuple[str, ...] = ()) -> Any:
    lay(project, PLAIN)
    assert tw("run", "fix it", "--model", script(project, *turns), "--yes").code == 0
    return tw("session", "evidence", "--json", *arguments).json


def kinds(found: Any) -> set[str]:
    return {one["kind"] for one in found["reasons"] if one["weight"] != "note"}


def test_a_run_of_tests_after_the_last_change_is_proof(tw: Tw, project: Path) -> None:
    found = evidence(tw, project, write("calc.py", RIGHT), bash(RUN), says("Fixed calc.py, all tests pass."))
    assert (found["verdict"], kinds(found)) == ("proven", set())
    assert [(one["command"], one["exit"]) for one in found["checks"]] == [(RUN, 0)]
    assert found["checks"][0]["tree"]


def test_words_without_a_run_show_nothing(tw: Tw, project: Path) -> None:
    found = evidence(tw, project, write("calc.py", RIGHT), says("All tests pass."))
    assert (found["verdict"], kinds(found)) == ("not_shown", {"no_check", "claim_not_backed"})


def test_a_failed_run_contradicts_what_is_said(tw: Tw, project: Path) -> None:
    found = evidence(tw, project, bash(RUN), says("All tests pass."))
    assert found["verdict"] == "contradicted"
    assert "claim_contradicted" in kinds(found)


def test_a_run_before_the_last_change_shows_nothing(tw: Tw, project: Path) -> None:
    more = write("calc.py", f"{RIGHT}\n\ndef sub(a, b):\n    return a - b\n")
    found = evidence(tw, project, write("calc.py", RIGHT), bash(RUN), more, says("Done."))
    assert (found["verdict"], kinds(found)) == ("not_shown", {"changed_after"})


def test_a_run_that_cannot_fail_shows_nothing(tw: Tw, project: Path) -> None:
    found = evidence(tw, project, bash(f"{RUN} || true"), says("All tests pass."))
    assert found["verdict"] != "proven"
    assert "hides_exit_code" in kinds(found)


def test_a_check_of_now_judges_a_session_that_had_no_goal(tw: Tw, project: Path) -> None:
    found = evidence(tw, project, write("calc.py", RIGHT), says("Done."), arguments=("--check", RUN))
    assert (found["verdict"], kinds(found)) == ("proven", set())
    weak = write("test_calc.py", "def test_add():\n    pass\n")
    found = evidence(tw, project, weak, says("Done."), arguments=("--check", RUN))
    assert {"test_deleted", "test_loosened", "tests_changed"} <= kinds(found)


def test_the_evidence_of_a_goal_is_kept_and_ends_with_the_next_change(tw: Tw, project: Path) -> None:
    lay(project, PLAIN)
    model = script(project, write("calc.py", RIGHT), says("Fixed calc.py."))
    assert tw("run", "fix it", "--until", RUN, "--model", model, "--yes").code == 0
    kept = tw("session", "evidence")
    assert (kept.code, kept.out.splitlines()[0]) == (0, "proven")
    assert "noticed: The check noticed" in kept.out
    (project / "calc.py").write_text("def add(a, b):\n    return 0\n")
    after = tw("session", "evidence", "--json")
    assert (after.code, after.json["verdict"], kinds(after.json)) == (1, "not_shown", {"changed_since"})
