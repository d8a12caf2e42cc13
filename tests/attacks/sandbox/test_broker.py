"""The keeper changes for commands what was approved outside of their box. Nothing that they try leads it elsewhere.

Each attack was given `~/n`, a folder, and `~/one`, a file, and nothing else. What it must not reach is `~/.ssh/keys`,
`~/.bashrc`, and a secret in the project that a rule hides.
"""

import os
import stat
from pathlib import Path

import pytest

from tests.capture.case import Case, Kind, captured, python
from toolwright.permission.rules import Rule

HIDING = (Rule("*", "*", "allow"), Rule("read", "*.env", "deny"))
SECRET = "KEY=secret\n"
HEAD = """
import ctypes, os, threading, contextlib, stat
home = os.environ["HOME"]
n, one, keys, rc = (f"{home}/{name}" for name in ("n", "one", ".ssh/keys", ".bashrc"))
libc = ctypes.CDLL(None, use_errno=True)
def attempt(work, *given, **named):
    with contextlib.suppress(OSError):
        work(*given, **named)
def put(path, text="evil"):
    with contextlib.suppress(OSError), open(path, "w") as file:
        file.write(text)
"""
ATTACKS = {
    "a link in what was approved": """
os.symlink(f"{home}/.ssh", f"{n}/s"); put(f"{n}/s/keys"); put(f"{n}/s/new")
os.symlink(rc, f"{n}/r"); put(f"{n}/r"); attempt(os.truncate, f"{n}/r", 0)
""",
    "a link in the place of what was approved": """
os.unlink(one); os.symlink(rc, one); put(one); attempt(os.truncate, one, 0); attempt(os.chmod, one, 0o777)
attempt(os.rmdir, n); attempt(os.symlink, f"{home}/.ssh", n); put(f"{n}/keys")
""",
    "a second name of something else": """
attempt(os.link, rc, f"{n}/rc"); put(f"{n}/rc"); attempt(os.link, keys, f"{n}/keys"); put(f"{n}/keys")
attempt(os.link, ".env", f"{n}/seen"); attempt(os.link, ".env", "seen")
""",
    "something else moved there": """
attempt(os.rename, rc, f"{n}/rc"); attempt(os.rename, f"{home}/.ssh", f"{n}/ssh")
attempt(os.rename, ".env", f"{n}/seen"); attempt(os.rename, ".env", "seen"); attempt(os.rename, "d", f"{n}/d")
attempt(os.rename, n, f"{home}/other"); attempt(os.rename, one, rc); attempt(os.rename, "f", rc)
""",
    "exchanged with something else": """
for other in (rc, keys, f"{home}/.ssh"):
    for own in (n, one, "f", f"{n}/x"):
        libc.syscall(316, -100, own.encode(), -100, other.encode(), 2)
libc.syscall(316, -100, b".env", -100, b"f", 2)
""",
    "other ways to say the same": """
for root in ("/proc/self/root", "/proc/thread-self/root", f"/proc/{os.getpid()}/root", f"{n}/..", f"{n}/../n/.."):
    put(f"{root}{rc}" if root.startswith("/proc") else f"{root}/.bashrc")
there = os.open(n, os.O_RDONLY)
attempt(os.open, "../.bashrc", os.O_WRONLY | os.O_TRUNC, dir_fd=there); put(f"/proc/self/fd/{there}/../.bashrc")
os.chdir(n); put("../.ssh/keys"); put("../.bashrc")
""",
    "a path that another thread exchanges": """
path = ctypes.create_string_buffer(f"{n}/x".encode(), 200)
good, bad = f"{n}/x".encode() + b"\\0", f"{home}/.bashrc".encode() + b"\\0"
over = False
def swap():
    while not over:
        ctypes.memmove(path, bad, len(bad)); ctypes.memmove(path, good, len(good))
swapping = threading.Thread(target=swap); swapping.start()
for _ in range(150):
    opened = libc.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    if opened >= 0:
        os.write(opened, b"evil"); os.close(opened)
over = True; swapping.join()
""",
    "a folder that is exchanged for a link": """
os.mkdir(f"{n}/d"); os.symlink(f"{home}/.ssh", f"{n}/l")
over = False
def swap():
    while not over:
        libc.syscall(316, -100, f"{n}/d".encode(), -100, f"{n}/l".encode(), 2)
swapping = threading.Thread(target=swap); swapping.start()
for _ in range(60):
    put(f"{n}/d/keys"); attempt(os.unlink, f"{n}/d/keys")
over = True; swapping.join()
""",
    "pipes and devices": """
os.mkfifo(f"{n}/pipe"); put(f"{n}/pipe"); os.unlink(one); os.mkfifo(one); put(one)
attempt(os.mknod, f"{n}/disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0))
attempt(os.mknod, f"{n}/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
""",
    "rights that nobody gave": """
put(f"{n}/tool", "#!/bin/sh"); os.mkdir(f"{n}/sticky")
for mode in (0o4755, 0o2777, 0o6777):
    attempt(os.chmod, f"{n}/tool", mode); attempt(os.chmod, f"{n}/sticky", mode)
    attempt(os.open, f"{n}/other{mode}", os.O_CREAT | os.O_WRONLY, mode)
""",
    "names beside what was approved": """
for number in range(200):
    attempt(os.open, f"{home}/.stage{number}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
attempt(os.rename, f"{home}/.stage0", rc); attempt(os.link, f"{home}/.stage1", rc); attempt(os.mkdir, f"{home}/.new")
""",
    "addresses that are none": """
for number, arguments in ((257, (-100, 1, 0x241, 0o600)), (82, (1, 1)), (280, (-100, n.encode(), 1, 0)), (88, (1, 1))):
    libc.syscall(number, *arguments)
libc.syscall(266, ctypes.c_void_p(-1), -100, f"{n}/l".encode()); libc.syscall(90, f"{n}".encode(), -1)
""",
    "a second listener": """
class Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("rules", ctypes.c_void_p))
rule = (ctypes.c_ubyte * 8)(6, 0, 0, 0, 0, 0, 0xff, 0x7f)
given = Filter(1, ctypes.addressof(rule))
assert libc.syscall(317, 1, 8, ctypes.byref(given)) == -1
put(rc); put(keys)
""",
}


