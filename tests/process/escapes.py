"""Attempts to get out of a box, made by whoever runs this, as a program: what each printed and how it ended, as JSON.

Run in a process of its own, so that the same attempts can be made as root and as an ordinary user.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.process.places import ours_of
from toolwright.process.box.access import Access
from toolwright.process.box.box import Box
from toolwright.process.keeper import landlock
from toolwright.process.running.output import OutputReader, ProgramOutput
from toolwright.process.running.scope import Program, Scopes
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings

LIMIT = 200
"""Processes for all attempts together."""
PYTHON = "/usr/bin/python3"
PTRACE = "import ctypes, os; print(ctypes.CDLL(None).ptrace(16, int(os.environ['OURS']), 0, 0))"
UDP = (
    "import socket, os; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM);"
    " s.sendto(b'x', ('127.0.0.1', int(os.environ['PORT'])))"
)
URING = "import ctypes; print(ctypes.CDLL(None).syscall(425, 1, (ctypes.c_char * 120)()))"

NESTED = """
import asyncio, os
from pathlib import Path
from toolwright.machine.own_files import Ours
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings
from toolwright.process.running.scope import Scopes

async def main():
    scopes, here = Scopes(), Path.cwd()
    ours = Ours.of({"HOME": str(here)})
    sandbox = Sandbox(SandboxSettings(), directory=here, root=here, ours=ours, scopes=scopes)
    print(await sandbox.ready(), *await sandbox.describe(), sep=chr(10))
    await scopes.close()

