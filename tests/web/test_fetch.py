"""Fetching from real servers on loopback: what comes back, and what is refused before anything is sent."""

import asyncio
import random
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import patience
from tests.web.site import HOST, Reader, Site, Visit, make_reader, nothing_resolves, opened, packed
from toolwright.web.fetch import LIMIT, REDIRECTS
from toolwright.web.pace import SECONDS, Pace
from toolwright.web.pages import Pages

AGAIN = ("once",) * 5
"""To questions about what the words of a page may have led to: a host that nobody else has named."""


def kind(result: Any) -> str:
    return result.error.kind if result.error else ""


async def test_a_text_comes_back_as_it_is(reader: Reader, site: Site) -> None:
    url = site.page("/a.txt", "one\r\n  two\n\n", "text/plain")
    result = await reader.fetch(url)
    assert (result.output, result.title) == ("one\r\n  two\n\n", f"{url} (text/plain)")
    assert result.metadata["url"] == url


async def test_no_cookies_and_no_credentials_are_sent(reader: Reader, site: Site) -> None:
    site.page("/set", "a", set_cookie="id=1")
    site.page("/again", "b")
    await reader.fetch(f"http://name:secret@{HOST}:{site.port}/set")
    result = await reader.fetch(f"http://name:secret@{HOST}:{site.port}/again")
    assert "secret" not in result.title + result.output
    assert all({"cookie", "authorization", "referer"}.isdisjoint(visit.headers) for visit in site.visits)
    assert {visit.headers["host"] for visit in site.visits} == {f"{HOST}:{site.port}"}


@pytest.mark.parametrize(
    ("form", "first"), [("markdown", "text/markdown"), ("text", "text/plain"), ("html", "text/html")]
)
async def test_what_is_accepted_depends_on_the_format(reader: Reader, site: Site, form: str, first: str) -> None:
    await reader.fetch(site.page("/", "x"), format=form)
    assert site.visits[0].headers["accept"].startswith(f"{first};q=1.0, ")


# Addresses


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]"])
async def test_this_machine_is_closed_however_it_is_spelled(project: Path, site: Site, host: str) -> None:
    site.page("/", "secret")
    for rule in ("*", "http*", "http://*/*"):
        reader = make_reader(project, (rule, "allow"))
        result = await reader.fetch(f"http://{host}:{site.port}/")
        assert kind(result) == "denied", result.output
        await reader.workspace.close()
    assert site.visits == []


CLOSED = """\
127.0.1 0x7f.0.0.1 0x7F000001 0x7f.0x0.0x0.0x1 017700000001 0177.1 00000177.0.0.1 127.1. 2130706433. 127.000.000.001
[::1] [0:0:0:0:0:0:0:1] [::1%lo] [::1%25lo] [fe80::1%25eth0] [::ffff:7f00:1] [::ffff:0:127.0.0.1] [::127.0.0.1]
[::7f00:1] [64:ff9b::7f00:1] [64:ff9b:1::127.0.0.1] [2002:7f00:1::] [2002:a9fe:a9fe::1] [2001:0:7f00:1::] [fd00::1]
[fec0::1] [::] [ff02::1] [::ffff:a9fe:a9fe] [fd00:ec2::254] [1::127.0.0.1] 169.254.169.254 2852039166 0xa9fea9fe
0xA9.254.43518
0251.0376.0251.0376 169.16689662 0.0.0.0 0 0x0 00 0x 255.255.255.255 4294967295 224.0.0.1 240.0.0.1 10.1 192.168.257
100.100.100.200 168.63.129.16 198.18.0.1 localhost LocalHost. foo.localhost 127.0.0.1.nip.example 7f000001.nip.example
metadata.google.internal ①②⑦.⓪.⓪.① １２７.０.０.１ 127。0。0。1 127．0．0．1 127｡0｡0｡1 𝟙𝟚𝟟.0.0.1 %31%32%37.0.0.1
%6c%6f%63alhost 127%2e0%2e0%2e1 ℓocalhost ⓛocalhost loc\u00adalhost loc\u200balhost user@127.0.0.1
example.com:80@127.0.0.1
0x7f.1:@127.1
"""
NO_HOSTS = (
    *("127.0.0.1%00.example.com", "127.0.0.1%20", "127.0.0.1%09", "127.0.0.1\\@example.com", "example.com\\@127.0.0.1"),
    *(
        "example.com\t@127.0.0.1",
        "127.0.0.\t1",
        "127.0\n.0.1",
        "example.com%40127.0.0.1",
        "[::1].example",
        "[::ffff:127.1]",
    ),
    *("[::ffff:0x7f.1]", "[]", "[v1.::1]", ".127.0.0.1", "127..0.0.1", "127.0.0.1..", "١٢٧.0.0.1", "0b1111111.0.0.1"),
    *(
        "0o177.0.0.1",
        "1_27.0.0.1",
        "127.0.0.256",
        "4294967297",
        "127.0.0.1／x",
        "-1",
        "+127.0.0.1",
        "@",
        "user:secret@",
    ),
)


