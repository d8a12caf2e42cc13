"""What holds for the whole project: a denied tool does nothing, imports point down, nothing is stated twice."""

import ast
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from toolwright.calls.builtin import BUILTIN, INVALID
from toolwright.definition import Call
from toolwright.machine.own_files import TEMPORARY
from toolwright.permission.forms import PERMISSIONS
from toolwright.permission.rules import Rule
from toolwright.testing import ScriptedUser, make_workspace
from toolwright.tools import builtin

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "toolwright"

PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-secret\n+changed\n*** End Patch"
EXAMPLES: dict[str, Any] = {
    "invalid": {"tool": "x", "error": "it is not there"},
    "question": {"questions": [{"question": "Why?", "header": "Why", "options": [{"label": "a", "description": "b"}]}]},
    "bash": {"command": "touch deed; cat a.txt", "description": "leave a trace"},
    "read": {"filePath": "a.txt"},
    "glob": {"pattern": "*.txt"},
    "grep": {"pattern": "secret"},
    "list": {"path": "."},
    "edit": {"filePath": "a.txt", "oldString": "secret", "newString": "changed"},
    "multiedit": {"filePath": "a.txt", "edits": [{"oldString": "secret", "newString": "changed"}]},
    "write": {"filePath": "deed", "content": "done"},
    "apply_patch": {"patchText": PATCH},
    "task": {"description": "do it", "prompt": "touch deed", "subagent_type": "general"},
    "webfetch": {"url": "https://example.com/"},
    "todowrite": {"todos": [{"content": "a", "status": "pending", "priority": "low"}]},
    "todoread": {},
    "websearch": {"query": "news"},
    "codesearch": {"query": "news"},
    "skill": {"name": "deed"},
    "lsp": {"operation": "hover", "filePath": "a.txt", "line": 1, "character": 1},
    "batch": {"tool_calls": [{"tool": "write", "parameters": {"filePath": "deed", "content": "done"}}]},
    "plan_exit": {},
    "plan_enter": {},
}
"""One call of each built-in that would leave a trace, if it can. A new tool needs its line here."""

ASKS_NOTHING = {"invalid"}


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


@pytest.fixture
def stocked(project: Path) -> Path:
    (project / "a.txt").write_text("secret\n")
    skill = project / ".toolwright" / "skill" / "deed" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: deed\ndescription: Does a deed\n---\nsecret\n")
    return project


@pytest.mark.parametrize("tool_id", BUILTIN)
@pytest.mark.parametrize("answer", ["once", "always"])
async def test_a_denied_tool_does_nothing(stocked: Path, tool_id: str, answer: str) -> None:
    user = ScriptedUser.saying(*[answer] * 9)
    workspace = make_workspace(stocked, user=user)
    before = snapshot(stocked.parent)
    session = workspace.session(rules=[Rule("*", "*", "deny")])
    result = await session.run_call(Call(id="call_1", tool=tool_id, arguments=EXAMPLES[tool_id]))
    await workspace.close()
    if tool_id not in ASKS_NOTHING:
        assert result.error is not None
        assert result.error.kind == "denied", result.output
    assert "secret" not in result.output.replace("'secret'", "")
    assert user.questions == []
    assert snapshot(stocked.parent) == before


@pytest.mark.parametrize("tool_id", sorted(set(BUILTIN) - ASKS_NOTHING))
async def test_a_tool_under_ask_asks_before_it_does_anything(stocked: Path, tool_id: str) -> None:
    user = ScriptedUser()
    workspace = make_workspace(stocked, user=user)
    before = snapshot(stocked)
    session = workspace.session(rules=[Rule("*", "*", "ask"), Rule("batch", "*", "allow")])
    if tool_id in ("edit", "multiedit", "apply_patch"):
        seen = await workspace.session().run_call(Call(id="call_0", tool="read", arguments={"filePath": "a.txt"}))
        assert seen.error is None
    result = await session.run_call(Call(id="call_1", tool=tool_id, arguments=EXAMPLES[tool_id]))
    await workspace.close()
    assert result.error is not None or tool_id == "batch"
    assert snapshot(stocked) == before


NAMING = {
    "calls/builtin.py",  # the list of them
    "agents.py",  # permissions that a subagent has not
    "config/native_agents.py",  # permissions of the agents that ship
    "calls/truncate.py",  # words for the model, as far as it has the tools
    "permission/forms.py",  # permissions by their older names
    "app/shown.py",  # permissions that a command needs besides
    "tools/commands/access.py",  # permissions whose rules hold files
    "config/foreign/claude_rules.py",  # permissions, from the words of other programs
    "config/foreign/gemini_rules.py",
    "config/foreign/tools.py",
}
"""Where several tools, or permissions that are called like them, may stand side by side."""
AMBIGUOUS = {"read", "write", "edit", "list", "question", "skill", "task", "lsp"}
"""Words that mean other things too."""


