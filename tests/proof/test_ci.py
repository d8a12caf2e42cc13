"""What a job in CI runs: the script of the action, with variables as GitHub gives them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proof.test_goals import FIX, script
from tests.session.trial import says

HERE = Path(__file__).parents[2] / ".github"


def ran(project: Path, **given: str) -> tuple[int, dict[str, str], str]:
    """Run the script of the action, and return its exit code and its outputs."""
    outputs = project.parent / "outputs"
    outputs.touch()
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run([*git, "init", "-q", "."], cwd=project, check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "begin"], cwd=project, check=True)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(project.parent),
        "GITHUB_OUTPUT": str(outputs),
        "RUNNER_TEMP": str(project.parent),
        "AGENT_STEPS": "9",
        "TOOLWRIGHT_PERMISSION": '{"bash": {"*": "deny", "git diff *": "allow"}, "edit": "allow"}',
    }
    command = [str(HERE / "actions" / "agent" / "run.sh")]
    done = subprocess.run(command, cwd=project, env=environment | given, capture_output=True, text=True, check=False)
    found = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    assert found.pop("folder") == str(project.parent / "agent-output")
    return done.returncode, found, done.stderr


def test_a_job_leaves_a_patch_the_evidence_and_a_bundle_that_fits(project: Path) -> None:
    model = script(project, FIX, says("Wrote new.txt."))
    hostile = "fix it $(touch hacked) `touch hacked`"
    code, found, err = ran(project, AGENT_PROMPT=hostile, AGENT_MODEL=model, AGENT_UNTIL="grep fixed new.txt")
    assert (code, found) == (0, {"exit-code": "0", "changed": "true", "verdict": "proven"}), err
    output = project.parent / "agent-output"
    assert "+fixed" in (output / "changes.patch").read_text()
    assert "**proven**" in (output / "summary.md").read_text()
    assert (
        "fits: "
        in subprocess.run(
            [sys.executable, "-m", "toolwright", "session", "verify", str(output / "session.bundle.json")],
            capture_output=True,
            text=True,
            check=True,
            env={"HOME": str(project.parent / "elsewhere"), "PATH": os.environ["PATH"]},
        ).stdout
    )
    assert not (project / "hacked").exists()


def test_a_job_whose_goal_is_not_reached_fails_and_says_why(project: Path) -> None:
    model = script(project, default=says("All tests pass."))
    code, found, _ = ran(project, AGENT_PROMPT="fix it", AGENT_MODEL=model, AGENT_UNTIL="grep fixed new.txt")
    assert (code, found["exit-code"], found["changed"], found["verdict"]) == (5, "5", "false", "contradicted")


@pytest.mark.parametrize("file", ["actions/agent/action.yml", "workflows/agent.yml"])
def test_no_text_of_others_is_part_of_a_script(file: str) -> None:
    text = (HERE / file).read_text()
    for block in re.findall(r"run: \|\n((?:\s{8,}.*\n)+)|run: (.*)\n", text):
        assert "${{" not in "".join(block)
