"""The reference beside us: OpenCode from npm, its server driven by a scripted model, so that one run measures both.

`OPENCODE` names binaries, separated by colons. Without it npm installs opencode-ai 1.1.31 and the newest into a cache
folder; where npm cannot, a line says so and the other figures stand alone.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from toolwright.files.ripgrep import find_ripgrep
from toolwright.protocols.json_types import Json

VERSIONS = ("1.1.31", "latest")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toolwright-bench"


@dataclass(frozen=True)
class CallTime:
    """How one call of the reference went, by its own record."""

    ms: float | None
    ok: bool


@dataclass(frozen=True)
class Reference:
    """One installed version."""

    name: str
    binary: Path

    @contextmanager
    def serving(self, project: Path) -> Iterator["Server"]:
        with tempfile.TemporaryDirectory() as home, scripted_model() as model:
            server = Server(self, project, Path(home), model)
            try:
                server.wait_until_up()
                yield server
            finally:
                server.stop()

    def environment(self, home: Path, port: int) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if not name.startswith("OPENCODE")}
        for part in ("config", "data", "cache", "state"):
            (home / part / "opencode").mkdir(parents=True, exist_ok=True)
            env[f"XDG_{part.upper()}_HOME"] = str(home / part)
        # An empty catalogue and a full set of switches let it start without a network.
        (home / "cache" / "opencode" / "version").write_text("18")
        (home / "cache" / "opencode" / "models.json").write_text("{}")
        for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "AUTOCOMPACT", "PRUNE"):
            env[f"OPENCODE_DISABLE_{name}"] = "1"
        # Its search downloads ripgrep where there is none; ours is the same program.
        ripgrep = find_ripgrep()
        env["PATH"] = f"{Path(ripgrep).parent}:{env['PATH']}" if ripgrep else env["PATH"]
        env["npm_config_registry"] = "http://127.0.0.1:9/"
        env["OPENCODE_CONFIG_CONTENT"] = json.dumps(configuration(port))
        return env


def configuration(port: int) -> Json:
    """A provider that is the scripted model, for the reference and for us alike."""
    model = {"name": "M", "tool_call": True, "limit": {"context": 100_000_000, "output": 100_000}}
    options = {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "x"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": options, "models": {"m": model}}
    return {
        "provider": {"fake": provider},
        "model": "fake/m",
        "small_model": "fake/m",
        "share": "disabled",
        "snapshot": False,
        "lsp": False,
        "formatter": False,
        "permission": {"doom_loop": "allow", "external_directory": "allow"},
    }


def references() -> list[Reference]:
    """What there is to compare with; prints why there is nothing."""
    named = [Path(path) for path in os.environ.get("OPENCODE", "").split(":") if path]
    found = [_named(path) for path in named] or [one for one in map(_installed, VERSIONS) if one is not None]
    if not found:
        print("(the reference is not installed and npm could not fetch it: no figures beside ours)")
    return found


def _named(path: Path) -> Reference:
    version = subprocess.run(
        [path, "--version"], capture_output=True, text=True, timeout=60, check=False
    ).stdout.strip()
    return Reference(f"opencode {version}", path)


def _installed(version: str) -> Reference | None:
    folder = CACHE / version
    binary = folder / "node_modules" / ".bin" / "opencode"
    if not binary.exists() and shutil.which("npm"):
        folder.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), f"opencode-ai@{version}"]
        subprocess.run(install, capture_output=True, timeout=300, check=False)
    return _named(binary) if binary.exists() else None


@dataclass
class Server:
    """`opencode serve` on a project. Its tools have no entry of their own, so a model has to ask for them."""

    reference: Reference
    project: Path
    home: Path
    model: "ScriptedServer"
    port: int = field(default_factory=lambda: free_port())
    process: "subprocess.Popen[bytes]" = field(init=False)

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [self.reference.binary, "serve", "--port", str(self.port), "--hostname", "127.0.0.1"],
            cwd=self.project,
            env=self.reference.environment(self.home, self.model.port),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def wait_until_up(self) -> None:
        deadline = time.monotonic() + 120
        while True:
            try:
                self._request("GET", "/path", timeout=3)
                return
            except (OSError, http.client.HTTPException):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def calls(self, calls: Sequence[tuple[str, Json]], timeout: float = 300) -> list[CallTime]:
        """Each call in a step of its own, in one session; the times are those the reference has written down."""
        key = f"k{time.monotonic_ns()}"
        self.model.scripts[key] = [{"tools": [call]} for call in calls]
        session = self._request("POST", "/session", {"title": "bench"})["id"]
        prompt = {
            "agent": "build",
            "model": {"providerID": "fake", "modelID": "m"},
            "parts": [{"type": "text", "text": f"@@{key}@@ go"}],
        }
        try:
            self._request("POST", f"/session/{session}/message", prompt, timeout)
        except TimeoutError:
            self._request("POST", f"/session/{session}/abort", {})
        messages = self._request("GET", f"/session/{session}/message")
        parts = [part for message in messages for part in message["parts"] if part["type"] == "tool"]
        return [_call_time(part["state"]) for part in parts]

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(5)

    def _request(self, method: str, path: str, body: Json | None = None, timeout: float = 300) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = {"content-type": "application/json", "x-opencode-directory": str(self.project)}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        raw = connection.getresponse().read()
        connection.close()
        return json.loads(raw) if raw else None


def _call_time(state: Json) -> CallTime:
    span = state.get("time", {})
    ms = span["end"] - span["start"] if "end" in span else None
    return CallTime(ms=ms, ok=state["status"] == "completed")


class ScriptedServer(ThreadingHTTPServer):
    """Answers chat completions by script: the key is in the prompt, the turn is the number of replies so far."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scripts: dict[str, list[Json]] = {}

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@contextmanager
def scripted_model() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedServer

    def do_GET(self) -> None:
        self._answer(json.dumps({"object": "list", "data": [{"id": "m"}]}).encode(), "application/json")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self._answer(b"".join(_events(self._turn(body), len(body))), "text/event-stream")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it has above us
        pass

    def _turn(self, body: bytes) -> Json:
        key = re.search(rb"@@(\w+)@@", body)
        if key is None or not re.search(rb'"tools":\s*\[\s*\{', body):
            return {"text": "A title"}
        turns = self.server.scripts.get(key[1].decode(), [])
        step = len(re.findall(rb'"role":\s*"assistant"', body))
        return turns[step] if step < len(turns) else {"text": "done"}

    def _answer(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _events(turn: Json, number: int) -> Iterator[bytes]:
    yield _chunk({"role": "assistant", "content": turn.get("text", "")})
    for index, (name, arguments) in enumerate(turn.get("tools", [])):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": index, "id": f"call_{number}_{index}", "type": "function", "function": function}
        yield _chunk({"tool_calls": [call]})
    usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
    yield _chunk({}, finish="tool_calls" if turn.get("tools") else "stop", usage=usage)
    yield b"data: [DONE]\n\n"


def _chunk(delta: Json, finish: str | None = None, usage: Json | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk: Json = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(chunk | ({"usage": usage} if usage else {})).encode() + b"\n\n"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
