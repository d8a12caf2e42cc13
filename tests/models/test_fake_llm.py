"""A stand-in server that others wrote, where there is one beside the repository: our reading of theirs."""

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.models.conftest import (
    Format,
    calls_of,
    events_of,
    finish_of,
    seals_of,
    text_of,
    thoughts_of,
    usage_of,
)
from tests.ports import free_port
from tests.waiting import PATIENCE, wait_until
from toolwright.models.connect import connect
from toolwright.models.info import Usage
from toolwright.models.model import Model, ModelError

BESIDE = Path(__file__).parents[3] / "shared" / "tools" / "fake_llm.py"
SCRIPT = Path(os.environ.get("TOOLWRIGHT_FAKE_LLM", BESIDE))

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="no fake_llm.py; TOOLWRIGHT_FAKE_LLM may name one")


class Fake:
    """The running server."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"

    def plays(self, *turns: Any) -> None:
        body = json.dumps({"turns": turns}).encode()
        request = urllib.request.Request(f"{self.url.removesuffix('/v1')}/__script", body)
        urllib.request.urlopen(request, timeout=PATIENCE).close()

    def model(self, form: Format) -> Model:
        options = {"baseURL": self.url, "apiKey": "k"}
        return connect("fake", "m", {"api": form.api, "options": options, "models": {"m": {"reasoning": True}}})


@pytest.fixture(scope="module")
def fake() -> Iterator[Fake]:
    port = free_port()
    process = subprocess.Popen([sys.executable, str(SCRIPT), "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        _wait(port)
        yield Fake(port)
    finally:
        process.kill()
        process.wait()


def _wait(port: int) -> None:
    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(answers)


async def test_a_turn_with_everything(fake: Fake, form: Format) -> None:
    usage = {"input": 100, "output": 20, "cached": 30, "reasoning": 5}
    tools = [{"name": "read", "args": {"filePath": f"{number} ü.txt"}} for number in range(10)]
    fake.plays({"reasoning": "think", "text": "Hello, wörld", "tools": tools, "usage": usage, "chunk": 3})
    events = await events_of(fake.model(form))
    assert (thoughts_of(events), text_of(events)) == ("think", "Hello, wörld")
    assert [json.loads(call.arguments) for call in calls_of(events)] == [tool["args"] for tool in tools]
    assert finish_of(events).reason == "tool_calls"
    expected = {
        "anthropic": Usage(input=100, output=20, cache_read=30),
        "gemini": Usage(input=70, output=20, reasoning=5, cache_read=30),
    }
    assert usage_of(events) == expected.get(form.api, Usage(input=70, output=15, reasoning=5, cache_read=30))
    seals = {
        "anthropic": {"signature": "sig"},
        "openai-responses": {"id": "rs_fake", "encrypted_content": "ENC"},
        "openai-chat": {"field": "reasoning_content"},
    }
    assert seals_of(events) == [seals.get(form.api, {})]


async def test_trouble_of_every_kind(fake: Fake, form: Format) -> None:
    fake.plays(
        {"error": {"status": 429, "headers": {"retry-after-ms": "500"}}},
        {"text": "partial answer of some length", "cut": 3},
        {"text": "partial answer of some length", "cut": 3, "rst": True},
    )
    model = fake.model(form)
    found = []
    for _ in range(3):
        with pytest.raises(ModelError) as caught:
            await events_of(model)
        found.append((caught.value.kind, caught.value.retryable, caught.value.retry_after))
    assert found == [("quota", True, 0.5), ("cut", True, None), ("cut", True, None)]
