"""The official JavaScript library, as npm has it, drives `tw acp` with files and terminals left to it."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acp.harness import EDIT, READ, call
from tests.acp.place import Place
from tests.waiting import PATIENCE, patience

pytestmark = pytest.mark.slow

PACKAGE = "@agentclientprotocol/sdk"
AGAIN = call("edit", filePath="a.py", oldString="bye", newString="so long")
OK = {"text": "Done."}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node and npm are not here")
    folder = tmp_path_factory.mktemp("sdk")
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", f"{PACKAGE}@2.4.0"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not answer")
    entry = folder / "node_modules" / PACKAGE / "dist" / "v1" / "stable" / "acp.js"
    if done.returncode or not entry.is_file():
        pytest.skip("npm could not install the library")
    return entry


async def test_a_whole_session(tmp_path: Path, library: Path) -> None:
    turns = (READ, EDIT, OK, call("bash", command="wc -l a.py"), OK, AGAIN, call("bash", command="exec sleep 600"))
    permission = {"edit": "ask", "bash": {"*": "ask", "exec *": "allow", "sleep *": "allow"}}
    place = Place(tmp_path, *turns, permission=permission, acp={"terminal": True})
    script = Path(__file__).parent / "official.mjs"
    node = await asyncio.create_subprocess_exec(
        *("node", str(script), str(library), str(place.folder), sys.executable),
        env=place.environment,
        stdout=-1,
        stderr=-1,
    )
    async with patience():
        out, err = await node.communicate()
    assert node.returncode == 0, err.decode()
    seen: dict[str, Any] = json.loads(out)
    assert seen["stops"] == ["end_turn", "end_turn", "end_turn", "cancelled"]
    assert seen["asked"] == [["edit", "diff"], ["execute", ""], ["edit", "diff"]]
    assert seen["written"] == [str(place.folder / "a.py")]
    assert (place.folder / "a.py").read_text() == '# mine\nprint("bye")\n'
    assert seen["terminals"] == ["t0", "t1"]
    assert ["tool_call_update", "completed", "terminal"] in seen["updates"]
    assert ["tool_call_update", "failed", "terminal"] in seen["updates"]
    assert seen["listed"] == 1
    assert seen["replayed"].count("user_message_chunk") == 4
