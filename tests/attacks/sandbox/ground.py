"""A place to be attacked, and everything that is tried on it, made by whoever runs this: the outcome as JSON.

Run in a process of its own, so that the same can be tried as root and as an ordinary user.
"""

import asyncio
import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.attacks.sandbox.catalogue import ATTACKS, HARMLESS, Attack
from tests.process.shell_session import ShellSession, open_shell, run
from toolwright.inbox import Reply
from toolwright.permission.defaults import rules
from toolwright.process.sandbox.sandbox import SandboxSettings

PROGRAMS = {
    "evil.py": "import subprocess\nsubprocess.run(['bash', '-c', open('.attack').read()])\n",
    "knock.py": (
        "import socket, sys\nname = sys.argv[1]\nknock = socket.socket(socket.AF_UNIX)\n"
        "knock.connect('\\0' + name[1:] if name[0] == '@' else name)\nprint('SECRET', 'reached', name)\n"
    ),
    "segment.py": "import ctypes\nprint(ctypes.CDLL(None).shmget(0x70617474, 4096, 0o1600))\n",
    "keys.py": (
        "import ctypes, platform\ncall, held = ctypes.CDLL(None).syscall, ctypes.create_string_buffer(64)\n"
        "keyctl = {'x86_64': 250, 'aarch64': 219}[platform.machine()]\n"
        "key = call(keyctl, 10, -3, b'user', b'toolwright-attack', 0)\n"
        "print(call(keyctl, 11, key, held, 64), held.value)\n"
    ),
    "around.py": "import socket\nsocket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)\nprint('SECRET reached')\n",
    "reach.py": (
        "import socket\nport = int(open('.port').read())\n"
        "socket.create_connection(('127.0.0.1', port), 5)\nprint('SECRET reached')\n"
    ),
}
SECRETS = (
    ".env",
    "deep/.env",
    ".env.stage",
    "private.key",
    "later.txt",
    "secrets/key",
    "node_modules/pack/.env",
    ".venv/.env",
)
PLAIN = ("seed", "seed.lock", "migrations/1.sql", "opencode.json", ".toolwright/note", ".gitignore")
IGNORED = (
    "*.py\n.port\n.door\n/deep/\n/secrets/\n/inner/\nnode_modules/\n.venv/\n.toolwright/\n*.key\nlater.txt\n"
    "opencode.json\n"
)
"""All but one of the hidden files."""
OF_GIT = ("config", "config.worktree", "commondir", "custom", "hooks", "info")
OF_OURS = ("tmp", "caches", "set-aside", "undo", "toolwright.db", "toolwright.db-wal", "toolwright.db-shm")
UNWATCHED = (".cache/pip", *(f".local/share/toolwright/{name}" for name in OF_OURS))
"""What the box makes for itself, and the part of the home folder that is shared."""


