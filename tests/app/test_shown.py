"""What a call wants, in words: by what its tool says of itself, wherever it is shown."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.harness import listening, served
from toolwright.app.shown import Looks
from toolwright.calls.builtin import BUILTIN


@pytest.mark.parametrize(
    ("tool", "arguments", "permission", "wish"),
    [
        ("bash", {"command": "rm x"}, "bash", "run a command"),
        ("bash", {"command": "rm x"}, "edit", "run a command that changes files"),
        ("bash", {"command": "cat /etc/x"}, "external_directory", "run a command that leaves the project's folder"),
        ("bash", {"command": "rm x"}, "doom_loop", "go on, though it repeats itself"),
        ("edit", {"filePath": "/p/src/a.py"}, "edit", "change src/a.py"),
        ("read", {"filePath": "/etc/passwd"}, "external_directory", "read /etc/passwd"),
        ("read", {}, "read", "read a file"),
        ("webfetch", {"url": "https://example.com/"}, "webfetch", "fetch https://example.com/"),
        ("skill", {"name": "tea"}, "skill", "load tea"),
        ("mine", {"x": 1}, "mine", "use mine"),
        ("", {}, "network", "use network"),
    ],
)
def test_what_a_question_asks_for(tool: str, arguments: dict[str, Any], permission: str, wish: str) -> None:
    assert Looks(directory="/p").wish(tool, arguments, permission) == wish


def test_every_built_in_tool_says_how_it_is_shown() -> None:
    looks = Looks(directory="/p")
    assert [name for name in BUILTIN if not looks.look(name).verb] == ["invalid"]


async def test_a_client_is_told_how_a_call_that_asks_is_shown(project: Path) -> None:
    turn = {"tools": [{"name": "bash", "args": {"command": "rm -f gone", "description": "Remove"}}]}
    config = {"permission": {"bash": "ask"}}
    async with served(project, turn, {"text": "Done."}, config=config) as server, listening(server) as heard:
        saying = server.say(await server.session(), "Remove it")
        asked = (await heard.wait("permission.asked"))["properties"]
        [listed] = await server.get("/permission")
        assert asked["call"]["wish"] == listed["call"]["wish"] == "run a command"
        assert asked["call"]["subject"] == listed["call"]["subject"]
        assert "rm -f gone" in listed["call"]["subject"]
        await server.post(f"/permission/{asked['id']}/reply", {"reply": "once"})
        await saying
