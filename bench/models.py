"""What a model costs us: a streamed token, a long request, a long stream; beside httpx2 alone and pydantic-ai.

python bench/models.py
"""

import asyncio
import importlib.util
import json
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

import httpx2

from toolwright.models.connect import connect
from toolwright.models.formats.openai_chat import ChatWire
from toolwright.models.formats.short_tools import SMALL_CONTEXT, short_spec
from toolwright.models.formats.sizes import tools_size
from toolwright.models.known.profiles import profile_of
from toolwright.models.model import (
    AssistantMessage,
    Model,
    ModelCall,
    ModelMessage,
    ReplySettings,
    TextDelta,
    ToolMessage,
    UserMessage,
)
from toolwright.testing import ScriptedModel, make_workspace

EVENTS = 10_000
ROUNDS = 5
MESSAGES = 200
MAX_TOKEN_MICROSECONDS = 40
MAX_NEXT_MILLISECONDS = 1.0


async def main() -> int:
    """Print the figures; 1 if a target is missed."""
    messages = _conversation()
    first, following = _encoding(messages)
    print(f"a request of {MESSAGES} messages, 1 kB each, made ready")
    print(f"  json alone                 {_json_alone(messages):8.2f} ms")
    print(f"  toolwright, the first time {first:8.2f} ms")
    print(f"  with one message more      {following:8.2f} ms   (target {MAX_NEXT_MILLISECONDS})")
    with _served() as url:
        if _has_pydantic_ai():
            theirs = await _their_request(url, messages) - await _their_request(url, messages[:2])
            print(f"  pydantic-ai, each time     {theirs:8.2f} ms")
        print(f"a stream of {EVENTS:,} events, CPU of the reader for each, written at once and one by one")
        ours = await _shown("toolwright", _ours, url, f"(target {MAX_TOKEN_MICROSECONDS})")
        await _shown("httpx2 alone, lines only", _httpx2, url)
        if _has_pydantic_ai():
            await _shown("pydantic-ai", _pydantic_ai, url)
        else:
            print("  pydantic-ai                is not installed")
    await _tools()
    return 1 if ours > MAX_TOKEN_MICROSECONDS or following > MAX_NEXT_MILLISECONDS else 0


async def _tools() -> None:
    """What the offered tools take of a context, whole and as small models are told of them."""
    model = ScriptedModel({"text": "x"})
    with tempfile.TemporaryDirectory() as folder:
        (project := Path(folder, "project")).mkdir()
        async with make_workspace(project, model=model) as workspace:
            await workspace.prompt("Go.")
    tools = next(one.tools for one in model.requests if one.settings.purpose != "title")
    short = [short_spec(one) for one in tools]
    print(f"{len(tools)} tools take about {tools_size(tools)} tokens; up to {SMALL_CONTEXT:,}, {tools_size(short)}")


def _has_pydantic_ai() -> bool:
    return bool(importlib.util.find_spec("pydantic_ai") and importlib.util.find_spec("openai"))


async def _shown(name: str, read: Callable[[str], Awaitable[int]], url: str, note: str = "") -> float:
    """Print the cost of an event in one body and in single packets; the larger of the two comes back."""
    whole = await _timed(lambda: read(url))
    single = await _timed(lambda: read(f"{url}/slow"))
    print(f"  {name:26} {whole:8.1f} µs {single:8.1f} µs   {note}")
    return max(whole, single)


