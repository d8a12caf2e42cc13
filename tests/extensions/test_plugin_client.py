"""A plugin's client: the calls of OpenCode's SDK, answered inside the process."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from toolwright.testing import ScriptedModel, make_workspace

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
pytest.importorskip("starlette")

TOOL = """
export const Asker = async ({ client }) => ({
  tool: {
    ask: {
      description: "d",
      args: {},
      execute: async (args, ctx) => JSON.stringify(await (async () => { %s })()),
    },
  },
})
"""


async def asked(project: Path, code: str, *, served: bool = True, **more: Any) -> Any:
    """What a plugin's code comes to; `ctx` and `client` are there."""
    from toolwright.server.inside import answers_of

    (project / ".opencode/plugin").mkdir(parents=True)
    (project / ".opencode/plugin/asker.js").write_text(TOOL % code)
    async with make_workspace(project, **more) as workspace:
        workspace.requests = answers_of(workspace) if served else None
        result = await workspace.call("ask")
    return json.loads(result.output) if result.error is None else result.output


async def test_sessions_are_made_prompted_and_read(project: Path) -> None:
    code = """
      const made = await client.session.create({ body: { title: "mine" } })
      const id = made.data.id
      const told = await client.session.prompt({ path: { id }, body: { parts: [{ type: "text", text: "Hi" }] } })
      const all = await client.session.messages({ path: { id } })
      return [made.data.title, told.data.parts.map((one) => one.text), all.data.map((one) => one.info.role)]
    """
    model = ScriptedModel({"text": "Hello."})
    title, texts, roles = await asked(project, code, model=model)
    assert title == "mine"
    assert "Hello." in texts
    assert roles == ["user", "assistant"]


async def test_what_is_around_is_told(project: Path) -> None:
    code = """
      const [path, agents, tools] = await Promise.all([client.path.get(), client.app.agents(), client.tool.ids()])
      await client.app.log({ body: { service: "x", level: "info", message: "y" } })
      return [path.data.directory, agents.data.map((one) => one.name), tools.data]
    """
    directory, agents, tools = await asked(project, code)
    assert directory == str(project)
    assert "build" in agents
    assert "bash" in tools


async def test_a_refusal_is_an_error_and_thrown_if_wished(project: Path) -> None:
    code = """
      const missing = { path: { id: "ses_nothing" } }
      const answer = await client.session.get(missing)
      const thrown = await client.session.get({ ...missing, throwOnError: true }).catch((error) => error.message)
      return [answer.response.status, answer.error.name, "data" in answer, thrown]
    """
    status, name, has_data, thrown = await asked(project, code)
    assert (status, name, has_data) == (404, "NotFoundError", False)
    assert "There is no session" in thrown


@pytest.mark.parametrize("name", ["instance.dispose", "global.event", "event.subscribe", "no.such.thing"])
async def test_what_is_for_others_is_not_for_plugins(project: Path, name: str) -> None:
    assert await asked(project, f"return (await client.{name}()).response.status") == 404


async def test_without_a_server_every_call_fails_with_one_sentence(project: Path) -> None:
    told = await asked(project, "return (await client.session.list()).data", served=False)
    assert told == "A plugin's client cannot be used here: the workspace was opened without a server."