def test_what_a_tool_is_called_and_does_is_said_by_the_tool() -> None:
    """No table elsewhere names tools."""
    tools = set(BUILTIN) - AMBIGUOUS
    found = {
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict)
        if len(words := _words(node) & set(BUILTIN)) > 1 and words & tools
    }
    assert found == NAMING


def _words(node: ast.Tuple | ast.List | ast.Set | ast.Dict) -> set[str]:
    entries = node.keys if isinstance(node, ast.Dict) else node.elts
    return {one.value for one in entries if isinstance(one, ast.Constant) and isinstance(one.value, str)}


@pytest.mark.slow
def test_imports_point_down() -> None:
    """The contracts of pyproject.toml; `lint-imports` shows the chain that breaks one."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


SWALLOWING = {
    "functions/running.py": 1,  # a tool that may be run again
    "cli/commands/doctor_command.py": 3,  # whatever is broken, it is a finding
    "call.py": 2,  # whatever a tool or a hook does, a call ends with a result
    "inbox.py": 1,  # whoever answers
    "files/store.py": 1,  # who is asked after a change of a file
    "events.py": 1,  # a listener
    "evaluate/running.py": 2,  # the check of a task, which is the caller's code; and one task, apart from the others
    "fleet/cluster.py": 2,  # whatever keeps Ray from starting, or a cluster from being used, is told
    "fleet/driver.py": 1,  # whatever Ray says in its thread is told to whoever waits for it
    "fleet/slot.py": 2,  # whatever a machine lacks, and whatever ends a worker
    "protocols/jsonrpc.py": 2,  # who answers the requests of another program, and who takes its notifications
    "server/app.py": 1,  # whatever breaks in a request, it is answered and told in the log
    "session/storage/database.py": 1,  # whatever a record holds that is no text
    "session/storage/writer.py": 1,  # whatever goes wrong with a record or its file is told to whoever waits
    "session/goals/checks.py": 1,  # the condition of a goal, which is the caller's code
    "session/turns/turns.py": 2,  # whatever breaks in a turn, it ends with a message
    "process/keeper/capture/watch.py": 1,  # whatever keeps a change from being looked at, the program goes on
    "process/keeper/gate.py": 1,  # whatever keeps a connection from being made, the program must be answered
    "mcp/serve/resources.py": 1,  # whatever keeps a resource of an extension from being read is told to its client
    "workspace.py": 1,  # an extension that cannot start
    "workspace_services.py": 1,  # a service that cannot be closed
    "extensions/python_files.py": 1,  # whatever keeps a file from being loaded is told
    "extensions/python_host.py": 1,  # whatever a tool raises is its answer
    "extensions/typed.py": 1,  # a plugin that cannot be loaded
}
"""The places where an error of somebody else's code is contained, whatever it is; each logs or tells it."""


@dataclass(frozen=True, slots=True)
class Module:
    """What the rules below are about."""

    first_line: str
    state: frozenset[str]
    """Names at its top that it writes to."""
    swallows: int
    """How many handlers catch everything and do not pass it on."""
    library: frozenset[str]
    """The names it uses of some modules, as in `asyncio.timeout`."""
    starts: int
    """How many calls start a program by its name alone, or look for one."""
    temporary: tuple[str, ...]
    """How the names begin of what it makes in the system's temporary folder."""


@cache
def _modules() -> dict[str, Module]:
    """Every module of the program, by its place; each is parsed once."""
    return {str(file.relative_to(SOURCE)): _module(file) for file in sorted(SOURCE.rglob("*.py"))}


def _module(file: Path) -> Module:
    tree = ast.parse(file.read_text("utf-8"))
    nodes = list(ast.walk(tree))
    handlers = [node for node in nodes if isinstance(node, ast.ExceptHandler)]
    return Module(
        first_line=(ast.get_docstring(tree) or "").partition("\n")[0],
        state=_state_of(tree, nodes),
        swallows=sum(_is_broad(one.type) and not _passes_on(one) for one in handlers),
        library=frozenset(name for node in nodes for name in _library_names(node)),
        starts=sum(isinstance(node, ast.Call) and _starts_by_name(node) for node in nodes),
        temporary=tuple(name for node in nodes if isinstance(node, ast.Call) for name in _temporary_names(node)),
    )


def _library_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in LIBRARY:
        return [f"{node.value.id}.{node.attr}"]
    if isinstance(node, ast.ImportFrom) and node.module in LIBRARY:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name in LIBRARY]
    return []