class Ground:
    """The places, and what of them must stay as it is."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.project, self.home, self.outside = base / "project", base / "project.home", base / "outside"
        self.data = self.home / ".local" / "share" / "toolwright"
        self.door = f"toolwright-attack-{os.getpid()}"
        """The name of a socket that is in no folder; the machine has each only once."""
        self.places = {"$OUT": self.outside, "$HOME": self.home, "$DATA": self.data}
        self._make()
        self.last_state = dict[str, str]()
        """What was there after the last attack, and is there before the next."""

    def named(self, text: str) -> str:
        for name, place in self.places.items():
            text = text.replace(name, str(place))
        return text

    def state(self) -> dict[str, str]:
        """Everything that is watched, in a form that compares."""
        project = [
            self.project / name for name in (*SECRETS, *PLAIN, "toolwright.json", "toolwright.jsonc", "opencode.jsonc")
        ]
        project += [self.project / name for name in (".toolwright", ".opencode", "migrations", "secrets")]
        project += [self.project / git / name for git in (".git", "inner/.git") for name in OF_GIT]
        found = dict[str, str]()
        for top in (*project, self.outside, self.home):
            for path in (top, *sorted(top.rglob("*"))) if top.is_dir() and not top.is_symlink() else (top,):
                self._note(found, path)
        return found

    def _note(self, found: dict[str, str], path: Path) -> None:
        name = self._name(path)
        if any(f"home/{unwatched}" == name or name.startswith(f"home/{unwatched}/") for unwatched in UNWATCHED):
            return
        if path.is_symlink() or path.is_file():
            found[name] = path.read_text(errors="replace") if path.is_file() else "link"

    def _name(self, path: Path) -> str:
        for name, place in (
            ("data", self.data),
            ("home", self.home),
            ("outside", self.outside),
            ("project", self.project),
        ):
            if path.is_relative_to(place):
                within = str(path.relative_to(place))
                return f"home/.local/share/toolwright/{within}" if name == "data" else f"{name}/{within}"
        return str(path)

    def _make(self) -> None:
        for name, text in PROGRAMS.items():
            self._write(self.project / name, text)
        for name in SECRETS:
            self._write(self.project / name, "API=SECRET\n" * 5)
        for name in PLAIN:
            self._write(self.project / name, "kept")
        (self.project / "migrations/free").symlink_to("../../outside/other")
        self._write(self.project / "opencode.json", "{}")
        self._write(self.project / ".gitignore", IGNORED)
        for folder in (self.project, self.project / "inner"):
            folder.mkdir(exist_ok=True)
            _git(folder, "init", "-q", "--template=")
        _git(self.project, "add", "-f", "seed", "seed.lock", "migrations", ".env.stage", ".gitignore")
        _git(self.project, "commit", "-qm", "first")
        self._write(self.project / "old.env", "API=SECRET\n" * 5)
        _git(self.project, "add", "-f", "old.env")
        _git(self.project, "commit", "-qm", "by mistake")
        _git(self.project, "rm", "-q", "old.env")
        _git(self.project, "commit", "-qm", "taken out again")
        (self.project / ".git" / "custom").write_text("kept")
        for name in ("kept", "other", "gone", "leaves", "nest/egg", "nest/deep/egg"):
            self._write(self.outside / name, "kept")
        self._write(self.outside / "secret1", "SECRET")
        for name in (
            "notes",
            ".bashrc",
            ".local/share/uv/python/3/bin/python3",
            ".cargo/registry/x",
            ".cache/other/x",
            ".npm/_cacache/x",
        ):
            self._write(self.home / name, "kept")
        for name in (
            *(".ssh/id", ".ssh/deep/key", ".config/toolwright/toolwright.json", ".config/opencode/opencode.json"),
            *(".local/state/toolwright/server/4096.json", ".ray/auth_token"),
            *(
                ".local/share/opencode/auth.json",
                ".local/share/toolwright/auth.json",
                ".local/share/toolwright/approvals.json",
            ),
            *(".local/share/toolwright/trust.json", ".local/share/toolwright/tool-output/tool_1"),
        ):
            self._write(self.home / name, '{"apiKey": "SECRET"}' if "config" in name else '["SECRET"]')
        self._write(self.data / "approvals.json", "{}")
        (self.data / "plans").mkdir(exist_ok=True)

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=n", "-c", "user.email=e@e", "-c", "init.defaultBranch=main")
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, env=env, capture_output=True)


@contextmanager
def listeners(ground: Ground) -> Iterator[int]:
    """Somebody who answers at every door."""
    names = [str(ground.home / ".docker/run/docker.sock"), str(ground.home / "odd.sock"), f"\0{ground.door}"]
    (ground.home / ".docker/run").mkdir(parents=True)
    with ExitStack() as stack:
        for name in names:
            door = stack.enter_context(socket.socket(socket.AF_UNIX))
            door.bind(name)
            door.listen()
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        yield port.getsockname()[1]


async def attack(ground: Ground, shell: ShellSession, one: Attack) -> dict[str, Any]:
    """In a session of its own, whose user grants what the command line says, if it says anything."""
    (ground.project / ".attack").write_text(one.script)
    before = ground.last_state
    visible = ground.named(one.visible)
    shell.user.questions.clear()
    shell.user.replies[:] = [Reply(kind="once")] * (10 if visible else 0)
    session = shell.another(one.agent, rules(*(ground.named(rule) for rule in one.rules), source="attack"))
    result = await run(session, f"{visible}; python3 evil.py" if visible else "python3 evil.py")
    await session.close()
    after = ground.last_state = ground.state()
    different = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return {"printed": result.output, "different": different, "error": result.error is not None}


async def harmless(ground: Ground, rung: str, environment: dict[str, str]) -> dict[str, Any]:
    """What everybody does, in one session."""
    settings = SandboxSettings(mode=rung)  # type: ignore[arg-type] # the table names modes
    told = dict[str, Any]()
    async with open_shell(
        ground.project,
        rules=rules("external_directory: allow"),
        sandbox=settings,
        environment=environment,
        replies=["once"] * 30,
    ) as shell:
        for name, (command, _) in HARMLESS.items():
            result = await shell.bash(command)
            told[name] = {
                "printed": result.output,
                "code": result.metadata.get("exit"),
                "error": result.error is not None,
            }
    return told


def leave_a_key() -> None:
    """In a ring of keys of this process's own, as that of a user's session is."""
    numbers = {"x86_64": (250, 248), "aarch64": (219, 217)}.get(os.uname().machine)
    if numbers is not None:
        call = ctypes.CDLL(None).syscall
        call(numbers[0], 1, b"toolwright-attack")
        call(numbers[1], b"user", b"toolwright-attack", b"SECRET", 6, -3)


async def main(rung: str, base: Path) -> dict[str, Any]:
    ground = Ground(base)
    leave_a_key()
    with listeners(ground) as port, tempfile.TemporaryDirectory(dir="/tmp") as temp:
        (ground.project / ".port").write_text(str(port))
        (ground.project / ".door").write_text(ground.door)
        program = Path(temp) / "bin" / "temporary-program"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\necho it runs\n")
        program.chmod(0o755)
        environment = {
            "PATH": f"{os.environ['PATH']}:{program.parent}",
            "HOME": str(ground.home),
            "OUT": str(ground.outside),
            "DATA": str(ground.data),
            **{f"GIT_{who}_{what}": "n" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        told = await harmless(ground, rung, environment)
        ground.last_state = ground.state()
        settings = SandboxSettings(mode=rung)  # type: ignore[arg-type] # the table names modes
        for attacks in ATTACKS.values():
            async with open_shell(ground.project, sandbox=settings, environment=environment) as shell:
                for name, one in attacks.items():
                    told[name] = await attack(ground, shell, one)
        told["segments"] = {"left": _segments()}
    return told


def _segments() -> bool:
    listing = Path("/proc/sysvipc/shm")
    return listing.exists() and str(0x70617474) in listing.read_text()


if __name__ == "__main__":
    json.dump(asyncio.run(main(sys.argv[1], Path(sys.argv[2]))), sys.stdout)