def _conversation() -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for number in range(MESSAGES // 2):
        call = ModelCall(id=f"call_{number}", name="read", arguments={"filePath": "x" * 1000})
        messages += [AssistantMessage(content=(call,)), ToolMessage(call_id=call.id, name="read", output="y" * 1000)]
    return messages


def _json_alone(messages: list[ModelMessage]) -> float:
    """Milliseconds to write the same request with the standard library, once its parts are dictionaries."""
    info = connect("vllm", "m", {"options": {"baseURL": "http://nowhere.invalid/v1"}}).info
    body = json.loads(ChatWire(info, profile_of(info)).request(messages, (), ReplySettings()).body)
    rounds = list[float]()
    for _ in range(ROUNDS):
        started = time.perf_counter()
        json.dumps(body, ensure_ascii=False).encode()
        rounds.append((time.perf_counter() - started) * 1000)
    return min(rounds)


def _encoding(messages: list[ModelMessage]) -> tuple[float, float]:
    """Milliseconds for the whole conversation, and for the same with one message more."""
    messages = list(messages)
    info = connect("vllm", "m", {"options": {"baseURL": "http://nowhere.invalid/v1"}}).info
    firsts, nexts = list[float](), list[float]()
    for _ in range(ROUNDS):
        wire = ChatWire(info, profile_of(info))
        for kept in (firsts, nexts):
            started = time.perf_counter()
            wire.request(messages, (), ReplySettings())
            kept.append((time.perf_counter() - started) * 1000)
            messages.append(UserMessage(content=("more",)))
        del messages[-2:]
    return median(firsts), min(nexts)


async def _their_request(url: str, messages: list[ModelMessage]) -> float:
    """Milliseconds of CPU for pydantic-ai to send a conversation and read two events."""
    from toolwright.models.info import ModelInfo
    from toolwright.models.pydantic_ai import _Library

    direct: Any = importlib.import_module("pydantic_ai.direct")
    model = _their_model(f"{url}/short")
    sent = list(_Library().messages_of(messages, ModelInfo(provider="bench", id="m")))
    rounds = list[float]()
    for _ in range(ROUNDS + 1):
        started = time.thread_time()
        async with direct.model_request_stream(model, sent) as stream:
            async for _event in stream:
                pass
        rounds.append((time.thread_time() - started) * 1000)
    return min(rounds)


async def _timed(read: Callable[[], Awaitable[int]]) -> float:
    """Microseconds of this thread's CPU for each event, in the best of some rounds."""
    await read()
    rounds: list[float] = []
    for _ in range(ROUNDS):
        started = time.thread_time()
        count = await read()
        assert count >= EVENTS, count
        rounds.append((time.thread_time() - started) / EVENTS * 1_000_000)
    return min(rounds)


async def _ours(url: str) -> int:
    model: Model = connect("bench", "m", {"options": {"baseURL": url}})
    count = 0
    async with aclosing(model.stream([UserMessage(content=("go",))], (), ReplySettings())) as events:
        async for event in events:
            count += isinstance(event, TextDelta)
    await model.close()
    return count


async def _httpx2(url: str) -> int:
    count = 0
    async with (
        httpx2.AsyncClient(verify=False) as client,
        client.stream("POST", f"{url}/chat/completions", content=b"{}") as response,
    ):
        async for line in response.aiter_lines():
            count += line.startswith("data:")
    return count


async def _pydantic_ai(url: str) -> int:
    direct: Any = importlib.import_module("pydantic_ai.direct")
    messages: Any = importlib.import_module("pydantic_ai.messages")
    model = _their_model(url)
    request = [messages.ModelRequest.user_text_prompt("go")]
    count = 0
    async with direct.model_request_stream(model, request) as stream:
        async for _ in stream:
            count += 1
    return count


def _their_model(url: str) -> Any:
    models: Any = importlib.import_module("pydantic_ai.models.openai")
    providers: Any = importlib.import_module("pydantic_ai.providers.openai")
    return models.OpenAIChatModel("m", provider=providers.OpenAIProvider(base_url=url, api_key="x"))


@contextmanager
def _served() -> Iterator[str]:
    """A server in a thread of its own that answers every request with the same stream."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _stream(events: int) -> list[bytes]:
    def chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode()

    words = [chunk({"content": f"word{number} "}) for number in range(events)]
    return [*words, chunk({}, "stop"), b"data: [DONE]\n\n"]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    events = _stream(EVENTS)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        events = _stream(2) if "/short/" in self.path else self.events
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(sum(map(len, events))))
        self.end_headers()
        for packet in events if "/slow/" in self.path else (b"".join(events),):
            self.wfile.write(packet)

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
