"""The installation and what is ours in boxes: what may be opened, what is said about it."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from tests.process.places import ours_of
from tests.process.shell_session import EVERYTHING_ALLOWED, open_shell
from toolwright.errors import ToolError
from toolwright.machine.own_files import STORES, Ours, installation
from toolwright.permission.forms import given_rules
from toolwright.process.box.access import Access
from toolwright.process.box.box import Box
from toolwright.process.box.caches import CACHES
from toolwright.process.box.seatbelt import profile
from toolwright.process.running.scope import Scopes
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings
from toolwright.process.sandbox.self_test import SandboxFindings

ALL_WORK = SandboxFindings(bubblewrap="", landlock="", seatbelt="", mounts=True, offline=True)
RUNGS: tuple[Literal["bubblewrap", "landlock"], ...] = ("bubblewrap", "landlock")


LOOK = """
import os
for name in (".ssh/deep/key", ".ssh/known_hosts", "plain/file", "secret"):
    try:
        print(open(f"{os.environ['HOME']}/{name}").read(), end="")
    except PermissionError:
        print("denied")
"""
"""A program that looks into the home folder."""


@pytest.fixture
def home(outside: Path) -> Path:
    folder = outside / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def installed(outside: Path) -> Path:
    """The project, with an environment in it that we are installed in."""
    folder = outside / "project"
    for name in (".venv/lib/site-packages", ".venv/bin"):
        (folder / name).mkdir(parents=True)
    (folder / ".venv/lib/site-packages/kept.py").write_text("kept")
    return folder


@pytest.fixture
def ours(home: Path, installed: Path, monkeypatch: pytest.MonkeyPatch) -> Ours:
    monkeypatch.setattr("toolwright.machine.own_files.installation", lambda: (installed / ".venv",))
    return ours_of(home)


def sandbox_of(ours: Ours, root: Path, settings: SandboxSettings = SandboxSettings()) -> Sandbox:  # noqa: B008 - frozen
    sandbox = Sandbox(settings, directory=root, root=root, ours=ours, scopes=Scopes(), environment={})
    sandbox._findings = ALL_WORK
    return sandbox


async def box_of(ours: Ours, root: Path, *writable: str, access: Access = Access()) -> Box:  # noqa: B008 - frozen
    sandbox = sandbox_of(ours, root, SandboxSettings(mode="bubblewrap", writable=writable))
    try:
        return await sandbox.box(access)
    finally:
        sandbox.close()


def test_the_installation_is_the_package_the_interpreter_and_the_packages_beside_it() -> None:
    places = installation()
    for name in (__import__("toolwright").__file__, sys.executable, __import__("httpx2").__file__):
        assert any(Path(name or "").resolve().is_relative_to(place) for place in places), name


def test_the_stores_of_packages_are_those_that_boxes_know() -> None:
    assert {cache.folder for cache in CACHES} == set(STORES)


@pytest.mark.parametrize("mode", RUNGS)
async def test_a_command_that_fails_on_the_installation_is_told_why(
    mode: Literal["bubblewrap", "landlock"], ours: Ours, home: Path, installed: Path
) -> None:
    environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    settings = SandboxSettings(mode=mode)
    async with open_shell(installed, rules=EVERYTHING_ALLOWED, sandbox=settings, environment=environment) as shell:
        result = await shell.bash("cat .venv/lib/site-packages/kept.py; echo x > .venv/lib/site-packages/evil.pth")
    if "does not work on this machine" in result.output:
        pytest.skip(result.output)
    assert result.output.startswith("kept")
    assert f"{installed}/.venv/lib/site-packages/evil.pth: toolwright itself runs from there" in result.output
    assert "sandbox.writable" in result.output
    assert [one.name for one in (installed / ".venv/lib/site-packages").iterdir()] == ["kept.py"]


async def test_no_answer_opens_the_installation_and_the_setting_does(ours: Ours, installed: Path) -> None:
    place, file = installed / ".venv", installed / ".venv/lib/site-packages/kept.py"
    allowed = Access(changes=(file, place), deletes=(file,), enters=(place,))
    box = await box_of(ours, installed, access=allowed)
    assert not box.allows_writing(file)
    assert box.places("open") == ()
    opened = await box_of(ours, installed, str(place))
    assert opened.allows_writing(file)


async def test_no_setting_opens_what_else_is_ours(ours: Ours, home: Path, installed: Path) -> None:
    data = ours.folders.data
    (data / "deep").mkdir(parents=True)
    for given in (str(data), str(data / "deep"), str(home), "~/.local/share"):
        box = await box_of(ours, installed, given)
        assert not box.allows_writing(data / "deep" / "auth.json"), given
        assert data in box.places("empty")


async def test_what_is_revealed_is_never_what_is_ours(ours: Ours, installed: Path) -> None:
    keys = ours.folders.data / "auth.json"
    keys.parent.mkdir(parents=True)
    keys.touch()
    sandbox = sandbox_of(ours, installed, SandboxSettings(mode="bubblewrap", reveal=(str(keys), "*auth.json")))
    box = await sandbox.box()
    sandbox.close()
    assert box.places("show") == ()
    assert ours.folders.data in box.places("empty")


async def test_macos_is_told_of_all_of_it_by_name_there_or_not(ours: Ours, home: Path, installed: Path) -> None:
    (home / "token").touch()
    settings = SandboxSettings(mode="seatbelt")
    sandbox = sandbox_of(replace(ours, secrets=(home / "token",)), installed, settings)
    box = await sandbox.box()
    sandbox.close()
    lines = profile(box).splitlines()
    unread = next(line for line in lines if line.startswith("(deny file-read* file-write* "))
    assert all(f'(subpath "{place}")' in unread for place in (*ours.closed, home / "token"))
    unwritten = [line for line in lines if line.startswith("(deny file-write* ")]
    assert f'(subpath "{installed}/.venv")' in unwritten[-1]
    assert not any(line.startswith("(allow") for line in lines[lines.index(unread) :])


@pytest.mark.parametrize("mode", RUNGS)
@pytest.mark.parametrize(
    ("variable", "named", "shown"),
    [
        ("CONFIG", "elsewhere/own.json", {"elsewhere/own.json": False}),
        ("CONFIG_DIR", "elsewhere", {"elsewhere/own.json": False, "elsewhere/skill/words": True}),
        ("CONFIG", "project/own.json", {"project/own.json": True}),
    ],
)
async def test_settings_that_a_variable_names_are_hidden_outside_of_the_project_and_kept_in_it(
    mode: Literal["bubblewrap", "landlock"],
    outside: Path,
    home: Path,
    variable: str,
    named: str,
    shown: dict[str, bool],
) -> None:
    for name in ("project/.git", "elsewhere/skill"):
        (outside / name).mkdir(parents=True)
    for name in ("elsewhere/own.json", "elsewhere/skill/words", "project/own.json"):
        (outside / name).write_text("{}")
    environment = {
        "HOME": str(home),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        f"TOOLWRIGHT_{variable}": str(outside / named),
    }
    settings, project = SandboxSettings(mode=mode), outside / "project"
    async with open_shell(project, rules=EVERYTHING_ALLOWED, sandbox=settings, environment=environment) as shell:
        for name, is_shown in shown.items():
            (project / "try.py").write_text(
                f"f = open({str(outside / name)!r}); print(f.read()); open(f.name, 'a').write('x')"
            )
            result = await shell.bash("python3 try.py")
            if "does not work on this machine" in result.output:
                pytest.skip(result.output)
            assert result.output.startswith("{}\n") == is_shown, result.output
            assert (outside / name).read_text() == "{}"


async def test_an_installation_elsewhere_costs_no_mount(home: Path, installed: Path) -> None:
    box = await box_of(ours_of(home), installed)
    assert (
        box.places("read", why=("ours",)),
        [place for place in box.places("read") if not place.is_relative_to(installed)],
    ) == ((), [])


async def test_landlock_alone_leaves_out_of_what_may_be_read_what_rules_hide_outside_of_the_project(
    outside: Path, home: Path
) -> None:
    for name in ("project/.git", "home/.ssh/deep", "home/plain"):
        (outside / name).mkdir(parents=True)
    for name in ("project/.env", "home/.ssh/deep/key", "home/.ssh/known_hosts", "home/plain/file", "home/secret"):
        (outside / name).write_text(f"{name}\n")
    environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    said = {".ssh/*": "deny", "secret": "deny", ".ssh/known_hosts": "allow"}
    rules = (*EVERYTHING_ALLOWED, *given_rules({"read": {f"{home}/{name}": action for name, action in said.items()}}))
    settings = SandboxSettings(mode="landlock")
    async with open_shell(outside / "project", rules=rules, sandbox=settings, environment=environment) as shell:
        try:
            await shell.sandbox.ready()
        except ToolError as error:
            pytest.skip(str(error))
        assert shell.sandbox._findings is not None
        shell.sandbox._findings = replace(shell.sandbox._findings, mounts=False, anchored=())
        (outside / "project" / "look.py").write_text(LOOK)
        result = await shell.bash("cat ~/.ssh/known_hosts; python3 look.py")
    shown = [line for line in result.output.splitlines() if not line.startswith("[")]
    assert shown == ["home/.ssh/known_hosts", "denied", "home/.ssh/known_hosts", "home/plain/file", "denied"]


@pytest.mark.parametrize("mode", RUNGS)
async def test_what_we_have_in_a_temporary_folder_that_no_box_replaces_is_hidden_but_for_the_project(
    mode: Literal["bubblewrap", "landlock"], outside: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A demonstration or a copy to be evaluated is itself a project there."""
    for name in ("toolwright-demo-1/.git", "toolwright-copies-0/one/.git", "toolwright-copies-0/other", "elses"):
        (outside / name).mkdir(parents=True)
        (outside / name / "file").write_text("SECRET" if "other" in name else "shown")
    monkeypatch.setenv("TMPDIR", str(outside))
    environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    command = f"cd {outside}; cat toolwright-*/*/file elses/file; echo x > toolwright-copies-0/other/new"
    for project in (outside / "toolwright-demo-1", outside / "toolwright-copies-0" / "one"):
        settings = SandboxSettings(mode=mode)
        async with open_shell(project, rules=EVERYTHING_ALLOWED, sandbox=settings, environment=environment) as shell:
            result = await shell.bash(f"echo mine > mine && cat mine && ( {command} )")
        if "does not work on this machine" in result.output:
            pytest.skip(result.output)
        assert result.output.startswith("mine\n")
        assert "shown" in result.output
        assert "SECRET" not in result.output
    assert [one.name for one in (outside / "toolwright-copies-0" / "other").iterdir()] == ["file"]