ONLY_IN: dict[str, set[str]] = {
    # deadline.py says why these do not do.
    "asyncio.timeout": set(),
    "asyncio.timeout_at": set(),
    "asyncio.wait_for": set(),
    # What process/running/child.py and process/running/scope.py start ends with us; the user's own server does not.
    "asyncio.create_subprocess_exec": set(),
    "asyncio.create_subprocess_shell": set(),
    "subprocess.Popen": {"process/programs/detached.py", "process/running/child.py"},
    "subprocess.run": {"process/running/child.py", "process/keeper/family.py"},
    "subprocess.call": set(),
    "subprocess.check_call": set(),
    "subprocess.check_output": set(),
    "subprocess.getoutput": set(),
    "subprocess.getstatusoutput": set(),
    "os.system": set(),
    "os.popen": set(),
    "os.fork": {"process/keeper/launch.py", "process/keeper/server.py"},
    "os.forkpty": set(),
    "os.posix_spawn": {"process/programs/detached.py", "process/running/keeper_client.py", "process/keeper/launch.py"},
    "os.posix_spawnp": set(),
    "os.execve": {"process/keeper/launch.py"},
    "multiprocessing": set(),
    "pty": set(),
}
"""Names that only some modules use, since there is one way of ours to do it."""
LIBRARY = ("asyncio", "subprocess", "os", "multiprocessing", "pty")


def test_what_has_one_way_of_ours_is_done_in_no_other() -> None:
    users = {name: {file for file, module in _modules().items() if name in module.library} for name in ONLY_IN}
    assert users == ONLY_IN


def test_only_where_foreign_code_is_contained_does_an_except_swallow_everything() -> None:
    assert {name: one.swallows for name, one in _modules().items() if one.swallows} == SWALLOWING


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(map(_is_broad, caught.elts))
    return caught is None or (isinstance(caught, ast.Name) and caught.id in ("Exception", "BaseException"))


