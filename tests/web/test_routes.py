"""Secure connections and proxies: to the judged address, under the right name."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from tests.web.site import HOST, Site, make_reader, opened, serving
from toolwright.errors import ToolError
from toolwright.web.proxies import Proxy, proxy_for
from toolwright.web.urls import parse_url


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for secure.example alone, signed by itself."""
    x509 = pytest.importorskip("cryptography.x509", reason="certificates are made with cryptography")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "secure.example")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime.now(UTC) + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("secure.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "secure.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
async def secure(certificate: Path) -> AsyncIterator[Site]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with serving(context) as site:
        site.page("/", "safe", "text/plain")
        yield site


async def here(host: str, port: int) -> Any:
    return [ip_address(HOST)]


async def test_a_certificate_nobody_vouches_for_is_refused(project: Path, secure: Site) -> None:
    reader = make_reader(project, (f"https://secure.example:{secure.port}/*", "allow"), resolve=here)
    result = await reader.fetch(f"https://secure.example:{secure.port}/")
    assert result.error is not None
    assert result.error.kind == "network"
    assert "certificate" in result.output
    assert secure.visits == []
    await reader.workspace.close()


@pytest.mark.parametrize(("host", "kind"), [("secure.example", ""), ("other.example", "network")])
async def test_the_certificate_must_be_that_of_the_name(
    project: Path, secure: Site, certificate: Path, host: str, kind: str
) -> None:
    reader = make_reader(
        project,
        (f"https://{host}:{secure.port}/*", "allow"),
        resolve=here,
        tls=lambda: ssl.create_default_context(cafile=str(certificate)),
    )
    result = await reader.fetch(f"https://{host}:{secure.port}/")
    assert (result.error.kind if result.error else "") == kind, result.output
    assert [visit.headers["host"] for visit in secure.visits] == ([] if kind else [f"{host}:{secure.port}"])
    await reader.workspace.close()


async def test_a_server_that_speaks_no_tls_is_told(project: Path) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, HOST, 0)
    port = server.sockets[0].getsockname()[1]
    reader = make_reader(project, (f"https://{HOST}:{port}/*", "allow"))
    result = await reader.fetch(f"https://{HOST}:{port}/")
    assert result.error is not None
    assert result.error.kind == "network"
    await reader.workspace.close()
    server.close()


@dataclass
class Tunnel:
    """A proxy on loopback that leads every connection to one port, and remembers what it was asked for."""

    target: int
    port: int = 0
    asked: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    status: str = "200 Connection established"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head.split("\r\n")[0])
        self.heads.append(head)
        writer.write(f"HTTP/1.1 {self.status}\r\n\r\n".encode())
        if self.status.startswith("200"):
            there, back = await asyncio.open_connection(HOST, self.target)
            await asyncio.gather(_copy(reader, back), _copy(there, writer))
        writer.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    except ConnectionError:
        pass
    finally:
        target.close()


@asynccontextmanager
async def tunnelling(target: int) -> AsyncIterator[Tunnel]:
    tunnel = Tunnel(target)
    server = await asyncio.start_server(tunnel.serve, HOST, 0)
    tunnel.port = server.sockets[0].getsockname()[1]
    try:
        yield tunnel
    finally:
        server.close()


async def public(host: str, port: int) -> Any:
    return [ip_address("8.8.8.8")]


async def test_a_proxy_is_led_to_the_address_that_was_judged(project: Path, secure: Site, certificate: Path) -> None:
    async with tunnelling(secure.port) as tunnel:
        reader = make_reader(
            project,
            environment={"https_proxy": f"http://me:word@{HOST}:{tunnel.port}"},
            resolve=public,
            tls=lambda: ssl.create_default_context(cafile=str(certificate)),
        )
        result = await reader.fetch("https://secure.example/")
        assert result.output == "safe"
        assert tunnel.asked == ["CONNECT 8.8.8.8:443 HTTP/1.1"]
        assert "Proxy-Authorization: Basic bWU6d29yZA==" in tunnel.heads[0]
        assert "proxy-authorization" not in secure.visits[0].headers
        await reader.workspace.close()


async def test_this_machine_is_closed_behind_a_proxy_too(project: Path) -> None:
    async with serving() as site, tunnelling(site.port) as tunnel:
        environment = {"HTTP_PROXY": f"http://{HOST}:{tunnel.port}", "ALL_PROXY": f"http://{HOST}:{tunnel.port}"}
        reader = make_reader(project, environment=environment)
        for url in (f"{site.url}/", "http://localhost/", "http://unknown.example/"):
            result = await reader.fetch(url)
            assert result.error is not None
            assert result.error.kind == "denied"
        assert tunnel.asked == []
        await reader.workspace.close()


