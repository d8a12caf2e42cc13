"""Commands in the network of their session: what they reach, what they are refused, what they are told."""

import asyncio
from pathlib import Path

import pytest

from tests.network.ground import ALLOWS, ASKS, RUNGS, Elsewhere, Rung, echo, fetched, greet, open_network, serving
from tests.outside import outside_folder
from tests.ports import free_port
from tests.process.shell_session import open_shell, run
from tests.waiting import until
from toolwright.app.server_secret import write_server_file
from toolwright.machine.folders import Folders
from toolwright.machine.own_ports import listen
from toolwright.network.destination import Destination
from toolwright.network.keys import Keys
from toolwright.network.known import KnownDestination
from toolwright.network.outward import Outward, closed
from toolwright.permission.rules import Rule
from toolwright.process.sandbox.sandbox import SandboxSettings
from toolwright.terminal.call_text import shown_call

GET = "curl -sS --max-time 60 http://shop.test/a?b"
DIRECT = "curl -sS --noproxy '*' --max-time 60 http://shop.test/a?b"
SOCKS = "curl -sS --noproxy '' --proxy socks5h://127.0.0.1:61080 --max-time 60 http://shop.test/a?b"
CONNECT = "curl -sS --proxytunnel --max-time 60 http://shop.test/a?b"
TALK = """python3 -c '
import socket
with socket.create_connection(("db.test", 5432)) as one:
    one.sendall(b"hello")
    one.shutdown(socket.SHUT_WR)
    print(one.makefile().read())
'"""


@pytest.fixture
def world() -> Elsewhere:
    return Elsewhere()


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("command", [GET, DIRECT, SOCKS, CONNECT], ids=["proxy", "direct", "socks", "connect"])
async def test_a_host_that_a_rule_allows_is_reached_however_a_program_goes_there(
    project: Path, world: Elsewhere, rung: Rung, command: str
) -> None:
    async with (
        serving(greet) as port,
        open_network(project, ASKS, Rule("network", "shop.test", "allow"), rung=rung, world=world) as shell,
    ):
        world.ports["shop.test:80"] = port
        result = await shell.bash(command)
        assert result.output == "GET /a?b HTTP/1.1 Host: shop.test\n"
        assert shell.user.questions == []
        (exchange,) = result.metadata["network"]
        assert exchange["to"] == "shop.test:80"
        assert exchange["sent"] > 20
        assert exchange["received"] > 60


async def test_a_program_that_knows_no_proxy_and_no_http_is_led_by_the_name_it_has_asked_for(
    project: Path, world: Elsewhere
) -> None:
    async with (
        serving(echo) as port,
        open_network(project, ASKS, Rule("network", "db.test:5432", "allow"), world=world) as shell,
    ):
        world.ports["db.test:5432"] = port
        assert (await shell.bash(TALK)).output == "hello\n"


@pytest.mark.parametrize("command", [GET, DIRECT, SOCKS, CONNECT], ids=["proxy", "direct", "socks", "connect"])
async def test_a_host_that_a_rule_denies_is_not_reached_and_the_result_says_so(
    project: Path, world: Elsewhere, command: str
) -> None:
    async with open_network(
        project, Rule("network", "*", "allow"), Rule("network", "shop.test", "deny"), world=world
    ) as shell:
        result = await shell.bash(command)
        wanted = "shop.test" if command == DIRECT else "shop.test:80"
        assert result.output.endswith(f"[network: {wanted} was refused: a rule forbids it]")
        assert world.wanted == []


async def test_a_new_host_is_asked_about_when_it_is_wanted_and_the_answer_holds_for_the_command(
    project: Path, world: Elsewhere
) -> None:
    async with serving(greet) as port, open_network(project, ASKS, replies=["once"], world=world) as shell:
        world.ports["shop.test:80"] = port
        result = await shell.bash(f"{GET}; {DIRECT}")
        assert result.output == "GET /a?b HTTP/1.1 Host: shop.test\n" * 2
        (question,) = shell.user.questions
        assert (question.permission, question.patterns, question.always) == (
            "network",
            ("shop.test:80",),
            ("shop.test",),
        )
        assert question.title.endswith("wants to reach shop.test:80")
        assert "  reaches   shop.test:80" in shown_call(question, project)
        assert "refused" in (await shell.bash(GET)).output
        assert len(shell.user.questions) == 2


