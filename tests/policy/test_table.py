"""tw permission test --coverage --mutate: rules that no line meets, and rules that could say the opposite."""

import json
from pathlib import Path

from tests.cli.conftest import Tw
from toolwright.folders import Folders
from toolwright.permission.defaults import default_rules, protected_rules
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
    unseen = await _unseen(project, inside, {}) & await _unseen(project, outside, {"external_directory": "allow"})
    # A path is also spelled in full, so that beside `*/x` the rule for `x` says the same once more.
    assert {rule for rule in unseen if f"*/{rule[1]}" not in {twin[1] for twin in OURS}} == set()


OURS = {
    (rule.permission, rule.pattern)
    for rule in (*default_rules(Folders.of({"HOME": "/"})), *protected_rules(Folders.of({"HOME": "/"})))
}


async def _unseen(project: Path, table: str, rules: dict[str, str]) -> set[tuple[str, str]]:
    workspace = make_workspace(project, trust=False, rules=rules)
    folders = workspace.folders
    places = {"tool_output": folders.tool_output, "plans": folders.plans, "data": folders.data}
    places |= {"config": folders.config, "reference": folders.reference_config}
    for name, place in places.items():
        table = table.replace(f"{{{name}}}", str(place))
    rows = await rows_of(workspace, read_expectations(table, "own.txt"))
    assert [(str(row.expected), row.verdict.action, row.why) for row in rows if not row.passed] == []
    found = survivors(workspace.agents, rows, rules_of(workspace.agents, lambda rule: rule.source == "built in"))
    await workspace.close()
    return {(rule.permission, rule.pattern) for rule in found}
