"""Answers against the contract's own schemas, and the contract against what we say we offer."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.server.harness import listening, served
from tests.server.test_session import ASK_EDIT, EDIT, READ, project

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="answers are judged by jsonschema-rs")

CONTRACT = json.loads((Path(__file__).parent / "recorded" / "answers.json").read_text())
ROUTES = {
    "DELETE": ("/session/{} /session/{}/share"),
    "GET": (
        "/agent /api/agent /api/command /api/fs/find /api/integration /api/location /api/model /api/provider "
        "/api/reference /api/skill /command /config /config/providers /event /experimental/capabilities "
        "/experimental/console /experimental/resource /experimental/workspace /experimental/workspace/status "
        "/find/file /formatter /global/event /lsp /mcp /path /project/current /project/{}/directories /provider "
        "/provider/auth /session /session/status /session/{} /session/{}/children /session/{}/diff "
        "/session/{}/message /session/{}/todo /vcs"
    ),
    "PATCH": ("/session/{}"),
    "POST": (
        "/instance/dispose /mcp/{}/connect /mcp/{}/disconnect /permission/{}/reply /question/{}/reject "
        "/question/{}/reply /session /session/{}/abort /session/{}/command /session/{}/fork /session/{}/message "
        "/session/{}/revert /session/{}/share /session/{}/shell /session/{}/summarize /session/{}/unrevert"
    ),
    "PUT": ("/auth/{}"),
}
"""What the clients of both versions ask for, `{}` for what is named."""
SAID_OTHERWISE = ("/provider", "/session/{sessionID}/shell")
"""The reference itself answers these in another shape than it describes; ours is that of its answers."""

FILES = {"/file": "path=.", "/file/content": "path=a.py", "/find/file": "query=a", "/find": "pattern=b"}
PLAIN = (
    "/agent /command /config /config/providers /experimental/resource /experimental/tool/ids /file/status /formatter "
    "/global/health /lsp /mcp /path /permission /project /project/current /provider/auth /question /session "
    "/session/status /vcs"
)
"""What can be asked for without naming anything."""


def problems(method: str, path: str, answer: Any) -> list[str]:
    """What the contract's schema of an operation finds wrong with an answer."""
    if path in SAID_OTHERWISE:
        return []
    schema = CONTRACT["paths"][path][method.lower()]
    validator = jsonschema_rs.Draft202012Validator(_open({**schema, "components": CONTRACT["components"]}))
    return [f"{method} {path}: {one.instance_path} {one.message[:300]}" for one in validator.iter_errors(answer)]


def _open(schema: Any) -> Any:
    """The same, with more than is described allowed: our answers have fields of our own."""
    if isinstance(schema, dict):
        return {
            key: _open(value) for key, value in schema.items() if key != "additionalProperties" or value is not False
        }
    return [_open(one) for one in schema] if isinstance(schema, list) else schema


async def test_every_route_that_clients_use_is_in_the_document(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server:
        document = await server.get("/doc")
        paths = {re.sub(r"{[^}]*}", "{}", path): one for path, one in document["paths"].items()}
        offered = {f"{method.upper()} {path}" for path, one in paths.items() for method in one}
        wanted = {f"{method} {path}" for method, paths in ROUTES.items() for path in paths.split()}
        assert wanted - offered == set()


async def test_the_answers_of_a_whole_session_are_as_the_contract_describes_them(tmp_path: Path) -> None:
    turns = (READ, EDIT, {"text": "Done."}, {"text": "Hello."})
    config = {**ASK_EDIT, "command": {"hello": {"template": "say hello", "description": "Says hello"}}}
    wrong: list[str] = []

    folder = project(tmp_path)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    async with served(folder, *turns, config=config) as server, listening(server) as heard:

        async def check(method: str, path: str, body: Any = None, **places: str) -> Any:
            answer = await server.send(method, path.format(**places), **({} if body is None else {"json": body}))
            wrong.extend(problems(method, path, answer))
            return answer

        for path in PLAIN.split():
            await check("GET", path)
        session = (await check("POST", "/session", {"title": "t"}))["id"]
        prompting = server.say(session, "edit it")
        asked = (await heard.wait("permission.asked"))["properties"]
        await check("GET", "/permission")
        await check("GET", "/session/status")
        await check("POST", "/permission/{requestID}/reply", {"reply": "once"}, requestID=asked["id"])
        answer = await prompting
        wrong.extend(problems("POST", "/session/{sessionID}/message", answer))
        place = {"sessionID": session}
        for name in ("", "/message", "/todo", "/diff", "/children"):
            await check("GET", f"/session/{{sessionID}}{name}", **place)
        await check("GET", "/session")
        user = answer["info"]["parentID"]
        await check("GET", "/session/{sessionID}/message/{messageID}", **place, messageID=user)
        await check("POST", "/session/{sessionID}/revert", {"messageID": user}, **place)
        await check("POST", "/session/{sessionID}/unrevert", **place)
        await check("POST", "/session/{sessionID}/fork", {}, **place)
        await check("PATCH", "/session/{sessionID}", {"title": "other"}, **place)
        await check("POST", "/session/{sessionID}/shell", {"agent": "build", "command": "echo hi"}, **place)
        await check("POST", "/session/{sessionID}/command", {"command": "hello", "arguments": ""}, **place)
        await check("POST", "/session/{sessionID}/abort", **place)
        for path, query in FILES.items():
            wrong.extend(problems("GET", path, await server.get(f"{path}?{query}")))
        await check("DELETE", "/session/{sessionID}", **place)
    assert wrong == []
