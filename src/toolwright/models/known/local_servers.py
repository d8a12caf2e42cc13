"""Model servers that run on this machine: which models they serve, and how much of a conversation they can take."""

import socket
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from toolwright.protocols.json_text import read_json
from toolwright.record import record

PATIENCE = 0.3
"""Seconds to wait for an answer; a server on this machine needs far less."""
LARGEST = 4_000_000

SMALL = 16_384
"""Tokens of context below which a coding agent has hardly any room to work in."""

USUAL: Mapping[str, tuple[str, int]] = {
    "ollama": ("Ollama", 11434),
    "lmstudio": ("LM Studio", 1234),
    "vllm": ("vLLM", 8000),
    "llamacpp": ("llama.cpp", 8080),
}
"""The servers by the names of their providers, and the ports they listen on if nobody says otherwise."""


@record(frozen=True, slots=True)
class ServedModel:
    """A model that a server offers; the context is 0 where the server does not say."""

    id: str
    context: int = 0


@record(frozen=True, slots=True)
class LocalServer:
    """A server that answered."""

    provider: str
    name: str
    url: str
    models: tuple[ServedModel, ...]

    @property
    def warning(self) -> str:
        """Return a warning before work with it; empty if there is none."""
        if self.provider == "ollama":
            return (
                "Ollama drops the beginning of a long prompt in silence; "
                "start it with OLLAMA_CONTEXT_LENGTH=32768 or more"
            )
        small = [model for model in self.models if 0 < model.context < SMALL]
        return f"a context of {small[0].context} tokens leaves little room; start it with a larger one" if small else ""


def find_local_servers() -> list[LocalServer]:
    """Those that answer like an OpenAI-compatible server, where they usually are."""
    servers = (ask_server(provider, f"http://127.0.0.1:{port}/v1") for provider, (_, port) in USUAL.items())
    return [server for server in servers if server is not None]


def ask_server(provider: str, url: str) -> LocalServer | None:
    """Return the self-description of the server at this address; None if there is none."""
    entries = _entries(_get(url, "/models"), "data")
    if entries is None:
        return None
    contexts = {str(entry.get("id")): _context_of(entry) for entry in entries}
    if not any(contexts.values()):
        contexts |= _contexts_elsewhere(provider, url, contexts)
    name = USUAL.get(provider, (provider, 0))[0]
    return LocalServer(provider, name, url, tuple(ServedModel(*entry) for entry in contexts.items()))


def served_context(provider: str, url: str, model_id: str) -> int:
    """The tokens of context that the server has given a model; 0 where nobody says."""
    server = ask_server(provider, url)
    known = {model.id: model.context for model in server.models} if server else {}
    for name in (model_id, f"{model_id}:latest"):  # Ollama's name for a model that is asked for without one
        if name in known:
            return known[name]
    # A server with one model answers by whatever name it is asked.
    return next(iter(known.values())) if len(known) == 1 else 0


def _context_of(entry: Mapping[str, Any]) -> int:
    """llama.cpp says it among the `meta`, vLLM as `max_model_len`, LM Studio as the context it has loaded."""
    meta = entry.get("meta") if isinstance(entry.get("meta"), dict) else {}
    limits = (
        (meta or {}).get("n_ctx"),
        entry.get("max_model_len"),
        entry.get("loaded_context_length"),
        entry.get("context_length"),
    )
    return next((value for value in limits if isinstance(value, int) and value > 0), 0)


def _contexts_elsewhere(provider: str, url: str, known: Mapping[str, int]) -> dict[str, int]:
    """From the servers' own interfaces beside the common one, for the models that are loaded."""
    root = url.removesuffix("/v1")
    match provider:
        case "ollama":
            entries = _entries(_get(root, "/api/ps"), "models") or []
            contexts = {str(entry.get("name") or entry.get("model")): _context_of(entry) for entry in entries}
        case "lmstudio":
            entries = _entries(_get(root, "/api/v0/models"), "data") or []
            contexts = {str(entry.get("id")): _context_of(entry) for entry in entries}
        case "llamacpp":
            props = _get(root, "/props")
            settings = props.get("default_generation_settings") if isinstance(props, dict) else None
            context = settings.get("n_ctx") if isinstance(settings, dict) else 0
            contexts = dict.fromkeys(known, context if isinstance(context, int) else 0)
        case _:
            contexts = {}
    return {name: context for name, context in contexts.items() if name in known}


def _entries(answer: Any, key: str) -> list[dict[str, Any]] | None:
    limit = answer.get(key) if isinstance(answer, dict) else None
    return [entry for entry in limit if isinstance(entry, dict)] if isinstance(limit, list) else None


def _get(url: str, path: str) -> Any:
    """One JSON document, asked for in the oldest form of HTTP: whole, and the connection closed behind it.

    By hand, since every start with a local model comes through here and an HTTP library takes far longer to load.
    """
    until = time.monotonic() + PATIENCE
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 80
        with socket.create_connection((host, port), timeout=PATIENCE) as connection:
            request = f"GET {parts.path}{path} HTTP/1.0\r\nHost: {host}:{port}\r\nAccept: application/json\r\n\r\n"
            connection.sendall(request.encode())
            head, _, body = _all_of(connection, until).partition(b"\r\n\r\n")
        return read_json(body.decode("utf-8")) if b" 200 " in head.split(b"\r\n", 1)[0] else None
    except (OSError, ValueError):
        return None


def _all_of(connection: socket.socket, until: float) -> bytes:
    """Everything that comes until then; a server that sends a byte now and then is not waited for either."""
    received = bytearray()
    while len(received) < LARGEST and (left := until - time.monotonic()) > 0:
        connection.settimeout(left)
        piece = connection.recv(65_536)
        if not piece:
            break
        received += piece
    return bytes(received)