async def test_an_answer_for_good_is_kept(project: Path, world: Elsewhere) -> None:
    async with serving(greet) as port, open_network(project, ASKS, replies=["always"], world=world) as shell:
        world.ports["shop.test:80"] = port
        for _ in range(2):
            assert (await shell.bash(GET)).output == "GET /a?b HTTP/1.1 Host: shop.test\n"
        assert len(shell.user.questions) == 1


async def test_what_is_allowed_in_general_is_asked_about_once_a_text_of_others_was_read(
    project: Path, world: Elsewhere
) -> None:
    async with (
        serving(greet) as port,
        serving(echo) as other,
        open_network(project, Rule("network", "shop.test", "allow"), replies=["once"], world=world) as shell,
    ):
        world.ports.update({"shop.test:80": port, "db.test:5432": other})
        assert (await shell.bash(GET)).error is None
        assert shell.user.questions == []
        assert (await shell.bash(TALK)).output == "hello\n"
        [question] = shell.user.questions
        said = f"reaches db.test; nothing of yours names db.test, and {GET} (bash) has words of others"
        assert question.metadata["acts"] == [said]


async def test_what_is_refused_fails_and_a_second_try_is_not_asked_about(project: Path, world: Elsewhere) -> None:
    (project / "fetch").write_text('curl -sS "$@" http://shop.test/\n')
    async with open_network(project, ASKS, replies=["reject"], world=world) as shell:
        result = await shell.bash("sh fetch; sh fetch --noproxy '*'")
        assert len(shell.user.questions) == 1
        assert result.output.endswith("[network: shop.test:80 was refused: the user said no]")
        assert result.output.count("[network") == 1
        assert world.wanted == []


async def test_a_host_that_the_line_names_is_asked_about_before_it_runs(project: Path, world: Elsewhere) -> None:
    async with open_network(project, ASKS, Rule("bash", "*", "ask"), replies=["reject"], world=world) as shell:
        result = await shell.bash(f"touch here; {GET}")
        (question,) = shell.user.questions
        assert [(need.permission, need.patterns) for need in question.also] == [("network", ("shop.test:80",))]
        assert "refused" in result.output
        assert not (project / "here").exists()


async def test_many_connections_that_wait_are_one_question(project: Path, world: Elsewhere) -> None:
    async with serving(echo) as port, open_network(project, ASKS, world=world) as shell:
        world.ports["db.test:5432"] = port
        shell.user.replies.append(None)
        many = TALK.replace("with socket", "import threading\ndef go():\n  with socket", 1)
        many = many.replace("    one.", "    one.").replace("    print(one.makefile().read())\n", _MANY)
        running = asyncio.ensure_future(shell.bash(many))
        await until(lambda: shell.workspace.inbox.pending)
        (question,) = shell.workspace.inbox.pending
        shell.workspace.inbox.reply(question.id, "once")
        assert (await running).output == "hello\n" * 20
        assert len(shell.user.questions) == 1


_MANY = """    print(one.makefile().read() + chr(10), end="")
all = [threading.Thread(target=go) for _ in range(20)]
for one in all: one.start()
for one in all: one.join()
"""


async def test_what_a_client_of_the_user_is_set_up_with_is_not_asked_about(project: Path, world: Elsewhere) -> None:
    known = [KnownDestination(destination=Destination("shop.test", 80), client="pip", setting="index-url")]
    async with serving(greet) as port, open_network(project, ASKS, known=known, world=world) as shell:
        world.ports["shop.test:80"] = port
        assert (await shell.bash(GET)).output == "GET /a?b HTTP/1.1 Host: shop.test\n"
        assert shell.user.questions == []


async def test_a_rule_that_names_a_host_goes_before_what_a_client_is_set_up_with(
    project: Path, world: Elsewhere
) -> None:
    known = [KnownDestination(destination=Destination("shop.test", 80), client="pip", setting="index-url")]
    async with open_network(project, ASKS, Rule("network", "shop.test", "ask"), known=known, world=world) as shell:
        await shell.bash(GET)
        assert len(shell.user.questions) == 1


UPLOAD = """
import socket
with socket.create_connection(("shop.test", 443)) as one:
    try:
        for _ in range(30):
            one.sendall(bytes(100_000))
        one.shutdown(socket.SHUT_WR)
        print(one.recv(10) and "all")
    except OSError:
        print("broken off")
"""


