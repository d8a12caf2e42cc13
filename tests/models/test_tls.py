"""Certificates: one that is not trusted is told as such, at once; one that the environment names is trusted."""

import asyncio
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.models.conftest import CHAT, events_of, text_of
from tests.models.replies import Reply
from tests.models.server import Server, listened_to
from toolwright.models.connect import connect
from toolwright.models.model import Model, ModelError
from toolwright.models.transport.certificates import trusting_context


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("openssl cannot make a certificate here")
    return tmp_path / "cert.pem"


@pytest.fixture
async def secure(certificate: Path) -> AsyncIterator[Server]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.parent / "key.pem")
    server = Server()
    server.stream(*CHAT.write(Reply(text="x")))
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0, ssl=context)
    server.url = f"https://localhost:{listening.sockets[0].getsockname()[1]}/v1"
    yield server
    listening.close()


def model_at(url: str) -> Model:
    return connect("acme", "m", {"name": "Acme", "options": {"baseURL": url}})


async def test_a_certificate_that_is_not_trusted_is_told_and_not_tried_again(secure: Server) -> None:
    with pytest.raises(ModelError) as caught:
        await events_of(model_at(secure.url))
    assert "its certificate is not trusted" in str(caught.value)
    assert "Set SSL_CERT_FILE" in str(caught.value)
    assert not caught.value.retryable


async def test_a_certificate_that_the_environment_names_is_trusted(
    secure: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert text_of(await events_of(model_at(secure.url))) == "x"


async def test_a_server_without_tls_is_told_as_such() -> None:
    async def complain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """As the common servers do, to whom the beginning of a secure connection is no request."""
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(complain, "127.0.0.1", 0)
    async with listened_to(listening):
        with pytest.raises(ModelError) as caught:
            await events_of(model_at(f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"))
    assert "should begin with http:// or https://" in str(caught.value)
    assert not caught.value.retryable


async def test_a_server_that_only_waits_is_taken_for_one_without_tls(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.models.transport.connections.HANDSHAKE", 0.2)
    server.stream(*CHAT.write(Reply(text="x")))
    with pytest.raises(ModelError, match="should begin with http:// or https://"):
        await events_of(model_at(server.url.replace("http:", "https:")))


def test_the_same_authorities_are_trusted_as_by_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    httpx2 = pytest.importorskip("httpx2")
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    ours, theirs = trusting_context(), httpx2.create_ssl_context()
    assert ours.get_ca_certs(binary_form=True) == theirs.get_ca_certs(binary_form=True)
    assert ours.get_ca_certs()
    assert (ours.verify_mode, ours.check_hostname) == (theirs.verify_mode, theirs.check_hostname)


def test_a_secure_connection_needs_no_library() -> None:
    code = (
        "import sys, toolwright.models.transport.connections as c; c._trusting(None, local=False); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"httpx2", "httpcore2", "anyio"} & set(done.stdout.split())
