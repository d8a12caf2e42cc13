"""Commands run wherever we are: without a home, where nothing can be written, with programs in odd places."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.process.places import ours_of
from tests.process.shell_session import EVERYTHING_ALLOWED, open_shell
from toolwright.errors import ToolError
from toolwright.process.box.access import Access
from toolwright.process.running.scope import Program, Scopes
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes tried here are those of Linux")

RUNGS = ("auto", "bubblewrap", "landlock")


async def say(sandbox: Sandbox, scopes: Scopes, cwd: Path, command: str, path: str = "") -> str:
    """What a command prints in a box."""
    wrapped = sandbox.wrap(await sandbox.box(Access()), [shutil.which("sh") or "/bin/sh", "-c", command], cwd)
    scope = await scopes.start(Program.of(wrapped, cwd=cwd, env={"PATH": path or os.environ["PATH"]}))
    await scope.ended()
    printed = os.read(scope.stdout, 4096).decode()
    scope.release()
    return printed


@pytest.mark.parametrize("mode", RUNGS)
@pytest.mark.parametrize("data", ["/proc/nowhere/toolwright", "/sys/toolwright", "file/toolwright"])
async def test_where_our_folder_cannot_be_made_commands_run_all_the_same(
    project: Path, tmp_path: Path, mode: str, data: str
) -> None:
    (tmp_path / "file").touch()
    scopes = Scopes()
    settings = SandboxSettings(mode=mode)  # type: ignore[arg-type] # the table names modes
    sandbox = Sandbox(
        settings,
        directory=project,
        root=project,
        ours=ours_of(tmp_path / "home", tmp_path / data),
        scopes=scopes,
    )
    try:
        try:
            await sandbox.ready()
        except ToolError as error:
            pytest.skip(str(error))
        assert await say(sandbox, scopes, project, 'echo x > made; cat made; f=$(mktemp) && echo "$f"') != ""
        assert (project / "made").read_text() == "x\n"
    finally:
        await scopes.close()
        sandbox.close()


@pytest.mark.parametrize("mode", RUNGS)
async def test_programs_that_are_links_in_a_temporary_folder_are_found(
    project: Path, tmp_path: Path, mode: str
) -> None:
    programs, store = tmp_path / "profile" / "bin", tmp_path / "store" / "abc-tool" / "bin"
    programs.mkdir(parents=True)
    store.mkdir(parents=True)
    (store / "tool").write_text("#!/bin/sh\necho it runs\n")
    (store / "tool").chmod(0o755)
    (programs / "tool").symlink_to(store / "tool")
    for name in ("sh", "bash", "bwrap", "cat", "ls"):
        if (found := shutil.which(name)) is not None:
            (programs / name).symlink_to(found)
    settings = SandboxSettings(mode=mode)  # type: ignore[arg-type] # the table names modes
    environment = {"PATH": str(programs), "HOME": str(tmp_path)}
    async with open_shell(project, rules=EVERYTHING_ALLOWED, sandbox=settings, environment=environment) as shell:
        result = await shell.bash("tool && ls -d .")
    if "does not work on this machine" in result.output:
        pytest.skip(result.output)
    assert result.output == "it runs\n.\n"


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare")
@pytest.mark.parametrize(
    "change", ["mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3", "mount -o remount,ro,bind /"]
)
def test_without_shared_memory_or_on_a_disk_that_is_read_only(tmp_path: Path, change: str) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path\n"
        "from toolwright.machine.own_files import Ours\n"
        "from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings\n"
        "from toolwright.process.running.scope import Scopes\n"
        "async def main():\n"
        "    scopes, here = Scopes(), Path(sys.argv[1])\n"
        "    places = {'directory': here, 'root': here, 'ours': Ours.of({'HOME': str(here)})}\n"
        "    sandbox = Sandbox(SandboxSettings(), scopes=scopes, **places)\n"
        "    print(*await sandbox.describe(), sep='\\n')\n"
        "    await scopes.close()\n"
        "asyncio.run(main())\n"
    )
    command = f'mount --make-rprivate /; {change}; exec "$0" -c "$1" "$2"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", command, sys.executable, program, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("Commands run "), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
