"""tw permission lint: each seeded fault is found in its line, and sound rules have none."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw
from toolwright.agents import load_agents
from toolwright.config.load import load_config
from toolwright.machine.folders import Folders
from toolwright.permission.rules import Layer, Rule
from toolwright.policy.lint import lint, of_layers

SEEDED = [
    ("shadowed", '{"edit": {\n"secrets/*": "deny",\n"*": "allow"}}', 2, "edit *: allow", 3),
    ("shadowed", '{\n"bash": {"git push *": "deny"},\n"*": "ask"}', 2, "* *: ask", 3),
    ("shadowed", '{"read": {\n"src/?.py": "ask",\n"src/*": "deny"}}', 2, "read src/*: deny", 3),
    ("shadowed", '{"bash": {\n"ls *": "ask",\n"make *": "ask",\n"ls *": "ask"}}', 2, "bash ls *: ask", 4),
    ("contradictory", '{"bash": {\n"git push *": "deny",\n"git push *": "ask"}}', 2, "bash git push *: ask", 3),
    (
        "contradictory",
        (
            '[\n{"action": "edit", "resource": "a/*", "effect": "deny"},\n'
            '{"action": "edit", "resource": "a/*", "effect": "ask"}]'
        ),
        2,
        "edit a/*: ask",
        3,
    ),
    ("dead", '{\n"bahs": "deny"}', 2, None, 0),
    ("dead", '{\n"write": "deny"}', 2, None, 0),
    ("dead", '{"todowrite": {\n"later": "deny"}}', 2, None, 0),
    ("dead", '{"edit": {\n".git/*": "allow"}}', 2, "edit .git/*: ask", 0),
    ("dead", '{"act": {\n"deadly": "deny"}}', 2, None, 0),
    ("broad", '{"act": {\n"final": "allow"}}', 2, None, 0),
    ("broad", '{\n"*": "allow"}', 2, None, 0),
    ("broad", '{\n"external_directory": "allow"}', 2, None, 0),
    ("broad", '{"bash": {\n"sudo *": "allow"}}', 2, None, 0),
    ("broad", '{"bash": {\n"bash -c *": "allow"}}', 2, None, 0),
    (
        "shadowed",
        '{"webfetch": {\n"https://a.com/*": "deny",\n"https://*": "allow"}}',
        2,
        "webfetch https://*: allow",
        3,
    ),
    ("shadowed", '{"bash": {\n"ls": "deny",\n"ls *": "allow"}}', 2, "bash ls *: allow", 3),
    ("shadowed", '{\n"read": {"a": "allow"},\n"*": "deny"}', 2, "* *: deny", 3),
    ("shadowed", '{"edit": {\n"src/a/*": "deny",\n"src/**": "allow"}}', 2, "edit src/**: allow", 3),
    ("dead", '{\n"gre": "deny"}', 2, None, 0),
    ("dead", '{\n"Bash": "deny"}', 2, None, 0),
    ("dead", '{\n"wbefetch": "deny"}', 2, None, 0),
    ("dead", '{\n"skills": "deny"}', 2, None, 0),
    ("broad", '{"external_directory": {\n"~/*": "allow"}}', 2, None, 0),
    ("broad", '{"external_directory": {\n"/*": "allow"}}', 2, None, 0),
    ("broad", '{"bash": {\n"*": "ask",\n"env *": "allow"}}', 3, None, 0),
    ("broad", '{"bash": {\n"*": "ask",\n"python -c *": "allow"}}', 3, None, 0),
]


@pytest.mark.parametrize(("kind", "permission", "line", "by", "by_line"), SEEDED)
def test_a_fault_is_told_with_its_line_and_the_rule_behind_it(
    tw: Tw, project: Path, kind: str, permission: str, line: int, by: str | None, by_line: int
) -> None:
    file = project.resolve() / "toolwright.json"
    file.write_text(f'{{"permission": {permission}}}')
    outcome = tw("permission", "lint", "--json")
    [found] = outcome.json
    assert outcome.code == 1
    assert (found["kind"], found["file"], found["line"]) == (kind, str(file), line)
    where = f"{file}:{by_line}" if by_line else "built in"
    assert found["by"] == (f"{by} ({where})" if by else None)
    text = tw("permission", "lint").out
    assert f"{file}:{line}: {kind}: " in text
    assert not by_line or f"({where})" in text


def test_what_the_user_denies_makes_what_a_project_allows_dead(tw: Tw, project: Path, home: Path) -> None:
    (home / ".config/toolwright").mkdir(parents=True)
    own = home / ".config/toolwright/toolwright.json"
    own.write_text('{"permission": {\n"bash": {"git push *": "deny"}}}')
    (project / "toolwright.json").write_text('{"permission": {"bash": {\n"git push origin *": "allow"}}}')
    [found] = tw("permission", "lint", "--json", "--trust").json
    assert (found["kind"], found["line"]) == ("dead", 2)
    assert found["by"] == f"bash git push *: deny ({own.resolve()}:2)"


def test_the_rules_of_an_agent_are_looked_at_too(tw: Tw, project: Path) -> None:
    rules: dict[str, Any] = {"agent": {"plan": {"permission": {"bash": {"rm *": "deny", "*": "ask"}}}}}
    (project / "toolwright.json").write_text(json.dumps(rules, indent=1))
    [found] = tw("permission", "lint", "--json").json
    assert (found["kind"], found["rule"]) == ("shadowed", "bash rm *: deny")


def test_an_agent_in_a_file_of_its_own_is_looked_at_too(tw: Tw, project: Path) -> None:
    file = project / ".toolwright/agent/helper.md"
    file.parent.mkdir(parents=True)
    file.write_text('---\npermission:\n  bash:\n    "rm *": deny\n    "*": ask\n---\nHelp.\n')
    [found] = tw("permission", "lint", "--json", "--trust").json
    assert (found["kind"], found["rule"], found["file"]) == ("shadowed", "bash rm *: deny", str(file.resolve()))


RUN_ANYTHING = """
sudo *;sudo -u bob *;env *;env X=1 *;xargs *;timeout 5 *;chroot /x *;npx *;uv run --with rich *;eval *;source *;sh *;
bash -c *;
python *;python3.12 -m *;node *;perl -e *;find *;find src *;git -c *;ssh *;ssh host *;docker run *;docker run --rm *;
docker compose run *;docker *;podman run *;make *;vim *;gdb *;crontab *;tmux *;claude *
"""
RUN_THEIR_OWN = """
ls *;cat *;grep *;rm *;git *;git status *;git -C sub *;git push *;npm *;npm run *;npx prettier *;uv run pytest *;
pytest *;
cargo *;
go test *;make test *;python -m pytest *;python scripts/x.py *;bash scripts/x.sh *;ssh host uptime *;docker ps *;
docker stop *;find . -exec grep *;sed *;awk *;tar *;curl *;kubectl get *;deploy *
"""


@pytest.mark.parametrize(("patterns", "broad"), [(RUN_ANYTHING, True), (RUN_THEIR_OWN, False)])
def test_what_runs_any_command_is_told_by_what_the_analysis_knows(patterns: str, broad: bool) -> None:
    for pattern in patterns.replace("\n", "").split(";"):
        layer = Layer("user", (Rule("bash", pattern, "allow", "toolwright.json:1"),))
        assert [one.kind for one in of_layers([layer], ["user"])] == ["broad"] * broad, pattern


def test_a_later_rule_takes_from_a_command_what_makes_it_run_others() -> None:
    rules = [Rule("bash", "find *", "allow", "a:1"), Rule("bash", "find * -exec *", "ask", "a:2")]
    assert [one.kind for one in of_layers([Layer("user", tuple(rules))], ["user"])] == []
    assert [one.kind for one in of_layers([Layer("user", tuple(reversed(rules)))], ["user"])] != []


@pytest.mark.parametrize(
    "permission",
    [
        {"bash": {"*": "ask", "git status *": "allow", "git push *": "deny"}, "edit": {"migrations/*": "deny"}},
        {"external_directory": {"~/notes/*": "allow"}, "deploy": "ask", "bash": {"npx prettier *": "allow"}},
        {"bash": "allow", "edit": {"*": "ask", ".toolwright/plans/*": "allow"}},
    ],
)
def test_sound_rules_have_no_fault(tw: Tw, project: Path, permission: Any) -> None:
    (project / "toolwright.json").write_text(json.dumps({"permission": permission}))
    outcome = tw("permission", "lint")
    assert (outcome.code, outcome.out) == (0, "0 found\n")


def test_our_own_rules_have_no_fault_but_that_they_allow(tmp_path: Path) -> None:
    folders = Folders.of({"HOME": str(tmp_path)})
    agents = load_agents(load_config(tmp_path, folders, {}), folders, trusted=True)
    assert lint(agents) == []
    for agent in agents.by_name.values():
        layers = agents.ruled(agent).policy.layers
        found = list(of_layers(layers, {layer.name for layer in layers}, written=False))
        assert {str(one.rule) for one in found} <= {"* *: allow"}, [str(one) for one in found]
