"""The JavaScript SDK of OpenCode, as npm has it, holds a whole session with the server."""

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.server.harness import TOKEN, served
from tests.waiting import PATIENCE, patience

HERE = Path(__file__).parent
READ = {"tools": [{"name": "read", "args": {"filePath": "a.py"}}]}
EDIT = {"tools": [{"name": "edit", "args": {"filePath": "a.py", "oldString": "hi", "newString": "bye"}}]}
AGAIN = {"tools": [{"name": "edit", "args": {"filePath": "a.py", "oldString": "bye", "newString": "so long"}}]}
PACKAGE = "node_modules/@opencode-ai/sdk/dist"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["1.1.31", "1.19.3"])
def sdk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node and npm are not here")
    folder = tmp_path_factory.mktemp("sdk")
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", f"@opencode-ai/sdk@{request.param}"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not answer")
    if done.returncode or not (folder / PACKAGE).is_dir():
        pytest.skip("npm could not install the SDK")
    return folder / PACKAGE


async def held(tmp_path: Path, script: str, entry: Path) -> dict[str, Any]:
    folder = tmp_path / "proj"
    folder.mkdir()
    (folder / "a.py").write_text('print("hi")\n')
    turns = (READ, EDIT, {"text": "It says bye now."}, AGAIN, {"text": "never"})
    async with served(folder, *turns, config={"permission": {"edit": "ask"}}) as server:
        node = await asyncio.create_subprocess_exec(
            "node", str(HERE / script), str(entry), f"{server.url}/k-{TOKEN}", stdout=-1, stderr=-1
        )
        async with patience():
            out, err = await node.communicate()
        assert node.returncode == 0, err.decode()
        seen: dict[str, Any] = json.loads(out)
        assert (folder / "a.py").read_text() == 'print("bye")\n'
        return seen


async def test_the_first_generation_holds_a_session(tmp_path: Path, sdk: Path) -> None:
    seen = await held(tmp_path, "sdk_v1.mjs", sdk / "index.js")
    assert seen["permission"] == "edit"
    assert seen["answer"] == ["It says bye now."]
    assert seen["diff"] == ["a.py"]
    assert seen["reverted"]
    assert seen["unreverted"]
    assert seen["aborted"] is True
    assert seen["abortError"] == "MessageAbortedError"
    assert seen["sorted"]
    assert seen["keybinds"] == 93
    assert "build" in seen["agents"]
    assert seen["files"] == ["a.py"]
    assert seen["missing"] == 404
    assert {"session.created", "message.part.updated", "permission.replied", "session.idle"} <= set(seen["kinds"])


async def test_the_second_generation_holds_a_session(tmp_path: Path, sdk: Path) -> None:
    seen = await held(tmp_path, "sdk_v2.mjs", sdk / "v2" / "index.js")
    assert seen["answer"] == ["It says bye now."]
    assert seen["diff"] == ["a.py"]
    assert seen["reverted"]
    assert seen["unreverted"]
    assert seen["open"] == 1
    assert seen["abortError"] == "MessageAbortedError"
    assert seen["found"] == ["a.py"]
    assert seen["missing"] == 404
    assert "message.part.delta" in seen["kinds"]
