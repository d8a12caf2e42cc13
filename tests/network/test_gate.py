"""Where there are no namespaces: the connections of commands are made by us, whatever way a program goes about it."""

from pathlib import Path

import pytest

from tests.network.ground import ASKS, Elsewhere, echo, greet, open_network, serving
from toolwright.errors import ToolError
from toolwright.network.destination import EVERY_DESTINATION
from toolwright.permission.rules import Rule
from toolwright.process.running.network_namespaces import Space

DATABASE = Rule("network", "db.test:5432", "allow")
WAYS = """
import asyncio, ctypes, os, select, socket, sys, threading

PLACE = ("db.test", 5432)

def said(one):
    one.sendall(b"hello")
    one.shutdown(socket.SHUT_WR)
    return one.makefile().read()

def plain():
    return said(socket.create_connection(PLACE))

def without_waiting():
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex((socket.gethostbyname(PLACE[0]), PLACE[1]))
    select.select([], [one], [])
    assert not one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    assert not one.getblocking()
    one.setblocking(True)
    return said(one)

def by_a_loop():
    async def talk():
        reader, writer = await asyncio.open_connection(*PLACE)
        writer.write(b"hello")
        writer.write_eof()
        return (await reader.read()).decode()
    return asyncio.run(talk())

def by_threads():
    heard = []
    all = [threading.Thread(target=lambda: heard.append(plain())) for _ in range(5)]
    for one in all: one.start()
    for one in all: one.join()
    assert len(heard) == 5
    return heard[0]

def by_a_child():
    reading, writing = os.pipe()
    if not os.fork():
        os.write(writing, plain().encode())
        os._exit(0)
    return os.read(reading, 100).decode()

def by_a_mapped_address():
    one = socket.socket(socket.AF_INET6)
    one.connect(("::ffff:" + socket.gethostbyname(PLACE[0]), PLACE[1]))
    return said(one)

def kept_open_in_what_follows():
    one = socket.create_connection(PLACE)
    assert not os.get_inheritable(one.fileno())
    return said(one)

for way in (plain, without_waiting, by_a_loop, by_threads, by_a_child, by_a_mapped_address, kept_open_in_what_follows):
    print(way.__name__, way())
"""
REFUSED = """
import ctypes, socket

def refused(make):
    try:
        made = make()
    except OSError as problem:
        return type(problem).__name__
    return "made"

print("datagrams", refused(lambda: socket.socket(2, 2)))
print("raw", refused(lambda: socket.socket(2, 3, 1)))
print("mptcp", refused(lambda: socket.socket(2, 1, 262)))
print("fast open", refused(lambda: socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", 1))))
print("untied", refused(lambda: socket.socket().setsockopt(1, 25, b"")))
print("rings", ctypes.CDLL(None, use_errno=True).syscall(425, 1, 0))
print("new host", refused(lambda: socket.create_connection(("198.51.100.7", 80)).recv(1)))
"""

SERVE = """
import os, socket
listening = socket.create_server(("0.0.0.0", 0))
if not os.fork():
    listening.accept()[0].sendall(b"hello")
    os._exit(0)
print(socket.create_connection(("127.0.0.1", listening.getsockname()[1])).recv(10).decode())
"""


async def test_every_way_of_connecting_leads_through_the_door(project: Path) -> None:
    world = Elsewhere()
    async with serving(echo) as port, open_network(project, ASKS, DATABASE, rung="gate", world=world) as shell:
        world.ports["db.test:5432"] = port
        (project / "ways.py").write_text(WAYS)
        result = await shell.bash("python3 ways.py")
        assert result.output.count(" hello\n") == 7, result.output


async def test_what_no_door_can_lead_is_refused(project: Path) -> None:
    async with open_network(project, Rule("network", "*:*", "deny"), DATABASE, rung="gate") as shell:
        (project / "refused.py").write_text(REFUSED)
        output = (await shell.bash("python3 refused.py")).output
        assert "made" not in output
        assert "rings -1" in output
        assert "new host ConnectionResetError" in output
        assert "[network: 198.51.100.7:80 was refused: a rule forbids it]" in output


@pytest.mark.parametrize("capture", [True, False])
async def test_servers_of_the_session_are_reached_and_those_of_the_user_are_not(project: Path, capture: bool) -> None:
    (project / "serve.py").write_text(SERVE)
    async with serving(greet) as port, open_network(project, ASKS, rung="gate", capture=capture) as shell:
        assert (await shell.bash("python3 serve.py")).output == "hello\n"
        missed = await shell.bash(f"curl -sS http://127.0.0.1:{port}/")
        assert f"localhost:{port} was refused: no rule names its port" in missed.output
        assert shell.user.questions == []


async def test_where_nothing_can_hold_commands_the_first_result_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def make(_: object) -> Space:
        raise ToolError("there are no namespaces left")

    monkeypatch.setattr(Space, "make", make)
    (project / "one.py").write_text("print(1)\n")
    async with open_network(project, Rule("network", EVERY_DESTINATION, "ask"), rung="landlock") as shell:
        first, second = [(await shell.bash("python3 one.py")).output for _ in range(2)]
        assert first.startswith("1\n")
        assert "nothing on this machine holds commands to rules for destinations" in first
        assert second == "1\n"
    async with open_network(project, ASKS, rung="landlock") as shell:
        assert "there are no namespaces left" in (await shell.bash("python3 one.py")).output