async def test_no_spelling_of_a_closed_place_is_sent_anything(project: Path, site: Site) -> None:
    site.page("/", "secret")

    async def to_this_machine(_host: str, _port: int) -> Any:
        return [ip_address("127.0.0.1")]

    reader = make_reader(project, ("*", "allow"), resolve=to_this_machine)
    for hosts, expected in ((CLOSED.split(), "denied"), (NO_HOSTS, "schema")):
        results = {host: await reader.fetch(f"http://{host}:{site.port}/") for host in hosts}
        assert {host: kind(one) for host, one in results.items() if kind(one) != expected} == {}
        assert [host for host, one in results.items() if "user:" in one.output or "secret" in one.output] == []
    assert site.visits == []
    await reader.workspace.close()


async def test_a_rule_that_spells_the_host_opens_it(project: Path, site: Site) -> None:
    site.page("/", "here", "text/plain")
    for spelled in (f"http://{HOST}:{site.port}/*", f"http://{HOST}*", f"*{HOST}*", f"*://{HOST}:*"):
        reader = make_reader(project, (spelled, "allow"))
        assert (await reader.fetch(f"http://{HOST}:{site.port}/")).output == "here"
        await reader.workspace.close()


async def test_a_rule_opens_every_spelling_of_the_host(project: Path, site: Site) -> None:
    site.page("/", "here", "text/plain")
    reader = make_reader(project, opened(site))
    assert (await reader.fetch(f"http://0x7f.1:{site.port}")).output == "here"
    await reader.workspace.close()


@pytest.mark.parametrize("spelled", ["http://127.0.0.*", "http://127.0.0.10*", "*1*", "http://1127.0.0.1/*", "*"])
async def test_a_rule_that_spells_a_part_of_it_does_not(project: Path, site: Site, spelled: str) -> None:
    site.page("/", "here")
    reader = make_reader(project, (spelled, "allow"))
    assert kind(await reader.fetch(f"http://{HOST}:{site.port}/")) == "denied"
    assert site.visits == []
    await reader.workspace.close()


async def test_a_later_rule_closes_it_again(project: Path, site: Site) -> None:
    reader = make_reader(project, opened(site), ("*/private*", "deny"))
    site.page("/private", "x")
    assert kind(await reader.fetch(f"{site.url}/private")) == "denied"
    assert site.visits == []
    await reader.workspace.close()


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["fd00:ec2::254"],
        ["8.8.8.8", "127.0.0.1"],
    ],
)
async def test_a_name_that_leads_to_a_private_place_is_closed(project: Path, addresses: list[str]) -> None:
    async def resolve(host: str, port: int) -> Any:
        return [ip_address(address) for address in addresses]

    reader = make_reader(project, resolve=resolve)
    result = await reader.fetch("https://innocent.example/")
    assert kind(result) == "denied"
    assert "innocent.example" in result.output
    await reader.workspace.close()


