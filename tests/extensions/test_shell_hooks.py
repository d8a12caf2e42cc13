"""Programs at certain moments: what they are told, and what their exit code and their JSON bring about."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolwright.errors import UsageError
from toolwright.extensions.shell_hooks import ShellHook, ShellHooks
from toolwright.extensions.shell_moments import both_names, our_names
from toolwright.process.running.scope import Scopes
from toolwright.protocols.json_types import Json
from toolwright.session.events import SessionStatus
from toolwright.testing import ScriptedModel, ScriptedUser, make_workspace

ALLOWED: Json = {"permission": {"bash": "allow"}}


async def test_exit_code_2_blocks_a_call_with_what_is_on_stderr(project: Path) -> None:
    config = ALLOWED | _hooks("PreToolUse", "cat > seen.json; echo not this one >&2; exit 2", matcher="Bash")
    (project / "a.txt").write_text("text\n")
    async with make_workspace(project, config=config) as workspace:
        session = workspace.session()
        blocked = await session.call("bash", command="touch made", description="d")
        assert blocked.error is not None
        assert (blocked.output, blocked.error.kind) == ("not this one", "denied")
        assert (await session.call("read", filePath="a.txt")).error is None
    assert not (project / "made").exists()
    told = json.loads((project / "seen.json").read_text())
    assert (told["hook_event_name"], told["tool_name"]) == ("PreToolUse", "Bash")
    assert told["tool_input"]["command"] == "touch made"
    assert told["cwd"] == str(project)


@pytest.mark.parametrize("matcher", ["", "*", "Bash", "bash", "Edit|Bash", "B.*", "("])
async def test_matchers_that_fit(project: Path, matcher: str) -> None:
    config = ALLOWED | _hooks("PreToolUse", "echo no >&2; exit 2", matcher=matcher)
    async with make_workspace(project, config=config) as workspace:
        assert (await workspace.call("bash", command="true", description="d")).output == "no"


async def test_another_exit_code_decides_nothing_and_is_told(project: Path) -> None:
    config = ALLOWED | _hooks("PreToolUse", "echo oh no >&2; exit 1")
    async with make_workspace(project, config=config) as workspace:
        assert (await workspace.call("bash", command="true", description="d")).error is None
        [problem] = workspace.left_out()
        assert problem.reason == "it ended with code 1: oh no"


async def test_a_hook_that_fails_is_told_in_the_turn_it_fails_in_and_once(project: Path) -> None:
    config = ALLOWED | _hooks("PreToolUse", "echo oh no >&2; exit 1")
    model = ScriptedModel(
        {"tools": [{"name": "todoread", "args": {}}]}, {"tools": [{"name": "todoread"}]}, {"text": "x"}
    )
    async with make_workspace(project, config=config, model=model) as workspace:
        told = list[str]()
        workspace.bus.subscribe(
            lambda event: told.append(str(event.status.get("notice"))) if isinstance(event, SessionStatus) else None
        )
        await workspace.prompt("go")
    assert [one for one in told if "hook" in one] == [
        "The hook 'echo oh no >&2; exit 1' (PreToolUse) failed: it ended with code 1: oh no"
    ]


@pytest.mark.parametrize("command", ["./no-such-guard", "./not-executable"])
async def test_a_guard_that_cannot_be_run_blocks(project: Path, command: str) -> None:
    (project / "not-executable").write_text("#!/bin/sh\nexit 0\n")
    config = ALLOWED | _hooks("PreToolUse", command)
    async with make_workspace(project, config=config) as workspace:
        blocked = await workspace.call("bash", command="touch made", description="d")
        assert blocked.error is not None
        assert f"The hook '{command}' did not answer" in blocked.output
    assert not (project / "made").exists()


async def test_a_guard_that_does_not_answer_in_time_blocks(project: Path) -> None:
    config = ALLOWED | _hooks("PreToolUse", "sleep 3600", timeout=0.2)
    async with make_workspace(project, config=config) as workspace:
        blocked = await workspace.call("bash", command="true", description="d")
        assert "did not answer" in blocked.output


async def test_json_may_deny_allow_or_change_a_call(project: Path) -> None:
    answer = {"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"file_path": "right.txt"}}}
    config = {"permission": {"read": "ask"}} | _hooks("PreToolUse", _say(answer))
    (project / "right.txt").write_text("right\n")
    user = ScriptedUser()
    async with make_workspace(project, config=config, user=user) as workspace:
        result = await workspace.call("read", filePath="wrong.txt")
        assert "right" in result.output
        assert user.questions == []
    answer = {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "because"}}
    async with make_workspace(project, config=_hooks("PreToolUse", _say(answer))) as workspace:
        denied = await workspace.call("read", filePath="right.txt")
        assert denied.output == "because"


async def test_a_hook_that_allows_undoes_no_rule_that_denies(project: Path) -> None:
    answer = {"hookSpecificOutput": {"permissionDecision": "allow"}}
    config = {"permission": {"bash": "deny"}} | _hooks("PreToolUse", _say(answer))
    async with make_workspace(project, config=config) as workspace:
        result = await workspace.call("bash", command="true", description="d")
        assert result.error is not None
        assert result.error.kind == "denied"


async def test_words_after_a_call_reach_the_model(project: Path) -> None:
    (project / "a.txt").write_text("text\n")
    answer = {"decision": "block", "reason": "run the linter"}
    async with make_workspace(project, config=_hooks("PostToolUse", _say(answer), matcher="Read")) as workspace:
        result = await workspace.call("read", filePath="a.txt")
        assert result.output.endswith("<hook>\nrun the linter\n</hook>")


@pytest.mark.parametrize(("behaviour", "allowed"), [("allow", True), ("deny", False)])
async def test_questions_may_be_answered(project: Path, behaviour: str, allowed: bool) -> None:
    answer = {"hookSpecificOutput": {"decision": {"behavior": behaviour, "message": "not now"}}}
    config = {"permission": {"bash": "ask"}} | _hooks("PermissionRequest", _say(answer))
    user = ScriptedUser()
    async with make_workspace(project, config=config, user=user) as workspace:
        result = await workspace.call("bash", command="true", description="d")
        assert (result.error is None) is allowed
        assert allowed or "not now" in result.output
    assert user.questions == []


async def test_prompts_may_be_blocked_or_given_context(project: Path) -> None:
    model = ScriptedModel({"text": "Done."})
    script = "case $(cat) in *secret*) echo no secrets >&2; exit 2;; *) echo It is Monday.;; esac"
    config = _hooks("UserPromptSubmit", script)
    async with make_workspace(project, model=model, config=config) as workspace, workspace.session() as session:
        with pytest.raises(UsageError, match="no secrets"):
            await session.prompt("the secret")
        await session.prompt("hello")
        assert "It is Monday." in str(model.requests[0].messages)


async def test_a_session_is_told_of_at_its_start_at_its_end_and_at_each_stop(project: Path) -> None:
    model = ScriptedModel({"text": "One."}, {"text": "Two."})
    stop = "case $(tee -a seen.jsonl) in *'\"stop_hook_active\": false'*) echo go on >&2; exit 2;; esac"
    note = "cat >> seen.jsonl"
    config: Json = {"hooks": {}}
    for event, command in (("SessionStart", f"{note}; echo Begun."), ("Stop", stop), ("SessionEnd", note)):
        config["hooks"] |= _hooks(event, f"{command}; echo >> seen.jsonl")["hooks"]
    config["hooks"]["Stop"] = _hooks("Stop", stop)["hooks"]["Stop"]
    async with make_workspace(project, model=model, config=config) as workspace, workspace.session() as session:
        result = await session.prompt("hello")
        assert result.text == "Two."
        assert "Begun." in str(model.requests[0].messages)
        assert "go on" in str(model.requests[1].messages)
    said = (project / "seen.jsonl").read_text()
    assert [said.count(f'"{name}"') for name in ("SessionStart", "Stop", "SessionEnd")] == [1, 2, 1]


async def test_hooks_fire_for_subagents(project: Path) -> None:
    (project / "a.txt").write_text("text\n")
    read: Any = {"name": "read", "args": {"filePath": "a.txt"}}
    task: Any = {"name": "task", "args": {"description": "d", "prompt": "p", "subagent_type": "general"}}
    model = ScriptedModel({"tools": [task]}, {"tools": [read]}, {"text": "below"}, {"text": "Done."})
    config: Json = {"hooks": {}}
    for event in ("PreToolUse", "SubagentStop", "Stop"):
        config["hooks"] |= _hooks(event, "cat >> seen.jsonl; echo >> seen.jsonl")["hooks"]
    async with make_workspace(project, model=model, config=config) as workspace, workspace.session() as session:
        await session.prompt("Go.")
    told = [json.loads(line) for line in (project / "seen.jsonl").read_text().splitlines() if line]
    assert [one.get("tool_name") or one["hook_event_name"] for one in told] == ["Task", "Read", "SubagentStop", "Stop"]


async def test_a_question_is_announced(project: Path) -> None:
    config = {"permission": {"bash": "ask"}} | _hooks("Notification", "cat > seen.json")
    async with make_workspace(project, config=config, user=ScriptedUser.saying("once")) as workspace:
        await workspace.call("bash", command="true", description="d")
    assert "needs your permission" in json.loads((project / "seen.json").read_text())["message"]


async def test_claudes_own_settings_are_read_on_request_and_on_trust(project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text(json.dumps(_hooks("PreToolUse", "echo theirs >&2; exit 2")))
    asked = ALLOWED | {"foreign": {"claude": ["hooks"]}}
    for config, trust, output in ((asked, True, "theirs"), (asked, False, "fine\n"), (ALLOWED, True, "fine\n")):
        async with make_workspace(project, config=config, trust=trust) as workspace:
            assert (await workspace.call("bash", command="echo fine", description="d")).output == output


CLAUDE: Json = ALLOWED | {"foreign": {"claude": ["hooks"]}}


def _say_where(word: str) -> str:
    return f"cat > /dev/null; echo {word} >> order"


def _write(folder: Path, name: str, said: Json) -> None:
    (folder / ".claude").mkdir(exist_ok=True)
    (folder / ".claude" / name).write_text(json.dumps(said))


ODD: tuple[Any, ...] = (
    {"hooks": [{"type": "http", "url": "http://127.0.0.1:9", "allowedEnvVars": 5}]},
    {"hooks": [{"type": "http", "url": "http://127.0.0.1:9", "headers": [3]}]},
    {"hooks": [{"type": ["command"], "command": {"a": 1}}]},
    {"hooks": [{"type": "command", "command": "true", "timeout": 10**400}]},
    {"hooks": [{"type": "command", "command": "true", "timeout": ["long"]}]},
    {"hooks": {"type": "command"}},
    {"hooks": [None, 3, "x"]},
    *(None, 3, "x", []),
)
"""Entries of a guard's settings that somebody has written wrongly."""


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
async def test_what_is_written_wrongly_takes_no_guard_beside_it_away(project: Path, odd: Any) -> None:
    guard = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}
    entry = {"matcher": "Read", **odd} if isinstance(odd, dict) else odd
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [entry, guard]}}))
    async with make_workspace(project, config=CLAUDE, trust=True) as workspace:
        assert (await workspace.call("bash", command="touch made", description="d")).output == "no"
    assert not (project / "made").exists()


