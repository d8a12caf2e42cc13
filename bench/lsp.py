"""From a write to its diagnostics with ty, beside what the bare server takes; and the memory of twenty agents.

What we add is a fixed cost of some 0.5 ms: before the server can begin, finding it (60 µs), reading the file (50),
packing and writing the messages (180); after its last word, unpacking them (100), comparing with what was known (90)
and the words for the model (40). What others changed on disk is looked for while the server works. The client of the
bare server packs and unpacks too, and does nothing else.

With ten modules, where ty is done in 2 ms, that is 1.24 times its own time, with fifty 1.10, with two hundred 1.03.
These are of `chrt -f 20 python bench/lsp.py 10 50 200` as root, which keeps others out of the measurement: on a busy
machine each turn of the loop may wait for a processor, which the bare server's few system calls do not.

python bench/lsp.py [modules ...]
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from toolwright.files.store import Commit
from toolwright.testing import make_workspace

ROUNDS, AGENTS = 80, 20
BROKEN = 10
"""Modules that a change breaks."""
PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))


def lay_out(folder: Path, modules: int) -> None:
    """A project in which every module imports the first one, and some use what is going to break."""
    (folder / "pyproject.toml").write_text("")
    (folder / "base.py").write_text(base(0))
    for number in range(modules):
        used = "double" if number < BROKEN else "half"
        body = "\n".join(f"def f{n}(x: int) -> int:\n    return base.half(x) + {n}\n" for n in range(20))
        (folder / f"module_{number}.py").write_text(f"import base\n\n{body}\nbase.{used}(1)\n")


def base(number: int) -> str:
    kind = "int" if number % 2 == 0 else "str"
    return f"def double(x: {kind}) -> int:\n    return len(str(x))\n\n\ndef half(x: int) -> int:\n    return {number}\n"


class Bare:
    """The server and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            ["ty", "server"],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "PATH": PATH},
        )
        self.last = self.answered = 0
        diagnostic: Any = {"textDocument": {"diagnostic": {}}}
        options = {"diagnosticMode": "workspace"}
        folders = [{"uri": folder.as_uri(), "name": "p"}]
        self.ask("initialize", capabilities=diagnostic, initializationOptions=options, workspaceFolders=folders)
        self.send("initialized", {})
        self.uri = (folder / "base.py").as_uri()
        item = {"uri": self.uri, "languageId": "python", "version": 1, "text": base(0)}
        self.send("textDocument/didOpen", {"textDocument": item})

    def send(self, method: str, params: Any, **more: Any) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> Any:
        self.begin(method, **params)
        return self.answer()

    def begin(self, method: str, **params: Any) -> None:
        self.last += 1
        self.send(method, params, id=self.last)

    def answer(self) -> Any:
        """The answer to the last request, once all that were begun are answered."""
        answers = dict[int, Any]()
        assert self.process.stdout is not None
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            message = json.loads(self.process.stdout.read(length))
            if "method" in message and "id" in message:
                self.send_result(message["id"])
            elif "id" in message:
                answers[message["id"]] = message.get("result")
                if answers.keys() >= set(range(self.answered + 1, self.last + 1)):
                    self.answered = self.last
                    return answers[self.last]

    def send_result(self, request_id: Any) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", "id": request_id, "result": None}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def change(self, number: int) -> int:
        """Change the file everything uses and ask both questions at once; how many errors there are then."""
        document = {"uri": self.uri, "version": number + 2}
        self.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": base(number)}]})
        self.begin("textDocument/diagnostic", textDocument={"uri": self.uri})
        answer = self.ask("workspace/diagnostic", previousResultIds=[{"uri": self.uri, "value": ""}])
        return sum(len(item.get("items", ())) for item in answer["items"])


async def measure(folder: Path) -> tuple[list[float], list[float], list[float], int]:
    """Seconds of the bare server, of ours from disk to diagnostics, of the whole write; bytes of the one server.

    The two take turns, so that whatever else the machine does meets both.
    """
    config = {"permission": "allow", "lsp": True}
    server = Bare(folder)
    bare, checks, writes = list[float](), list[float](), list[float]()
    async with make_workspace(folder, config=config, environment={"PATH": PATH}) as workspace:
        checked = workspace.languages.committed

        async def timed(commit: Commit) -> str | None:
            begun = time.perf_counter()
            told = await checked(commit)
            checks.append(time.perf_counter() - begun)
            return told

        setattr(workspace.languages, "committed", timed)  # noqa: B010 - in its place for the time
        sessions = [workspace.session() for _ in range(AGENTS)]
        for number in range(ROUNDS):
            session = sessions[number % AGENTS]
            await session.call("read", filePath="base.py")
            await asyncio.gather(*workspace.languages.warming.values())
            begun = time.perf_counter()
            server.change(number)
            bare.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            result = await session.call("write", filePath="base.py", content=base(number))
            writes.append(time.perf_counter() - begun)
            assert ("<diagnostics" in result.output) is (number % 2 == 1), result.output
        [slot] = workspace.languages.pool.slots.values()
        assert slot.client is not None
        memory = slot.client.running.memory() or 0
    server.process.kill()
    server.process.wait()
    return bare, checks, writes, memory


def main() -> None:
    sizes = [int(one) for one in sys.argv[1:]] or [10, 200]
    for modules in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve() / "project"
            folder.mkdir()
            lay_out(folder, modules)
            times = asyncio.run(measure(folder))
        print(f"project of {modules + 1} modules, {ROUNDS} changes of the one they all import")
        show(*times)


def show(bare: list[float], checks: list[float], writes: list[float], memory: int) -> None:
    print(f"  {'':30}{'median':>8}{'quickest quarter':>20}")
    picked = [[statistics.median(one[1:]), statistics.quantiles(one[1:], n=4)[0]] for one in (bare, checks, writes)]
    for title, row in zip(("the bare server", "from disk to diagnostics", "the whole write"), picked, strict=True):
        print(f"  {title:30}{row[0] * 1000:8.1f}{row[1] * 1000:20.1f} ms")
    ratios = [ours / theirs for ours, theirs in zip(picked[1], picked[0], strict=True)]
    added = [(ours - theirs) * 1000 for ours, theirs in zip(picked[1], picked[0], strict=True)]
    print(f"  disk to diagnostics / bare    {ratios[0]:8.2f}{ratios[1]:20.2f} x  (at most 1.3)")
    print(f"  added by us                   {added[0]:8.1f}{added[1]:20.1f} ms")
    print(f"  one server for {AGENTS} agents        {memory / 1024**2:8.0f} MB")


if __name__ == "__main__":
    main()
