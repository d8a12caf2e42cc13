"""A program in a pseudo-terminal that answers as terminals do: what it shows, what it takes of processor and memory."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyte

from toolwright.protocols.json_types import Json

SIZE = (120, 40)
PATIENCE = 300.0
_TICKS = os.sysconf("SC_CLK_TCK")
_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[()][0-9A-B]|.)"
)
_PRIVATE = re.compile(rb"\x1b\[[<>=?][0-9;:$]*[a-zA-Z]|\x1b[P_][^\x1b]*\x1b\\")
"""What the emulator does not know."""
_ANSWERS = (
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b[0c", b"\x1b[?62;22c"),
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b]10;?", b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
    (b"\x1b[?u", b"\x1b[?0u"),
)
"""What terminals are asked at a start; who gets no answer waits for it."""


class Running:
    """A program and those it has started."""

    def __init__(self, process: "subprocess.Popen[bytes]", screen: int) -> None:
        self.process, self.screen = process, screen
        self.shown = b""
        self._emulator = pyte.Screen(*SIZE)
        self._stream = pyte.ByteStream(self._emulator)

    def wait_for(self, text: str) -> None:
        """Until these letters have been drawn since the last time something was waited for."""
        end = time.monotonic() + PATIENCE
        while text.encode() not in _SEQUENCE.sub(b"", self.shown):
            if time.monotonic() > end or not self.read(1.0):
                raise TimeoutError(f"{text!r} never came: {_SEQUENCE.sub(b'', self.shown)[-500:]!r}")

    def read(self, seconds: float) -> bool:
        """Whether the program is still there to be read from."""
        if select.select([self.screen], [], [], seconds)[0]:
            try:
                piece = os.read(self.screen, 65_536)
            except OSError:
                return False
            self.shown = (self.shown + piece)[-200_000:]
            self._stream.feed(_PRIVATE.sub(b"", piece))
            for asked, answer in _ANSWERS:
                for _ in range(piece.count(asked)):
                    os.write(self.screen, answer)
        return self.process.poll() is None

    def see(self, text: str) -> None:
        """Until these letters stand on the screen, by whatever steps they were drawn."""
        end = time.monotonic() + PATIENCE
        while not any(text in line for line in self._emulator.display):
            if time.monotonic() > end or not self.read(1.0):
                raise TimeoutError(f"{text!r} never came: {' '.join(' '.join(self._emulator.display).split())[-500:]}")

    def press(self, keys: str) -> None:
        self.shown = b""
        os.write(self.screen, keys.encode())

    @property
    def processor(self) -> float:
        """Seconds, of all its processes that are there."""
        return sum(_time_of(pid) for pid in self._processes())

    @property
    def precise(self) -> float:
        """The same to the microsecond, of the threads that are there."""
        files = (file for pid in self._processes() for file in Path(f"/proc/{pid}/task").glob("*/schedstat"))
        return sum(int(text.split()[0]) for file in files if (text := _text(file))) / 1e9

    @property
    def drawing(self) -> float:
        """Seconds of the thread that reads the keys and draws, which is the first."""
        pid = self.process.pid
        return int((_text(Path(f"/proc/{pid}/task/{pid}/schedstat")) or "0").split()[0]) / 1e9

    @property
    def memory(self) -> float:
        """The most it has had, in megabytes, of all its processes."""
        found = (re.search(r"VmHWM:\s*(\d+)", _text(Path(f"/proc/{pid}/status"))) for pid in self._processes())
        return sum(int(one[1]) for one in found if one) / 1024

    def _processes(self) -> list[int]:
        waiting, found = [self.process.pid], list[int]()
        while waiting:
            found.append(pid := waiting.pop())
            for file in Path(f"/proc/{pid}/task").glob("*/children"):
                waiting += map(int, _text(file).split())
        return found


@contextmanager
def running(program: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Iterator[Running]:
    screen, other = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
    process = subprocess.Popen(
        program,
        cwd=folder,
        env={**variables, "TERM": "xterm-256color"},
        stdin=other,
        stdout=other,
        stderr=other,
        start_new_session=True,
    )
    os.close(other)
    try:
        yield Running(process, screen)
    finally:
        with_children = os.getpgid(process.pid)
        os.killpg(with_children, signal.SIGKILL)
        process.wait()
        os.close(screen)


class StreamingModel(ThreadingHTTPServer):
    """Answers every prompt with the same deltas, each in a frame of its own, at a steady pace."""

    daemon_threads = True

    def __init__(self, deltas: Sequence[Json], pause: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.deltas, self.pause = deltas, pause

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@contextmanager
def streaming_model(deltas: Sequence[Json], pause: float) -> Iterator[StreamingModel]:
    server = StreamingModel(deltas, pause)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: StreamingModel

    def do_GET(self) -> None:
        self._begin("application/json")
        self.wfile.write(json.dumps({"object": "list", "data": [{"id": "m"}]}).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        # Titles are asked for without tools; a call is answered after its result by a word.
        plain = not re.search(rb'"tools":\s*\[\s*\{', body) or b'"role":"tool"' in body.replace(b": ", b":")
        deltas: Sequence[Json] = [{"content": "A title"}] if plain else self.server.deltas
        self._begin("text/event-stream")
        for delta in deltas:
            self._send(delta)
            time.sleep(self.server.pause)
        self._send({}, "tool_calls" if any("tool_calls" in one for one in deltas) else "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it has above us
        pass

    def _begin(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.end_headers()

    def _send(self, delta: Json, finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        usage = {"usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}} if finish else {}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice], **usage}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.flush()


def _time_of(pid: int) -> float:
    fields = _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    # Its own time, and that of children which have ended.
    return sum(map(int, fields[11:15])) / _TICKS if fields else 0.0


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