async def test_doctor_says_where_commands_meet_the_installation(ours: Ours, installed: Path) -> None:
    place = installed / ".venv"
    start = f"toolwright is installed in this project, in {place}: commands "
    fixed = (
        f"{start}read it and cannot change it, nor install anything there. Install it elsewhere, or open its place"
        " with sandbox.writable."
    )
    assert [line for line in await _described(ours, installed) if "installed in" in line] == [fixed]
    changeable = f"{start}can change it, and with it what the next start does. Install it elsewhere."
    without = replace(ALL_WORK, bubblewrap="no", mounts=False)
    assert changeable in await _described(ours, installed, findings=without)
    assert changeable in await _described(ours, installed, SandboxSettings(writable=(str(place),)))


async def test_doctor_says_where_a_command_could_put_code_that_we_import(ours: Ours, installed: Path) -> None:
    exposed = replace(ours, imported=(installed / "src", installed / ".venv" / "bin", Path("/elsewhere")))
    named = [line for line in await _described(exposed, installed) if line.startswith("Python looks in ")]
    assert [line.split()[3] for line in named] == [f"{installed}/src"]


async def _described(
    ours: Ours,
    root: Path,
    settings: SandboxSettings = SandboxSettings(),  # noqa: B008 - frozen
    findings: SandboxFindings = ALL_WORK,
) -> list[str]:
    sandbox = sandbox_of(ours, root, settings)
    sandbox._findings = findings
    return await sandbox.describe()
