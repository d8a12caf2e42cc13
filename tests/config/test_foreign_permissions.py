"""Permissions of other programs: what each decides of a corpus of calls, and what the rules made of them decide."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw, home, tw  # noqa: F401 - fixtures
from toolwright.config.foreign.paths import ignore_paths
from toolwright.policy.expectations import read_expectations
from toolwright.policy.table import rows_of
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

STRICTNESS = ("allow", "ask", "deny")

CLAUDE = {
    "permissions": {
        "allow": [
            *("Bash(npm run test:*)", "Bash(git commit *)", "Bash(make)", "Bash(ls*)", "Bash(* --version)"),
            *("Edit(src/*.ts)", "Edit(/docs/**)", "Edit(notes)", "Write(//tmp/out/**)", "Read(~/shared/**)"),
            *("WebFetch(domain:docs.example.org)", "mcp__gh__get_issue", "Skill(release)", "Agent(explore)"),
        ],
        "ask": ["Bash(git push:*)", "Edit(package.json)", "Bash(npm run test:e2e)", "mcp__gh__merge"],
        "deny": [
            *("Bash(curl:*)", "Bash(rm *)", "Bash(git push --force *)", "Read(./secrets/**)", "Edit(docs/legal/**)"),
            *("Read(*.pem)", "WebFetch(domain:evil.example)", "WebSearch", "mcp__gh__delete_repo"),
        ],
    }
}
CLAUDE_TABLE = """\
allow build bash npm run test
allow build bash npm run test -- --watch
ask   build bash npm run test:e2e
ask   build bash npm run tests
ask   build bash npm run build
allow build bash git commit -m x
ask   build bash git commitx
allow build bash make
ask   build bash make install
allow build bash ls -la src
allow build bash lsof
allow build bash node --version
ask   build bash git push origin main
deny  build bash git push --force origin main
deny  build bash curl https://example.org
deny  build bash rm notes
deny  build bash npm run test && rm -r src
ask   build bash npm run test && make install
allow build bash npm run test && git commit -m x
allow build bash git status
allow build bash git log --oneline
allow build bash cat readme.md
allow build bash grep -rn x src
allow build bash pwd
ask   build bash python -c 1
ask   build bash find . -delete
ask   build bash git checkout main
ask   build bash git diff --output=x
allow build write src/a.ts
ask   build write src/a.js
ask   build write src/deep/a.ts
allow build write docs/a.md
allow build write docs/a/b/c.md
deny  build write docs/legal/terms.md
allow build write notes
allow build write deep/notes
ask   build write package.json
ask   build write other.txt
allow build edit src/a.ts
ask   build edit lib/a.ts
allow build read src/a.ts
allow build read readme.md
deny  build read secrets/key
deny  build read secrets/deep/key
deny  build read a.pem
deny  build read deep/er/a.pem
deny  build bash cat secrets/key
allow build glob **/*.py
allow build grep todo
allow build webfetch https://docs.example.org/guide
allow build webfetch https://docs.example.org
ask   build webfetch https://docs.example.org.evil.net/
ask   build webfetch https://example.org
deny  build webfetch https://evil.example/x
allow build gh_get_issue *
ask   build gh_merge *
deny  build gh_delete_repo *
ask   build gh_list *
allow build skill release
ask   build skill deploy
"""
CLAUDE_STRICTER = {"bash find . -delete"}
"""It would delete what an edit is denied to."""

CODEX = """
# What may run.
prefix_rule(pattern = ["git", ["status", "fetch"]], match = ["git status -s"], not_match = ["git push"])
prefix_rule(pattern = ["npm", "test"], decision = "allow")
prefix_rule(pattern = ["git", "push"], decision = "prompt", justification = "shared")
prefix_rule(pattern = ["git", "push", ["-f", "--force"]], decision = "forbidden")
prefix_rule(pattern = ["rm"], decision = "forbidden", match = [["rm", "-r", "x"]])
prefix_rule(pattern = ["cp"], decision = "prompt", match = [["cp", "foo", "bar"], "cp -r src dest"])
host_executable(name = "git", paths = ["/usr/bin/git"])
prefix_rule(pattern = ["x"], decision = some_function())
"""
CODEX_TABLE = """\
allow build bash git status
allow build bash git status -s
allow build bash git fetch origin
ask   build bash git push
ask   build bash git push origin main
deny  build bash git push -f
deny  build bash git push --force origin
allow build bash npm test
allow build bash npm test -- x
ask   build bash npm testing
deny  build bash rm -r x
deny  build bash npm test && rm -r x
ask   build bash cp foo bar
ask   build bash cp -r src dest
ask   build bash cargo build
allow build bash ls
allow build read a.txt
"""

GEMINI = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git", "npm test"]
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git push"
decision = "deny"
priority = 200

[[rule]]
commandRegex = "docker (run|exec) .*"
decision = "ask_user"
priority = 150

[[rule]]
commandPrefix = "docker"
decision = "allow"
priority = 50

[[rule]]
toolName = ["write_file", "replace"]
decision = "deny"
priority = 10
modes = ["plan"]

[[rule]]
mcpName = "gh"
toolName = "get_issue"
decision = "allow"
priority = 20

[[rule]]
toolName = "web_fetch"
argsPattern = "evil"
decision = "deny"
priority = 900

[[rule]]
toolName = "save_memory"
decision = "allow"
priority = 5
"""
GEMINI_TABLE = """\
allow build bash git status
allow build bash git commit -m x
deny  build bash git push
deny  build bash git status && git push
allow build bash npm test
ask   build bash npm install
ask   build bash docker run x
ask   build bash docker exec x
allow build bash docker ps
ask   build bash make
ask   build write a.txt
allow build read a.txt
allow build glob *
ask   build webfetch https://example.org
allow build gh_get_issue *
ask   build gh_list *
"""

SERVER = {"gh": {"type": "local", "command": ["gh"]}}


def lay_out(project: Path, program: str) -> None:
    files = {
        "claude": {".claude/settings.json": json.dumps(CLAUDE)},
        "codex": {".codex/config.toml": 'approval_policy = "untrusted"\n', ".codex/rules/default.rules": CODEX},
        "gemini": {".gemini/policies/mine.toml": GEMINI},
    }
    for name, text in files[program].items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)


def opened(project: Path, program: str, *, trust: bool = True, **settings: Any) -> Workspace:
    config = {"foreign": {program: ["permissions"]}, "mcp": SERVER, **settings}
    return make_workspace(project, config=config, trust=trust)


async def differing(workspace: Workspace, table: str) -> dict[str, tuple[str, str]]:
    """The calls that are decided otherwise: as the other program does, and as it is here."""
    wanted = [one for one in read_expectations(table, "table") if not _is_absent(one.tool)]
    rows = await rows_of(workspace, wanted)
    found = {
        f"{row.expected.tool} {row.expected.argument}": (str(row.expected.action), row.verdict.action or row.why)
        for row in rows
        if not row.passed
    }
    for one in read_expectations(table, "table"):
        here = decided(workspace, one.tool, one.argument) if _is_absent(one.tool) else one.action
        if here != one.action:
            found[f"{one.tool} {one.argument}"] = (str(one.action), str(here))
    return found


def decided(workspace: Workspace, permission: str, pattern: str) -> str:
    return workspace.agents.ruled(workspace.agents["build"]).decide(permission, pattern)


def _is_absent(tool: str) -> bool:
    """Whether only the rules can be asked: no server and no skill is there."""
    return tool.startswith("gh_") or tool == "skill"


@pytest.mark.parametrize(
    ("program", "table", "stricter"),
    [("claude", CLAUDE_TABLE, CLAUDE_STRICTER), ("codex", CODEX_TABLE, set()), ("gemini", GEMINI_TABLE, set())],
)
async def test_a_corpus_of_calls_is_decided_as_the_other_program_decides_it(
    project: Path, program: str, table: str, stricter: set[str]
) -> None:
    lay_out(project, program)
    found = await differing(opened(project, program), table)
    assert set(found) <= stricter, found
    assert all(STRICTNESS.index(here) > STRICTNESS.index(there) for there, here in found.values()), found


@pytest.mark.parametrize(
    ("program", "decisions"),
    [
        ("claude", {"npm run test": "ask", "make": "ask", "rm x": "deny"}),
        ("codex", {"npm test": "allow", "git push": "ask", "rm x": "deny"}),
        ("gemini", {"npm test": "ask", "git status": "ask", "git push": "deny"}),
    ],
)
async def test_an_untrusted_project_only_tightens_by_them(
    project: Path, program: str, decisions: dict[str, str]
) -> None:
    lay_out(project, program)
    workspace = opened(project, program, trust=False)
    assert {command: decided(workspace, "bash", command) for command in decisions} == decisions


@pytest.mark.parametrize(
    ("text", "patterns", "beyond"),
    [
        ("*.pem", ("*.pem", "*.pem/*", "*/*.pem", "*/*.pem/*"), ()),
        ("src", ("src", "src/*", "*/src", "*/src/*"), ()),
        ("./src", ("src", "src/*"), ()),
        ("src/*.ts", ("src/*.ts", "src/*.ts/*"), ("src/*/*.ts",)),
        ("**/src/*.ts", ("src/*.ts", "src/*.ts/*", "*/src/*.ts", "*/src/*.ts/*"), ("src/*/*.ts", "*/src/*/*.ts")),
        ("a/**/b", ("a/b", "a/b/*", "a/*/b", "a/*/b/*"), ()),
        ("src/**", ("src/*",), ()),
        ("//etc/x", ("/etc/x", "/etc/x/*"), ()),
        ("~/x", ("~/x", "~/x/*"), ()),
        ("**", ("*",), ()),
        ("~/**", ("~/*",), ()),
    ],
)
def test_a_path_of_claudes_rules_is_ours_with_what_our_star_takes_in_beyond_it(
    text: str, patterns: tuple[str, ...], beyond: tuple[str, ...]
) -> None:
    found = ignore_paths(text)
    assert (found.patterns, found.beyond) == (patterns, beyond)
    assert found.outside == text.startswith(("//", "~"))


