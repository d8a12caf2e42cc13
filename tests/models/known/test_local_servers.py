"""Servers on this machine are asked which models they have and how much those can take."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from toolwright.models.connect import connect
from toolwright.models.known.local_servers import LocalServer, ServedModel, ask_server, served_context

LLAMACPP = {
    "/v1/models": {"object": "list", "data": [{"id": "smol.gguf", "meta": {"n_ctx": 8192, "n_ctx_train": 32768}}]}
}
OLD_LLAMACPP = {
    "/v1/models": {"data": [{"id": "smol.gguf", "meta": {"n_ctx_train": 32768}}]},
    "/props": {"default_generation_settings": {"n_ctx": 4096}},
}
VLLM = {
    "/v1/models": {"data": [{"id": "Qwen/Qwen3-8B", "max_model_len": 40960}, {"id": "other", "max_model_len": 100}]}
}
OLLAMA = {
    "/v1/models": {"data": [{"id": "qwen3:8b"}, {"id": "gemma3:4b"}]},
    "/api/ps": {"models": [{"name": "qwen3:8b", "context_length": 4096}]},
}
LMSTUDIO = {
    "/v1/models": {"data": [{"id": "qwen3-8b"}]},
    "/api/v0/models": {"data": [{"id": "qwen3-8b", "state": "loaded", "loaded_context_length": 16384}]},
}


@contextmanager
def answering(answers: dict[str, Any], host: str = "127.0.0.1") -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(answers.get(self.path, {"error": "no"})).encode()
            self.send_response(200 if self.path in answers else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("provider", "answers", "models"),
    [
        ("llamacpp", LLAMACPP, [ServedModel("smol.gguf", 8192)]),
        ("llamacpp", OLD_LLAMACPP, [ServedModel("smol.gguf", 4096)]),
        ("vllm", VLLM, [ServedModel("Qwen/Qwen3-8B", 40960), ServedModel("other", 100)]),
        ("ollama", OLLAMA, [ServedModel("qwen3:8b", 4096), ServedModel("gemma3:4b", 0)]),
        ("lmstudio", LMSTUDIO, [ServedModel("qwen3-8b", 16384)]),
        ("vllm", {"/v1/models": {"data": []}}, []),
    ],
)
def test_a_server_tells_its_models_and_their_contexts(provider: str, answers: Any, models: list[ServedModel]) -> None:
    with answering(answers) as url:
        server = ask_server(provider, url)
    assert server is not None
    assert list(server.models) == models


@pytest.mark.parametrize("answers", [{}, {"/v1/models": []}, {"/v1/models": {"data": "x"}}], ids=str)
def test_something_else_at_that_address_is_no_server(answers: Any) -> None:
    with answering(answers) as url:
        assert ask_server("vllm", url) is None
    assert ask_server("vllm", url) is None, "nothing listens there any more"


def test_a_model_is_as_large_as_its_server_says() -> None:
    with answering(LLAMACPP) as url:
        assert served_context("llamacpp", url, "whatever it is called") == 8192
        config = {"options": {"baseURL": url}}
        assert connect("llamacpp", "smol", config).info.limits.context == 8192
        said = {**config, "models": {"smol": {"limit": {"context": 1000}}}}
        assert connect("llamacpp", "smol", said).info.limits.context == 1000
    assert connect("llamacpp", "smol", config).info.limits.context == 0


def test_a_server_in_the_network_is_asked_too() -> None:
    with answering(VLLM, host="127.0.0.2") as url:
        info = connect("vllm", "Qwen/Qwen3-8B", {"options": {"baseURL": url}}).info
    assert (info.limits.context, info.local) == (40960, False)


def test_ollama_knows_a_model_without_its_tag() -> None:
    models = [{"id": "qwen3:latest"}, {"id": "gemma3:4b"}]
    loaded = [{"name": "qwen3:latest", "context_length": 32768}]
    with answering({"/v1/models": {"data": models}, "/api/ps": {"models": loaded}}) as url:
        assert served_context("ollama", url, "qwen3") == 32768
        assert served_context("ollama", url, "gemma3") == 0


def test_a_small_context_and_silent_truncation_are_warned_of() -> None:
    small = LocalServer("llamacpp", "llama.cpp", "", (ServedModel("m", 4096),))
    large = LocalServer("llamacpp", "llama.cpp", "", (ServedModel("m", 65536),))
    ollama = LocalServer("ollama", "Ollama", "", (ServedModel("m", 0),))
    assert "4096" in small.warning
    assert large.warning == ""
    assert "OLLAMA_CONTEXT_LENGTH" in ollama.warning
