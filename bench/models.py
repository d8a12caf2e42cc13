"""What a model costs us: a streamed token, a long request, a long stream; beside httpx2 alone and pydantic-ai.

python bench/models.py
"""

import asyncio
import importlib.util
import json
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median
from typing import Any

import httpx2

from toolwright.models.connect import connect
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
from toolwright.models.openai_chat import ChatWire
from toolwright.models.profiles import profile_of

EVENTS = 10_000
ROUNDS = 5
MESSAGES = 200
MAX_TOKEN_MICROSECONDS = 40
MAX_NEXT_MILLISECONDS = 1.0


async def main() -> int:
    """Print the figures; 1 if a target is missed."""
    first, following = _encoding()
    print(f"a request of {MESSAGES} messages, 1 kB each")
    print(f"  encoded for the first time {first:8.2f} ms")
    print(f"  with one message more      {following:8.2f} ms   (target {MAX_NEXT_MILLISECONDS})")
    with _served() as url:
        ours = await _timed(lambda: _ours(url))
        bare = await _timed(lambda: _httpx2(url))
        print(f"a stream of {EVENTS:,} events, CPU of the reader for each")
        print(f"  httpx2 alone, lines only   {bare:8.1f} µs")
        print(f"  toolwright                 {ours:8.1f} µs   (target {MAX_TOKEN_MICROSECONDS})")
        if importlib.util.find_spec("pydantic_ai") and importlib.util.find_spec("openai"):
            print(f"  pydantic-ai                {await _timed(lambda: _pydantic_ai(url)):8.1f} µs")
        else:
            print("  pydantic-ai                is not installed")
    return 1 if ours > MAX_TOKEN_MICROSECONDS or following > MAX_NEXT_MILLISECONDS else 0


def _encoding() -> tuple[float, float]:
    """Milliseconds for the whole conversation, and for the same with one message more."""
    messages: list[ModelMessage] = []
    for number in range(MESSAGES // 2):
        call = ModelCall(id=f"call_{number}", name="read", arguments={"filePath": "x" * 1000})
        messages += [AssistantMessage(content=(call,)), ToolMessage(call_id=call.id, name="read", output="y" * 1000)]
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
    models: Any = importlib.import_module("pydantic_ai.models.openai")
    providers: Any = importlib.import_module("pydantic_ai.providers.openai")
    direct: Any = importlib.import_module("pydantic_ai.direct")
    messages: Any = importlib.import_module("pydantic_ai.messages")
    model = models.OpenAIChatModel("m", provider=providers.OpenAIProvider(base_url=url, api_key="x"))
    request = [messages.ModelRequest.user_text_prompt("go")]
    count = 0
    async with direct.model_request_stream(model, request) as stream:
        async for _ in stream:
            count += 1
    return count


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


def _stream() -> bytes:
    def chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode()

    words = b"".join(chunk({"content": f"word{number} "}) for number in range(EVENTS))
    return words + chunk({}, "stop") + b"data: [DONE]\n\n"


class _Handler(BaseHTTPRequestHandler):
    body = _stream()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
