"""Logins over HTTP: those that plugins bring, keys, and MCP servers."""

from pathlib import Path

from tests.extensions.loading import needs_node
from tests.extensions.test_plugin_logins import PLUGIN
from tests.server.harness import served

PROVIDERS = {"provider": {"acme": {"env": ["ACME_KEY"], "api": "http://127.0.0.1:9/v1", "models": {"small": {}}}}}


@needs_node
async def test_a_client_logs_in_by_a_plugin(project: Path) -> None:
    folder = project / ".opencode/plugin"
    folder.mkdir(parents=True)
    (folder / "acme.js").write_text(PLUGIN)
    async with served(project, config=PROVIDERS) as server:
        ways = (await server.get("/provider/auth"))["acme"]
        assert ways[:2] == [{"type": "oauth", "label": "Acme account"}, {"type": "api", "label": "Key"}]
        begin, finish = "/provider/acme/oauth/authorize", "/provider/acme/oauth/callback"
        begun = await server.post(begin, {"method": 0, "inputs": {"who": "me"}})
        assert begun == {"url": "https://acme.test/login", "method": "code", "instructions": "For me"}
        assert await server.post(finish, {"method": 0, "code": "1234"})
        assert "acme" in (await server.get("/provider"))["connected"]
        await server.send("POST", begin, 400, json={"method": 9})


async def test_what_is_no_login_is_refused(project: Path) -> None:
    async with served(
        project, config={**PROVIDERS, "mcp": {"local": {"type": "local", "command": ["true"]}}}
    ) as server:
        await server.send("POST", "/provider/acme/oauth/authorize", 400, json={"method": 0})
        await server.send("POST", "/mcp/local/auth", 400)
        await server.send("POST", "/mcp/nobody/auth", 404)
        await server.send("POST", "/mcp/local/auth/callback", 400, json={"code": "x"})
        assert await server.send("DELETE", "/mcp/local/auth") == {"success": False}


async def test_what_a_login_elsewhere_came_to_is_stored(project: Path) -> None:
    async with served(project, config=PROVIDERS) as server:
        record = {"type": "oauth", "access": "a", "refresh": "r", "expires": 9e15}
        assert await server.send("PUT", "/auth/acme", json=record)
        await server.send("PUT", "/auth/acme", 400, json={"type": "guess"})
        await server.send("PUT", "/auth/nobody", 404, json=record)
