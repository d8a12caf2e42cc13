"""What a client of ours is offered beside tools: our commands as prompts, resources, completions, the log and forms."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.mcp.test_serve import Client, begun, called, connection, stateless, text
from tests.waiting import patience, until
from toolwright import Extension, ToolContext
from toolwright.app.server_secret import Secret
from toolwright.extension import Resource
from toolwright.machine.own_ports import listen
from toolwright.mcp.client.elicitation import elicit
from toolwright.mcp.serve.connection import ServedClient
from toolwright.mcp.serve.http import serve_at
from toolwright.mcp.serve.service import ClientAnswers, Service
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import RpcError
from toolwright.testing import make_workspace

SAY = {
    "command": {"say": {"template": "Say $1 to $2.", "description": "Says it."}, "all": {"template": "[$ARGUMENTS]"}}
}


@asynccontextmanager
async def offering(project: Path, extension: Extension) -> AsyncIterator[Service]:
    answers = ClientAnswers()
    async with make_workspace(project, extensions=[extension], user=answers, client="api") as workspace:
        made = Service(workspace=workspace, answers=answers)
        await made.prepare()
        yield made


async def looked_up(one: ServedClient, method: str, **params: Any) -> Json:
    return await one.answer(method, params, None, Client().notify)


async def test_commands_are_prompts_with_their_places_as_arguments(project: Path) -> None:
    async with connection(project, SAY) as one:
        listed = {prompt["name"]: prompt for prompt in (await looked_up(one, "prompts/list"))["prompts"]}
        said = await looked_up(one, "prompts/get", name="say", arguments={"arg1": "good day", "arg2": "Ann"})
        whole = await looked_up(one, "prompts/get", name="all", arguments={"arguments": 'a "b c"'})
        with pytest.raises(RpcError, match="no prompt 'sya'"):
            await looked_up(one, "prompts/get", name="sya")
    assert listed["say"] == {
        "name": "say",
        "description": "Says it.",
        "arguments": [{"name": "arg1"}, {"name": "arg2"}],
    }
    assert listed["all"]["arguments"] == [{"name": "arguments"}]
    assert said["messages"] == [{"role": "user", "content": {"type": "text", "text": "Say good day to Ann."}}]
    assert whole["messages"][0]["content"]["text"] == '[a "b c"]'


async def test_files_that_a_prompt_mentions_come_with_it_as_far_as_they_may_be_read(project: Path) -> None:
    (project / "a.txt").write_text("the text\n")
    (project / "no.txt").write_text("secret\n")
    config = {"command": {"look": {"template": "Look at @a.txt, @no.txt and @gone.txt."}}}
    async with connection(project, config | {"permission": {"read": {"no.txt": "deny"}}}) as one:
        messages = (await looked_up(one, "prompts/get", name="look"))["messages"]
    kinds = [message["content"]["type"] for message in messages]
    assert kinds == ["resource", "text"]
    assert "the text" in messages[0]["content"]["resource"]["text"]
    assert "secret" not in json.dumps(messages)


async def test_the_shell_of_a_prompt_asks_the_client_that_wants_it(project: Path) -> None:
    client = Client({"action": "accept", "content": {"answer": "once"}})
    config = {"command": {"who": {"template": "It is !`echo me`."}}, "permission": {"bash": "ask"}}
    async with connection(project, config) as one:
        await begun(one, client)
        answer = await one.answer("prompts/get", {"name": "who"}, client.request, client.notify)
    assert answer["messages"][0]["content"]["text"] == "It is me."
    assert "echo me" in client.asked[0]["message"]


async def test_arguments_of_prompts_are_completed_by_files_that_may_be_read(project: Path) -> None:
    for name in ("park.py", "part.py", "other.py"):
        (project / name).touch()
    asked = {"ref": {"type": "ref/prompt", "name": "say"}, "argument": {"name": "arg1", "value": "par"}}
    async with connection(project, SAY | {"permission": {"read": {"part.py": "deny"}}}) as one:
        found = (await looked_up(one, "completion/complete", **asked))["completion"]
    assert found == {"values": ["park.py"], "total": 1, "hasMore": False}


async def test_where_only_some_tools_are_offered_nothing_else_is(project: Path) -> None:
    async with connection(project, SAY, only=["read"]) as one:
        assert (await begun(one, Client()))["capabilities"] == {"tools": {}}
        with pytest.raises(RpcError, match="no method 'prompts/get'"):
            await looked_up(one, "prompts/get", name="say")


async def test_resources_of_extensions_are_listed_and_read(project: Path) -> None:
    async def number(id: str) -> str:  # noqa: A002 - as the address calls it
        return f"number {id}"

    def broken() -> str:
        raise ValueError("no such thing")

    resources = (
        Resource(uri="shop://rules", name="rules", read=lambda: "Be kind."),
        Resource(uri="shop://logo", read=lambda: b"\x00\x01", mime="image/png"),
        Resource(uri="shop://item/{id}/text", read=number),
        Resource(uri="shop://broken", read=broken),
    )
    async with offering(project, Extension(resources=resources)) as made:
        one = ServedClient(service=made, session=made.session())
        listed = await looked_up(one, "resources/list")
        templates = await looked_up(one, "resources/templates/list")
        plain = await looked_up(one, "resources/read", uri="shop://rules")
        picture = await looked_up(one, "resources/read", uri="shop://logo")
        item = await looked_up(one, "resources/read", **stateless({"uri": "shop://item/a%20b/text"}))
        for uri, said in (("shop://item/a/b/text", "no resource"), ("shop://broken", "no such thing")):
            with pytest.raises(RpcError, match=said):
                await looked_up(one, "resources/read", uri=uri)
        await one.close()
    assert [resource["uri"] for resource in listed["resources"]] == ["shop://rules", "shop://logo", "shop://broken"]
    assert [template["uriTemplate"] for template in templates["resourceTemplates"]] == ["shop://item/{id}/text"]
    assert plain["contents"] == [{"uri": "shop://rules", "mimeType": "text/plain", "text": "Be kind."}]
    assert picture["contents"][0]["blob"] == "AAE="
    assert item["contents"][0]["text"] == "number a b"


async def test_a_client_hears_over_http_what_has_changed_of_what_it_follows(project: Path) -> None:
    rules, other = (Resource(uri=f"shop://{name}", read=lambda: "") for name in ("rules", "other"))
    headers = {"authorization": "Bearer secret"}
    async with offering(project, Extension(resources=(rules, other))) as made:
        door = listen("mcp", "127.0.0.1", 0)
        url = f"http://127.0.0.1:{door.getsockname()[1]}/mcp"
        serving = asyncio.create_task(serve_at(door, made, Secret(value="secret", generated=False)))
        async with httpx2.AsyncClient(trust_env=False, headers=headers, timeout=None) as http, patience():

            async def sent(method: str, **params: Any) -> httpx2.Response:
                return await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

            http.headers["mcp-session-id"] = (await sent("initialize")).headers["mcp-session-id"]
            await sent("resources/subscribe", uri="shop://rules")
            async with http.stream("GET", url) as stream:
                other.changed()
                rules.changed()
                lines = aiter(stream.aiter_lines())
                heard = [line async for line in _data(lines, 1)]
                await sent("resources/unsubscribe", uri="shop://rules")
                rules.changed()
                assert (await http.delete(url)).status_code == 204
                assert [line async for line in _data(lines, 9)] == [], "the stream ends with the session"
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    assert heard == [{"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "shop://rules"}}]
    await until(lambda: not rules.followers)


async def _data(lines: AsyncIterator[str], most: int) -> AsyncIterator[Json]:
    async for line in lines:
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))
            most -= 1
            if not most:
                return


@pytest.mark.parametrize(("level", "count"), [("info", 2), ("error", 0)])
async def test_what_a_call_says_of_itself_goes_to_the_log_of_a_client_that_wants_it(
    project: Path, level: str, count: int
) -> None:
    async def work(ctx: ToolContext) -> str:
        """Work."""
        for words in ("Begun", "Half done"):
            ctx.metadata(words)
        return "Done."

    client = Client()
    async with offering(project, Extension(tools=[work])) as made:
        one = ServedClient(service=made, session=made.session())
        await begun(one, client)
        await looked_up(one, "logging/setLevel", level=level)
        await called(one, client, {"name": "work", "arguments": {}})
        await one.close()
    logged = [note for note in client.told if note["method"] == "notifications/message"]
    assert [note["data"] for note in logged] == ["Begun", "Half done"][:count]
    assert all((note["level"], note["logger"]) == ("info", "work") for note in logged)


FIELDS: Json = {
    "name": {"type": "string", "default": "Ann"},
    "count": {"type": "integer"},
    "wanted": {"type": "boolean"},
    "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
    "colours": {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}},
}
FILLED: Json = {"name": "Bob", "count": 3, "wanted": False, "size": "l", "colours": ["red", "blue"]}


async def order(ctx: ToolContext) -> str:
    """Ask what is wanted."""
    schema = {"type": "object", "properties": FIELDS}
    return json.dumps(await elicit(ctx, "shop", {"message": "What is it to be?", "requestedSchema": schema}))


@pytest.mark.parametrize(("reply", "outcome"), [("accept", FILLED), ("decline", None)])
async def test_a_form_of_a_tool_reaches_the_client_as_it_is_and_comes_back_in_its_types(
    project: Path, reply: str, outcome: Json | None
) -> None:
    client = Client({"action": reply, "content": FILLED})
    async with offering(project, Extension(tools=[order])) as made:
        one = ServedClient(service=made, session=made.session())
        await begun(one, client)
        answer = await called(one, client, {"name": "order", "arguments": {}})
        await one.close()
    assert client.asked[0]["requestedSchema"]["properties"] == FIELDS
    assert client.asked[0]["message"] == "shop asks: What is it to be?"
    assert json.loads(text(answer)).get("content") == outcome