@pytest.mark.parametrize(("reply", "printed"), [("once", "all"), ("reject", "broken off")])
async def test_sending_much_to_what_a_client_is_set_up_with_is_asked_about_once(
    project: Path, world: Elsewhere, reply: str, printed: str
) -> None:
    async def read_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1 << 20):
            pass
        writer.write(b"thanks")
        writer.close()

    known = [KnownDestination(destination=Destination("shop.test", 443), client="npm", setting="registry")]
    (project / "upload.py").write_text(UPLOAD)
    async with (
        serving(read_all) as port,
        open_network(project, ASKS, known=known, replies=[reply], world=world) as shell,
    ):
        world.ports["shop.test:443"] = port
        result = await shell.bash("python3 upload.py")
        assert printed in result.output
        (question,) = shell.user.questions
        assert "wants to send more to shop.test:443" in question.title
        assert ("no more was sent: the user said no" in result.output) == (reply == "reject")


async def test_a_host_that_is_allowed_leads_to_no_other_by_the_name_in_tls(project: Path, world: Elsewhere) -> None:
    hello = """
import ssl, socket, sys
one = socket.create_connection(("shop.test", 443))
try:
    ssl._create_unverified_context().wrap_socket(one, server_hostname=sys.argv[1])
except OSError as problem:
    print(type(problem).__name__)
"""
    (project / "hello.py").write_text(hello)
    async with (
        serving(echo) as port,
        open_network(project, ASKS, Rule("network", "shop.test", "allow"), world=world) as shell,
    ):
        world.ports["shop.test:443"] = port
        fronted = await shell.bash("python3 hello.py front.test")
        assert "shop.test:443 was refused: it asks for front.test there, by TLS" in fronted.output
        assert "refused" not in (await shell.bash("python3 hello.py shop.test")).output


async def test_localhost_is_the_sessions_own(project: Path, world: Elsewhere) -> None:
    """Its commands see each other's servers, another session may use the same port, and nobody outside is seen."""
    async with serving(greet) as port, open_network(project, ASKS, world=world) as shell:
        assert "Connection refused" in (await shell.bash(TALK.replace("db.test", "localhost"))).output
        missed = await shell.bash(f"curl -sS http://127.0.0.1:{port}/")
        assert f"which the rule `localhost:{port}: allow` for network opens]" in missed.output
        another = shell.another(rules=(ALLOWS, ASKS))
        (project / "one.txt").write_text("one\n")
        for session in (shell.session, another):
            await run(session, f"python3 -m http.server {port} --bind 127.0.0.1", background=True)
            fetched = await run(
                session, f"curl -sS --retry-connrefused --retry 20 --retry-delay 1 localhost:{port}/one.txt"
            )
            assert fetched.output.endswith("one\n")
        assert shell.user.questions == []


async def test_the_server_of_a_job_is_led_to_the_same_port_of_this_machine(project: Path) -> None:
    (project / "one.txt").write_text("one\n")
    port = free_port()
    async with open_network(project, ASKS) as shell:
        result = await shell.bash(f"python3 -m http.server {port} --bind 127.0.0.1", background=True, timeout=1000)
        notes = result.output
        while f"port {port} is led to http://127.0.0.1:{port} of this machine" not in notes:
            notes += (await shell.bash(job="job_1", timeout=100)).output
        for _ in range(20):
            assert await fetched(port, "/one.txt") == "one\n"
        await shell.bash(job="job_1", stop=True)
        await shell.workspace.networks.end_session(shell.session.id)
        with pytest.raises(ConnectionRefusedError):
            await fetched(port, "/one.txt")


async def test_a_port_that_is_taken_outside_stays_the_sessions_alone(project: Path) -> None:
    async with open_network(project, ASKS) as shell:
        taken = free_port()
        async with serving(greet, port=taken):
            notes = (await shell.bash(f"python3 -m http.server {taken}", background=True)).output
            while f"port {taken} is not free outside, so only this session reaches it" not in notes:
                notes += (await shell.bash(job="job_1", timeout=100)).output
            assert "Host: 127.0.0.1" in await fetched(taken, "/")


