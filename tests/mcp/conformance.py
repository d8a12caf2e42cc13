"""A client for the conformance suite of the protocol: connects as a user's program does, and calls every tool once.

The suite starts it with the address of a server, and judges what the server hears. Logins go through `tw mcp auth`,
with a browser that does not come back before the login is over.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.mcp.browsers import FOLLOW
from tests.ports import free_port
from toolwright.inbox import Question, Reply, TakesDefaults
from toolwright.workspace import open_workspace

NUMBERS = {"a": 5, "b": 3}
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The address of the document about a client that the suite expects where an issuer takes one."""


async def main(url: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        home, project = Path(name) / "home", Path(name) / "project"
        home.mkdir()
        project.mkdir()
        (home / "browser.py").write_text(FOLLOW)
        os.environ |= {"HOME": str(home), "BROWSER": f"{sys.executable} {home / 'browser.py'} %s"}
        settings = {"mcp": {"c": {"type": "remote", "url": url, "oauth": _oauth()}}}
        (project / "toolwright.json").write_text(json.dumps(settings))
        async with open_workspace(project, trust=True, answer=TakesDefaults(agree)) as workspace:
            server = workspace.mcp["c"]
            await server.settled()
            if server.status == "needs_auth":
                await asyncio.to_thread(_log_in, project)
                await server.settled()
            for tool in list(server.tools):
                wanted = tool.parameters["properties"]
                await workspace.call(tool.id, **{key: NUMBERS[key] for key in wanted})


def agree(question: Question) -> Reply | None:
    """Allow what is asked, and choose the first answer of each question; where one can be entered, wait."""
    if any(choice.custom for choice in question.choices):
        return None
    return Reply(kind="once", answers=tuple((choice.options[0].label,) for choice in question.choices))


def _oauth() -> dict[str, Any]:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    known = {"clientId": context.get("client_id"), "clientSecret": context.get("client_secret")}
    given = {key: value for key, value in known.items() if value}
    return {"callbackPort": free_port(), "clientMetadataUrl": DOCUMENT, **given}


def _log_in(project: Path) -> None:
    words = [sys.executable, "-m", "toolwright", "mcp", "auth", "c", "--trust", "--directory", str(project)]
    subprocess.run(words, check=False)


asyncio.run(main(sys.argv[1]))
