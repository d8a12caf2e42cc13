"""Scopes: what a program prints and how it ends, and that nothing of it is left."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest

from tests.waiting import PATIENCE, patience, until
from toolwright.errors import ToolError
from toolwright.process.running.quota import Quota
from toolwright.process.running.scope import Program, ProgramEnd, Scope, Scopes

LEAVERS = {
    "in the background": "sleep 300 &",
    "in a session of its own": "setsid sleep 300 &",
    "deaf to hang-ups": "nohup sleep 300 >/dev/null 2>&1 &",
    "forked twice": "( ( sleep 300 & ) & )",
    "with the pipe held open": "setsid sh -c 'sleep 300' &",
}


@pytest.fixture
async def scopes() -> AsyncIterator[Scopes]:
    scopes = Scopes()
    yield scopes
    await scopes.close()


def shell(
    command: str,
    folder: Path,
    stdin: Literal["closed", "pipe"] = "closed",
    stderr: Literal["merged", "pipe"] = "merged",
) -> Program:
    env = {"PATH": os.environ["PATH"]}
    return Program(argv=["/bin/bash", "-c", command], cwd=folder, env=env, stdin=stdin, stderr=stderr)


def printed(scope: Scope) -> str:
    try:
        return os.read(scope.stdout, 65536).decode()
    except BlockingIOError:
        return ""


def marked(mark: str) -> list[int]:
    """The processes that carry a mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def state_of(pid: int) -> str:
    """One letter, as the system has it; Z for one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def is_running(pid: int) -> bool:
    return state_of(pid) != "Z"


@pytest.mark.parametrize(
    ("command", "end"),
    [
        ("true", ProgramEnd(code=0)),
        ("exit 3", ProgramEnd(code=3)),
        ("kill -KILL $$", ProgramEnd(code=None, signal=9)),
        ("nothing_of_that_name 2>/dev/null", ProgramEnd(code=127)),
    ],
)
async def test_how_a_program_ended_is_told(scopes: Scopes, tmp_path: Path, command: str, end: ProgramEnd) -> None:
    scope = await scopes.start(shell(command, tmp_path))
    assert await scope.ended() == end
    await scope.emptied()


async def test_a_program_has_a_session_of_its_own_and_no_input(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("cat; [ $(ps -o sid= -p $$) = $$ ] && echo own; tty", tmp_path))
    await scope.ended()
    assert printed(scope) == "own\nnot a tty\n"


async def test_output_and_errors_come_in_the_order_they_were_printed(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("echo 1; echo 2 >&2; echo 3", tmp_path))
    await scope.ended()
    assert printed(scope) == "1\n2\n3\n"


async def test_errors_can_be_had_apart(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("echo out; echo err >&2", tmp_path, stderr="pipe"))
    await scope.ended()
    assert scope.stderr is not None
    assert (printed(scope), os.read(scope.stderr, 100)) == ("out\n", b"err\n")


async def test_a_program_can_be_typed_into(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("read x; echo got $x; cat", tmp_path, stdin="pipe"))
    assert scope.stdin is not None
    os.write(scope.stdin, b"this\nand that\n")
    scope.close_stdin()
    await scope.ended()
    assert printed(scope) == "got this\nand that\n"


async def test_signals_that_python_ignores_are_not_ignored_in_a_program(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("grep SigIgn /proc/self/status", tmp_path))
    await scope.ended()
    # What whoever started us had ignored, as nohup does, stays so; Python's own two do not.
    ours = {signal.SIGPIPE, signal.SIGXFSZ}
    inherited = [one for one in range(1, 32) if one not in ours and signal.getsignal(one) is signal.SIG_IGN]
    ordinary = (1 << 31) - 1 - sum(1 << (one - 1) for one in inherited)
    assert int(printed(scope).split()[1], 16) & ordinary == 0


async def test_a_program_gets_no_other_open_files(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("ls /proc/$$/fd; true", tmp_path))
    await scope.ended()
    assert printed(scope).split() == ["0", "1", "2"]


@pytest.mark.parametrize("command", LEAVERS.values(), ids=LEAVERS)
async def test_a_scope_reports_that_its_shell_has_ended_whoever_stays(
    scopes: Scopes, tmp_path: Path, command: str
) -> None:
    # Programs that run already: one that is only just being started has no arguments yet.
    seconds = f"300.{os.getpid()}"
    runs = f"grep -qz '^{seconds.replace('.', '[.]')}$' /proc/[0-9]*/cmdline 2>/dev/null"
    left_behind = command.replace("300", seconds)
    scope = await scopes.start(shell(f"{left_behind}\nuntil {runs}; do :; done", tmp_path))
    async with patience():
        end = await scope.ended()
    assert [left.command for left in end.left][-1:] == [f"sleep {seconds}"]
    assert await scope.stop()
    assert not any(is_running(left.pid) for left in end.left)


async def test_what_ends_right_after_the_shell_is_not_reported_as_left(
    scopes: Scopes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.process.running.scope.LINGER", PATIENCE)
    scope = await scopes.start(shell("(sleep 0.03; echo late) & echo early", tmp_path))
    assert (await scope.ended()).left == ()
    assert printed(scope) == "early\nlate\n"


async def test_who_is_deaf_to_term_is_killed(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("trap '' TERM; echo ready; while :; do sleep 0.05; done", tmp_path))
    await until(lambda: "ready" in printed(scope))
    async with patience():
        assert await scope.stop()
    assert await scope.ended() == ProgramEnd(code=None, signal=9)


async def test_who_hears_term_may_clean_up(scopes: Scopes, tmp_path: Path) -> None:
    command = "trap 'echo bye > bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done"
    scope = await scopes.start(shell(command, tmp_path))
    await until(lambda: "ready" in printed(scope))
    await scope.stop(grace=PATIENCE)
    assert (await scope.ended()).code == 5
    assert (tmp_path / "bye").read_text() == "bye\n"


async def test_a_stopped_process_is_ended_too(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("kill -STOP $$", tmp_path))
    await until(lambda: state_of(scope.pid) == "T")
    assert await scope.stop()


async def test_releasing_a_scope_ends_it(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("setsid sleep 300 & sleep 300", tmp_path))
    pid = scope.pid
    assert is_running(pid)
    scope.release()
    await until(lambda: not is_running(pid))


async def test_closing_ends_everything(tmp_path: Path) -> None:
    scopes = Scopes()
    mark = f"SCOPE_MARK={os.urandom(8).hex()}"
    name, _, value = mark.partition("=")
    program = Program(
        argv=["/bin/bash", "-c", "setsid sleep 300 & sleep 300"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], name: value},
    )
    for _ in range(3):
        await scopes.start(program)
    await until(lambda: len(marked(mark)) >= 9)
    await scopes.close()
    assert marked(mark) == []


MASTER = """
import asyncio, os, signal, sys
from pathlib import Path
from toolwright.process.running.scope import Program, Scopes