def _passes_on(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


CLOCKS = {
    "attacks/fuzz.py": 4,  # run by hand for a number of seconds
    "attacks/fuzz_shell.py": 2,  # run by hand for a number of seconds
    "lsp/scripted_server.py": 1,  # a server that hangs
    "mcp/fixture_tools.py": 1,  # pauses that a suite of others asks of a tool
    "models/server.py": 3,  # a provider that is slow; no result depends on how slow
    "server/test_terminal_client.py": 1,  # a screen tells nobody when it changes
    "waiting.py": 7,  # the one patience, for what never comes
    "web/test_routes.py": 1,  # a certificate is valid from now on
}
"""How often the files in which a clock is read, or some time is waited for, do it."""
CLOCK_CALLS = re.compile(
    r"time\.(time|time_ns|monotonic|monotonic_ns|perf_counter|perf_counter_ns|process_time|sleep)"
    r"|asyncio\.(sleep|timeout|timeout_at|wait_for)|time_limit|(.*\.)?loop\.time|datetime\.(now|today)"
)

CLOCK_WORDS = re.compile(r"\btime\b|datetime|asyncio\.(sleep|timeout|wait_for)|time_limit")
"""Without any of them no call of a clock can be written."""


def test_no_test_reads_a_clock_sleeps_for_a_result_or_has_a_deadline() -> None:
    """Waits are those of `tests/waiting.py`: for what is to happen, as long as it takes."""
    found = [
        str(file.relative_to(ROOT / "tests"))
        for file in (ROOT / "tests").rglob("*.py")
        if CLOCK_WORDS.search(text := file.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if _asks_a_clock(node)
    ]
    assert Counter(found) == CLOCKS


def _asks_a_clock(node: ast.AST) -> bool:
    """A call of a clock; to give the loop a turn, or to wait for ever, is none."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "time"
    if not isinstance(node, ast.Call) or not CLOCK_CALLS.fullmatch(ast.unparse(node.func)):
        return False
    return not (node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value in (0, 3600))


THREADED_PIPE = re.compile(r"to_thread\([^\n]*\.(read|write)_(text|bytes)\b")


def test_no_test_waits_for_a_named_pipe_in_a_thread() -> None:
    """The thread would keep the loop of a test that failed from closing: `read_pipe` and `write_pipe` do not."""
    tests = (ROOT / "tests").rglob("*.py")
    assert not [file for file in tests if THREADED_PIPE.search(file.read_text("utf-8"))]


def test_every_permission_that_is_asked_for_is_known() -> None:
    """Else a slip of the pen in a rule about it is not told."""
    tools = {tool.load().permission for tool in builtin()} - {INVALID}
    written = r'(?:permission=|\.ask\(\s*)"(\w+)"'
    asked = {name for file in SOURCE.rglob("*.py") for name in re.findall(written, file.read_text("utf-8"))}
    served = {"changes", "revert"}
    assert {"doom_loop", "webfetch"} <= asked
    assert (tools | asked) - served <= set(PERMISSIONS)


def test_only_tools_that_run_others_may_change_files_and_tell_nobody() -> None:
    unseen = {source.id for source in builtin() if source.load().unseen_changes}
    assert unseen == {"bash", "batch", "plan_enter", "plan_exit", "task"}


STARTS = re.compile(
    r"subprocess\.(run|Popen|call|check_call|check_output)|(asyncio\.)?create_subprocess_exec|os\.(exec|spawn|posix_spawn)\w*"
    r"|Program|run_program"
)
"""Calls whose first argument, or `argv`, is what is started."""
FORBIDDEN_STARTS = re.compile(
    r"(shutil\.)?which|os\.(system|popen|execl?vp\w*|spawn\w*p\w*|posix_spawnp)|webbrowser\.\w+"
)
"""Calls that look for a program on the PATH by themselves."""
LOOKED_UP_AGAIN = {"process/running/child.py": 1}
"""Where the path of a program is made whole that a caller has looked up or named."""


def test_our_own_programs_are_looked_up_in_one_place_and_started_by_their_paths() -> None:
    assert {name: one.starts for name, one in _modules().items() if one.starts} == LOOKED_UP_AGAIN


def _starts_by_name(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if FORBIDDEN_STARTS.fullmatch(name) or "create_subprocess_shell" in name:
        return True
    if any(one.arg == "shell" and isinstance(one.value, ast.Constant) and one.value.value for one in call.keywords):
        return True
    if not STARTS.fullmatch(name):
        return False
    words = next((one.value for one in call.keywords if one.arg == "argv"), call.args[0] if call.args else None)
    first = words.elts[0] if isinstance(words, ast.List | ast.Tuple) and words.elts else words
    return isinstance(first, ast.Constant) and isinstance(first.value, str) and "/" not in first.value


MAKES_TEMPORARY = re.compile(
    r"(tempfile\.)?(mkdtemp|mkstemp|TemporaryDirectory|NamedTemporaryFile|TemporaryFile)|make_temporary"
)


def test_what_we_make_in_a_temporary_folder_has_a_name_by_which_boxes_hide_it() -> None:
    made = ((file, name) for file, module in _modules().items() for name in module.temporary)
    others = {(file, name) for file, name in made if not name.strip("'").startswith(TEMPORARY)}
    assert others == {("machine/folders.py", "prefix")}, "but for what others give to make_temporary"


def _temporary_names(call: ast.Call) -> list[str]:
    if not MAKES_TEMPORARY.fullmatch(ast.unparse(call.func)):
        return []
    given = {one.arg: ast.unparse(one.value) for one in call.keywords}
    # Positional are the prefix of make_temporary, and of mkstemp suffix, prefix and folder.
    if len(call.args) > 2 or given.get("dir", "MEMORY") != "MEMORY":
        return []
    return [given.get("prefix") or (ast.unparse(call.args[0]) if call.args else "''")]


def test_a_module_says_what_it_is_in_its_first_line() -> None:
    assert [name for name, one in _modules().items() if not one.first_line.endswith((".", "?", ":"))] == []


def test_the_maps_name_every_module() -> None:
    table = (ROOT / "AGENTS.md").read_text("utf-8").partition("## The packages")[2]
    named = {name.partition("/")[0] for cell in re.findall(r"\n\| `(.*?)` \|", table) for name in cell.split()}
    there = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert there - {"__init__", "__main__"} == named
    for readme in SOURCE.rglob("README.md"):
        listed = set(re.findall(r"^\| `(.*?)`", readme.read_text("utf-8"), re.MULTILINE))
        files = {path.name for path in readme.parent.glob("*.py")} - {"__init__.py"}
        folders = {f"{path.parent.name}/" for path in readme.parent.glob("*/__init__.py")}
        assert listed == files | folders, readme


def test_no_module_keeps_state_of_its_own() -> None:
    """A list, dict or set at the top of a module may be read by all, so nobody may write to it."""
    assert {name: one.state for name, one in _modules().items() if one.state} == {}


def _state_of(tree: ast.Module, nodes: list[ast.AST]) -> frozenset[str]:
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    names = {name.id for node in assigned for name in ast.walk(node) if isinstance(name, ast.Name) and _is_stored(name)}
    written = {
        node.func.value.id
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.attr in ("append", "extend", "add", "update", "setdefault", "clear", "pop", "remove")
    }
    globals_used = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    return frozenset(names & written | globals_used)


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)