def prepare(case: Case) -> Path:
    home = case.project.parent
    (home / ".ssh").mkdir()
    for name in ("one", ".ssh/keys", ".bashrc"):
        (home / name).write_text("mine\n")
    (case.project / "f").write_text("f")
    (case.project / "d").mkdir()
    for place in (".env", "d/.env"):
        (case.project / place).write_text(SECRET)
    return home


def check(case: Case, home: Path) -> None:
    assert (home / ".ssh" / "keys").read_text() == (home / ".bashrc").read_text() == "mine\n"
    assert {path.name for path in (home / ".ssh").iterdir()} == {"keys"}
    known = {"n", "one", ".ssh", ".bashrc", "project", "project.home", ".cache", ".local", ".config", ".npm", ".cargo"}
    assert {path.name for path in home.iterdir()} <= known
    for parent, folders, files in os.walk(home):
        if "project.home" in parent:
            continue
        for path in (Path(parent, name) for name in (*folders, *files)):
            status = path.lstat()
            assert not stat.S_IMODE(status.st_mode) & 0o6000, path
            assert not stat.S_ISBLK(status.st_mode), path
            assert not stat.S_ISCHR(status.st_mode), path
            if stat.S_ISREG(status.st_mode) and path.name != ".env":
                assert b"secret" not in path.read_bytes(), path
    for place in (".env", "d/.env"):
        assert (case.project / place).read_text() == SECRET


def line(*attacks: str) -> str:
    return "mkdir ~/n; : >> ~/one\n" + python("\n".join((HEAD, *attacks)))


@pytest.mark.parametrize("name", ATTACKS)
async def test_no_attack_leads_the_keeper_elsewhere(name: str) -> None:
    async with captured("bubblewrap", HIDING) as case:
        home = prepare(case)
        result = await case.shell.bash(line(ATTACKS[name]))
        assert result.error is None, result.output
        assert "Traceback" not in result.output
        check(case, home)


@pytest.mark.parametrize("kind", ["landlock", "landlock alone"])
@pytest.mark.parametrize(
    "name", ["a link in what was approved", "something else moved there", "other ways to say the same"]
)
async def test_nor_in_the_other_boxes(name: str, kind: Kind) -> None:
    rules = HIDING if kind == "landlock" else (Rule("*", "*", "allow"),)
    async with captured(kind, rules) as case:
        home = prepare(case)
        if kind == "landlock alone":
            # It cannot hide anything in the project.
            (case.project / ".env").unlink()
            (case.project / "d" / ".env").unlink()
        await case.shell.bash(line(ATTACKS[name]))
        if kind == "landlock alone":
            for place in (".env", "d/.env"):
                (case.project / "d").mkdir(exist_ok=True)
                (case.project / place).write_text(SECRET)
        check(case, home)