async def test_the_address_that_was_judged_is_the_one_connected_to(
    project: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that answers otherwise the second time gains nothing: it is asked for once."""
    site.page("/", "secret")
    answers = [["8.8.8.8"], ["127.0.0.1"]]
    connected: list[Any] = []

    async def resolve(host: str, port: int) -> Any:
        return [ip_address(address) for address in answers.pop(0)]

    async def connect(host: str, port: int, **options: Any) -> Any:
        connected.append((host, port, options.get("server_hostname")))
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(asyncio, "open_connection", connect)
    reader = make_reader(project, replies=AGAIN, resolve=resolve)
    assert kind(await reader.fetch(f"https://turning.example:{site.port}/")) == "network"
    assert connected == [("8.8.8.8", site.port, "turning.example")]
    assert len(answers) == 1
    assert kind(await reader.fetch(f"https://turning.example:{site.port}/")) == "denied"
    assert site.visits == []
    await reader.workspace.close()


async def test_the_addresses_of_a_name_are_tried_in_turn(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    async def resolve(host: str, port: int) -> Any:
        return [ip_address(address) for address in ("2606:4700::1", "2606:4700::2", "8.8.8.8", "8.8.4.4", "1.1.1.1")]

    async def connect(host: str, port: int, **options: Any) -> Any:
        tried.append(host)
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(asyncio, "open_connection", connect)
    reader = make_reader(project, resolve=resolve)
    assert kind(await reader.fetch("http://many.example/")) == "network"
    assert tried == ["2606:4700::1", "8.8.8.8", "2606:4700::2", "8.8.4.4"]
    await reader.workspace.close()


async def test_a_name_opened_by_a_rule_keeps_its_name_in_the_request(project: Path, site: Site) -> None:
    async def resolve(host: str, port: int) -> Any:
        return [ip_address(HOST)]

    site.page("/", "here", "text/plain")
    reader = make_reader(project, (f"http://dev.example:{site.port}/*", "allow"), resolve=resolve)
    assert (await reader.fetch(f"http://dev.example:{site.port}/")).output == "here"
    assert site.visits[0].headers["host"] == f"dev.example:{site.port}"
    await reader.workspace.close()


async def test_a_name_nobody_knows_is_a_fault_of_the_network(reader: Reader) -> None:
    result = await reader.fetch("https://nobody.example/")
    assert kind(result) == "network"
    assert "nobody.example" in result.output


# Redirects


async def test_redirects_are_followed(reader: Reader, site: Site) -> None:
    site.redirect("/a", "/b")
    site.redirect("/b", "c?x=1#part", "301 Moved")
    site.page("/c", "<a href=d>there</a>")
    result = await reader.fetch(f"{site.url}/a")
    assert site.paths == ["/a", "/b", "/c?x=1"]
    assert result.output == f"[there]({site.url}/d)"
    assert result.title == f"{site.url}/a (text/html; charset=utf-8)"
    assert result.metadata["url"] == f"{site.url}/c?x=1"


@pytest.mark.parametrize("status", ["301 A", "302 B", "303 C", "307 D", "308 E"])
async def test_every_code_of_a_redirect_is_followed(reader: Reader, site: Site, status: str) -> None:
    site.page("/b", "end", "text/plain")
    assert (await reader.fetch(site.redirect("/a", "/b", status))).output == "end"


@pytest.mark.parametrize("status", ["300 Choices", "304 Same", "305 Proxy", "306 Unused"])
async def test_a_code_that_is_no_redirect_is_told(reader: Reader, site: Site, status: str) -> None:
    result = await reader.fetch(site.redirect("/a", "/b", status))
    assert kind(result) == "network"
    assert status in result.output
    assert site.paths == ["/a"]


async def test_a_circle_of_redirects_is_left(reader: Reader, site: Site) -> None:
    site.redirect("/a", "/b")
    site.redirect("/b", "/a")
    result = await reader.fetch(f"{site.url}/a")
    assert kind(result) == "network"
    assert "circle" in result.output
    assert site.paths == ["/a", "/b"]


async def test_a_long_chain_of_redirects_is_left(reader: Reader, site: Site) -> None:
    for number in range(REDIRECTS + 5):
        site.redirect(f"/{number}", f"/{number + 1}")
    assert kind(await reader.fetch(f"{site.url}/0")) == "network"
    assert len(site.visits) == REDIRECTS + 1
    site.page(f"/{REDIRECTS + 5}", "end", "text/plain")
    assert (await reader.fetch(f"{site.url}/5")).output == "end"


@pytest.mark.parametrize("target", ["http://localhost:{port}/in", "http://169.254.169.254/", "//2130706433:{port}/in"])
async def test_a_redirect_to_a_closed_place_is_not_followed(project: Path, site: Site, target: str) -> None:
    site.page("/in", "secret")
    reader = make_reader(project, (f"{site.url}/out", "allow"))
    result = await reader.fetch(site.redirect("/out", target.format(port=site.port)))
    assert kind(result) == "denied"
    assert "secret" not in result.output
    assert site.paths == ["/out"]
    await reader.workspace.close()


@pytest.mark.parametrize(("answer", "outcome"), [("once", ""), ("reject", "rejected")])
async def test_leave_is_asked_again_for_the_target_of_a_redirect(
    project: Path, site: Site, monkeypatch: pytest.MonkeyPatch, answer: str, outcome: str
) -> None:
    site.redirect("/a", "http://other.example/b")
    site.page("/b", "x")
    reader = make_reader(
        project,
        ("http://other*", "ask"),
        replies=(answer,),
        resolve=_public_but_here(site, monkeypatch),
        pace=_at_once([]),
    )
    assert kind(await reader.fetch("http://site.example/a")) == outcome
    assert [question.patterns for question in reader.user.questions] == [("http://other.example/b",)]
    assert site.paths == (["/a"] if outcome else ["/a", "/b"])
    await reader.workspace.close()


async def test_a_redirect_to_what_a_rule_denies_is_not_followed(project: Path, site: Site) -> None:
    site.page("/b", "secret")
    reader = make_reader(project, opened(site), ("*/b", "deny"))
    assert kind(await reader.fetch(site.redirect("/a", "/b"))) == "denied"
    assert site.paths == ["/a"]
    await reader.workspace.close()


@pytest.mark.parametrize("target", ["ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)", "http://[::1"])
async def test_a_redirect_to_no_web_address_is_an_error(reader: Reader, site: Site, target: str) -> None:
    result = await reader.fetch(site.redirect("/a", target))
    assert kind(result) == "network"
    assert site.paths == ["/a"]


# Limits


@pytest.mark.parametrize(("size", "expected"), [(LIMIT, ""), (LIMIT + 1, "too_large")])
@pytest.mark.parametrize("form", ["plain", "chunked", "gzip", "deflate", "raw"])
async def test_a_page_may_have_so_many_bytes_and_no_more(
    reader: Reader, site: Site, size: int, expected: str, form: str
) -> None:
    data = b"x" * size

    async def answer(visit: Visit) -> None:
        if form == "plain":
            await visit.answer(data, content_type="text/plain")
        elif form == "chunked":
            await visit.begin(content_type="text/plain", transfer_encoding="chunked")
            await visit.chunk(data)
            await visit.write(b"0\r\n\r\n")
        else:
            encoding = "deflate" if form == "raw" else form
            await visit.answer(packed(data, form), content_type="text/plain", content_encoding=encoding)

    result = await reader.fetch(site.handle("/", answer))
    assert kind(result) == expected
    if not expected:
        assert Path(result.metadata["outputPath"]).stat().st_size == size


@pytest.mark.parametrize("form", ["gzip", "deflate", "raw"])
async def test_a_bomb_does_not_go_off(reader: Reader, site: Site, form: str) -> None:
    bomb = packed(bytes(40 * 1024 * 1024), form)
    encoding = "deflate" if form == "raw" else form
    assert kind(await reader.fetch(site.page("/", bomb, content_encoding=encoding))) == "too_large"


async def test_a_body_of_several_packed_pieces_is_unpacked_whole(reader: Reader, site: Site) -> None:
    data = packed(b"one ", "gzip") + packed(b"two", "gzip")
    url = site.page("/", data, "text/plain", content_encoding="gzip")
    assert (await reader.fetch(url)).output == "one two"


async def test_what_follows_a_packed_body_is_passed_over(reader: Reader, site: Site) -> None:
    for form in ("gzip", "deflate"):
        url = site.page("/", packed(b"one", form) + bytes(100_000), "text/plain", content_encoding=form)
        assert (await reader.fetch(url)).output == "one"


async def test_an_endless_body_that_unpacks_to_nothing_is_left(reader: Reader, site: Site) -> None:
    async def pour(visit: Visit) -> None:
        await visit.begin(content_encoding="gzip", transfer_encoding="chunked")
        while True:
            await visit.chunk(packed(b"", "gzip") * 5000)

    assert kind(await reader.fetch(site.handle("/", pour))) == "network"


async def test_what_cannot_be_packed_smaller_may_be_as_large(reader: Reader, site: Site) -> None:
    data = random.Random(1).randbytes(LIMIT).replace(b"\0", b"0")
    url = site.page("/", packed(data, "gzip"), "text/plain; charset=latin-1", content_encoding="gzip")
    assert kind(await reader.fetch(url)) == ""


async def test_the_target_of_a_redirect_may_have_any_letters(reader: Reader, site: Site) -> None:
    site.page("/%C3%BC%20x", "there", "text/plain")

    async def answer(visit: Visit) -> None:
        await visit.write("HTTP/1.1 302 Found\r\nlocation: /ü x\r\n\r\n".encode())

    assert (await reader.fetch(site.handle("/", answer))).output == "there"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (packed(b"x" * 1000, "gzip")[:-9], "gzip"),
        (packed(b"x", "gzip")[:5], "gzip"),
        (b"not packed", "gzip"),
        (b"\x1b..", "br"),
        (b"nothing", "deflate"),
    ],
    ids=["gzip that ends early", "gzip that hardly begins", "not gzip", "not brotli", "not deflate"],
)
async def test_a_body_that_cannot_be_unpacked_is_an_error(
    reader: Reader, site: Site, body: bytes, encoding: str
) -> None:
    assert kind(await reader.fetch(site.page("/", body, "text/plain", content_encoding=encoding))) == "network"


async def test_an_endless_body_is_left(reader: Reader, site: Site) -> None:
    async def pour(visit: Visit) -> None:
        await visit.begin(content_type="text/plain", transfer_encoding="chunked")
        while True:
            await visit.chunk(b"x" * 65536)

    assert kind(await reader.fetch(site.handle("/", pour))) == "too_large"
    async with patience():
        await site.gone.wait()


async def test_endless_headers_are_left(reader: Reader, site: Site) -> None:
    async def pour(visit: Visit) -> None:
        await visit.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            await visit.write(b"x-more: " + b"y" * 8000 + b"\r\n")

    assert kind(await reader.fetch(site.handle("/", pour))) == "network"


@pytest.mark.parametrize("after_headers", [False, True])
async def test_a_slow_answer_takes_no_longer_than_its_time(reader: Reader, site: Site, after_headers: bool) -> None:
    async def never_end(visit: Visit) -> None:
        if after_headers:
            await visit.begin(content_type="text/plain", content_length="1000")
            await visit.write(b"x")
        await asyncio.Event().wait()

    result = await reader.fetch(site.handle("/", never_end), timeout=0.2)
    assert kind(result) == "timeout"
    assert "0.2 seconds" in result.output


async def test_a_call_stopped_in_the_middle_of_a_body_closes_the_connection(reader: Reader, site: Site) -> None:
    begun = asyncio.Event()

    async def pour(visit: Visit) -> None:
        await visit.begin(content_type="text/plain", content_length="10000000")
        begun.set()
        while True:
            await visit.write(b"x")
            await asyncio.sleep(0)

    call = asyncio.create_task(reader.fetch(site.handle("/", pour)))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    async with patience():
        await site.gone.wait()


@pytest.mark.parametrize("seconds", [0, -1])
async def test_a_time_of_nothing_is_refused(reader: Reader, site: Site, seconds: int) -> None:
    assert kind(await reader.fetch(site.page("/", "x"), timeout=seconds)) == "schema"
    assert (await reader.fetch(site.page("/", "x", "text/plain"), timeout=9999)).output == "x"


# Faults


async def test_an_error_of_the_server_is_told_with_what_it_says(reader: Reader, site: Site) -> None:
    html = "<script>var x</script><h1>Not here</h1><p>Try <b>/other</b>.</p>"
    result = await reader.fetch(site.page("/", html, status="404 Not Found"))
    assert kind(result) == "network"
    assert "answered 404 Not Found" in result.output
    assert "Try /other." in result.output
    assert "var x" not in result.output


@pytest.mark.parametrize("packing", ["br", "gzip", "gzip, gzip"])
async def test_an_error_whose_text_cannot_be_unpacked_is_told_without_it(
    reader: Reader, site: Site, packing: str
) -> None:
    url = site.page("/", "not packed", status="503 Busy", content_encoding=packing)
    assert "answered 503 Busy." in (await reader.fetch(url)).output


async def test_a_refused_connection_is_told(project: Path) -> None:
    listening = await asyncio.start_server(lambda *_: None, HOST, 0)
    port = listening.sockets[0].getsockname()[1]
    listening.close()
    await listening.wait_closed()
    reader = make_reader(project, (f"http://{HOST}:{port}/*", "allow"))
    result = await reader.fetch(f"http://{HOST}:{port}/")
    assert kind(result) == "network"
    assert f"{HOST}:{port}" in result.output
    await reader.workspace.close()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_an_answer_that_is_no_http_or_breaks_off_is_told(reader: Reader, site: Site, raw: bytes) -> None:
    async def answer(visit: Visit) -> None:
        await visit.write(raw)

    assert kind(await reader.fetch(site.handle("/", answer))) == "network"


WHOLE = [
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5\n\nhello",
    b"HTTP/1.1 200\r\ncontent-type:text/plain\r\ncontent-length:5\r\n\r\nhello",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Long: one\r\n  two\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello and what nobody has announced",
    (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nT: v\r\n\r\n"
    ),
    b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello",
]


@pytest.mark.parametrize("raw", WHOLE, ids=range(len(WHOLE)))
async def test_an_answer_may_come_in_any_pieces(reader: Reader, site: Site, raw: bytes) -> None:
    async def drip(visit: Visit) -> None:
        for at in range(len(raw)):
            visit.writer.write(raw[at : at + 1])
            await visit.writer.drain()
            await asyncio.sleep(0)
        visit.writer.close()

    result = await reader.fetch(site.handle("/drip", drip))
    assert result.error is None
    assert result.output == "hello"


async def test_an_answer_that_is_cut_anywhere_is_no_page(reader: Reader, site: Site) -> None:
    raw = WHOLE[6]
    cut = 0

    async def breaks_off(visit: Visit) -> None:
        visit.writer.write(raw[:cut])
        visit.writer.close()

    url = site.handle("/cut", breaks_off)
    for cut in range(len(raw) - 1):
        assert kind(await reader.fetch(url)) == "network", cut


# Cache and pace


def _public_but_here(site: Site, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Names resolve to a public number, and connections to that number come to the site."""
    connect = asyncio.open_connection

    async def resolve(host: str, port: int) -> Any:
        return [ip_address("8.8.8.8")]

    async def redirected(host: str, port: int, **options: Any) -> Any:
        assert host == "8.8.8.8"
        return await connect(HOST, site.port, **options)

    monkeypatch.setattr(asyncio, "open_connection", redirected)
    return resolve


async def test_a_page_is_fetched_once_for_a_session(project: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    site.page("/", "kept", "text/plain")
    resolve = _public_but_here(site, monkeypatch)
    reader = make_reader(project, replies=AGAIN, resolve=resolve, pages=Pages(clock=lambda: now), pace=_at_once([]))
    for _ in range(3):
        assert (await reader.fetch("http://site.example/")).output == "kept"
    assert len(site.visits) == 1
    await reader.workspace.call("webfetch", url="http://site.example/")
    assert len(site.visits) == 2, "another session fetches its own"
    now = 1e6
    await reader.fetch("http://site.example/")
    assert len(site.visits) == 3, "not for ever"
    await reader.workspace.close()


@pytest.mark.parametrize("control", ["no-store", "private, no-cache", "max-age=0"])
async def test_what_must_not_be_kept_is_not(
    project: Path, site: Site, monkeypatch: pytest.MonkeyPatch, control: str
) -> None:
    site.page("/", "fresh", cache_control=control)
    reader = make_reader(project, replies=AGAIN, resolve=_public_but_here(site, monkeypatch), pace=_at_once([]))
    for _ in range(2):
        await reader.fetch("http://site.example/")
    assert len(site.visits) == 2
    await reader.workspace.close()


async def test_a_page_of_this_machine_is_always_fresh(reader: Reader, site: Site) -> None:
    url = site.page("/", "one", "text/plain")
    assert (await reader.fetch(url)).output == "one"
    site.page("/", "two", "text/plain")
    assert (await reader.fetch(url)).output == "two"


async def test_a_kept_page_still_needs_leave_for_every_address_it_came_by(
    project: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.redirect("/a", "http://other.example/b")
    site.page("/b", "x")
    reader = make_reader(
        project,
        ("*other*", "ask"),
        replies=("once", "once", "reject"),
        resolve=_public_but_here(site, monkeypatch),
        pace=_at_once([]),
    )
    assert (await reader.fetch("http://site.example/a")).error is None
    assert kind(await reader.fetch("http://site.example/a")) == "rejected"
    asked = [question.patterns[0] for question in reader.user.questions]
    assert asked == ["http://other.example/b", "http://site.example/a", "http://other.example/b"]
    assert len(site.visits) == 2
    await reader.workspace.close()


def _at_once(waits: list[float]) -> Pace:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return Pace(clock=lambda: 0.0, sleep=sleep)


async def test_a_host_is_asked_once_a_second(project: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    for path in "abc":
        site.page(f"/{path}", "x")
    reader = make_reader(project, resolve=_public_but_here(site, monkeypatch), pace=_at_once(waits))
    await asyncio.gather(*(reader.fetch(f"http://site.example/{path}") for path in "abc"))
    await reader.fetch("http://other.example/a")
    assert sorted(waits) == [SECONDS, 2 * SECONDS]
    await reader.workspace.close()


async def test_names_are_resolved_by_nobody_else_in_these_tests() -> None:
    with pytest.raises(OSError, match="knows no"):
        await nothing_resolves("example.com", 80)
