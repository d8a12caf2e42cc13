"""The hooks `auth` and `provider` of plugins: logging in, requests sent by the plugin's fetch, models it offers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.loading import needs_node
from toolwright.errors import ToolError, UsageError
from toolwright.testing import make_workspace

pytestmark = needs_node

PLUGIN = """
export const Acme = async ({ client }) => ({
  auth: {
    provider: "acme",
    async loader(getAuth, provider) {
      const before = await getAuth()
      if (!before) throw new Error("called without a login")
      return {
        apiKey: "unused",
        async fetch(input, init) {
          const auth = await getAuth()
          if (auth.expires < 5) {
            await client.auth.set({ path: { id: "acme" }, body: { ...auth, access: "renewed", expires: 9e15 } })
          }
          const { access } = await getAuth()
          if (access === "broken") throw new Error("Token refresh failed: 401")
          const known = { authorization: `Bearer ${access}`, "x-models": Object.keys(provider.models).join() }
          return fetch(input, { ...init, headers: { ...init.headers, ...known } })
        },
      }
    },
    methods: [
      { type: "oauth", label: "Acme account",
        prompts: [{ type: "text", key: "who", message: "Who?",
                    validate: (text) => text === "me" ? undefined : "only me" },
                  { type: "text", key: "more", message: "More?", condition: (inputs) => inputs.who === "you" }],
        async authorize({ who }) {
          return { url: "https://acme.test/login", instructions: `For ${who}`, method: "code",
            callback: async (code) => code === "1234"
              ? { type: "success", access: "first", refresh: "r", expires: 9e15 } : { type: "failed" } }
        } },
      { type: "api", label: "Key" },
    ],
  },
  provider: {
    id: "acme",
    models: async (provider, { auth }) => ({ ...provider.models, extra: {
      id: "extra", name: auth ? "Of yours" : "Of all",
      api: { id: "extra-1", npm: "@ai-sdk/openai-compatible" }, limit: { context: 9000, output: 100 } } }),
  },
})
"""
REPLY = {"choices": [{"index": 0, "delta": {"content": "Good day."}, "finish_reason": "stop"}]}


@asynccontextmanager
async def acme(heads: list[str]) -> AsyncIterator[str]:
    """A provider that answers every request with one sentence, and keeps its head."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(int(line[16:]) for line in asked.split("\r\n") if line.startswith("content-length: "))
        await reader.readexactly(length)
        heads.append(asked)
        body = f"data: {json.dumps(REPLY)}\n\ndata: [DONE]\n\n".encode()
        head = ("HTTP/1.1 200 OK", "content-type: text/event-stream", f"content-length: {len(body)}", "", "")
        writer.write("\r\n".join(head).encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


@asynccontextmanager
async def opened(project: Path, address: str = "http://127.0.0.1:9/v1") -> AsyncIterator[Any]:
    """A workspace whose plugin logs in to `acme`."""
    folder = project / ".opencode/plugin"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "acme.js").write_text(PLUGIN)
    provider = {"env": ["ACME_KEY"], "api": address, "npm": "@ai-sdk/openai-compatible", "models": {"small": {}}}
    config = {"model": "acme/small", "provider": {"acme": provider}}
    async with make_workspace(project, config=config) as workspace:
        assert workspace.plugins is not None
        await workspace.plugins.described()
        yield workspace


async def logged_in(workspace: Any) -> None:
    logins = workspace.plugins.logins
    await logins.begin("acme", 0, {"who": "me"})
    await logins.finish("acme", 0, "1234")


async def test_a_person_logs_in_by_a_plugin_and_its_fetch_sends_the_requests(project: Path) -> None:
    heads = list[str]()
    async with acme(heads) as address, opened(project, address) as workspace:
        logins = workspace.plugins.logins
        assert [way.label for way in logins.ways("acme")] == ["Acme account", "Key"]
        assert [one["key"] for one in await logins.prompts("acme", 0, {})] == ["who"]
        assert await logins.prompts("acme", 0, {"who": "me"}) == []
        begun = await logins.begin("acme", 0, {"who": "me"})
        assert (begun.url, begun.instructions, begun.method) == ("https://acme.test/login", "For me", "code")
        await logins.finish("acme", 0, "1234")
        result = await workspace.prompt("Hello")
    assert result.text == "Good day."
    assert "authorization: bearer first" in heads[0]
    assert "x-models: small,extra" in heads[0]


async def test_a_login_that_fails_stores_nothing(project: Path) -> None:
    async with opened(project) as workspace:
        logins = workspace.plugins.logins
        with pytest.raises(ToolError, match="only me"):
            await logins.begin("acme", 0, {"who": "you"})
        await logins.begin("acme", 0, {"who": "me"})
        with pytest.raises(ToolError, match="failed"):
            await logins.finish("acme", 0, "0000")
        with pytest.raises(UsageError, match="no such way"):
            await logins.begin("acme", 7, {})
        assert logins.stored("acme") == {}


async def test_a_login_that_the_plugin_renews_is_kept(project: Path) -> None:
    heads = list[str]()
    async with acme(heads) as address, opened(project, address) as workspace:
        await logged_in(workspace)
        logins = workspace.plugins.logins
        logins.keep("acme", {**logins.stored("acme"), "expires": 1})
        await workspace.prompt("Hello")
        assert logins.stored("acme")["access"] == "renewed"
    assert "authorization: bearer renewed" in heads[0]


async def test_what_the_plugin_says_of_a_login_that_fails_is_told(project: Path) -> None:
    async with opened(project) as workspace:
        await logged_in(workspace)
        logins = workspace.plugins.logins
        logins.keep("acme", {**logins.stored("acme"), "access": "broken"})
        result = await workspace.prompt("Hello")
    assert result.error.kind == "auth"
    assert "Token refresh failed: 401" in str(result.error)
    assert "tw auth --login acme" in str(result.error)


async def test_the_models_that_a_plugin_offers_are_there(project: Path) -> None:
    async with opened(project) as workspace:
        info = workspace.connections.catalog.find("acme/extra")
        assert (info.api_id, info.limits.context, info.name) == ("extra-1", 9000, "Of all")
        assert workspace.connections.catalog.find("acme/small").id == "small"


async def test_at_the_command_line_a_person_answers_the_plugin(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from toolwright.cli.actions.plugin_login import log_in_by_plugin

    async with opened(project) as workspace:
        monkeypatch.setattr("sys.stdin", io.StringIO("Acme account\nme\n1234\n"))
        await log_in_by_plugin(workspace.plugins.logins, "acme", "")
        assert workspace.plugins.logins.stored("acme")["access"] == "first"
        with pytest.raises(UsageError, match="tw auth acme"):
            await log_in_by_plugin(workspace.plugins.logins, "acme", "Key")
