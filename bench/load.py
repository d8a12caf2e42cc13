"""A server under load: how much longer a turn takes while 200 listen, one of them asleep, and 50 sessions are at work.

python bench/load.py [--listeners N] [--sessions N]

The model is a script that speaks at the pace of a real one. The ratio is of the whole turn, as a client sees it; it
means something on a machine that does nothing else, and cpu_ms_a_turn on any.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from server import Line, cpu, memory

TURNS = 5
WORDS = "word " * 100
READ = {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}], "not_match": "Contents", "delay": 0.3}
"""Asked for once in a session: then the contents stand in it."""
SAY = {"text": WORDS, "chunk": 25, "gap": 0.05, "delay": 0.3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listeners", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder, settings = Path(home, "project"), Path(home, ".config", "toolwright")
        folder.mkdir()
        settings.mkdir(parents=True)
        (folder / "a.txt").write_text("Contents\n")
        script = Path(home, "turns.json")
        script.write_text(json.dumps({"turns": [{**READ, "repeat": True}, {**SAY, "repeat": True}]}))
        (settings / "toolwright.json").write_text(json.dumps({"model": f"scripted/{script}"}))
        server = subprocess.Popen(
            [sys.executable, "-m", "toolwright", "serve", "--no-auth", "--port", "0"],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": home},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline().rpartition(":")[2])
            print(json.dumps(asyncio.run(measured(port, server.pid, options.listeners, options.sessions))))
        finally:
            server.terminate()
            server.wait()


async def measured(port: int, pid: int, listeners: int, sessions: int) -> dict[str, Any]:
    await probe(port, 1)
    alone = await probe(port, TURNS)
    held = memory(pid)
    ready = asyncio.Semaphore(0)
    asleep = await sleeping(port)
    listening = [asyncio.create_task(listen(port, ready)) for _ in range(listeners - 1)]
    for _ in listening:
        await ready.acquire()
    done: list[float] = []
    working = [asyncio.create_task(work(port, done)) for _ in range(sessions)]
    before, began = cpu(pid), time.perf_counter()
    loaded = await probe(port, TURNS)
    spent, seconds = cpu(pid) - before, time.perf_counter() - began
    most = memory(pid)
    for task in (*working, *listening):
        task.cancel()
    asleep.close()
    return {
        "turn_alone_s": round(alone, 3),
        "turn_loaded_s": round(loaded, 3),
        "ratio": round(loaded / alone, 2),
        "server_cpu": round(spent / seconds, 2),
        "cpu_ms_a_turn": round(1000 * spent / (TURNS + len(done)), 1),
        "memory_mb": held,
        "memory_loaded_mb": most,
    }


async def probe(port: int, turns: int, done: list[float] | None = None) -> float:
    """The median time of a turn, as one client sees it."""
    times = [] if done is None else done
    async with Line.opened(port) as line:
        session = json.loads(await line.send("POST", "/session", {}))["id"]
        for _ in range(turns):
            began = time.perf_counter()
            await line.send("POST", f"/session/{session}/message", {"parts": [{"type": "text", "text": "read it"}]})
            times.append(time.perf_counter() - began)
    return statistics.median(times)


async def work(port: int, done: list[float]) -> None:
    """One session that is never at rest."""
    while True:
        await probe(port, 100, done)


async def listen(port: int, ready: asyncio.Semaphore) -> None:
    async with Line.opened(port) as line:
        line.ask("GET", "/event")
        ready.release() if await line.reader.read(2**16) else None
        while await line.reader.read(2**20):
            pass


async def sleeping(port: int) -> socket.socket:
    """One that asks for events and never reads them."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.connect(("127.0.0.1", port))
    made.sendall(f"GET /event HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n".encode())
    return made


if __name__ == "__main__":
    main()