async def test_a_port_where_a_server_of_ours_was_killed_stays_the_sessions_alone(project: Path) -> None:
    """Its clients wait there for the next, and bring its secret."""
    async with open_network(project, ASKS) as shell:
        port = free_port()
        note = write_server_file({"XDG_STATE_HOME": str(shell.workspace.folders.state.parent)}, port, "", None)
        assert note.is_relative_to(shell.workspace.folders.state)
        notes = (await shell.bash(f"python3 -m http.server {port}", background=True)).output
        while f"port {port} is not free outside, so only this session reaches it" not in notes:
            notes += (await shell.bash(job="job_1", timeout=100)).output
        with pytest.raises(ConnectionRefusedError):
            await fetched(port, "/")


async def test_a_service_of_the_user_is_reached_where_a_rule_names_its_port(project: Path, world: Elsewhere) -> None:
    async with (
        serving(greet) as port,
        open_network(project, ASKS, Rule("network", f"localhost:{port}", "allow"), world=world) as shell,
    ):
        result = await shell.bash(f"curl -sS http://127.0.0.1:{port}/a; curl -sS http://localhost:{port}/b")
        assert result.output == f"GET /a HTTP/1.1 Host: 127.0.0.1:{port}\nGET /b HTTP/1.1 Host: localhost:{port}\n"
        assert shell.user.questions == []


async def test_the_users_own_proxy_is_gone_through(project: Path) -> None:
    heads = list[bytes]()

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await greet(reader, writer)

    async with serving(proxy) as port:
        world = Outward({"http_proxy": f"http://ada:secret@127.0.0.1:{port}"})
        async with open_network(project, ASKS, Rule("network", "shop.test", "allow"), world=world) as shell:
            for command in (GET, DIRECT):
                assert (await shell.bash(command)).output == "GET /a?b HTTP/1.1 Host: shop.test\n"
    assert {head.split(b"\r\n")[0] for head in heads} == {b"CONNECT shop.test:80 HTTP/1.1"}
    assert all(b"Proxy-Authorization: Basic YWRhOnNlY3JldA==" in head for head in heads)