async def test_our_own_settings_are_stronger_and_without_the_word_nothing_is_read(project: Path) -> None:
    lay_out(project, "claude")
    own = make_workspace(project, trust=True)
    assert decided(own, "bash", "curl x") == "allow"
    both = opened(project, "claude", permission={"bash": {"make *": "deny"}})
    assert decided(both, "bash", "make") == "deny"


def test_import_prints_the_rules_and_says_what_changes_meaning(tw: Tw, project: Path) -> None:  # noqa: F811
    lay_out(project, "codex")
    outcome = tw("import", "codex")
    rules = outcome.json["permission"]
    assert {"action": "bash", "resource": "git fetch *", "effect": "allow"} in rules
    assert rules[-1]["effect"] == "deny"
    only = "left out, only prefix_rule with named values is understood"
    first, second, third = outcome.err.splitlines()
    assert first == f"host_executable(name='git', paths=['/usr/bin/git']): {only}"
    assert second.startswith("prefix_rule(pattern=['x'], decision=some_function()): left out")
    assert third == "allow: stricter, there such a command runs outside of the sandbox, here inside"
    assert tw("import", "gemini").code == 2


def test_import_writes_them_below_what_is_there(tw: Tw, project: Path) -> None:  # noqa: F811
    lay_out(project, "gemini")
    (project / "toolwright.json").write_text('{"permission": {"bash": {"docker *": "deny"}}}')
    assert tw("import", "gemini", "--write").code == 0
    rules = json.loads((project / "toolwright.json").read_text())["permission"]
    assert rules[-1] == {"action": "bash", "resource": "docker *", "effect": "deny"}
    assert tw("permission", "explain", "bash", "git push", "--trust").out.startswith("bash: deny")
    notes = {one["piece"]: one["change"] for one in tw("import", "gemini", "--json").json["notes"]}
    assert notes == {
        "deny toolName ['write_file', 'replace']": "left out",
        "deny toolName web_fetch": "stricter",
        "allow toolName save_memory": "left out",
    }


@pytest.mark.parametrize(
    ("permissions", "note"),
    [
        ({"defaultMode": "bypassPermissions"}, "defaultMode bypassPermissions: stricter"),
        ({"deny": ["Edit(a[bc].py)"]}, "deny Edit(a[bc].py): stricter"),
        ({"allow": ["Edit(a[bc].py)"]}, "allow Edit(a[bc].py): left out"),
        ({"deny": ["Edit(src/*.ts)"]}, "deny Edit(src/*.ts): stricter"),
        ({"allow": ["Grep(x)"]}, "allow Grep(x): left out"),
        ({"something": True}, "something: left out"),
        ({"deny": ["Bash(echo $(x))"]}, "every rule means the same here"),
    ],
)
def test_what_means_something_else_here_is_said(tw: Tw, project: Path, permissions: Any, note: str) -> None:  # noqa: F811
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text(json.dumps({"permissions": permissions}))
    assert note in tw("import", "claude").err
