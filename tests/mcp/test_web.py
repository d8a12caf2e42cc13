"""MCP servers over HTTP: every way they speak, sessions that are forgotten, and logins."""

import asyncio
import stat
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.mcp.site import Identity, Site
from tests.ports import free_port
from toolwright.inbox import Question, Reply
from toolwright.mcp.client import streams
from toolwright.mcp.client.challenges import missing_scope
from toolwright.mcp.client.login import log_in
from toolwright.mcp.client.oauth import LoginFailed, _safe
from toolwright.mcp.client.server import McpServer
from toolwright.mcp.client.streams import StreamPosition
from toolwright.mcp.client.tokens import FILE, Grants
from toolwright.mcp.protocol import header_value, plain_value
from toolwright.protocols.sse import EventReader
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a test logs in in mid-call, no browser of the person at this machine comes up."""
    monkeypatch.setenv("BROWSER", "true %s")


def remote(project: Path, site: Site, **more: Any) -> Workspace:
    return make_workspace(project, config={"mcp": {"web": {"type": "remote", "url": site.url, **more}}})


@pytest.mark.parametrize("manner", ["json", "events", "stateless", "oldest"])
async def test_a_server_is_understood_however_it_speaks(project: Path, manner: str) -> None:
    async with Site(manner).running() as site, remote(project, site) as workspace:
        assert (await workspace.call("web_echo", text="Hello.")).output == "Hello."


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("read", "read"),
        ("two words", "two words"),
        ("ü", "=?base64?w7w=?="),
        (" x", "=?base64?IHg=?="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ("=?base64?eA==", "=?base64?eA=="),
    ],
)
def test_a_name_is_in_a_header_what_it_is_and_in_base_64_where_it_would_not_come_back(text: str, header: str) -> None:
    assert header_value(text) == header
    assert plain_value(header) == text


@pytest.mark.parametrize("header", ["=?base64?!?=", "=?base64?/w==?="])
def test_a_header_that_is_broken_says_nothing(header: str) -> None:
    assert plain_value(header) == ""


async def test_headers_of_the_configuration_go_with_every_request(project: Path) -> None:
    async with Site().running() as site, remote(project, site, headers={"X-Team": "blue"}) as workspace:
        await workspace.call("web_echo", text="x")
        assert all(headers["x-team"] == "blue" for _, headers in site.requests)


async def test_a_session_that_the_server_has_forgotten_is_opened_again(project: Path) -> None:
    async with Site().running() as site, remote(project, site) as workspace:
        await workspace.call("web_echo", text="x")
        site.forget_session()
        assert (await workspace.call("web_echo", text="y")).output == "y"


async def test_a_server_that_is_not_there_is_failed_in_a_sentence(project: Path) -> None:
    site = Site()
    site.base = f"http://127.0.0.1:{free_port()}"
    async with remote(project, site) as workspace:
        await workspace.mcp.settled()
        [state] = workspace.mcp.states()
        assert state.status == "failed"
        assert "cannot be reached" in (state.error or "")


async def test_an_address_must_be_one_of_the_web(project: Path) -> None:
    config = {"mcp": {"web": {"type": "remote", "url": "ftp://x"}}}
    async with make_workspace(project, config=config) as workspace:
        await workspace.mcp.settled()
        assert "must begin with http" in workspace.mcp["web"].error


# Streams that the server ends before the answer.


@pytest.mark.parametrize("manner", ["closes", "breaks"])
async def test_a_stream_that_the_server_ends_is_taken_up_where_it_stood(project: Path, manner: str) -> None:
    async with Site(manner).running() as site, remote(project, site) as workspace:
        assert (await workspace.call("web_echo", text="x")).output == "x"
        assert site.resumed == ["1"]


async def test_a_stream_is_asked_for_again_where_the_server_is_not_there_for_a_moment(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "PAUSE", 0.0)
    async with Site("closes").running() as site, remote(project, site) as workspace:
        site.faults = [503, 429]
        assert (await workspace.call("web_echo", text="x")).output == "x"
        assert site.resumed == ["1"] * 3


async def test_a_stream_of_which_nothing_more_comes_is_given_up(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PAUSE", 0.0)
    async with Site("closes each time").running() as site, remote(project, site) as workspace:
        result = await workspace.call("web_echo", text="x")
        assert result.error is not None
        assert "closed its stream again and again, and gave no answer" in result.output
        assert len(site.resumed) == streams.FRUITLESS


async def test_a_call_whose_stream_the_server_does_not_go_on_with_is_not_sent_again(project: Path) -> None:
    async with Site("forgets").running() as site, remote(project, site) as workspace:
        site.faults = [404]
        result = await workspace.call("web_echo", text="x")
        assert "closed the stream before its answer, and does not go on with it (404)" in result.output
        assert [method for method, _ in site.requests].count("tools/call") == 1


async def test_the_server_says_how_long_it_wants_to_be_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("asyncio.sleep", note)
    place, reader = StreamPosition(), EventReader()
    list(reader.feed(b"id: 1\nretry: 7000\ndata:\n\n"))
    place.reach(reader)
    for _ in range(5):
        await place.wait()
    assert waits == [7, 7, 7, 8, 16]
    list(reader.feed(b"retry: 0\ndata:\n\n"))
    place.reach(reader)
    await place.wait()
    assert waits[-1] == streams.SHORTEST_PAUSE


# Logins.


async def test_a_server_behind_a_login_says_so(project: Path) -> None:
    async with Site(identity=Identity()).running() as site, remote(project, site) as workspace:
        await workspace.mcp.settled()
        assert workspace.mcp["web"].status == "needs_auth"
        assert "tw mcp auth web" in (await workspace.call("web_echo", text="x")).output


async def test_after_the_login_the_server_can_be_used_and_the_token_is_the_users_alone(project: Path) -> None:
    identity = Identity()
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        await _logged_in(workspace.mcp["web"])
        assert (await workspace.call("web_echo", text="x")).output == "x"
        file = workspace.folders.data / FILE
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert identity.forms[0]["resource"] == site.url
        assert identity.clients[0]["token_endpoint_auth_method"] == "none"


async def test_a_token_that_is_refused_is_renewed(project: Path) -> None:
    identity = Identity()
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        await _logged_in(workspace.mcp["web"])
        identity.valid = "another"
        assert (await workspace.call("web_echo", text="x")).output == "x"
        assert identity.forms[-1]["grant_type"] == "refresh_token"


async def test_a_login_that_cannot_be_renewed_is_needed_again(project: Path) -> None:
    identity = Identity()
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        await _logged_in(workspace.mcp["web"])
        await workspace.call("web_echo", text="x")
        identity.valid, identity._given = "another", 99
        assert "tw mcp auth web" in (await workspace.call("web_echo", text="x")).output
        assert workspace.mcp["web"].status == "needs_auth"


async def test_a_client_that_is_registered_by_hand_is_used_as_it_is(project: Path) -> None:
    identity = Identity(registers=False)
    oauth = {"clientId": "ours", "clientSecret": "hush", "scope": "little", **_port()}
    async with Site(identity=identity).running() as site, remote(project, site, oauth=oauth) as workspace:
        await _logged_in(workspace.mcp["web"])
    assert identity.clients == []
    assert identity.forms[0]["client_id"] == "ours"


@pytest.mark.parametrize(
    ("identity", "reason"),
    [
        (Identity(issuer="https://evil.example"), "says that it is https://evil.example"),
        (Identity(iss="https://evil.example"), "The answer is from https://evil.example"),
        (Identity(iss=None), "The answer is from nobody"),
        (Identity(pkce=False), "does not support PKCE"),
        (Identity(registers=False), "set `oauth.clientId`"),
        (Identity(resource="https://evil.example/mcp"), "speaks for https://evil.example/mcp, not for"),
        (Identity(resource="/other"), "speaks for .*/other, not for"),
        (Identity(resource="/mc"), "speaks for .*/mc, not for"),
    ],
)
async def test_a_login_that_is_not_what_it_should_be_is_refused(project: Path, identity: Identity, reason: str) -> None:
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        with pytest.raises(LoginFailed, match=reason):
            await _logged_in(workspace.mcp["web"])
        assert identity.forms == []


async def test_a_login_for_all_of_a_host_is_one_for_its_server(project: Path) -> None:
    identity = Identity(resource="/")
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        await _logged_in(workspace.mcp["web"])
        assert (await workspace.call("web_echo", text="x")).output == "x"


@pytest.mark.parametrize(
    ("challenge", "scope"),
    [
        ('Bearer error="insufficient_scope", scope="read write"', "read write"),
        ("Bearer error=insufficient_scope, scope=write", "write"),
        ('Bearer error="invalid_token", scope="write"', ""),
        ("Bearer", ""),
    ],
)
def test_the_scope_that_a_login_lacks_is_read_with_and_without_quotes(challenge: str, scope: str) -> None:
    assert missing_scope(challenge) == scope


@pytest.mark.parametrize(
    ("address", "server", "safe"),
    [
        ("https://login.example/token", "https://docs.example/mcp", True),
        ("http://login.example/token", "https://docs.example/mcp", False),
        ("http://127.0.0.1:80/token", "http://localhost:9/mcp", True),
        ("http://127.0.0.1:80/token", "https://docs.example/mcp", False),
        ("https://localhost/token", "https://docs.example/mcp", False),
        ("", "https://docs.example/mcp", False),
    ],
)
def test_secrets_go_only_where_they_are_safe(address: str, server: str, safe: bool) -> None:
    with nullcontext() if safe else pytest.raises(LoginFailed, match="not safe"):
        _safe(address, server)


async def test_a_login_is_for_one_address(project: Path) -> None:
    async with Site(identity=Identity()).running() as site, remote(project, site, oauth=_port()) as workspace:
        await _logged_in(workspace.mcp["web"])
        grants = Grants(workspace.folders.data / FILE)
        assert grants.of("web", site.url) is not None
        assert grants.of("web", "https://elsewhere.example/mcp") is None
        assert grants.remove("web")
        assert grants.of("web", site.url) is None


# Logins that are not good enough.


class Person:
    """Answers the questions of a login: yes to the first, and to where it is an answer of one's own or none."""

    def __init__(self, first: str = "Log in", *, browses: bool = True, enters: str = "") -> None:
        self.questions: list[str] = []
        self._first, self._browses, self._enters = first, browses, enters
        self._browsing: list[asyncio.Task[None]] = []

    def __call__(self, question: Question) -> Reply | None:
        choice = question.choices[0]
        self.questions.append(choice.question)
        if not choice.custom:
            return Reply(kind="once", answers=((self._first,),))
        if self._browses:
            address = choice.question.split("Log in at ")[1].split("\n")[0]
            self._browsing.append(asyncio.create_task(browse(address)))
        return Reply(kind="once", answers=((self._enters,),)) if self._enters else None


