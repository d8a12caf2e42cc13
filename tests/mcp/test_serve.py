"""Our tools for other programs: over stdio and HTTP, in both families, under the same rules."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.mcp.conftest import scripted
from tests.waiting import until
from toolwright.app.server_secret import Secret
from toolwright.errors import UsageError
from toolwright.inbox import Question, Reply
from toolwright.machine.own_ports import listen
from toolwright.mcp.protocol import META_CAPABILITIES, META_VERSION, STATELESS
from toolwright.mcp.serve.connection import ServedClient
from toolwright.mcp.serve.http import serve_at
from toolwright.mcp.serve.service import ClientAnswers, Service
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import RpcError
from toolwright.testing import make_workspace

ASK = {"permission": {"edit": "ask"}}
ACCEPT = {"action": "accept", "content": {"answer": "once"}}
WRITE = {"name": "write", "arguments": {"filePath": "a.txt", "content": "one\n"}}


@asynccontextmanager
async def service(project: Path, config: Any = None, **more: Any) -> AsyncIterator[Service]:
    answers = ClientAnswers()
    async with make_workspace(project, config=config, user=answers, client="api") as workspace:
        made = Service(workspace=workspace, answers=answers, **more)
        await made.prepare()
        yield made


@asynccontextmanager
async def connection(project: Path, config: Any = None, **more: Any) -> AsyncIterator[ServedClient]:
    async with service(project, config, **more) as made:
        one = ServedClient(service=made, session=made.session())
        yield one
        await one.close()


class Client:
    """The other side: answers every question the same way, and writes down what it was told."""

    def __init__(self, reply: Json | None = None) -> None:
        self.reply = reply
        self.asked: list[Json] = []
        self.told: list[Json] = []

    @property
    def capabilities(self) -> Json:
        return {} if self.reply is None else {"elicitation": {}}

    async def request(self, method: str, params: Json) -> Any:
        assert method == "elicitation/create"
        self.asked.append(params)
        return self.reply

    async def notify(self, method: str, params: Json) -> None:
        self.told.append({"method": method, **params})


async def begun(one: ServedClient, client: Client) -> Json:
    introduced = {"protocolVersion": "2025-06-18", "capabilities": client.capabilities, "clientInfo": {}}
    return await one.answer("initialize", introduced, client.request, client.notify)


async def called(one: ServedClient, client: Client, params: Json) -> Json:
    return await one.answer("tools/call", params, client.request, client.notify)


def text(answer: Json) -> str:
    said: str = answer["content"][0]["text"]
    return said


async def test_the_version_of_the_client_is_spoken_if_it_is_known(project: Path) -> None:
    async with connection(project) as one:
        assert (await begun(one, Client()))["protocolVersion"] == "2025-06-18"


async def test_the_tools_of_the_agent_are_offered_with_those_for_undoing(project: Path) -> None:
    async with connection(project) as one:
        listed = await one.answer("tools/list", {}, None, Client().notify)
    names = [tool["name"] for tool in listed["tools"]]
    assert {"read", "edit", "bash", "changes", "revert"} <= set(names)
    assert not {"invalid", "task"} & set(names)


async def test_tools_of_our_own_servers_are_passed_on(project: Path) -> None:
    async with connection(project, {"mcp": {"s": scripted()}}) as one:
        listed = await one.answer("tools/list", {}, None, Client().notify)
        answer = await called(one, Client(), {"name": "s_echo", "arguments": {"text": "x"}})
    assert "s_echo" in [tool["name"] for tool in listed["tools"]]
    assert text(answer) == "x"


async def test_a_question_of_a_tool_is_a_form_with_its_choices(project: Path) -> None:
    client = Client({"action": "accept", "content": {"answer1": "Red"}})
    options = [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cold"}]
    asked = {"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]}
    async with connection(project) as one:
        await begun(one, client)
        answer = await called(one, client, {"name": "question", "arguments": asked})
    assert not answer["isError"]
    assert "Red" in text(answer)
    assert "Red" in str(client.asked[0]["requestedSchema"])


async def test_only_the_named_tools_are_offered_and_can_be_called(project: Path) -> None:
    async with connection(project, only=["read", "glob"]) as one:
        listed = await one.answer("tools/list", {}, None, Client().notify)
        answer = await called(one, Client(), WRITE)
    assert [tool["name"] for tool in listed["tools"]] == ["read", "glob"]
    assert answer["isError"]
    assert not (project / "a.txt").exists()


async def test_a_tool_that_is_not_there_cannot_be_named(project: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'read'"):
        async with service(project, only=["raed"]):
            pass


async def test_one_connection_is_one_session(project: Path) -> None:
    (project / "b.txt").write_text("one\n")
    async with connection(project) as one:
        client = Client()
        edit = {"name": "edit", "arguments": {"filePath": "b.txt", "oldString": "one", "newString": "two"}}
        unread = await called(one, client, edit)
        await called(one, client, {"name": "read", "arguments": {"filePath": "b.txt"}})
        read = await called(one, client, edit)
    assert unread["isError"]
    assert not read["isError"]


async def test_a_question_is_put_to_the_client_and_names_the_file(project: Path) -> None:
    client = Client(ACCEPT)
    async with connection(project, ASK) as one:
        await begun(one, client)
        answer = await called(one, client, WRITE)
    assert not answer["isError"]
    assert "a.txt" in client.asked[0]["message"]
    assert "once" in client.asked[0]["requestedSchema"]["properties"]["answer"]["enum"]


STOCK = '''
from toolwright import tool

@tool
def stock(article: str, colours: list[str] = []) -> str:
    """Count what there is of an article."""
    return f"7 of {article}"
'''


@pytest.fixture
def stocked(project: Path) -> Path:
    file = project / ".toolwright" / "tool" / "stock.py"
    file.parent.mkdir(parents=True)
    file.write_text(STOCK)
    return project


async def test_tools_of_the_project_are_known_before_anybody_has_asked_for_a_list(stocked: Path) -> None:
    async with connection(stocked) as one:
        answer = await called(one, Client(), {"name": "stock", "arguments": {"article": "tea"}})
    assert text(answer) == "7 of tea"


async def test_tools_of_the_project_and_of_servers_can_be_named(stocked: Path) -> None:
    async with connection(stocked, {"mcp": {"s": scripted()}}, only=["stock", "s_echo"]) as one:
        listed = await one.answer("tools/list", {}, None, Client().notify)
        unknown = await called(one, Client(), {"name": "stocks", "arguments": {}})
        other = await called(one, Client(), {"name": "teleport", "arguments": {}})
    assert {tool["name"] for tool in listed["tools"]} == {"stock", "s_echo"}
    assert text(unknown) == "There is no tool 'stocks'. Did you mean 'stock'?"
    assert text(other).partition(". ")[2] in ("There are: stock, s_echo.", "There are: s_echo, stock.")


async def test_a_question_shows_the_arguments_of_a_tool_of_ones_own(stocked: Path) -> None:
    client = Client(ACCEPT)
    call = {"name": "stock", "arguments": {"article": "ALL\x1b[2JTHE TEA", "colours": ["green", "b" * 9000]}}
    async with connection(stocked, {"permission": {"stock": "ask"}}) as one:
        await begun(one, client)
        assert not (await called(one, client, call))["isError"]
    first, article, colours, rest = client.asked[0]["message"].splitlines()
    assert first == "stock asks for stock: *"
    assert article.startswith("article: ALL")
    assert "\x1b" not in article
    assert article.endswith("THE TEA")
    assert colours.startswith('colours: ["green", "bbb')
    assert rest == "(the rest is not shown)"


async def test_a_question_about_a_command_shows_where_it_would_run(project: Path) -> None:
    client = Client(ACCEPT)
    call = {"name": "bash", "arguments": {"command": "true", "description": "x", "workdir": "."}}
    async with connection(project, {"permission": {"bash": "ask"}}) as one:
        await begun(one, client)
        await called(one, client, call)
    assert client.asked[0]["message"].splitlines() == ["bash asks for bash: true", "description: x", "workdir: ."]


@pytest.mark.parametrize("reply", [{"action": "decline"}, {"action": "accept", "content": {"answer": "reject"}}, {}])
async def test_anything_but_a_clear_yes_is_no(project: Path, reply: Json) -> None:
    client = Client(reply)
    async with connection(project, ASK) as one:
        await begun(one, client)
        assert (await called(one, client, WRITE))["isError"]
    assert not (project / "a.txt").exists()


async def test_a_client_that_cannot_ask_is_refused_at_once_with_words(project: Path) -> None:
    async with connection(project, ASK) as one:
        client = Client()
        await begun(one, client)
        answer = await called(one, client, WRITE)
    assert answer["isError"]
    assert "nobody can be asked" in text(answer)
    assert answer["_meta"]["toolwright/kind"] == "rejected"


async def test_changes_are_shown_and_undone(project: Path) -> None:
    async with connection(project) as one:
        client = Client()
        await called(one, client, WRITE)
        shown = await called(one, client, {"name": "changes"})
        undone = await called(one, client, {"name": "revert", "arguments": {}})
    assert "+one" in text(shown)
    assert not undone["isError"]
    assert not (project / "a.txt").exists()


async def test_undoing_asks_as_editing_does(project: Path) -> None:
    client = Client(ACCEPT)
    async with connection(project, ASK) as one:
        await begun(one, client)
        await called(one, client, WRITE)
        client.reply = {"action": "decline"}
        assert (await called(one, client, {"name": "revert", "arguments": {}}))["isError"]
    assert (project / "a.txt").exists()


async def test_a_long_call_tells_that_it_is_at_work(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.mcp.serve.service.BEAT", 0.01)
    client = Client()
    async with connection(project) as one:
        call = {"name": "bash", "arguments": {"command": "sleep 0.3", "description": "Waits"}}
        await called(one, client, call | {"_meta": {"progressToken": "t"}})
    assert client.told[0]["progressToken"] == "t"
    assert client.told[0]["method"] == "notifications/progress"


async def test_cancelling_ends_the_processes_of_the_call(project: Path) -> None:
    async with connection(project) as one:
        command = "echo started > here; sleep 60; echo ended > there"
        call = asyncio.create_task(called(one, Client(), {"name": "bash", "arguments": {"command": command}}))
        await _until(project / "here")
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert not one.service.workspace.scopes._open


async def test_an_unknown_method_is_an_error_of_the_protocol(project: Path) -> None:
    async with connection(project) as one:
        with pytest.raises(RpcError, match="no method"):
            await one.answer("resources/list", {}, None, Client().notify)


# Without a handshake.


def stateless(params: Json, capabilities: Json | None = None) -> Json:
    return params | {"_meta": {META_VERSION: STATELESS, META_CAPABILITIES: capabilities or {}}}


async def test_a_question_is_a_round_and_its_state_fits_one_call(project: Path) -> None:
    able: Json = {"elicitation": {"form": {}}}
    async with connection(project, ASK) as one:
        client = Client()
        wanted = await called(one, client, stateless(WRITE, able))
        assert wanted["resultType"] == "input_required"
        state = {"requestState": wanted["requestState"], "inputResponses": {"answer": ACCEPT}}
        other = {"name": "write", "arguments": {"filePath": "b.txt", "content": "x"}}
        with pytest.raises(RpcError, match="No call waits"):
            await called(one, client, stateless(other | state, able))
        answer = await called(one, client, stateless(WRITE | state, able))
        assert answer["resultType"] == "complete"
        assert not answer["isError"]
        with pytest.raises(RpcError, match="No call waits"):
            await called(one, client, stateless(WRITE | state, able))
    assert (project / "a.txt").read_text() == "one\n"


async def test_another_version_is_refused_with_those_there_are(project: Path) -> None:
    async with connection(project) as one:
        with pytest.raises(RpcError) as caught:
            await one.answer("server/discover", {"_meta": {META_VERSION: "2099-01-01"}}, None, Client().notify)
    assert caught.value.data == {"supported": [STATELESS], "requested": "2099-01-01"}


# Over HTTP.


@asynccontextmanager
async def listening(project: Path, config: Any = None) -> AsyncIterator[str]:
    async with service(project, config) as made:
        door = listen("mcp", "127.0.0.1", 0)
        serving = asyncio.create_task(serve_at(door, made, Secret(value="secret", generated=False)))
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}/mcp"
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Bearer secret", "origin": "http://evil.example"}, 403),
        ({"authorization": "Bearer secret", "host": "evil.example"}, 421),
        ({"authorization": "Bearer secret", "content-type": "text/plain"}, 415),
        ({"authorization": "Bearer secret"}, 400),
    ],
)
async def test_only_who_is_on_this_machine_and_knows_the_token_is_answered(
    project: Path, headers: dict[str, str], status: int
) -> None:
    async with listening(project) as url, httpx2.AsyncClient(trust_env=False) as http:
        assert (await http.post(url, json={"id": 1, "method": "ping"}, headers=headers)).status_code == status


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"nonsense",
        b'{"id": {}, "method": "tools/list"}',
        b'{"id": 1, "method": []}',
        b'{"method": "notifications/cancelled", "params": {"requestId": []}}',
        b'{"id": 1, "method": "tools/call", "params": 7}',
        b'{"id": "ask-1", "result": {}}',
    ],
)
async def test_what_makes_no_sense_is_answered_and_the_next_request_works(project: Path, body: bytes) -> None:
    headers = {"authorization": "Bearer secret", "content-type": "application/json"}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
    async with listening(project) as url, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
        session = {"mcp-session-id": (await http.post(url, json=begin)).headers["mcp-session-id"]}
        first = await http.post(url, content=body, headers=session)
        second = await http.post(url, json={"jsonrpc": "2.0", "id": 2, "method": "ping"}, headers=session)
    assert first.status_code in (200, 202, 400)
    assert second.json()["result"] == {}


async def test_a_session_ends_when_the_client_says_so(project: Path) -> None:
    headers = {"authorization": "Bearer secret"}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
    async with listening(project) as url, httpx2.AsyncClient(trust_env=False, headers=headers) as http:
        session = {"mcp-session-id": (await http.post(url, json=begin)).headers["mcp-session-id"]}
        assert (await http.delete(url, headers=session)).status_code == 204
        gone = await http.post(url, json={"jsonrpc": "2.0", "id": 2, "method": "ping"}, headers=session)
    assert gone.status_code == 404


async def test_headers_must_say_what_the_request_says(project: Path) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": stateless({})}
    headers = {"authorization": "Bearer secret", "mcp-protocol-version": STATELESS, "mcp-method": "tools/call"}
    async with listening(project) as url, httpx2.AsyncClient(trust_env=False) as http:
        refused = await http.post(url, json=message, headers=headers)
        accepted = await http.post(url, json=message, headers=headers | {"mcp-method": "tools/list"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32020)
    assert accepted.json()["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"mcp-protocol-version": STATELESS, "mcp-method": "tools/call", "mcp-name": "read"}, 200),
        ({"mcp-protocol-version": STATELESS, "mcp-method": "tools/call", "mcp-name": "write"}, 400),
        ({"mcp-protocol-version": STATELESS, "mcp-method": "tools/call"}, 400),
        ({"mcp-protocol-version": STATELESS, "mcp-name": "read"}, 400),
        ({"mcp-protocol-version": "2025-06-18", "mcp-method": "tools/call", "mcp-name": "read"}, 400),
        ({"mcp-protocol-version": STATELESS}, 400),
        ({}, 400),
    ],
)
async def test_each_header_of_a_request_is_compared_and_none_of_a_notification(
    project: Path, headers: dict[str, str], status: int
) -> None:
    (project / "a.txt").write_text("text\n")
    params = stateless({"name": "read", "arguments": {"filePath": "a.txt"}})
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": stateless({})}
    own = {"authorization": "Bearer secret", **headers}
    async with listening(project) as url, httpx2.AsyncClient(trust_env=False) as http:
        assert (await http.post(url, json=request, headers=own)).status_code == status
        assert (await http.post(url, json=note, headers=own)).status_code == 202


@pytest.mark.parametrize("refuses_handshake", [False, True])
async def test_our_own_client_and_server_understand_each_other(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refuses_handshake: bool
) -> None:
    if refuses_handshake:
        monkeypatch.setattr(ServedClient, "_introduce", _refuse)
    asked: list[Question] = []

    def answer(question: Question) -> Reply:
        asked.append(question)
        return Reply(kind="once", answers=(("once",),))

    (tmp_path / "other").mkdir()
    async with listening(project, ASK) as url:
        server = {"type": "remote", "url": url, "headers": {"authorization": "Bearer secret"}, "oauth": False}
        async with make_workspace(tmp_path / "other", config={"mcp": {"tw": server}}, user=answer) as workspace:
            result = await workspace.call("tw_write", filePath="a.txt", content="one\n")
    assert result.error is None
    assert (project / "a.txt").read_text() == "one\n"
    assert "a.txt" in asked[0].choices[0].question


def _refuse(*_: object) -> Json:
    raise RpcError("no handshake")


async def test_it_is_served_over_stdio_and_nothing_is_left(project: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "home").mkdir()
    command = [sys.executable, "-m", "toolwright", "mcp", "serve", "--directory", str(project)]
    server = {"type": "local", "command": command, "environment": {"HOME": str(tmp_path / "home")}}
    async with make_workspace(tmp_path / "other", config={"mcp": {"tw": server}}) as workspace:
        result = await workspace.call("tw_write", filePath="a.txt", content="one\n")
        assert result.error is None, result.output
    assert (project / "a.txt").read_text() == "one\n"


async def _until(file: Path) -> None:
    await until(file.exists)


class Rooted(Client):
    """A client that says which folders it has opened."""

    def __init__(self, *roots: Path) -> None:
        super().__init__()
        self.roots = roots
        self.listed = 0

    @property
    def capabilities(self) -> Json:
        return {"roots": {"listChanged": True}}

    async def request(self, method: str, _: Json) -> Any:
        assert method == "roots/list"
        self.listed += 1
        return {"roots": [{"uri": root.as_uri(), "name": root.name} for root in self.roots]}


async def test_a_client_whose_folder_holds_ours_is_served_as_ever(project: Path) -> None:
    client = Rooted(project.parent)
    async with connection(project) as one:
        await begun(one, client)
        assert not (await called(one, client, WRITE))["isError"]
        assert not (await called(one, client, WRITE))["isError"]
    assert client.listed == 1


async def test_what_a_client_calls_stays_within_the_folders_it_has_opened(project: Path) -> None:
    (project / "in").mkdir()
    (project / "out").mkdir()
    (project / "out" / "x.txt").write_text("the needle\n")
    client = Rooted(project / "in")
    async with connection(project) as one:
        await begun(one, client)

        async def tried(tool: str, **arguments: Any) -> Json:
            return await called(one, client, {"name": tool, "arguments": arguments})

        assert not (await tried("write", filePath="in/a.txt", content="one\n"))["isError"]
        assert not (await tried("read", filePath="in/a.txt"))["isError"]
        assert (await tried("write", filePath="out/a.txt", content="one\n"))["isError"]
        assert (await tried("read", filePath="out/x.txt"))["isError"]
        assert "needle" not in text(await tried("grep", pattern="needle"))
        assert (await tried("bash", command="echo x > out/b.txt", description="d"))["isError"]
        assert not (await tried("bash", command="cat in/a.txt", description="d"))["isError"]
    assert sorted(one.name for one in (project / "out").iterdir()) == ["x.txt"]


async def test_folders_that_change_are_asked_for_again(project: Path, tmp_path: Path) -> None:
    (project / "in").mkdir()
    client = Rooted(project / "in")
    async with connection(project) as one:
        await begun(one, client)
        assert (await called(one, client, WRITE))["isError"]
        client.roots = (tmp_path / "elsewhere", project)
        one.notified("notifications/roots/list_changed", {})
        assert not (await called(one, client, WRITE))["isError"]