@pytest.mark.parametrize("rung", RUNGS)
async def test_keys_to_other_machines_are_not_seen_by_who_is_held(
    project: Path, monkeypatch: pytest.MonkeyPatch, rung: Rung
) -> None:
    with outside_folder() as home:
        monkeypatch.setenv("HOME", str(home))
        names = (".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".ssh/work", ".ssh/known_hosts", ".npmrc")
        for name in names:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(f"canary of {name}\n")
        look = f"curl --version >/dev/null; cd {home} && cat {' '.join(names)} 2>/dev/null"
        async with open_network(project, ASKS, rung=rung) as shell:
            seen = (await shell.bash(look)).output
            assert [name for name in names if f"canary of {name}" in seen] == [".ssh/known_hosts", ".npmrc"]
        async with open_network(project, ASKS, rung=rung, reveal=("*/.netrc",)) as shell:
            assert "canary of .netrc" in (await shell.bash(look)).output
        async with open_network(project, rung=rung) as shell:
            assert (await shell.bash(look)).output.count("canary") == len(names)


async def test_a_key_is_put_in_outside_of_the_box(project: Path, world: Elsewhere) -> None:
    keys = Keys({"shop.test": "Authorization: Bearer ${SHOP_KEY}", "bad.test": "X: ${NONE}"}, {"SHOP_KEY": "canary"})
    rules = (ASKS, Rule("network", "*.test", "allow"))
    async with serving(greet) as port, open_network(project, *rules, keys=keys, world=world) as shell:
        world.ports["shop.test:443"] = port
        own = "curl -sS -H 'Authorization: mine' http://127.0.0.1:61080"
        answer = (await shell.bash(f"{own}/shop.test/v1?a=b")).output
        assert answer == "GET /v1?a=b HTTP/1.1 Host: shop.test Authorization: Bearer canary\n"
        assert "canary" not in (await shell.bash(f"{own}/other.test/v1; env")).output
        assert "takes the variable NONE, which is not set" in (await shell.bash(f"{own}/bad.test/")).output
        assert world.wanted == ["shop.test:443"]


async def test_a_key_leads_nowhere_that_rules_do_not(project: Path, world: Elsewhere) -> None:
    keys = Keys({"shop.test": "Authorization: Bearer ${SHOP_KEY}"}, {"SHOP_KEY": "canary"})
    async with open_network(project, ASKS, replies=["reject"], keys=keys, world=world) as shell:
        assert "was refused" in (await shell.bash("curl -sS http://127.0.0.1:61080/shop.test/")).output
        assert world.wanted == []


async def test_a_port_of_ours_is_opened_by_no_rule(
    project: Path, world: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our door is outside of every box, so whoever judges connections to our ports would let it in."""
    rule = Rule("network", "localhost:*", "allow")
    async with open_network(project, ASKS, rule, world=world) as shell:
        monkeypatch.setattr(Folders, "of", lambda: shell.workspace.folders)
        with listen("serve", "127.0.0.1", 0) as door:
            port = door.getsockname()[1]
            session = shell.another(rules=(ALLOWS, ASKS, Rule("network", f"localhost:{port}", "allow")))
            result = await run(session, f"curl -sS http://127.0.0.1:{port}/")
            assert f"localhost:{port} was refused: it is a port of toolwright's own" in result.output


async def test_a_name_that_leads_to_this_machine_opens_nothing_whatever_allows_it(project: Path) -> None:
    """The door's own connections come from outside of every box."""
    async with serving(greet) as port, open_network(project, Rule("network", "*:*", "allow"), world=Outward()) as shell:
        for host in ("localhost", "127.0.0.1", "127.1.2.3", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"):
            result = await shell.bash(f"curl -sS -g --noproxy '' --proxytunnel http://{host}:{port}/")
            assert "GET" not in result.output
            assert "was refused" in result.output


async def test_datagrams_and_other_families_lead_nowhere(project: Path) -> None:
    tries = """python3 -c '
import socket
for family, kind in ((40, 1), (17, 3), (2, 3), (10, 3)):
    try:
        socket.socket(family, kind, 1)
        print("made", family, kind)
    except OSError:
        print("refused")
one = socket.socket(2, 2)
one.connect(("192.0.2.1", 4000))
one.send(b"data")
try:
    one.settimeout(60)
    print(one.recv(1))
except ConnectionRefusedError:
    print("nobody there")
'"""
    async with open_network(project, Rule("network", "*:*", "allow")) as shell:
        assert (await shell.bash(tries)).output == "refused\n" * 4 + "nobody there\n"


async def test_a_command_that_works_alone_has_no_network_until_the_session_has_one(project: Path) -> None:
    (project / "a").write_text("a\n")
    async with open_network(project, ASKS) as shell:
        assert (await shell.bash("cat a")).output == "a\n"
        assert shell.workspace.networks.existing(shell.session.id) is None


async def test_without_rules_about_destinations_all_is_as_it_was(project: Path) -> None:
    async with serving(greet) as port, open_network(project) as shell:
        assert "GET / " in (await shell.bash(f"curl -sS http://127.0.0.1:{port}/")).output
        assert shell.workspace.networks.existing(shell.session.id) is None


async def test_where_nothing_holds_a_command_it_is_asked_about_as_a_whole(project: Path) -> None:
    (project / "a").write_text("a\n")
    off = SandboxSettings(mode="off")
    async with open_shell(project, rules=(ALLOWS, ASKS), replies=["reject", "once"], sandbox=off) as shell:
        assert (await shell.bash("cat a")).output == "a\n"
        refused = await shell.bash("curl --version")
        assert refused.error is not None
        assert refused.error.kind == "rejected"
        assert (await shell.bash("curl --version")).output.startswith("curl")
        asked = [(one.permission, one.patterns, one.always) for one in shell.user.questions]
        assert asked == [("network", ("*",), ())] * 2


@pytest.mark.parametrize(
    ("place", "named", "is_open"),
    [
        ("93.184.216.34", False, True),
        ("10.0.0.1", False, False),
        ("10.0.0.1", True, True),
        ("100.64.0.1", False, False),
        ("169.254.169.254", False, False),
        ("fe80::1", False, False),
        ("fd00:ec2::254", False, False),
        ("127.0.0.1", True, False),
        ("::1", True, False),
        ("::ffff:127.0.0.1", True, False),
        ("64:ff9b::7f00:1", True, False),
        ("64:ff9b::a00:1", False, False),
        ("2002:a00:1::", False, False),
        ("0.0.0.0", True, False),
        ("::", True, False),
    ],
)
def test_addresses_that_are_not_public_take_a_rule_and_this_machine_takes_none(
    place: str, named: bool, is_open: bool
) -> None:
    from ipaddress import ip_address

    assert (closed(ip_address(place), Destination("shop.test", 80), named=named) == "") is is_open