async def test_a_call_that_needs_a_wider_login_gets_one_where_a_person_agrees(project: Path) -> None:
    identity, person = Identity(), Person()
    identity.scope, identity.call_scope = "read", "write"
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        await _logged_in(workspace.mcp["web"])
        workspace.inbox.answer = person
        assert (await workspace.call("web_echo", text="x")).output == "x"
        assert person.questions[0] == "The MCP server web wants a login with the scope read write for echo."
        assert identity.granted == "read write"


async def test_two_calls_at_once_need_one_wider_login(project: Path) -> None:
    identity, person = Identity(), Person()
    identity.scope, identity.call_scope = "read", "write"
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        await _logged_in(workspace.mcp["web"])
        workspace.inbox.answer = person
        results = await asyncio.gather(*(workspace.call("web_echo", text=text) for text in "xy"))
        assert [result.output for result in results] == ["x", "y"]
        assert len(person.questions) == 2


@pytest.mark.parametrize("answer", [None, Person("Stop"), Person(browses=False, enters="Stop")])
async def test_without_a_wider_login_the_scope_and_the_command_are_named(project: Path, answer: Person | None) -> None:
    identity = Identity()
    identity.scope, identity.call_scope = "read", "write"
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        await _logged_in(workspace.mcp["web"])
        workspace.inbox.answer = answer
        result = await workspace.call("web_echo", text="x")
        assert result.output == (
            "The MCP server web needs a login with the scope 'read write'. Run tw mcp auth web --scope 'read write'."
        )
        assert identity.granted == "read"


