"""tw mcp, as it is typed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw, home, tw
from tests.mcp.conftest import scripted

__all__ = ["home", "tw"]


@pytest.fixture
def configure(project: Path) -> Any:
    def write(**servers: Any) -> None:
        (project / "toolwright.json").write_text(json.dumps({"mcp": servers}))

    return write


def test_the_servers_are_listed_with_their_tools(tw: Tw, configure: Any) -> None:
    configure(good=scripted(), dead=scripted("dead"), off=scripted(enabled=False))
    outcome = tw("mcp", "list", "--json", "--trust")
    good, dead, off = outcome.json
    assert (good["name"], good["type"], good["status"]) == ("good", "local", "connected")
    assert "good_echo" in good["tools"]
    assert "error" not in good
    assert (dead["status"], dead["tools"]) == ("failed", [])
    assert "the licence has run out" in dead["error"]
    assert off["status"] == "disabled"


def test_a_project_that_is_not_trusted_starts_nothing_and_says_so(tw: Tw, configure: Any) -> None:
    configure(good=scripted())
    outcome = tw("mcp", "list", "--json")
    assert outcome.json == []
    assert "tw trust" in outcome.err


def test_a_tool_is_called_from_the_command_line(tw: Tw, configure: Any) -> None:
    configure(good=scripted())
    outcome = tw("tool", "call", "good_echo", '{"text": "Hello."}', "--trust")
    assert (outcome.code, outcome.out) == (0, "Hello.\n")
    assert tw("tool", "call", "good_echo", "Hello again.", "--trust").out == "Hello again.\n"


def test_a_form_is_filled_in_by_its_defaults_from_the_command_line(tw: Tw, configure: Any) -> None:
    configure(good=scripted("defaults"))
    assert json.loads(tw("tool", "call", "good_ask", "--trust", "--yes").out)["action"] == "decline"
    filled = json.loads(tw("tool", "call", "good_ask", "--trust", "--defaults").out)
    assert filled["content"]["who"] == "Ada"


def test_a_call_that_takes_too_long_exits_as_timed_out(tw: Tw, configure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(good=scripted())
    monkeypatch.setattr("toolwright.mcp.client.server.McpServer.call_seconds", 0.2)
    assert tw("tool", "call", "good_wait", "--trust").code == 4


def test_listing_the_tools_waits_for_no_server(tw: Tw, configure: Any) -> None:
    configure(slow=scripted("hangs"))
    assert tw("tool", "list", "--trust").code == 0


def test_a_prompt_of_a_server_is_a_command(tw: Tw, configure: Any, tmp_path: Path) -> None:
    configure(good=scripted())
    listed = tw("command", "list", "--json", "--trust").json
    assert "good:greet" in [one["name"] for one in listed]
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "Hello."}]))
    model = f"scripted/{script}"
    outcome = tw("run", "--trust", "--format", "json", "--model", model, "--command", "good:greet", "Ada")
    assert outcome.code == 0
    assert tw("run", "--trust", "--model", model, "--command", "good:nothing").code == 2


def test_the_doctor_names_servers_and_tools_that_are_left_out(tw: Tw, configure: Any) -> None:
    configure(liar=scripted("lies"))
    tw("mcp", "list", "--trust")
    outcome = tw("doctor", "--trust")
    assert "liar has a tool that is left out, bad: its schema has 'required' that is not a list of names" in outcome.out


def test_a_server_is_added_for_the_project_or_for_the_user(tw: Tw, project: Path, home: Path) -> None:
    assert tw("mcp", "add", "time", "--env", "ZONE=UTC", "--", "time-server", "--verbose").code == 0
    assert tw("mcp", "add", "docs", "--user", "--url", "https://example.com/mcp", "--header", "X-Team: blue").code == 0
    here = json.loads((project / "toolwright.json").read_text())
    everywhere = json.loads((home / ".config/toolwright/toolwright.json").read_text())
    command = {"type": "local", "command": ["time-server", "--verbose"], "environment": {"ZONE": "UTC"}}
    assert here == {"mcp": {"time": command}}
    headers = {"X-Team": "blue"}
    assert everywhere == {"mcp": {"docs": {"type": "remote", "url": "https://example.com/mcp", "headers": headers}}}


def test_a_file_with_comments_is_left_as_it_is(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text("{} // mine\n")
    outcome = tw("mcp", "add", "time", "--", "time-server")
    assert outcome.code == 2
    assert '{"time": {"type": "local", "command": ["time-server"]}}' in outcome.err
    assert (project / "toolwright.json").read_text() == "{} // mine\n"


def test_options_before_the_command_are_not_part_of_the_program(tw: Tw, project: Path) -> None:
    assert tw("--directory", str(project), "mcp", "add", "time", "--", "time-server").code == 0
    assert json.loads((project / "toolwright.json").read_text())["mcp"]["time"]["command"] == ["time-server"]


def test_either_a_program_or_an_address_is_needed(tw: Tw) -> None:
    assert tw("mcp", "add", "nothing").code == 2


def test_a_login_that_is_not_there_cannot_be_forgotten(tw: Tw) -> None:
    assert tw("mcp", "logout", "web").code == 1


def test_an_unknown_server_is_named_with_those_there_are(tw: Tw, configure: Any) -> None:
    configure(good=scripted())
    outcome = tw("mcp", "auth", "bad", "--trust")
    assert outcome.code == 2
    assert "There are: good" in outcome.err
