"""The agent loop from start to end: 100 and 300 steps, twenty subagents, and large sessions on disk.

python bench/loop.py [--steps 100,300] [--rounds 2]

Both programs run headless against one model on loopback that costs next to nothing, with one configuration file.
The step is what lies between the last byte of a reply and the next request. For the reference see reference.py.
"""

import argparse
import asyncio
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reference import Reference, references

from toolwright.protocols.json_types import Json

FILES = 40
SUBAGENTS, READS = 20, 10
PARTS, SESSIONS, PAGE = 5_000, 1_000, 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", default="100,300")
    parser.add_argument("--rounds", type=int, default=2, help="the best of so many")
    parser.add_argument("--no-reference", action="store_true", help="only ours")
    options = parser.parse_args()
    others = [] if options.no_reference else references()
    with served_model() as port:
        print(f"{'':28} {'wall less model':>15} {'CPU':>7} {'step':>8} {'first → last quarter':>24} {'peak':>8}")
        for steps in map(int, options.steps.split(",")):
            compare(f"{steps} steps", f"@@steps-{steps}@@ go", port, options.rounds, others)
        compare(f"{SUBAGENTS} subagents × {READS} reads", f"@@crowd-{SUBAGENTS}@@ go", port, options.rounds, others)
    print("targets: 100 steps 0.8 s, step 2.5 ms, last ≤ 1.2 × first quarter of 300, 100 MB; subagents 2 s")
    asyncio.run(measure_storage())


# The two programs.


class RunFailed(Exception):
    """A program did not come to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one headless run took."""

    net: float
    cpu: float
    steps: list[float]
    megabytes: float

    def shown(self) -> str:
        if any(step < 0 for step in self.steps):
            return f"{self.net:13.2f} s {self.cpu:5.2f} s {'side by side':>33} {self.megabytes:6.0f} MB"
        quarter = max(1, len(self.steps) // 4)
        first, last = (statistics.median(part) for part in (self.steps[:quarter], self.steps[-quarter:]))
        return (
            f"{self.net:13.2f} s {self.cpu:5.2f} s {statistics.median(self.steps):5.1f} ms"
            f" {first:10.1f} → {last:5.1f} ms {self.megabytes:6.0f} MB"
        )


def compare(name: str, prompt: str, port: int, rounds: int, others: list[Reference]) -> None:
    ours = min(
        (run([sys.executable, "-m", "toolwright", "run", "--yes"], prompt, port) for _ in range(rounds)), key=_net
    )
    print(f"{name:28} {ours.shown()}", flush=True)
    for one in others:
        try:
            shown = run([str(one.binary), "run"], prompt, port, one).shown()
        except RunFailed as problem:
            shown = f"did not run here: {problem}"
        print(f"{'  ' + one.name:28} {shown}", flush=True)


def _net(one: Run) -> float:
    return one.net


def run(command: list[str], prompt: str, port: int, other: Reference | None = None) -> Run:
    """One run in a project and a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(Path(folder) / "project", port)
        told(port)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.monotonic()
        environment = {**os.environ, **(other.environment(Path(folder), port) if other else {}), "HOME": folder}
        environment.pop("OPENCODE_CONFIG_CONTENT", None)
        process = subprocess.Popen(
            [*command, prompt, "--model", "local/m"],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        peak, errors = watch(process)
        wall = time.monotonic() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        requests = told(port)
    if process.returncode != 0 or not requests:
        raise RunFailed(f"exit code {process.returncode}, {' '.join(errors.split())[:200]}")
    inside = time_inside(requests)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    gaps = [(begin - end) * 1000 for (_, end), (begin, _) in itertools.pairwise(requests)]
    return Run(net=wall - inside, cpu=cpu, steps=gaps, megabytes=peak)


def time_inside(requests: list[tuple[float, float]]) -> float:
    """How long the model was at work; requests at the same time count once."""
    total, until = 0.0, 0.0
    for begin, end in sorted(requests):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def watch(process: "subprocess.Popen[bytes]") -> tuple[float, str]:
    """The most memory the process and all below it held at once, in MB, and what it said on stderr."""
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, tree_memory(process.pid))
        time.sleep(0.02)
    assert process.stderr is not None
    return peak / 1024, process.stderr.read().decode(errors="replace")


def tree_memory(pid: int) -> float:
    """Kilobytes of a process and its children; pages they share are counted once for each."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    own = next((float(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0.0)
    return own + sum(tree_memory(int(child)) for child in children)


def make_project(folder: Path, port: int) -> Path:
    folder.mkdir()
    (folder / ".git").mkdir()
    for number in range(FILES):
        lines = "".join(f"def function_{line}(): return {line}  # file {number}\n" for line in range(200))
        (folder / f"f{number}.py").write_text(f"value = 0\n{lines}")
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "none"},
        "models": {"m": {"limit": {"context": 1_000_000, "output": 8_000}}},
    }
    config = {"provider": {"local": provider}, "snapshot": False, "permission": {"doom_loop": "allow"}}
    (folder / "opencode.json").write_text(json.dumps(config))
    return folder


# The model: a reply is chosen by a mark in the prompt and by how many replies the request already holds.