async def test_a_guard_that_names_its_tools_in_no_text_guards_all_of_them(project: Path) -> None:
    group = {"matcher": ["Bash"], "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    async with make_workspace(project, config=CLAUDE, trust=True) as workspace:
        assert (await workspace.call("bash", command="touch made", description="d")).output == "no"


async def test_the_users_the_projects_and_its_local_hooks_of_claude_all_run_and_the_same_one_once(
    project: Path,
) -> None:
    home = project.parent / "project.home"
    home.mkdir()
    same = _hooks("PreToolUse", _say_where("same"))["hooks"]["PreToolUse"]
    for folder, name, word in (
        (home, "settings.json", "user"),
        (project, "settings.json", "project"),
        (project, "settings.local.json", "local"),
    ):
        own = _hooks("PreToolUse", _say_where(word), matcher="Bash")["hooks"]["PreToolUse"]
        _write(folder, name, {"hooks": {"PreToolUse": [*own, *same]}})
    _write(home, "settings.local.json", _hooks("PreToolUse", _say_where("nobody")))
    async with make_workspace(project, config=CLAUDE) as workspace:
        await workspace.call("bash", command="true", description="d")
    assert (project / "order").read_text().split() == ["user", "same", "project", "local"]
    (project / "order").unlink()
    async with make_workspace(project, config=CLAUDE, trust=False) as workspace:
        await workspace.call("bash", command="true", description="d")
    assert (project / "order").read_text().split() == ["user", "same"]


@pytest.mark.parametrize(("local", "runs"), [({}, False), ({"disableAllHooks": False}, True)])
async def test_the_last_settings_that_speak_of_it_switch_hooks_off(project: Path, local: Json, runs: bool) -> None:
    _write(project, "settings.json", _hooks("PreToolUse", _say_where("ran")) | {"disableAllHooks": True})
    _write(project, "settings.local.json", local)
    async with make_workspace(project, config=CLAUDE) as workspace:
        assert (await workspace.call("bash", command="true", description="d")).error is None
    assert (project / "order").exists() is runs


async def test_a_guard_of_a_form_that_is_not_known_blocks_what_it_guards(project: Path) -> None:
    entry = {"matcher": "Bash", "hooks": [{"type": "agent", "prompt": "Look."}]}
    _write(project, "settings.local.json", {"hooks": {"PreToolUse": [entry], "Stop": [entry]}})
    (project / "a.txt").write_text("text\n")
    async with make_workspace(project, config=CLAUDE) as workspace:
        blocked = await workspace.call("bash", command="true", description="d")
        assert blocked.error is not None
        assert "commands, addresses and prompts are run here, not 'agent'" in blocked.output
        assert (await workspace.call("read", filePath="a.txt")).error is None
        assert [one.reason for one in workspace.left_out()] == [
            "PreToolUse: commands, addresses and prompts are run here, not 'agent'",
            "Stop: commands, addresses and prompts are run here, not 'agent'",
        ]


@pytest.mark.parametrize(
    ("tool", "matcher", "fits"),
    [
        ("my_notes_add_note", "mcp__my.notes__add_note", True),
        ("my_notes_add_note", "mcp__.*", True),
        ("my_notes_add_note", "my_notes_add_note", True),
        ("my_notes_add_note", "mcp__other__.*", False),
        ("my_search", "mcp__my__search", True),
        ("todoread", "mcp__.*", False),
        ("apply_patch", "Edit|Write", True),
        ("apply_patch", "apply_patch", True),
        ("edit", "Write", False),
        ("multiedit", "MultiEdit", True),
    ],
)
async def test_matchers_know_tools_by_the_names_of_the_protocol(
    project: Path, tool: str, matcher: str, fits: bool
) -> None:
    hooks = ShellHooks(
        hooks=[ShellHook(event="PreToolUse", command="", missing="this is a test", matcher=matcher)],
        scopes=Scopes,
        directory=project,
        environment={},
        servers=("my.notes", "my"),
    )
    assert bool((await hooks.run("PreToolUse", "ses_1", tool)).blocked) is fits


async def test_an_untrusted_project_brings_no_hooks(project: Path) -> None:
    mark = project / "mark"
    hooks = _hooks("PreToolUse", f"touch {mark}") | {
        "experimental": {"hook": {"session_completed": [{"command": ["touch", str(mark)]}]}}
    }
    (project / "opencode.json").write_text(json.dumps(hooks))
    async with make_workspace(project, trust=False, model=ScriptedModel({"text": "Done."})) as workspace:
        await workspace.call("read", filePath="opencode.json")
        await workspace.prompt("hello")
    assert not mark.exists()


async def test_the_older_form_of_the_reference(project: Path) -> None:
    config = {
        "permission": {"edit": "allow"},
        "experimental": {"hook": {"file_edited": {".py": [{"command": ["touch", "edited"]}]}}},
    }
    async with make_workspace(project, config=config) as workspace:
        await workspace.call("write", filePath="a.txt", content="x")
        assert not (project / "edited").exists()
        await workspace.call("write", filePath="a.py", content="x")
    assert (project / "edited").exists()


def test_names_there_and_back() -> None:
    assert both_names({"filePath": "a"}) == {"filePath": "a", "file_path": "a"}
    assert our_names({"filePath": "a", "file_path": "b"}, {"filePath": "a"}) == {"filePath": "b"}
    assert our_names({"command": "x"}, {"command": "y"}) == {"command": "x"}


def _hooks(event: str, command: str, **more: Any) -> Json:
    matcher = {"matcher": more.pop("matcher")} if "matcher" in more else {}
    return {"hooks": {event: [{**matcher, "hooks": [{"type": "command", "command": command, **more}]}]}}


def _say(answer: Json) -> str:
    return f"cat > /dev/null; echo '{json.dumps(answer)}'"
