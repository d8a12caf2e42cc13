"""A plugin's client: the calls of OpenCode's SDK, answered inside the process."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.loading import needs_node
from toolwright.testing import ScriptedModel, make_workspace

pytestmark = needs_node
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


def test_a_route_is_closed_to_plugins_unless_it_is_listed() -> None:
    from toolwright.server.inside import FOR_PLUGINS
    from toolwright.server.routes.all import TABLE

    listed = {f"{group}.{name}" for group, names in FOR_PLUGINS.items() for name in names}
    there = {route.name for route in TABLE.routes}
    assert listed <= there, "a plugin may call what is not there"
    whole = {"api", "doc", "event", "experimental", "global", "instance", "page", "pty", "tw", "worktree"}
    single = {"auth.remove", "tui.control.next", "tui.control.response", "vcs.diff", "vcs.status"}
    single |= {f"mcp.auth.{one}" for one in ("start", "callback", "authenticate", "remove")}
    single |= {"mcp.add", "provider.oauth.authorize", "provider.oauth.callback"}
    assert {name for name in there - listed if name.partition(".")[0] not in whole} == single


CLOSED = (
    *("instance.dispose", "Instance.Dispose", "in_stance.dispose", "global.event", "event.subscribe", "no.such.thing"),
    *("tw.page.key", "tw.approvals.revoke", "tw.revert", "tui.control.next", "page", "doc.get"),
)


@pytest.mark.parametrize("name", CLOSED)
async def test_what_is_for_others_is_not_for_plugins(project: Path, name: str) -> None:
    assert await asked(project, f"return (await client.{name}()).response.status") == 404


async def test_without_a_server_every_call_fails_with_one_sentence(project: Path) -> None:
    told = await asked(project, "return (await client.session.list()).data", served=False)
    assert told == "A plugin's client cannot be used here: the workspace was opened without a server."
