"""LiteLLM's proxy between us and three providers: a whole tool loop in each of the four formats."""

import json
import os
import secrets
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.models.conftest import (
    ANTHROPIC,
    CHAT,
    GEMINI,
    RESPONSES,
    Format,
    calls_of,
    events_of,
    seals_of,
    text_of,
    thoughts_of,
    usage_of,
)
from tests.models.replies import Reply
from tests.models.server import Answer, Server, serving
from tests.models.test_requests import READ
from tests.ports import free_port
from toolwright.models.connect import connect
from toolwright.models.model import (
    AssistantMessage,
    Model,
    ModelCall,
    ModelError,
    ModelMessage,
    Reasoning,
    ReplySettings,
    ToolMessage,
    UserMessage,
)

PROXY = os.environ.get("TOOLWRIGHT_LITELLM") or shutil.which("litellm") or ".venv/judges/litellm/bin/litellm"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(PROXY).exists(), reason="needs LiteLLM's proxy: make real"),
]
UPSTREAM: dict[str, tuple[str, str, Format]] = {
    "gpt": ("openai/gpt-4o", "/v1", CHAT),
    "gpt-responses": ("openai/gpt-5.2", "/v1", RESPONSES),
    "claude": ("anthropic/claude-sonnet-4-5", "", ANTHROPIC),
    "gemini": ("gemini/gemini-3-flash-preview", "", GEMINI),
}
"""The models of the proxy: what it calls them, where it looks for them, and what they speak."""
BASE = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "/v1", "gemini": "/v1beta"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    url: str
    key: str
    upstream: int
    """The port at which it expects the providers."""

    def model(self, form: Format, name: str) -> Model:
        options = {"baseURL": f"{self.url}{BASE[form.api]}", "apiKey": self.key}
        return connect("litellm", name, {"name": "LiteLLM", "api": form.api, "options": options})


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("litellm")
    port, upstream = free_port(), free_port()
    proxy = Proxy(url=f"http://127.0.0.1:{port}", key=f"sk-{secrets.token_hex(24)}", upstream=upstream)
    listed = [
        {
            "model_name": name,
            "litellm_params": {"model": model, "api_base": f"http://127.0.0.1:{upstream}{path}", "api_key": "k"},
        }
        for name, (model, path, _) in UPSTREAM.items()
    ]
    (folder / "config.yaml").write_text(
        json.dumps({"model_list": listed, "router_settings": {"num_retries": 0, "disable_cooldowns": True}})
    )
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LITELLM_MASTER_KEY": proxy.key,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "NO_PROXY": "*",
    }
    command = [PROXY, "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(Path(command[0]).absolute()), *command[1:]], cwd=folder, env=environment, stdout=log, stderr=log
        )
        try:
            _wait_for(proxy, process, folder / "log")
            yield proxy
        finally:
            process.kill()
            process.wait()


def _wait_for(proxy: Proxy, process: subprocess.Popen[bytes], log: Path) -> None:
    with httpx2.Client(trust_env=False) as client:
        while process.poll() is None:
            try:
                if client.get(f"{proxy.url}/health/liveliness", timeout=1).status_code == 200:
                    return
            except httpx2.HTTPError:
                _pause(process)
    pytest.fail(f"the proxy did not start:\n{log.read_text()[-2000:]}")


def _pause(process: subprocess.Popen[bytes]) -> None:
    """Until it ends or some time has passed."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.2)


@pytest.fixture
async def upstream(proxy: Proxy) -> AsyncIterator[Server]:
    async with serving(proxy.upstream) as server:
        yield server


WAYS = [
    pytest.param(form, name, id=f"{form.api}-{name}")
    for form, names in (
        (CHAT, ("gpt", "claude", "gemini")),
        (RESPONSES, ("gpt-responses",)),
        (ANTHROPIC, ("claude", "gpt-responses")),
        (GEMINI, ("gemini",)),
    )
    for name in names
]


ASKED = UserMessage(content=("What is in it?",))
CALLED = Reply(reasoning="Hm.", seal="U0VBTA==", text="I look.", calls=[("call_1", "read", '{"a": "ü"}')])


async def answered(proxy: Proxy, upstream: Server, form: Format, name: str) -> list[ModelMessage]:
    """The conversation after the model has called a tool and the tool has answered."""
    upstream.stream(*UPSTREAM[name][2].write(CALLED))
    events = await events_of(proxy.model(form, name), [ASKED], [READ])
    (call,) = calls_of(events)
    assert (call.name, json.loads(call.arguments)) == ("read", {"a": "ü"})
    assert text_of(events) == "I look."
    upstream.answers.clear()
    seals = seals_of(events) or [{}]
    thoughts = [Reasoning(text=thoughts_of(events), signature=seals[0])]
    thoughts += [Reasoning(text="", signature=seal) for seal in seals[1:]]
    made = ModelCall(id=call.id, name=call.name, arguments=json.loads(call.arguments), signature=call.signature)
    said = AssistantMessage(content=(*thoughts, "I look.", made), model=f"litellm/{name}")
    return [ASKED, said, ToolMessage(call_id=call.id, name="read", output="the contents: hello")]


@pytest.mark.parametrize(("form", "name"), WAYS)
async def test_a_tool_loop_goes_through_the_proxy(proxy: Proxy, upstream: Server, form: Format, name: str) -> None:
    messages = await answered(proxy, upstream, form, name)
    upstream.stream(*UPSTREAM[name][2].write(Reply(text="It says hello.")))
    events = await events_of(proxy.model(form, name), messages, [READ])
    assert text_of(events) == "It says hello."
    usage = usage_of(events)
    assert (usage.input + usage.cache_read, usage.cache_read, usage.output + usage.reasoning) == (100, 40, 20)
    assert "the contents: hello" in upstream.seen[-1].raw.decode()


@pytest.mark.parametrize(
    ("form", "name"), [(CHAT, "claude"), (CHAT, "gemini"), (ANTHROPIC, "claude"), (GEMINI, "gemini")]
)
async def test_sealed_reasoning_comes_back_to_the_model_through_the_proxy(
    proxy: Proxy, upstream: Server, form: Format, name: str
) -> None:
    messages = await answered(proxy, upstream, form, name)
    upstream.stream(*UPSTREAM[name][2].write(Reply(text="It says hello.")))
    options = {"thinking": {"type": "enabled", "budget_tokens": 1024}} if name == "claude" and form is CHAT else {}
    await events_of(proxy.model(form, name), messages, [READ], ReplySettings(options=options))
    assert "U0VBTA==" in upstream.seen[-1].raw.decode()


TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"


@pytest.mark.parametrize(
    ("status", "kind", "message", "expected"),
    [
        (429, "rate_limit_error", "This request would exceed your rate limit", ("quota", True)),
        (400, "invalid_request_error", TOO_LONG, ("context_overflow", False)),
        (401, "authentication_error", "invalid x-api-key", ("auth", False)),
        (529, "overloaded_error", "Overloaded", ("overload", True)),
    ],
)
async def test_what_goes_wrong_behind_the_proxy_keeps_its_kind(
    proxy: Proxy, upstream: Server, status: int, kind: str, message: str, expected: tuple[str, bool]
) -> None:
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
    upstream.answer(Answer(pieces=[body], status=status, headers={"content-type": "application/json"}))
    with pytest.raises(ModelError) as caught:
        await events_of(proxy.model(CHAT, "claude"))
    assert (caught.value.kind, caught.value.retryable) == expected
