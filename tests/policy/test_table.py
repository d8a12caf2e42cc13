"""tw permission test --coverage --mutate: rules that no line meets, and rules that could say the opposite."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw
from toolwright.machine.folders import Folders
from toolwright.network.destination import EVERY_DESTINATION
from toolwright.permission.defaults import default_rules, protected_rules
from toolwright.permission.run_later import RUN_LATER, run_later_rules
from toolwright.policy.expectations import read_expectations
from toolwright.policy.table import rows_of, rules_of, survivors
from toolwright.testing import make_workspace

RULES = '{"permission": {\n"edit": {"gen/*": "deny"},\n"bash": {\n"*": "ask",\n"git status *": "allow"}}}'


def test_coverage_names_the_rules_that_decide_nothing(tw: Tw, project: Path) -> None:
    file = project.resolve() / "toolwright.json"
    file.write_text(RULES)
    (project / "rules.txt").write_text("deny build write gen/a\nask build bash make\n")
    outcome = tw("permission", "test", "rules.txt", "--coverage", "--trust")
    assert outcome.code == 0
    assert "coverage: 2 of 3 rules are met" in outcome.out
    assert f"{file}:5: no line meets `bash git status *: allow`" in outcome.out
    assert f"{file}:4" not in outcome.out


def test_a_flipped_rule_that_no_line_sees_is_named(tw: Tw, project: Path) -> None:
    file = project.resolve() / "toolwright.json"
    file.write_text(RULES)
    (project / "rules.txt").write_text("deny build write gen/a\nask build bash make\n")
    outcome = tw("permission", "test", "rules.txt", "--mutate", "--trust")
    assert outcome.code == 1
    assert "mutation score: 66 % of 3 rules" in outcome.out
    assert f"{file}:5: " in outcome.out
    (project / "rules.txt").write_text("deny build write gen/a\nask build bash make\nallow build bash git status\n")
    outcome = tw("permission", "test", "rules.txt", "--mutate", "--trust")
    assert outcome.code == 0
    assert "mutation score: 100 %" in outcome.out


def test_both_are_told_to_programs(tw: Tw, project: Path) -> None:
    file = project.resolve() / "toolwright.json"
    file.write_text(RULES)
    (project / "rules.txt").write_text("deny build write gen/a\nask build bash make\n")
    told = tw("permission", "test", "rules.txt", "--coverage", "--mutate", "--json", "--trust").json
    left = [{"file": str(file), "line": 5, "rule": "bash git status *: allow"}]
    assert told["coverage"] == {"rules": 3, "met": 2, "unmet": left}
    assert told["mutation"] == {"rules": 3, "score": 66, "survivors": left}
    assert [row["decision"] for row in told["rows"]] == ["deny", "ask"]


def test_a_rule_of_an_agent_is_met_by_lines_of_that_agent(tw: Tw, project: Path) -> None:
    config = {"agent": {"plan": {"permission": {"bash": {"make *": "deny"}}}}}
    (project / "toolwright.json").write_text(json.dumps(config))
    (project / "rules.txt").write_text("allow build bash make\n")
    assert "0 of 1" in tw("permission", "test", "rules.txt", "--coverage", "--trust").out
    (project / "rules.txt").write_text("deny plan bash make\n")
    assert "1 of 1" in tw("permission", "test", "rules.txt", "--coverage", "--trust").out


async def test_no_rule_of_ours_could_say_the_opposite_unseen(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    inside, outside = (Path(__file__).parent / "own.txt").read_text("utf-8").split("# Where every folder is allowed:")
    inside += "".join(_asked(f"{start}{name}") for name in RUN_LATER for start in ("", "sub/"))
    unseen = await _unseen(project, inside, {}) & await _unseen(project, outside, {"external_directory": "allow"})
    # A search asks nobody, and so has no row: it leaves out what the rule for outputs of other projects would ask.
    unseen = {rule for rule in unseen if not rule[1].endswith("/tool-output/*/*")}
    # Connections are asked about when they are made, which no row does.
    unseen -= {("network", EVERY_DESTINATION)}
    # A path is also spelled in full, so that beside `*/x` the rule for `x` says the same once more.
    assert {rule for rule in unseen if f"*/{rule[1]}" not in {twin[1] for twin in OURS}} == set()


HOME = Folders.of({"HOME": "/"})
OURS = {
    (rule.permission, rule.pattern)
    for rules in (default_rules(HOME), protected_rules(HOME, Path("/")), run_later_rules({}, Path("/")))
    for rule in rules
}


def _asked(name: str) -> str:
    """The lines of a table for a file that runs later, or for a folder of such files."""
    inside = f"ask build write {name}a\n" if name.endswith("/") else ""
    return f"ask build edit {name.rstrip('/')}\n{inside}"


async def _unseen(project: Path, table: str, rules: dict[str, str]) -> set[tuple[str, str]]:
    workspace = make_workspace(project, trust=False, rules=rules)
    folders = workspace.folders
    outputs = folders.outputs_of(workspace.config.root)
    places = {"tool_output": folders.tool_output, "outputs": outputs, "plans": folders.plans, "data": folders.data}
    places |= {"config": folders.config, "reference": folders.reference_config}
    for name, place in places.items():
        table = table.replace(f"{{{name}}}", str(place))
    rows = await rows_of(workspace, read_expectations(table, "own.txt"))
    assert [(str(row.expected), row.verdict.action, row.why) for row in rows if not row.passed] == []
    found = survivors(workspace.agents, rows, rules_of(workspace.agents, lambda rule: rule.source == "built in"))
    await workspace.close()
    return {(rule.permission, rule.pattern) for rule in found}


EXTENSION = """
from toolwright import Extension, ToolError