async def test_a_server_that_is_never_content_is_logged_in_to_once(project: Path) -> None:
    identity, person = Identity(), Person()
    identity.call_scope = "write"
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        await _logged_in(workspace.mcp["web"])
        identity.generous = False
        workspace.inbox.answer = person
        result = await workspace.call("web_echo", text="x")
        assert "refuses this, although its login has the scope" in result.output
        assert len(person.questions) == 2
        again = await workspace.call("web_echo", text="x")
        assert again.output == result.output
        assert len(person.questions) == 2


@pytest.mark.parametrize("scope", ["a`id`b \x07", "x" * 1001, ""])
async def test_a_scope_that_is_none_is_not_passed_on(project: Path, scope: str) -> None:
    identity = Identity()
    identity.call_scope = scope or " "
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        await _logged_in(workspace.mcp["web"])
        identity.granted, identity.call_scope = "", scope or '"'
        result = await workspace.call("web_echo", text="x")
        assert "tw mcp auth" not in result.output
        assert "403" in result.output


async def _logged_in(server: McpServer) -> None:
    """Log in as a person does: open the address, and be sent back."""
    await log_in(server, Browsing())


class Browsing:
    """A person whose browser runs on this machine."""

    async def show(self, address: str) -> None:
        await browse(address)

    async def entered(self, complaint: str) -> str:
        never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        return await never


async def browse(address: str) -> None:
    async with httpx2.AsyncClient(trust_env=False, follow_redirects=True) as browser:
        await browser.get(address)


def _port() -> dict[str, int]:
    return {"callbackPort": free_port()}
