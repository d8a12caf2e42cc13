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
from toolwright.mcp.client.login import log_in
from toolwright.mcp.client.oauth import LoginFailed, _safe
from toolwright.mcp.client.server import McpServer
from toolwright.mcp.client.tokens import FILE, Grants
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace


def remote(project: Path, site: Site, **more: Any) -> Workspace:
    return make_workspace(project, config={"mcp": {"web": {"type": "remote", "url": site.url, **more}}})


@pytest.mark.parametrize("manner", ["json", "events", "stateless", "oldest"])
async def test_a_server_is_understood_however_it_speaks(project: Path, manner: str) -> None:
    async with Site(manner).running() as site, remote(project, site) as workspace:
        assert (await workspace.call("web_echo", text="Hello.")).output == "Hello."


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
    ],
)
async def test_a_login_that_is_not_what_it_should_be_is_refused(project: Path, identity: Identity, reason: str) -> None:
    async with Site(identity=identity).running() as site, remote(project, site, oauth=_port()) as workspace:
        with pytest.raises(LoginFailed, match=reason):
            await _logged_in(workspace.mcp["web"])
        assert identity.forms == []


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


async def _logged_in(server: McpServer) -> None:
    """What a person does: opens the address, and is sent back."""
    browsing: list[asyncio.Task[None]] = []

    async def browse(address: str) -> None:
        async with httpx2.AsyncClient(trust_env=False, follow_redirects=True) as browser:
            await browser.get(address)

    await log_in(server, lambda address: browsing.append(asyncio.ensure_future(browse(address))))
    await asyncio.gather(*browsing)


def _port() -> dict[str, int]:
    return {"callbackPort": free_port()}
