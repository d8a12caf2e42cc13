"""What the server costs: start, memory, requests and events a second, and how soon a client sees what a tool did.

python bench/server.py [--beside PROGRAM] [--runs N] [--long]      such as: --beside opencode

Each program is measured in turn, so that both see the same machine. The client is a bare socket: one that costs more
than the server would measure itself. --long asks 100,000 times and tells what that leaves behind.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

LISTENERS = 200
CONNECTIONS = 20
REQUESTS = 4000
LONG = 100_000
SESSIONS = 50
LOOKS = 10
PATIENCE = 10
"""Seconds after which a program that does not answer is given up."""
NOWHERE = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:9"}, "models": {"m": {}}}
"""A model that is never asked: commands of the user's own want one to be chosen."""

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", default="", help="a program that is started as `PROGRAM serve` and measured too")
    parser.add_argument("--runs", type=int, default=1, help="how often each is measured")
    parser.add_argument("--long", action="store_true", help="100,000 requests")
    options = parser.parse_args()
    commands = [[sys.executable, "-m", "toolwright", "serve", "--no-auth", "--port", "0"]]
    if options.beside:
        commands.append([options.beside, "serve", "--port", "0"])
    for _ in range(options.runs):
        for command in commands:
            print(json.dumps(asyncio.run(measured(command, LONG if options.long else REQUESTS))), flush=True)


async def measured(command: Sequence[str], number: int) -> Row:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "project")
        folder.mkdir()
        for name in ("toolwright", "opencode"):
            settings = Path(home, ".config", name)
            settings.mkdir(parents=True)
            chosen = {"model": "nowhere/m", "provider": {"nowhere": NOWHERE}}
            (settings / f"{name}.json").write_text(json.dumps(chosen))
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        url = next(line for line in process.stdout if "listening on" in line).strip().rpartition(" ")[2]
        try:
            row: Row = {"program": command[0].rpartition("/")[2]}
            row["start_seconds"] = round(time.perf_counter() - began, 2)
            row["start_cpu_seconds"] = cpu(process.pid)
            port = int(url.rpartition(":")[2])
            async with Line.opened(port) as line:
                await line.send("GET", "/path")
                row["memory_mb"] = memory(process.pid)
                row |= await requests(port, process.pid, number)
                row |= await events(port, process.pid)
                row |= await looks(port)
            return row
        finally:
            process.terminate()
            process.wait()


class Line:
    """One connection that is kept: a request, its answer, the next."""

    def __init__(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.port, self.reader, self.writer = port, reader, writer

    @classmethod
    @asynccontextmanager
    async def opened(cls, port: int) -> "AsyncIterator[Line]":
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
        try:
            yield cls(port, reader, writer)
        finally:
            writer.close()

    def ask(self, method: str, path: str, body: Any = None) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        kind = f"content-type: application/json\r\ncontent-length: {len(content)}\r\n" if content else ""
        self.writer.write(f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\n{kind}\r\n".encode() + content)

    async def send(self, method: str, path: str, body: Any = None) -> bytes:
        self.ask(method, path, body)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        length = re.search(rb"content-length: (\d+)", head)
        if length:
            return await self.reader.readexactly(int(length[1]))
        pieces = []
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            pieces.append((await self.reader.readexactly(size + 2))[:-2])
        await self.reader.readexactly(2)
        return b"".join(pieces)


async def requests(port: int, pid: int, number: int) -> Row:
    async def some() -> None:
        async with Line.opened(port) as line:
            for _ in range(number // CONNECTIONS):
                await line.send("GET", "/path")

    await some()  # whatever is made at first use is there
    before, began, held = cpu(pid), time.perf_counter(), memory(pid)
    await asyncio.gather(*(some() for _ in range(CONNECTIONS)))
    seconds = time.perf_counter() - began
    return {
        "requests_a_second": round(number / seconds),
        "cpu_us_a_request": round((cpu(pid) - before) / number * 1e6),
        "grown_mb": round(memory(pid) - held, 1),
    }


async def events(port: int, pid: int) -> Row:
    """Sessions are made while many listen; the last of the listeners never reads."""

    async def listen(ready: asyncio.Semaphore) -> None:
        seen = 0
        async with Line.opened(port) as line:
            line.ask("GET", "/event")
            while seen < SESSIONS:
                chunk = await line.reader.read(2**16)
                seen += chunk.count(b'"session.created"')
                if b"server.connected" in chunk:
                    ready.release()

    ready = asyncio.Semaphore(0)
    async with Line.opened(port) as asleep, Line.opened(port) as line:
        asleep.ask("GET", "/event")
        listeners = [asyncio.create_task(listen(ready)) for _ in range(LISTENERS)]
        for _ in listeners:
            await ready.acquire()
        before, began = cpu(pid), time.perf_counter()
        for _ in range(SESSIONS):
            await line.send("POST", "/session", {})
        await asyncio.gather(*listeners)
        seconds = time.perf_counter() - began
    return {
        "events_a_second": round(SESSIONS * LISTENERS / seconds),
        "cpu_us_an_event": round((cpu(pid) - before) / (SESSIONS * LISTENERS) * 1e6),
        "memory_with_listeners_mb": memory(pid),
    }


async def looks(port: int) -> Row:
    """From the moment at which a command ends, which it prints, to the event that says so."""
    delays = []
    async with Line.opened(port) as line, Line.opened(port) as ear:
        session = json.loads(await line.send("POST", "/session", {}))["id"]
        ear.ask("GET", "/event")
        for number in range(LOOKS):
            body = {"agent": "build", "command": f"echo look{number}-$(date +%s%N)-end"}
            line.ask("POST", f"/session/{session}/shell", body)
            told = b""
            done = rb'"status":"completed".*look%d-(\d+)-end|look%d-(\d+)-end.*"status":"completed"'
            pattern = re.compile(done % (number, number))
            try:
                async with asyncio.timeout(PATIENCE):
                    while not (found := pattern.search(told)):
                        told += await ear.reader.read(2**16)
            except TimeoutError:
                return {"tool_to_eye_ms": None}
            delays.append(time.time_ns() - int(found[1] or found[2]))
            await line.reader.read(2**16)
    return {"tool_to_eye_ms": round(sorted(delays)[len(delays) // 2] / 1e6, 1)}


def family(pid: int) -> list[int]:
    """A process and those it has started: some programs are started by another."""
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in below for one in family(int(child)))]


def cpu(pid: int) -> float:
    ticks = 0
    for one in family(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    sizes = (Path(f"/proc/{one}/status").read_text().partition("VmRSS:")[2].split()[0] for one in family(pid))
    return round(sum(map(int, sizes)) / 1024, 1)


if __name__ == "__main__":
    main()