async def guard(proceed, call, ctx):
    if "push" in str(call.arguments):
        raise ToolError("No pushing.", "denied")
    result = await proceed(call)
    if "late" in str(call.arguments):
        raise ToolError("No pushing.", "denied")
    return result

extension = Extension(name="guard", hooks=[guard])
"""
PLUGIN = """
def plugin(host):
    def before(input, output):
        if "push" in str(output["args"]) or "late" in str(output["args"]):
            raise RuntimeError("No pushing.")
    return {"tool.execute.before": before}
"""
PROGRAM = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh guard.sh"}]}]}


@pytest.fixture(params=["extension", "plugin", "program"])
def guarded(project: Path, request: pytest.FixtureRequest) -> Path:
    """A project in which a hook refuses to push, beside a rule about make."""
    settings: dict[str, Any] = {"permission": {"bash": {"make *": "deny"}}}
    if request.param == "program":
        settings["hooks"] = PROGRAM
        (project / "guard.sh").write_text("if grep -qE 'push|late'; then echo No pushing. >&2; exit 2; fi\n")
    else:
        file = project / ".toolwright" / "plugin" / "guard.py"
        file.parent.mkdir(parents=True)
        file.write_text(EXTENSION if request.param == "extension" else PLUGIN)
    (project / "toolwright.json").write_text(json.dumps(settings))
    return project


def test_what_a_hook_refuses_is_denied_in_the_table(tw: Tw, guarded: Path) -> None:
    lines = ["deny build bash git push", "deny build bash true late", "deny build bash make", "allow build bash true"]
    (guarded / "rules.txt").write_text("\n".join([*lines, "allow build bash git push x"]))
    outcome = tw("permission", "test", "rules.txt", "--trust")
    *passed, failed, count = outcome.out.splitlines()
    assert [line.split()[0] for line in passed] == ["ok"] * 4
    assert failed.startswith("FAIL  allow build bash git push x")
    assert failed.endswith("rules.txt:5: it is deny: No pushing.")
    assert count == "4 passed, 1 failed"


def test_what_a_hook_refuses_is_explained_as_its_no(tw: Tw, guarded: Path) -> None:
    text = tw("permission", "explain", "bash", "git", "push", "--trust").out
    assert text.startswith("bash: deny\n  No pushing.\n  No rule says so, but a hook, a plugin or the tool itself;")
    [told] = tw("permission", "explain", "bash", "git", "push", "--trust", "--json").json
    assert (told["decision"], told["advice"]) == ("deny", "No pushing.")
    assert tw("permission", "explain", "bash", "make", "--trust").out.startswith("bash: deny\n  'make'")


def test_tools_of_the_project_have_lines_too(tw: Tw, project: Path) -> None:
    file = project / ".toolwright" / "tool" / "stock.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "from toolwright import tool\n@tool\ndef stock(article: str) -> str:\n    'Stock.'\n    return ''\n"
    )
    (project / "toolwright.json").write_text('{"permission": {"stock": "ask"}}')
    (project / "rules.txt").write_text('ask build stock {"article": "tea"}\n')
    assert tw("permission", "test", "rules.txt", "--trust").code == 0


def test_rules_about_acts_are_met_by_commands_and_their_flips_are_seen(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission": {"act": {\n"changes": "allow",\n"final": "deny"}}}')
    (project / "rules.txt").write_text("allow build bash git push\ndeny build bash git push --force\n")
    outcome = tw("permission", "test", "rules.txt", "--coverage", "--mutate", "--trust")
    assert outcome.code == 0, outcome.out
    assert "2 of 2" in outcome.out
    assert "mutation score: 100 %" in outcome.out