async def test_what_is_on_this_machine_is_reached_without_the_proxy(project: Path) -> None:
    async with serving() as site, tunnelling(site.port) as tunnel:
        environment = {"http_proxy": f"http://{HOST}:{tunnel.port}"}
        reader = make_reader(project, opened(site), environment=environment)
        assert (await reader.fetch(site.page("/", "here", "text/plain"))).output == "here"
        assert tunnel.asked == []
        await reader.workspace.close()


async def test_a_name_that_a_rule_spells_is_left_to_the_proxy(project: Path) -> None:
    async with serving() as site, tunnelling(site.port) as tunnel:
        site.page("/", "there", "text/plain")
        environment = {"http_proxy": f"{HOST}:{tunnel.port}"}
        reader = make_reader(project, ("http://inside.example/*", "allow"), environment=environment)
        assert (await reader.fetch("http://inside.example/")).output == "there"
        assert tunnel.asked == ["CONNECT inside.example:80 HTTP/1.1"]
        await reader.workspace.close()


async def test_a_proxy_that_refuses_is_told(project: Path) -> None:
    async with tunnelling(1) as tunnel:
        tunnel.status = "403 Forbidden"
        reader = make_reader(project, environment={"all_proxy": f"http://{HOST}:{tunnel.port}"}, resolve=public)
        result = await reader.fetch("https://secure.example/")
        assert result.error is not None
        assert result.error.kind == "network"
        assert "403 Forbidden" in result.output
        await reader.workspace.close()


@pytest.mark.parametrize(
    ("url", "environment", "expected"),
    [
        ("http://a.example/", {}, None),
        ("http://a.example/", {"http_proxy": "http://p:81"}, Proxy(host="p", port=81)),
        ("https://a.example/", {"http_proxy": "http://p:81"}, None),
        ("https://a.example/", {"HTTPS_PROXY": "p"}, Proxy(host="p", port=80)),
        ("https://a.example/", {"ALL_PROXY": "https://p"}, Proxy(host="p", port=443, secure=True)),
        ("http://a.example/", {"http_proxy": "http://u:%40@p"}, Proxy(host="p", port=80, credentials="u:@")),
        ("http://a.example/", {"http_proxy": "http://p", "no_proxy": "b.example, a.example"}, None),
        ("http://x.a.example/", {"http_proxy": "http://p", "NO_PROXY": ".a.example"}, None),
        ("http://xa.example/", {"http_proxy": "http://p", "NO_PROXY": "a.example"}, Proxy(host="p", port=80)),
        ("http://a.example:81/", {"http_proxy": "http://p", "NO_PROXY": "a.example:80"}, Proxy(host="p", port=80)),
        ("http://a.example/", {"http_proxy": "http://p", "NO_PROXY": "*"}, None),
        ("http://x.a.example/", {"http_proxy": "http://p", "NO_PROXY": "*.a.example"}, None),
        ("http://10.1.2.3/", {"http_proxy": "http://p", "NO_PROXY": "10.0.0.0/8"}, None),
        ("http://11.1.2.3/", {"http_proxy": "http://p", "NO_PROXY": "10.0.0.0/8"}, Proxy(host="p", port=80)),
        ("http://[::1]/", {"http_proxy": "http://p", "NO_PROXY": "[::1]"}, None),
    ],
)
def test_the_environment_names_the_proxy(url: str, environment: dict[str, str], expected: Proxy | None) -> None:
    assert proxy_for(parse_url(url), environment) == expected


def test_a_proxy_that_speaks_no_http_is_refused() -> None:
    with pytest.raises(ToolError, match="must be an http:// or https:// address"):
        proxy_for(parse_url("http://a.example/"), {"all_proxy": "socks5://p:1080"})


@pytest.mark.parametrize("proxy", ["http://user:secret@p:99999", "user:secret@p:port", "http://user:secret@[::1"])
def test_a_proxy_whose_address_makes_no_sense_is_refused_without_its_password(proxy: str) -> None:
    with pytest.raises(ToolError, match="is not an address") as refused:
        proxy_for(parse_url("http://a.example/"), {"http_proxy": proxy})
    assert "secret" not in str(refused.value)
