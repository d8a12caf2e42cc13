"""tw tool: list, show and call, for people and for programs."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw

Configure = Callable[[Any], None]


def test_the_list_is_what_the_agent_is_offered_in_order(tw: Tw) -> None:
    shown = [line.split()[0] for line in tw("tool", "list").out.splitlines()]
    assert shown == [one["id"] for one in tw("tool", "list", "--json").json]
    assert {"read", "write", "edit", "bash", "grep"} <= set(shown)
    exploring = [one["id"] for one in tw("tool", "list", "--json", "--agent", "explore").json]
    assert "read" in exploring
    assert "write" not in exploring


def test_the_list_depends_on_the_model(tw: Tw) -> None:
    ids = [one["id"] for one in tw("tool", "list", "--json", "--model", "openai/gpt-5").json]
    assert "apply_patch" in ids
    assert "edit" not in ids


def test_a_tool_is_shown_with_its_text_and_schema(tw: Tw) -> None:
    shown = tw("tool", "show", "write", "--json").json
    assert set(shown) == {"id", "description", "parameters", "permission", "origin"}
    assert (shown["id"], shown["permission"], shown["origin"]) == ("write", "edit", "toolwright")
    assert shown["parameters"]["required"] == ["content", "filePath"]
    text = tw("tool", "show", "write").out
    assert text.startswith("write  (permission: edit, from toolwright)\n")
    assert '"filePath"' in text


def test_an_unknown_tool_is_told_with_the_nearest(tw: Tw) -> None:
    outcome = tw("tool", "show", "raed")
    assert outcome.code == 1
    assert outcome.err == "tw: There is no tool 'raed'. Did you mean 'read'?\n"


def test_a_tool_that_waits_for_trust_is_told_of(tw: Tw, project: Path) -> None:
    file = project / ".toolwright/tool/weather.py"
    file.parent.mkdir(parents=True)
    file.write_text('def weather(city: str) -> str:\n    """Tells the weather."""\n    return f"{city}: sun"\n')
    outcome = tw("tool", "call", "weather", "Rome")
    assert outcome.code == 1
    assert "There is no tool 'weather'." in outcome.err
    assert "Not used until you trust the project (tw trust, or --trust for once): .toolwright/tool/weather.py." in (
        outcome.err
    )


def test_a_call_prints_the_output_alone(tw: Tw, project: Path) -> None:
    (project / "a.txt").write_text("hello\n")
    outcome = tw("tool", "call", "read", '{"filePath": "a.txt"}')
    assert (outcome.code, outcome.err) == (0, "")
    assert "hello" in outcome.out


def test_a_call_as_json_has_everything(tw: Tw, project: Path) -> None:
    answer = tw("tool", "call", "write", '{"filePath": "n.txt", "content": "x"}', "--json").json
    assert set(answer) == {
        *("status", "tool", "title", "output", "metadata", "attachments", "error", "kind", "requests", "ms")
    }
    assert (answer["status"], answer["error"], answer["kind"]) == ("completed", None, None)
    [request] = answer["requests"]
    assert (request["permission"], request["patterns"], request["decision"]) == ("edit", ["n.txt"], "allow")
    assert (project / "n.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("config", "options", "arguments", "code", "kind"),
    [
        ({}, [], {"filePath": "n.txt", "content": "x"}, 0, None),
        ({}, [], {"filePath": "n.txt"}, 1, "schema"),
        ({"permission": {"edit": "deny"}}, [], {"filePath": "n.txt", "content": "x"}, 3, "denied"),
        ({"permission": {"edit": "deny"}}, ["--yes"], {"filePath": "n.txt", "content": "x"}, 3, "denied"),
        ({"permission": {"edit": "ask"}}, [], {"filePath": "n.txt", "content": "x"}, 3, "rejected"),
        ({"permission": {"edit": "ask"}}, ["--no"], {"filePath": "n.txt", "content": "x"}, 3, "rejected"),
        ({"permission": {"edit": "ask"}}, ["--yes"], {"filePath": "n.txt", "content": "x"}, 0, None),
    ],
)
def test_the_exit_code_tells_how_it_went(
    tw: Tw, project: Path, configure: Configure, config: Any, options: list[str], arguments: Any, code: int, kind: str
) -> None:
    configure(config)
    outcome = tw("tool", "call", "write", json.dumps(arguments), "--json", *options)
    assert (outcome.code, outcome.json["kind"]) == (code, kind)
    assert (project / "n.txt").exists() is (code == 0)


def test_a_failed_call_says_why_on_stderr_and_nothing_on_stdout(tw: Tw) -> None:
    outcome = tw("tool", "call", "read", '{"filePath": "missing.txt"}')
    assert (outcome.code, outcome.out) == (1, "")
    assert "missing.txt" in outcome.err


def test_with_nobody_there_the_refusal_names_what_was_asked(tw: Tw, configure: Configure) -> None:
    configure({"permission": {"edit": "ask"}})
    outcome = tw("tool", "call", "write", '{"filePath": "n.txt", "content": "x"}')
    assert outcome.code == 3
    assert "edit on 'n.txt' was refused, because nobody can be asked in this run" in outcome.err


def test_an_unknown_tool_is_answered_by_invalid_and_fails(tw: Tw) -> None:
    outcome = tw("tool", "call", "raed", "{}", "--json")
    assert outcome.code == 1
    assert (outcome.json["tool"], outcome.json["kind"]) == ("invalid", "unknown_tool")


@pytest.mark.parametrize("text", ["{not json", "[1]", '"x"', '{"a":' * 100_000])
def test_arguments_that_are_no_object_are_a_usage_error(tw: Tw, text: str) -> None:
    outcome = tw("tool", "call", "read", text)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("tw: The arguments must be a JSON object")
    assert len(outcome.err) < 300


def test_the_one_text_that_a_tool_of_the_project_needs_may_be_given_bare(tw: Tw, project: Path) -> None:
    (project / ".toolwright/tool").mkdir(parents=True)
    (project / ".toolwright/tool/weather.py").write_text(
        "from toolwright import tool\n\n\n@tool\ndef weather(city: str, days: int = 1) -> str:\n"
        '    """Tells the weather."""\n    return f"{city}: sun for {days}"\n'
    )
    assert tw("tool", "call", "weather", "Rome", "--trust").out == "Rome: sun for 1\n"
    assert tw("tool", "call", "weather", '{"city": "Rome", "days": 3}', "--trust").out == "Rome: sun for 3\n"
    assert "There is no tool 'weather'" in tw("tool", "call", "weather", "Rome").err


def test_a_call_needs_a_tool(tw: Tw) -> None:
    outcome = tw("tool", "call")
    assert outcome.code == 2
    assert "Name a tool to call" in outcome.err


@pytest.mark.parametrize(("action", "decision"), [("allow", "allow"), ("ask", "ask"), ("deny", "deny")])
def test_a_dry_run_lists_the_requests_and_does_nothing(
    tw: Tw, project: Path, home: Path, configure: Configure, action: str, decision: str
) -> None:
    configure({"permission": {"edit": {"n.*": action}}})
    before = sorted(project.rglob("*"))
    outcome = tw("tool", "call", "write", '{"filePath": "n.txt", "content": "x"}', "--dry-run", "--yes", "--trust")
    [request] = outcome.json["requests"]
    assert (request["permission"], request["patterns"], request["decision"]) == ("edit", ["n.txt"], decision)
    assert (outcome.code, outcome.json["title"]) == (0, "dry run")
    assert sorted(project.rglob("*")) == before
    assert not home.exists()


def lines(*calls: Any) -> str:
    return "".join(f"{call if isinstance(call, str) else json.dumps(call)}\n" for call in calls)


def test_lines_share_one_session_so_a_read_counts_for_a_later_write(tw: Tw, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    calls = lines(
        {"tool": "read", "args": {"filePath": "a.txt"}},
        {"tool": "write", "args": {"filePath": "a.txt", "content": "two\n"}},
    )
    outcome = tw("tool", "call", "--stdin", stdin=calls)
    assert [answer["status"] for answer in outcome.lines] == ["completed", "completed"]
    fresh = tw("tool", "call", "--stdin", "--fresh", stdin=calls)
    assert [answer["kind"] for answer in fresh.lines] == [None, "unread"]
    assert (project / "a.txt").read_text() == "two\n"


def test_each_line_may_name_its_agent_its_reply_and_a_dry_run(tw: Tw, project: Path, configure: Configure) -> None:
    configure({"permission": {"edit": "ask"}})
    write = {"tool": "write", "args": {"filePath": "n.txt", "content": "x"}}
    outcome = tw(
        *("tool", "call", "--stdin"),
        stdin=lines(
            write | {"dryRun": True},
            write | {"agent": "plan"},
            write | {"reply": "reject"},
            write | {"reply": {"reply": "reject", "message": "use b.txt"}},
            write | {"reply": "always"},
            write | {"args": {"filePath": "m.txt", "content": "y"}},
        ),
    )
    kinds = [answer["kind"] for answer in outcome.lines]
    assert kinds == [None, "denied", "rejected", "rejected", None, None]
    assert "use b.txt" in outcome.lines[3]["error"]
    assert [answer["requests"][0].get("reply") for answer in outcome.lines] == [
        *(None, None, "reject", "reject", "always", None)
    ]
    assert outcome.lines[5]["requests"][0]["decision"] == "allow"


def test_a_lasting_approval_given_by_a_program_ends_with_it(tw: Tw, home: Path, configure: Configure) -> None:
    configure({"permission": {"edit": "ask"}})
    write = {"tool": "write", "args": {"filePath": "n.txt", "content": "x"}, "reply": "always"}
    assert tw("tool", "call", "--stdin", stdin=lines(write)).lines[0]["status"] == "completed"
    assert tw("permission", "list", "--json").json == []


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("{not json", "A line must be a JSON object in quotes, but: "),
        ("[]", "A line must be a JSON object, not '[]"),
        ("{}", 'A line needs a "tool"'),
        ('{"tool": 3}', 'A line needs a "tool"'),
        ('{"tool": "read", "agent": "biuld", "args": {}}', "There is no agent 'biuld'. Did you mean 'build'?"),
        ('{"tool": "read", "args": {}, "reply": "maybe"}', '"reply" must be once, always or reject'),
        ('{"tool": "read", "args": {"filePath": 3}}', "filePath: expected a string, got 3"),
        ('{"tool": "read", "args": 7}', "expected an object, got 7"),
        ('{"tool": "read", "args": null}', "expected an object, got null"),
        ("[" * 100_000, "nested more than 100 levels deep"),
        ('{"tool": "read", "args": {"filePath": "\udcff"}}', "not UTF-8"),
    ],
)
def test_a_bad_line_is_answered_and_the_next_still_runs(tw: Tw, project: Path, line: str, error: str) -> None:
    (project / "a.txt").write_text("hello\n")
    good = {"tool": "read", "args": {"filePath": "a.txt"}}
    outcome = tw("tool", "call", "--stdin", stdin=lines(line, "", good))
    first, second = outcome.lines
    assert (first["status"], first["kind"]) == ("error", "schema")
    assert error in first["error"]
    assert second["status"] == "completed"
    assert outcome.code == 0


def test_arguments_as_text_are_parsed_like_a_models(tw: Tw, project: Path) -> None:
    (project / "a.txt").write_text("hello\n")
    outcome = tw(
        *("tool", "call", "--stdin"),
        stdin=lines(
            {"tool": "Read", "args": '{"filePath": "a.txt"}'},
            {"tool": "read", "args": "{oops"},
            {"tool": "read", "args": ""},
        ),
    )
    assert [(answer["tool"], answer["status"], answer["kind"]) for answer in outcome.lines] == [
        ("read", "completed", None),
        ("invalid", "completed", "schema"),
        ("read", "error", "schema"),
    ]


@pytest.mark.parametrize(
    "arguments", [["--stdin"], ["nothing", "{}", "--json"], ["read", '{"filePath": "half \\ud83d.txt"}']]
)
def test_broken_unicode_goes_in_and_out(project: Path, home: Path, arguments: list[str]) -> None:
    (project / "toolwright.json").write_text('{"permission": {"read": "deny"}}')
    done = subprocess.run(
        [sys.executable, "-m", "toolwright", "tool", "call", *arguments],
        input=b'{"tool": "half \\ud83d", "args": {}}\n',
        cwd=project,
        env={"HOME": str(home), "PYTHONUTF8": "1"},
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    if arguments == ["--stdin"]:
        assert json.loads(done.stdout)["kind"] == "unknown_tool"
