"""What the server costs: start, memory, requests and events a second, with listeners that sleep.

python bench/server.py [--beside PROGRAM]      such as: --beside opencode
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2

LISTENERS = 200
REQUESTS = 3000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", default="", help="a program that is started as `PROGRAM serve` and measured too")
    options = parser.parse_args()
    rows = [asyncio.run(measured([sys.executable, "-m", "toolwright", "serve", "--no-auth", "--port", "0"]))]
    if options.beside:
        rows.append(asyncio.run(measured([options.beside, "serve", "--port", "0"])))
    for row in rows:
        print(json.dumps(row))


async def measured(command: list[str]) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "project")
        folder.mkdir()
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        url = next(line for line in process.stdout if "listening on" in line).strip().rpartition(" ")[2]
        try:
            row: dict[str, object] = {"program": command[0].rpartition("/")[2]}
            row["start_seconds"] = round(time.perf_counter() - began, 2)
            row["start_cpu_seconds"] = cpu(process.pid)
            async with httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as client:
                await client.get("/path")
                row["memory_mb"] = memory(process.pid)
                row |= await requests(client, process.pid)
                row |= await events(client, process.pid)
            return row
        finally:
            process.terminate()
            process.wait()


async def requests(client: httpx2.AsyncClient, pid: int) -> dict[str, object]:
    before, began, held = cpu(pid), time.perf_counter(), memory(pid)
    for _ in range(REQUESTS // 20):
        await asyncio.gather(*(client.get("/path") for _ in range(20)))
    seconds = time.perf_counter() - began
    return {
        "requests_a_second": round(REQUESTS / seconds),
        "cpu_us_a_request": round((cpu(pid) - before) / REQUESTS * 1e6),
        "grown_mb": round(memory(pid) - held, 1),
    }


async def events(client: httpx2.AsyncClient, pid: int) -> dict[str, object]:
    """Sessions are made while many listen; the last of the listeners never reads."""
    count = 50
    async with httpx2.AsyncClient(
        base_url=client.base_url, timeout=None, trust_env=False, limits=httpx2.Limits(max_connections=LISTENERS + 10)
    ) as many:

        async def listen() -> None:
            seen = 0
            async with many.stream("GET", "/event") as answer:
                async for chunk in answer.aiter_bytes():
                    seen += chunk.count(b"session.created")
                    ready.release() if b"server.connected" in chunk else None
                    if seen >= count:
                        return

        ready = asyncio.Semaphore(0)
        async with many.stream("GET", "/event"):
            listeners = [asyncio.create_task(listen()) for _ in range(LISTENERS)]
            for _ in listeners:
                await ready.acquire()
            before, began = cpu(pid), time.perf_counter()
            for _ in range(count):
                await client.post("/session", json={})
            await asyncio.gather(*listeners)
            seconds = time.perf_counter() - began
    return {
        "events_a_second": round(count * LISTENERS / seconds),
        "cpu_us_an_event": round((cpu(pid) - before) / (count * LISTENERS) * 1e6),
        "memory_with_listeners_mb": memory(pid),
    }


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
