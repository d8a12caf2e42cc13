"""Model servers that run on this machine: asked at the addresses they usually have."""

import http.client
import json

from toolwright.record import record

PATIENCE = 0.5
"""Seconds to wait for an answer; a server on this machine needs far less."""

_USUAL = {"Ollama": 11434, "LM Studio": 1234, "vLLM": 8000, "llama.cpp": 8080}


@record(frozen=True, slots=True)
class LocalServer:
    """A server that answered."""

    name: str
    url: str
    models: tuple[str, ...]


def find_local_servers() -> list[LocalServer]:
    """Those that answer like an OpenAI-compatible server."""
    found = ((name, port, _models(port)) for name, port in _USUAL.items())
    return [
        LocalServer(name, f"http://127.0.0.1:{port}/v1", models) for name, port, models in found if models is not None
    ]


def _models(port: int) -> tuple[str, ...] | None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/v1/models")
        answer = json.loads(connection.getresponse().read(1_000_000))
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        return None
    return tuple(str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry)
