"""Bedrock, Vertex and Azure through the extra `providers`, their identity servers and endpoints played on loopback."""

import json
import struct
import zlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.models.conftest import HELLO, calls_of, events_of, text_of, usage_of
from tests.models.replies import Reply, chat, gemini
from tests.models.server import Answer, Server, serving
from tests.models.test_logins import form_of, origin, says
from tests.models.test_requests import READ
from toolwright.models.connect import connect
from toolwright.models.model import Model, ModelError, SystemMessage

LIBRARIES = ("pydantic_ai", "boto3", "google.auth", "openai", "cryptography")


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not all(map(_is_installed, LIBRARIES)), reason="needs the extra `providers`"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
MESSAGES = (SystemMessage(text="You are of help."), *HELLO)


def cloud(provider: str, model: str) -> Model:
    record = {"limit": {"context": 200_000, "output": 8_000}}
    return connect(provider, model, {"api": "pydantic-ai", "models": {model: record}})


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of the machine the tests run on."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


# Bedrock: credentials of a container's identity server, and Amazon's own framing.


def frame(kind: str, payload: Any) -> bytes:
    def header(name: str, value: str) -> bytes:
        return struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", 7, len(value)) + value.encode()

    body = json.dumps(payload).encode()
    headers = header(":event-type", kind) + header(":content-type", "application/json")
    headers += header(":message-type", "event")
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    head = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
    return head + struct.pack(">I", zlib.crc32(head))


def converse() -> Iterator[bytes]:
    yield frame("messageStart", {"role": "assistant"})
    yield frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "I look."}})
    yield frame("contentBlockStop", {"contentBlockIndex": 0})
    start = {"toolUse": {"toolUseId": "tooluse_1", "name": "read"}}
    yield frame("contentBlockStart", {"contentBlockIndex": 1, "start": start})
    yield frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"filePath": "a"}'}}})
    yield frame("contentBlockStop", {"contentBlockIndex": 1})
    yield frame("messageStop", {"stopReason": "tool_use"})
    counted = {"inputTokens": 60, "outputTokens": 20, "totalTokens": 120, "cacheReadInputTokens": 40}
    yield frame("metadata", {"usage": counted, "metrics": {"latencyMs": 1}})


async def test_claude_on_bedrock_gets_cache_marks_and_credentials_of_the_container(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as identity:
        keys = {"AccessKeyId": "AKIA1", "SecretAccessKey": "secret", "Token": "session"}
        identity.answer(says({**keys, "Expiration": "2999-01-01T00:00:00Z"}))
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{origin(identity)}/credentials")
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "who-we-are")
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", origin(server))
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        kind = {"content-type": "application/vnd.amazon.eventstream"}
        server.answer(Answer(pieces=list(converse()), headers=kind))
        events = await events_of(
            cloud("amazon-bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"), MESSAGES, (READ,)
        )
        assert identity.seen[0].headers["authorization"] == "who-we-are"
    assert text_of(events) == "I look."
    assert [(call.name, json.loads(call.arguments)) for call in calls_of(events)] == [("read", {"filePath": "a"})]
    assert usage_of(events).cache_read == 40
    asked = server.seen[-1]
    assert asked.path.endswith("/converse-stream")
    assert "Credential=AKIA1/" in asked.headers["authorization"]
    assert asked.headers["x-amz-security-token"] == "session"
    assert [next(iter(part)) for part in asked.body["system"]] == ["text", "cachePoint"]
    assert "cachePoint" in asked.body["messages"][-1]["content"][-1]


async def test_an_identity_server_that_refuses_is_one_sentence(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as identity:
        identity.answer(says({"code": "AccessDenied", "message": "no role"}, 403))
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{origin(identity)}/credentials")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        with pytest.raises(ModelError, match=r"There are no credentials for bedrock: .*container") as caught:
            await events_of(cloud("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"), MESSAGES, (READ,))
    assert (caught.value.kind, caught.value.retryable) == ("auth", False)
    assert server.seen == []


# Vertex: a service account.


async def test_gemini_on_vertex_gets_the_token_of_a_service_account(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    async with serving() as identity:
        identity.answer(says({"access_token": "ya29_secret", "expires_in": 3599, "token_type": "Bearer"}))
        file = tmp_path / "account.json"
        said = {"type": "service_account", "client_email": "bot@shop", "private_key": key.private_bytes(*form).decode()}
        file.write_text(json.dumps({**said, "private_key_id": "k1", "token_uri": f"{origin(identity)}/token"}))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "shop")
        monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "global")
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", origin(server))
        server.stream(*gemini(Reply(text="hello")))
        events = await events_of(cloud("google-cloud", "gemini-3-flash-preview"), MESSAGES, (READ,))
        assert form_of(identity)["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    assert text_of(events) == "hello"
    asked = server.seen[-1]
    assert "/projects/shop/locations/global/publishers/google/models/gemini-3-flash-preview" in asked.path
    assert asked.headers["authorization"] == "Bearer ya29_secret"
    assert asked.body["toolConfig"]["functionCallingConfig"]["mode"] == "VALIDATED"


# Azure: a key.


async def test_gpt_on_azure_gets_the_key_of_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{origin(server)}/openai/v1/")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key")
    server.stream(*chat(Reply(text="hello")))
    events = await events_of(cloud("azure", "gpt-5.2"), MESSAGES, (READ,))
    assert text_of(events) == "hello"
    asked = server.seen[-1]
    assert asked.path.startswith("/openai/v1/")
    assert "key" in {asked.headers.get("api-key"), asked.headers.get("authorization", "").removeprefix("Bearer ")}