# Whoever runs the tests under nohup ignores it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

async def main():
    scopes = Scopes()
    env = {"PATH": os.environ["PATH"], "SCOPE_MARK": sys.argv[1]}
    command = "sleep 300 & setsid sleep 300 & (trap '' TERM; exec env -i sleep 300) & nohup sleep 300 & sleep 300"
    scope = await scopes.start(Program(argv=["/bin/bash", "-c", command], cwd=Path("."), env=env))
    print(scope.pid, flush=True)
    await scope.ended()

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP], ids=["KILL", "TERM", "HUP"])
async def test_nothing_is_left_when_we_are_killed(tmp_path: Path, number: signal.Signals) -> None:
    mark = os.urandom(8).hex()
    master = subprocess.Popen([sys.executable, "-c", MASTER, mark], stdout=subprocess.PIPE, cwd=tmp_path)
    assert master.stdout is not None
    with master.stdout as pipe:
        shell_pid = int(pipe.readline())
    await until(lambda: len(descendants(shell_pid)) == 5)
    family = descendants(shell_pid)
    master.send_signal(number)
    master.wait()
    await until(lambda: not any(map(is_running, [shell_pid, *family])))
    await until(lambda: marked(mark) == [])


def descendants(pid: int) -> list[int]:
    listing = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listing.splitlines()]
    found, open_ = [], [pid]
    while open_:
        below = [child for child, parent in pairs if parent in open_]
        found += below
        open_ = below
    return found


