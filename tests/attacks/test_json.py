"""JSON that strangers send goes through one function, which refuses what is nested without end."""

import ast
from pathlib import Path

import pytest

from toolwright.mcp.client.schemas import without_slow_patterns
from toolwright.models.formats.wire import count
from toolwright.models.info import Prices, Usage
from toolwright.testing import make_workspace

SOURCE = Path(__file__).parents[2] / "src" / "toolwright"
OWN = {
    "config/jsonc.py": "one token",
    "evaluate/results.py": "what we wrote",
    "extensions/python_host.py": "what we wrote, in the other process",
    "files/captured.py": "what our keeper wrote",
    "files/images.py": "what we wrote",
    "files/journal.py": "what we wrote",
    "files/pdf.py": "a process of ours",
    "files/pending.py": "what we wrote",
    "fleet/saved.py": "what we wrote",
    "protocols/json_text.py": "the function itself",
    "mcp/client/content.py": "depth is caught here",
    "mcp/client/ends.py": "a process of ours",
    "models/formats/fixes.py": "our own request",
    "models/known/profiles.py": "what ships",
    "models/known/refresh.py": "the list that ships, made by hand",
    "models/scripted.py": "a script that the user names",
    "models/formats/wire.py": "depth is caught here, once for each event",
    "policy/expectations.py": "depth is caught here",
    "process/keeper/launch.py": "a process of ours",
    "process/keeper/leader.py": "a process of ours",
    "process/keeper/server.py": "a process of ours",
    "process/running/scope.py": "a process of ours",
    "process/sandbox/self_test.py": "what our keeper wrote",
    "process/running/network_namespaces.py": "a process of ours",
    "proof/baseline.py": "what we wrote",
    "server/inside.py": "our own answer",
    "session/storage/bundle.py": "what we wrote",
    "session/storage/chain.py": "depth is caught here",
    "session/storage/search.py": "depth is caught here",
    "session/storage/on_disk.py": "depth is caught here",
    "config/shipped.py": "what ships",
    "testing.py": "for tests",
    "web/apart.py": "a process of ours",
}
SHIPPED = ("cli/run/json_lines.py", "format/registry.py", "lsp/servers.py", "server/routes/project_info.py")


def test_no_other_module_reads_json_by_itself() -> None:
    users = {
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "loads" and ast.unparse(node.value) == "json"
    }
    assert users - set(SHIPPED) == set(OWN)


BROKEN = {
    "nested without end": b"[" * 100_000,
    "cut short": b"{",
    "something else": b'{"user": 1}',
    "no text": b"\xff",
}


def write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


@pytest.mark.parametrize("content", BROKEN)
async def test_a_broken_file_of_approvals_is_a_sentence_about_the_file(project: Path, content: str) -> None:
    async with make_workspace(project, config={"permission": {"bash": "ask"}}) as workspace:
        write(workspace.folders.approvals, BROKEN[content])
        result = await workspace.call("bash", command="touch deed", description="leave a trace")
    assert result.output.startswith(str(workspace.folders.approvals))
    assert "orrect the file" in result.output
    assert not (project / "deed").exists()


@pytest.mark.parametrize("content", BROKEN)
async def test_a_broken_note_of_what_the_machine_can_do_is_made_anew(project: Path, content: str) -> None:
    async with make_workspace(project) as workspace:
        write(workspace.folders.data / "sandbox.json", BROKEN[content])
        result = await workspace.call("bash", command="echo deed", description="say something")
    assert result.output == "deed\n"


@pytest.mark.parametrize("said", [10**400, 1e300, 10**30])
def test_a_count_of_tokens_without_end_has_a_price(said: float) -> None:
    usage = Usage(input=count(said), output=count(said))
    assert Prices(input=3.0, output=15.0).cost(usage) > 0


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(a|aa){30}b", "(x+x+)+y", "a?" * 30, ".*.*.*.*=", "(((a*)*)*)*b", "("]
)
def test_a_pattern_of_a_server_that_takes_for_ever_is_left_out(pattern: str) -> None:
    below = {"type": "string", "pattern": pattern}
    schema = {"type": "object", "properties": {"a": below, "b": {"items": below}, "c": {"anyOf": [below]}}}
    assert pattern not in str(without_slow_patterns(schema))


@pytest.mark.parametrize("pattern", ["^a$", r"^\\d{4}-\\d{2}(:\\d{2})?Z?$", "^https?://", "^(foo|bar)$", "^[]a*(]+$"])
def test_others_stay(pattern: str) -> None:
    schema = {"type": "object", "properties": {"pattern": {"type": "string", "pattern": pattern}}}
    assert without_slow_patterns(schema) == schema