def turn(key: str, step: int) -> list[tuple[str, Json]]:
    """The calls of a reply; none means that it is the answer."""
    kind, _, number = key.partition("-")
    count = int(number or 0)
    if kind == "crowd":
        tasks = [{"description": "Read", "subagent_type": "general", "prompt": f"@@reads-{n}@@"} for n in range(count)]
        return [("task", task) for task in tasks] if step == 0 else []
    if kind == "reads":
        place = {"filePath": f"f{count}.py", "offset": 1 + step * 5, "limit": 50}
        return [("read", place)] if step < READS else []
    return [one_step(step)] if step < count else []


def one_step(step: int) -> tuple[str, Json]:
    """Read a file, read another, edit the first, search."""
    cycle, position = divmod(step, 4)
    file, version = f"f{cycle % FILES}.py", cycle // FILES
    match position:
        case 0:
            return "read", {"filePath": file}
        case 1:
            return "read", {"filePath": f"f{(cycle + 7) % FILES}.py", "offset": 1 + cycle, "limit": 60}
        case 2:
            edit = {"oldString": f"value = {version}\n", "newString": f"value = {version + 1}\n"}
            return "edit", {"filePath": file, **edit}
        case _:
            return "grep", {"pattern": f"function_{cycle}\\b", "include": "*.py"}


@contextmanager
def served_model() -> Iterator[int]:
    """The model in a process of its own, so that its work is not counted as ours."""
    process = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()


def told(port: int) -> list[tuple[float, float]]:
    """When each request since the last question came and when its reply ended; titles left out."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/log") as answer:
        return [(begin, end) for begin, end in json.load(answer)]


async def serve() -> None:
    log: list[tuple[float, float]] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                begun = time.monotonic()
                body = await read_body(reader, head)
                if head.startswith(b"GET /log"):
                    answer = json.dumps(log).encode()
                    log.clear()
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(answer), answer))
                    continue
                writer.write(b"".join(reply(body)))
                await writer.drain()
                if b'"tools":[' in body or b'"tools": [' in body:
                    log.append((begun, time.monotonic()))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=1 << 26)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def read_body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    lines = head.decode("latin1").lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", 0)))
    pieces = []
    while size := int(await reader.readline(), 16):
        pieces.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(pieces)


def reply(body: bytes) -> Iterator[bytes]:
    """One reply as server-sent events. Marks and replies are counted in the bytes: parsing would cost us more."""
    marks = body.split(b"@@", 2)
    step = body.count(b'"role":"assistant"') + body.count(b'"role": "assistant"')
    calls = turn(marks[1].decode(), step) if len(marks) > 2 else []
    named = [
        {"index": n, "id": f"call_{time.monotonic_ns()}_{n}", "type": "function",
         "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(calls)
    ]  # fmt: skip
    yield b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    yield chunk({"role": "assistant", "content": "" if calls else "Done."})
    if calls:
        yield chunk({"tool_calls": named})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


def chunk(delta: Json, finish: str | None = None) -> bytes:
    usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050} if finish else None
    value = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "usage": usage,
             "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}  # fmt: skip
    data = f"data: {json.dumps(value)}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(data), data)


# Large sessions on disk.


async def measure_storage() -> None:
    from toolwright.calls.parts import Completed, Span, ToolPart
    from toolwright.messages import Assistant, ModelRef, Moment, Paths, SessionInfo, User, new_part
    from toolwright.session.storage.on_disk import Storage

    with tempfile.TemporaryDirectory() as folder:
        storage = Storage.open(Path(folder) / "sessions.db")
        for number in range(SESSIONS):
            moment = Moment(created=number, updated=number)
            info = SessionInfo(
                id=f"ses_{number}", project_id="p", directory="/p", title=f"Session {number}", version="1", time=moment
            )
            storage.put_session(info)
        user = User(
            id="msg_user",
            session_id="ses_0",
            time=Moment(created=0),
            agent="build",
            model=ModelRef(provider_id="local", model_id="m"),
        )
        storage.put_message(user)
        state = Completed(
            input={"filePath": "a.py"}, output="x" * 2_000, title="a.py", metadata={}, time=Span(start=1, end=2)
        )
        for number in range(PARTS // 5):
            message = Assistant(
                id=f"msg_{number}",
                session_id="ses_0",
                parent_id=user.id,
                time=Moment(created=1, completed=2),
                provider_id="local",
                model_id="m",
                agent="build",
                mode="build",
                path=Paths(cwd="/p", root="/p"),
            )
            storage.put_message(message)
            for call in range(5):
                keys = new_part("ses_0", message.id)
                storage.put_part(ToolPart(**keys, call_id=f"call_{number}_{call}", tool="read", state=state))
        await storage.settled()
        await timed(f"{PARTS:,} parts loaded", 250, lambda: storage.messages("ses_0"))
        await timed(f"the newest {PAGE} messages", 20, lambda: storage.messages("ses_0", PAGE))
        await timed(f"{SESSIONS:,} sessions listed", 10, lambda: storage.sessions("p"))
        await storage.close()


async def timed(name: str, target: float, action: Callable[[], Awaitable[object]]) -> None:
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        await action()
        best = min(best, (time.perf_counter() - started) * 1000)
    print(f"{name:28} {best:12.1f} ms   target {target:g} ms")


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        asyncio.run(serve())
    else:
        main()