asyncio.run(main())
"""

ATTEMPTS = {
    "write a new file outside": 'echo x > "$OUT/new"',
    "overwrite a file outside": 'echo x > "$OUT/kept"',
    "truncate a file outside": ': > "$OUT/kept"; truncate -s 0 "$OUT/kept"',
    "delete a file outside": 'rm -f "$OUT/kept"',
    "change the mode of a file outside": 'chmod 777 "$OUT/kept"',
    "write through a link": 'ln -s "$OUT" way; echo x > way/new; echo x > way/kept; rm way',
    "write through a hard link": 'ln "$OUT/kept" twin && echo x > twin; rm -f twin',
    "move a file in from outside": 'mv "$OUT/kept" .',
    "move a folder out": 'mkdir -p goer; mv goer "$OUT/new"',
    "race links against names": (
        'mkdir -p real; for i in $(seq 60); do ln -sfn "$OUT" race; echo x > race/new; ln -sfn real race; done'
    ),
    "race renames": (
        'mkdir -p a/b; (for i in $(seq 60); do mv a c; ln -s "$OUT" a; rm a; mv c a; done) & '
        "for i in $(seq 60); do echo x > a/new; done; wait"
    ),
    "write by way of /proc": 'echo x > "/proc/self/root$OUT/new"; echo x > "/proc/1/root$OUT/new"',
    "read a hidden file": "cat .env; cat < .env; cp .env copy; cat copy",
    "link a hidden file": "ln .env twin2; cat twin2; ln -s .env soft; cat soft",
    "move a hidden file": "mv .env moved; cat moved; mv deep deeper; cat deeper/.env; mv deeper deep; cat deep/.env",
    "have git read a hidden file": "git add -f .env; git show :.env; git hash-object .env",
    "take the mask off": "umount .env; unshare -Urm sh -c 'umount .env; cat .env'; unshare -m umount .env; cat .env",
    "read our keys": 'cat "$DATA/auth.json"',
    "write what decides about the sandbox": 'echo x > "$DATA/sandbox.json"; rm -f "$DATA/sandbox.json"',
    "write a git hook": "rm -rf .git/hooks; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
    "put another git folder in place": "mv .git old; mkdir .git; mkdir .git/hooks; echo x > .git/hooks/pre-commit",
    "write git settings": "git config core.fsmonitor evil; echo x >> .git/config; mv .git/config .git/c",
    "write our settings": "echo x > toolwright.json; mv toolwright.json t; echo x > .toolwright/tool.py",
    "remount": 'mount -o remount,rw /; mount --bind / "$OUT"; unshare -Urm mount -o remount,rw /; echo x > "$OUT/new"',
    "steer the machine": ": >> /proc/sys/kernel/core_pattern && echo opened; mknod disk b 8 0 && echo made; "
    ": >> /sys/fs/cgroup/cgroup.procs && echo opened; : >> /proc/sysrq-trigger && echo opened",
    "trace a process outside": f'{PYTHON} -c "{PTRACE}"',
    "write into a process outside": ': > "/proc/$OURS/mem" && echo opened',
    "read the environment of a process outside": 'cat "/proc/$OURS/environ" && echo read',
    "signal a process outside": 'kill -0 "$OURS" && echo reached',
    "look into the real temporary folder": 'cat "$REAL_TEMP" && echo seen',
    "write into the real temporary folder": 'echo x > "$REAL_TEMP"; echo x > "$REAL_TEMP.new"',
    "nest another sandbox": 'bwrap --bind / / sh -c "echo x > $OUT/new"; unshare -Urm sh -c "echo x > $OUT/new"',
    # Should nothing hold it, it makes a thousand processes for two seconds and no more.
    "bomb": (
        "set -- /proc/[0-9]*; before=$#; b() { if (($1)); then b $(($1 - 1)) & b $(($1 - 1)) & fi; sleep 2; }; b 8 & "
        "end=$((SECONDS + 2)); while ((SECONDS < end)); do :; done; set -- /proc/[0-9]*; echo $(($# - before))"
    ),
}
OFFLINE = {
    "reach a server": "exec 3<>/dev/tcp/127.0.0.1/$PORT && echo connected",
    "send a packet": f'{PYTHON} -c "{UDP}"',
    "go round the filter": f'{PYTHON} -c "{URING}"',
}
HARMLESS = {
    "write the project": "mkdir -p new && echo x > new/file && cat new/file",
    "use the temporary folder": "f=$(mktemp) && echo x > $f && cat $f && echo y > /tmp/own && cat /tmp/own",
    "use devices": "echo x > /dev/null && head -c 3 /dev/zero | wc -c && echo y | tee /dev/stderr >/dev/null",
    "commit": "git add seed && git -c user.name=n -c user.email=e commit -qm first && git log --format=%s",
    "fill a cache": 'mkdir -p "$HOME/.cache/pip" && echo x > "$HOME/.cache/pip/wheel" && cat "$HOME/.cache/pip/wheel"',
    "pipe and wait": "seq 3 | (sleep 0.01; cat) | wc -l",
    "open a project inside": f"PYTHONPATH=$SOURCES {PYTHON} -c '{NESTED}'",
    "signal each other": "sleep 30 & kill $! && wait $!; echo $?",
}


async def main(mode: str, base: Path) -> dict[str, Any]:
    places = make_places(base)
    scopes = Scopes(processes=LIMIT)
    settings = SandboxSettings(mode=mode)  # type: ignore[arg-type]
    sandbox = Sandbox(
        settings,
        directory=places["project"],
        root=places["project"],
        ours=ours_of(places["home"], places["data"]),
        scopes=scopes,
    )
    listener = socket.create_server(("127.0.0.1", 0))
    post = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    post.bind(listener.getsockname())
    post.setblocking(False)
    env = {
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": str(places["home"]),
        "OUT": str(places["outside"]),
        "DATA": str(places["data"]),
        "OURS": str(os.getpid()),
        "SOURCES": os.environ["PYTHONPATH"],
        "PORT": str(listener.getsockname()[1]),
        "REAL_TEMP": str(places["temp"]),
    }
    masked = [places["project"] / ".env", places["project"] / "deep" / ".env"]
    told: dict[str, Any] = {
        "landlock": landlock.version(),
        "rung": await sandbox.ready(),
        "lines": await sandbox.describe(),
    }
    keepers = set[int]()
    try:
        for name, command in {**HARMLESS, **ATTEMPTS}.items():
            box = await sandbox.box(Access(hidden=tuple(masked)))
            told[name] = await attempt(scopes, sandbox, box, command, env) | {"after": state_of(places)}
            keepers.update(keepers_of_ours())
        told["keepers"] = len(keepers)
        for name, command in OFFLINE.items():
            told[name] = await attempt(scopes, sandbox, await sandbox.box(Access(network=False)), command, env)
            told[name]["received"] = received(post)
            told[f"{name}, online"] = await attempt(scopes, sandbox, await sandbox.box(), command, env)
            told[f"{name}, online"]["received"] = received(post)
    finally:
        listener.close()
        post.close()
        await scopes.close()
        sandbox.close()
        places["temp"].unlink(missing_ok=True)
    return told


def keepers_of_ours() -> list[int]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text() == "toolwright-keep\n"]


def received(post: socket.socket) -> bool:
    try:
        return bool(post.recv(10))
    except BlockingIOError:
        return False


def make_places(base: Path) -> dict[str, Path]:
    places = {name: base / name for name in ("project", "outside", "data", "home")}
    for place in places.values():
        place.mkdir(parents=True)
    places["temp"] = Path("/tmp") / f"real-{os.getpid()}"
    places["temp"].write_text("real")
    project = places["project"]
    subprocess.run(
        ["git", "init", "-q", "."], cwd=project, check=True, env={"PATH": os.environ["PATH"], "HOME": str(base)}
    )
    (project / "deep").mkdir()
    (project / ".toolwright").mkdir()
    (project / ".toolwright" / "tool.py").write_text("kept")
    for name in (".env", "deep/.env"):
        (project / name).write_text("SECRET")
    for path in (project / "toolwright.json", places["outside"] / "kept", project / "seed"):
        path.write_text("kept")
    (places["data"] / "auth.json").write_text("SECRET")
    return places


def state_of(places: dict[str, Path]) -> dict[str, str]:
    """What must stay as it was, in a form that compares."""
    project = places["project"]
    watched = [
        places["outside"] / "kept",
        project / ".env",
        project / "deep" / ".env",
        project / "toolwright.json",
        project / ".toolwright" / "tool.py",
        project / ".git" / "config",
        places["temp"],
    ]
    state = {path.name: path.read_text() if path.exists() else "gone" for path in watched}
    state["mode"] = oct((places["outside"] / "kept").stat().st_mode)
    state["outside"] = str(sorted(path.name for path in places["outside"].iterdir()))
    state["hooks"] = str(sorted(path.name for path in (project / ".git" / "hooks").iterdir()))
    state["temp"] = str(places["temp"].with_suffix(".new").exists())
    return state


async def attempt(scopes: Scopes, sandbox: Sandbox, box: Box, command: str, env: dict[str, str]) -> dict[str, Any]:
    cwd = next(iter(box.places("write")), Path("/"))
    wrapped = sandbox.wrap(box, ["/bin/bash", "-c", command], cwd)
    scope = await scopes.start(Program.of(wrapped, cwd=cwd, env=env))
    reader = OutputReader(scope.stdout, ProgramOutput(lambda: Path(os.devnull)))
    try:
        end = await scope.ended()
        empty = await scope.stop()
    finally:
        reader.close()
        scope.release()
    return {"printed": reader.output.head.decode(errors="replace"), "code": end.code, "ran": end.ran, "empty": empty}


if __name__ == "__main__":
    json.dump(asyncio.run(main(sys.argv[1], Path(sys.argv[2]))), sys.stdout)
