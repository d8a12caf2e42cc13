"""What clients of OpenCode sent to its server, sent to ours: the same statuses, at least the same keys."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.server.harness import listening, served
from toolwright.text.ids import new_id

FOLDER = Path(__file__).parent / "recorded"
READ = {"tools": [{"name": "read", "args": {"filePath": "a.py"}}]}
EDIT = {"tools": [{"name": "edit", "args": {"filePath": "a.py", "oldString": "hi", "newString": "bye"}}]}
MODEL = {"limit": {"context": 100_000, "output": 8000}}
FAKE = {
    "npm": "@ai-sdk/openai-compatible",
    "name": "Fake",
    "options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "x"},
    "models": {"m": {"name": "Model M", **MODEL}, "n": {"name": "Model N", **MODEL}},
}
CONFIG = {
    "provider": {"fake": FAKE},
    "model": "fake/m",
    "permission": {"edit": "allow", "bash": {"*": "ask", "echo *": "allow"}, "question": "allow"},
    "command": {"hello": {"template": "say hello to $ARGUMENTS", "description": "Says hello"}},
}
ELSEWHERE = re.compile(
    r"^/(api/(agent|model|provider|command|skill|integration|reference)|find/symbol|provider/auth|formatter|session/status)"
)
"""Answered with less than the reference has, on purpose."""
OPTIONAL = {
    "$schema", "agent", "apiKey", "autoupdate", "body", "branch", "color", "cost", "default_branch",
    "description", "diff", "fake0", "hidden", "key", "metadata", "model", "patch", "path", "permission",
    "prompt", "reason", "revert", "small_model", "snapshot", "subtask", "summary", "temperature", "text",
    "time", "tokens", "topP", "total", "url", "username", "vcs",
}  # fmt: skip
"""Keys that an answer may do without in the contract."""


def exchanges(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FOLDER / name).read_text())["exchanges"]
    return found


def missing(recorded: Any, answered: Any, at: str = "") -> list[str]:
    """Keys that the recorded answer has and ours has not."""
    if isinstance(recorded, dict) and isinstance(answered, dict):
        lost = [f"{at}.{key}" for key in recorded if key not in answered and key not in OPTIONAL]
        both = [key for key in recorded if key in answered]
        return lost + [one for key in both for one in missing(recorded[key], answered[key], f"{at}.{key}")]
    if isinstance(recorded, list) and isinstance(answered, list) and recorded and answered:
        pairs = ((one, _like(one, answered)) for one in recorded if isinstance(one, dict))
        one, other = next(((one, other) for one, other in pairs if other is not None), (None, None))
        return missing(one, other, f"{at}[]")
    return []


def _like(one: dict[str, Any], answered: list[Any]) -> Any:
    """Our entry for the same thing, by its name; of messages and parts, the first of the same kind."""
    for key in ("name", "type"):
        if key in one:
            return next((other for other in answered if other.get(key) == one[key]), None)
    return answered[0]


@pytest.mark.parametrize("name", ["sdk-v1-1.1.31.json", "attach-1.18.33.json", "attach-1.1.31.json"])
async def test_what_a_client_reads_has_the_keys_it_was_recorded_with(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "proj"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.py").write_text('print("hi")\n')
    async with served(folder, READ, EDIT, {"text": "Done."}, config=CONFIG) as server, listening(server) as heard:
        session = await server.session(title="from sdk")
        await server.say(session, "edit it", agent="build")
        await heard.wait("session.idle")
        prompt = (await server.get(f"/session/{session}/message"))[0]["info"]["id"]
        checked = 0
        for one in exchanges(name):
            method, _, path = one["request"].partition(" ")
            if method != "GET" or ELSEWHERE.match(path) or one["status"] >= 500 or "/find?" in path:
                continue
            wanted = re.sub(r"ses_\d+", session, path)
            wanted = re.sub(r"msg_\d+", prompt, wanted).replace("%2Fproj", str(folder)).replace("/proj/", "/x/")
            wanted = wanted.replace("start=1792162276573", "start=1")
            answer = await server.client.get(wanted)
            assert answer.status_code == one["status"], f"{wanted}: {answer.text[:300]}"
            assert answer.headers["content-type"].startswith("application/json")
            assert missing(one["answer"], answer.json()) == [], wanted
            checked += 1
        assert checked > 15


@pytest.mark.parametrize("name", ["sdk-v1-1.1.31.json", "attach-1.18.33.json", "attach-1.1.31.json"])
async def test_what_a_client_sends_is_taken_and_answered_in_its_shape(tmp_path: Path, name: str) -> None:
    """Each recorded change is made on a session of its own; bodies are sent as they were, with our ids in them."""
    folder = tmp_path / "proj"
    folder.mkdir()
    (folder / "a.py").write_text('print("hi")\n')
    turns = [{"text": "Fine."}] * 40
    config = {**CONFIG, "permission": {"bash": "ask"}}
    async with served(folder, *turns, config=config) as server:
        for one in exchanges(name):
            method, _, path = one["request"].partition(" ")
            if method == "GET" or re.match(r"/(permission|question)/|.*/permissions/", path):
                continue
            session = await server.session(title="x")
            prompt = (await server.say(session, "hello"))["info"]["parentID"]
            path = re.sub(r"ses_\d+", session, path).replace("%2Fproj", str(folder))
            body = one.get("body")
            if isinstance(body, dict):
                text = json.dumps({key: value for key, value in body.items() if key != "model"})
                fresh = prompt if "revert" in path else new_id("msg")
                body = json.loads(re.sub(r"msg_\d+", fresh, text))
                if "providerID" in body:
                    body = {"providerID": "fake", "modelID": "m"}
            if "summarize" in path:
                continue  # wants a provider that answers
            answer = await server.client.request(method, path, json=body)
            assert answer.status_code == one["status"], f"{method} {path} {body}: {answer.text[:300]}"
            if one["answer"] is not None and not isinstance(one["answer"], str):
                assert missing(one["answer"], answer.json()) == [], path
