"""Clients that say nonsense, too much, or nothing: bounded, told, and nobody else is harmed."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.network.ground import ALLOWS, ASKS, Elsewhere, greet, open_network, serving
from tests.process.shell_session import run
from tests.waiting import patience, until
from toolwright.network import agent_protocol, hello, names, outward, proxying
from toolwright.network.destination import Destination
from toolwright.permission.rules import Rule

FETCH = "curl -sS --max-time 100 http://shop.test/"
SHOP = Rule("network", "shop.test", "allow")
SILENT = """python3 -c '
import resource, socket
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard > 0 else 12000, hard))
kept = []
for number in range(10000):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(("127.0.0.1", 61080))
    kept.append(one)
print(len(kept), flush=True)
import time
time.sleep(1000)
'"""


async def test_nonsense_is_answered_or_dropped_and_the_door_goes_on(project: Path) -> None:
    world = Elsewhere()
    async with serving(greet) as port, open_network(project, ASKS, SHOP, world=world) as shell:
        world.ports["shop.test:80"] = port
        (project / "nonsense.py").write_text(Path(__file__).with_name("nonsense.py").read_text("utf-8"))
        result = await shell.bash(f"/usr/bin/python3 nonsense.py; {FETCH}")
        assert result.output.startswith("GET / HTTP/1.1 Host: shop.test\n")
        assert shell.user.questions == []


@pytest.mark.slow
async def test_ten_thousand_connections_that_say_nothing_keep_nobody_else_waiting(project: Path) -> None:
    world = Elsewhere()
    async with serving(greet) as port, open_network(project, ASKS, SHOP, world=world) as shell:
        world.ports["shop.test:80"] = port
        await shell.bash(SILENT, background=True)

        async def crowd_is_told() -> bool:
            return "further ones waited" in (await shell.bash(job="job_1", timeout=100)).output

        async with patience():
            while not await crowd_is_told():
                pass
        another = shell.another(rules=(ALLOWS, ASKS, SHOP))
        assert (await run(another, FETCH)).output == "GET / HTTP/1.1 Host: shop.test\n"
        await shell.bash(job="job_1", stop=True)
        assert (await shell.bash(FETCH)).output == "GET / HTTP/1.1 Host: shop.test\n"


async def test_a_connection_is_over_with_its_session(project: Path) -> None:
    world, ended = Elsewhere(), asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"held\n")
        assert await reader.read() == b""
        ended.set()
        writer.close()

    async with (
        serving(hold) as port,
        open_network(project, ASKS, Rule("network", "db.test:5432", "allow"), world=world) as shell,
    ):
        world.ports["db.test:5432"] = port
        talk = "python3 -c 'import socket,sys; print(socket.create_connection((\"db.test\",5432)).makefile().read())'"
        await shell.bash(talk, background=True)
        await until(lambda: world.wanted)
        await shell.workspace.networks.end_session(shell.session.id)
        async with patience():
            await ended.wait()


async def test_a_host_that_cannot_be_reached_is_told_of(project: Path) -> None:
    async with open_network(project, ASKS, SHOP) as shell:
        assert (await shell.bash(FETCH)).output.startswith("shop.test:80 cannot be reached: there is no such host\n")


@contextmanager
def _no_answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lookups of names that end when the test does."""
    over = threading.Event()

    def look_up(host: str) -> list[IPv4Address]:
        over.wait()
        return []

    monkeypatch.setattr(outward, "_look_up", look_up)
    monkeypatch.setattr(outward, "PATIENCE", 0.01)
    try:
        yield
    finally:
        over.set()


async def test_a_name_that_never_resolves_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with _no_answers(monkeypatch):
        world = outward.Outward()
        with pytest.raises(outward.Unreachable, match=r"no address of shop\.test was found within"):
            await world.connect(Destination("shop.test", 80), named=True)
    world.close()


async def test_a_proxy_that_is_down_or_refuses_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outward, "_look_up", lambda host: [IPv4Address("93.184.216.34")])

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        writer.close()

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    for handler, said in ((refuse, "407 Proxy Authentication"), (hang_up, "gave no answer")):
        async with serving(handler) as port:
            world = outward.Outward({"https_proxy": f"http://127.0.0.1:{port}"})
            with pytest.raises(outward.Unreachable, match=said):
                await world.connect(Destination("shop.test", 443), named=False)
    with pytest.raises(outward.Unreachable, match="cannot be reached: Connection refused"):
        await world.connect(Destination("shop.test", 443), named=False)
    world.close()


async def test_no_name_is_looked_up_before_its_host_is_allowed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    def look_up(host: str) -> list[IPv4Address]:
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(outward, "_look_up", look_up)
    async with open_network(project, ASKS, SHOP, world=outward.Outward()) as shell:
        await shell.bash("curl -sS http://secret.data.example/; curl -sS --noproxy '*' http://secret.data.example/")
        assert asked == []
        assert "Name or service not known" in (await shell.bash(FETCH)).output
        assert asked == ["shop.test"]


async def test_a_name_that_leads_into_a_private_network_is_closed_after_the_yes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outward, "_look_up", lambda host: [IPv4Address("10.1.2.3")])
    async with open_network(project, ASKS, replies=["once"], world=outward.Outward()) as shell:
        result = await shell.bash(FETCH)
        assert "shop.test:80 (10.1.2.3) is in a private network, which takes a rule with its name" in result.output
        assert len(shell.user.questions) == 1


@given(st.binary(max_size=600))
def test_any_datagram_is_a_question_or_nothing(data: bytes) -> None:
    question = names.NameQuestion.read(data)
    assert question is None or question.answer(None).startswith(data[:2])


@given(st.binary(max_size=300))
def test_any_start_is_a_request_or_malformed(data: bytes) -> None:
    for read in (proxying.read_head, lambda one: proxying.socks_request(b"\x05\x01\x00" + one)):
        try:
            read(data)
        except proxying.Malformed as problem:
            proxying.bad_request(str(problem)).decode("ascii")


@given(st.sampled_from([b"CONNECT ", b"GET http://"]), st.text(max_size=80))
def test_any_host_is_one_that_can_be_named_or_malformed(start: bytes, host: str) -> None:
    try:
        wanted = proxying.read_head(start + host.encode() + b":80 HTTP/1.1\r\n\r\n")
    except proxying.Malformed:
        return
    assert wanted.destination.host.isprintable()
    assert not set(wanted.destination.host) & set(" /*?@")


def test_addresses_are_given_out_again_and_never_to_two_names_at_once() -> None:
    given_out = names.GivenAddresses()
    first = given_out.address_of("first.test")
    for number in range(names.MOST + 10):
        address = given_out.address_of(f"host{number}.test")
        assert given_out.name_at(str(address)) == f"host{number}.test"
    assert given_out.name_at(str(first)) == ""
    assert given_out.address_of("first.test") != first


@given(
    st.binary(max_size=300), st.sampled_from([b"", b"\x16\x03\x01\x00\x40", b"\x16\x03\x01\x00\x05\x01\x00\x00\x01"])
)
def test_no_greeting_is_too_odd_to_be_read(data: bytes, start: bytes) -> None:
    try:
        name = hello.server_name(start + data)
    except hello.Incomplete:
        return
    assert len(name) <= len(data)


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x0b", b"\x0d", b"\x1b\0\0\0\x18session-bind@openssh.com"]))
def test_no_message_to_the_ssh_agent_is_too_odd_to_be_read(data: bytes, start: bytes) -> None:
    assert agent_protocol.read_message(start + data).kind in ("list", "bind", "log in", "sign for git", "other")