async def test_the_orphans_of_a_killed_leader_are_ended(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("setsid sleep 300 & sleep 300", tmp_path))
    family = [scope.pid, *descendants(scope.pid)]
    leader = int(Path(f"/proc/{scope.pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(leader, signal.SIGKILL)
    await until(lambda: not any(map(is_running, family)))
    assert await scope.ended() == ProgramEnd(code=None)


async def test_a_killed_keeper_is_replaced(scopes: Scopes, tmp_path: Path) -> None:
    scope = await scopes.start(shell("echo $PPID; sleep 300", tmp_path))
    await until(lambda: bool(scope.pid))
    leader = int(Path(f"/proc/{scope.pid}/stat").read_text().rpartition(")")[2].split()[1])
    keeper = int(Path(f"/proc/{leader}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(keeper, signal.SIGKILL)
    await until(lambda: not is_running(keeper))
    assert await scope.stop()
    again = await scopes.start(shell("exit 4", tmp_path))
    assert (await again.ended()).code == 4


async def test_many_scopes_at_once_keep_apart(scopes: Scopes, tmp_path: Path) -> None:
    async def one(number: int) -> tuple[int | None, str]:
        scope = await scopes.start(shell(f"echo {number}; exit {number}", tmp_path))
        end = await scope.ended()
        text = printed(scope)
        scope.release()
        return end.code, text

    assert await asyncio.gather(*map(one, range(20))) == [(number, f"{number}\n") for number in range(20)]


BOMB = "b() { if (($1)); then b $(($1 - 1)) & b $(($1 - 1)) & fi; sleep 5; }; b 7"
"""Should nothing hold it, it makes some five hundred processes for five seconds and no more."""


async def test_a_fork_bomb_is_bounded_and_can_be_ended(tmp_path: Path) -> None:
    scopes = Scopes(processes=60)
    try:
        scope = await scopes.start(shell(BOMB, tmp_path))
        leader = leader_of(scope.pid)
        await until(lambda: len(descendants(leader)) > 20)
        assert len(descendants(leader)) < 100
        assert await scope.stop()
    finally:
        await scopes.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="the system limits everybody but root")
async def test_where_the_system_does_not_limit_processes_the_leader_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.process.running.keeper_client.make_quota", lambda **_: Quota())
    scopes = Scopes(processes=30)
    try:
        few = await scopes.start(shell("sleep 0.4; exit 3", tmp_path))
        assert await few.ended() == ProgramEnd(code=3)
        many = await scopes.start(shell("for i in {1..20}; do sleep 20 & done; sleep 20", tmp_path))
        more = await scopes.start(shell("for i in {1..20}; do (sleep 20; true) & done; sleep 20", tmp_path))
        assert await more.ended() == ProgramEnd(code=None, signal=9, excess="processes")
        assert not many.is_empty
    finally:
        await scopes.close()


def leader_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (["no_such_program_anywhere"], "There is no program 'no_such_program_anywhere'"),
        (["/no/such/program"], "could not start /no/such/program: No such file or directory"),
        (["/etc/passwd"], "could not start /etc/passwd: Permission denied"),
        (["/bin/bash", "-c", "x" * 200_000], "Argument list too long"),
    ],
)
async def test_a_program_that_cannot_start_is_an_error_that_says_why(
    scopes: Scopes, tmp_path: Path, program: list[str], problem: str
) -> None:
    with pytest.raises(ToolError, match=problem):
        await scopes.start(Program(argv=program, cwd=tmp_path, env={"PATH": os.environ["PATH"]}))


async def test_a_folder_that_is_not_there_is_an_error(scopes: Scopes, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"could not enter .*nowhere: No such file or directory"):
        await scopes.start(shell("true", tmp_path / "nowhere"))


async def test_no_descriptors_are_lost(scopes: Scopes, tmp_path: Path) -> None:
    async def once() -> None:
        scope = await scopes.start(shell("true", tmp_path, stdin="pipe", stderr="pipe"))
        await scope.ended()
        scope.release()

    await once()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        await once()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
