"""What a box is made of: which places are open, protected or hidden, and what says so."""

import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from toolwright.errors import ToolError
from toolwright.process import bubblewrap, folders, seatbelt
from toolwright.process.box import Box
from toolwright.process.sandbox import Sandbox, SandboxSettings
from toolwright.process.scope import Scopes
from toolwright.process.selftest import Findings

ALL_WORK = Findings(bubblewrap="", landlock="", seatbelt="only on macOS", mounts=True, offline=True)


@pytest.fixture
async def scopes() -> AsyncIterator[Scopes]:
    scopes = Scopes()
    yield scopes
    await scopes.close()


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders of tests lie in the temporary one, which commands may always write."""
    monkeypatch.setattr("toolwright.process.box.WRITABLE_ANYWHERE", ())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def make(
    project: Path,
    home: Path,
    scopes: Scopes,
    settings: SandboxSettings = SandboxSettings(),  # noqa: B008 - frozen
    findings: Findings = ALL_WORK,
    directory: Path | None = None,
) -> Sandbox:
    data = home / "data"
    sandbox = Sandbox(settings, directory=directory or project, root=project, data=data, scopes=scopes, home=home)
    sandbox._findings = findings
    return sandbox


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


async def test_the_project_and_caches_are_open_and_nothing_else(project: Path, home: Path, scopes: Scopes) -> None:
    box = await make(project, home, scopes).box()
    assert box.writable[0] == project
    assert home / ".cache" in box.writable
    assert all(place == project or place.is_relative_to(home) for place in box.writable)
    assert not box.allows_writing(home / ".bashrc")
    assert box.allows_writing(project / "src" / "new.py")


async def test_git_code_and_our_settings_are_protected(project: Path, home: Path, scopes: Scopes) -> None:
    git(project, "init", "-q")
    (project / "toolwright.json").write_text("{}")
    (project / ".opencode").mkdir()
    (project / "sub").mkdir()
    (project / "sub" / "opencode.jsonc").write_text("{}")
    box = await make(project, home, scopes, directory=project / "sub").box()
    expected = [".git/hooks", ".git/config", "sub/opencode.jsonc", "toolwright.json", ".opencode"]
    assert sorted(box.protected) == sorted(project / name for name in expected)
    assert box.pinned == (project / ".git",)
    assert not box.allows_writing(project / ".git" / "hooks" / "pre-commit")
    assert box.allows_writing(project / ".git" / "index")


async def test_a_protected_place_can_be_opened_by_name(project: Path, home: Path, scopes: Scopes) -> None:
    git(project, "init", "-q")
    settings = SandboxSettings(writable=(".git/config", "~/notes"))
    (home / "notes").mkdir()
    box = await make(project, home, scopes, settings).box()
    assert box.protected == (project / ".git" / "hooks",)
    assert home / "notes" in box.writable


async def test_a_read_only_box_leaves_only_what_was_approved(project: Path, home: Path, scopes: Scopes) -> None:
    box = await make(project, home, scopes).box(read_only=True, writable=[home])
    assert box.writable == (home,)
    assert not box.allows_writing(project / "x")


@pytest.mark.parametrize(
    ("approved", "opened"),
    [("there", "there"), ("there/new/deeper", "there"), ("/nowhere/at/all", None), ("~", "~"), ("~/new", None)],
)
async def test_approval_opens_the_folder_or_the_nearest_that_exists_but_never_far_more(
    project: Path, home: Path, scopes: Scopes, tmp_path: Path, approved: str, opened: str | None
) -> None:
    (tmp_path / "there").mkdir()

    def place(name: str) -> Path:
        return home / name[2:] if name.startswith("~") else tmp_path / name

    before = await make(project, home, scopes).box()
    box = await make(project, home, scopes).box(writable=[place(approved)])
    added = set(box.writable) - set(before.writable)
    assert added == ({place(opened)} if opened else set())


async def test_masked_files_are_hidden_unless_revealed(project: Path, home: Path, scopes: Scopes) -> None:
    for name in (".env", "test.env"):
        (project / name).write_text("x")
    masked = [project / ".env", project / "test.env", project / "gone.env"]
    assert (await make(project, home, scopes).box(masked=masked)).hidden == (project / ".env", project / "test.env")
    settings = SandboxSettings(reveal=("test.*",))
    assert (await make(project, home, scopes, settings).box(masked=masked)).hidden == (project / ".env",)


async def test_landlock_without_namespaces_promises_no_more_than_it_keeps(
    project: Path, home: Path, scopes: Scopes
) -> None:
    git(project, "init", "-q")
    (project / ".env").write_text("x")
    findings = replace(ALL_WORK, bubblewrap="bubblewrap is not installed", mounts=False)
    sandbox = make(project, home, scopes, findings=findings)
    box = await sandbox.box(masked=[project / ".env"])
    assert (box.rung, box.protected, box.pinned, box.hidden) == ("landlock", (), (), ())
    assert sandbox.wrap(box, ["true"], project).env["TMPDIR"] == str(box.temp)
    assert any("cannot hide files" in line for line in await sandbox.describe())


@pytest.mark.parametrize(
    ("mode", "findings", "rung"),
    [
        ("auto", ALL_WORK, "bubblewrap"),
        ("landlock", ALL_WORK, "landlock"),
        ("auto", replace(ALL_WORK, bubblewrap="broken"), "landlock"),
        ("auto", replace(ALL_WORK, bubblewrap="broken", landlock="broken"), "none"),
        ("off", ALL_WORK, "none"),
    ],
)
async def test_the_highest_rung_that_works_is_used(
    project: Path, home: Path, scopes: Scopes, mode: str, findings: Findings, rung: str
) -> None:
    settings = SandboxSettings(mode=mode)  # type: ignore[arg-type] # the table names modes
    assert await make(project, home, scopes, settings, findings).ready() == rung


async def test_a_sandbox_the_user_insists_on_must_work(project: Path, home: Path, scopes: Scopes) -> None:
    findings = replace(ALL_WORK, bubblewrap="bubblewrap is not installed")
    sandbox = make(project, home, scopes, SandboxSettings(mode="bubblewrap"), findings)
    with pytest.raises(ToolError, match="does not work on this machine: bubblewrap is not installed"):
        await sandbox.box()


async def test_where_the_network_cannot_be_switched_off_nobody_pretends(
    project: Path, home: Path, scopes: Scopes
) -> None:
    sandbox = make(project, home, scopes, findings=replace(ALL_WORK, offline=False))
    assert (await sandbox.box()).network
    with pytest.raises(ToolError, match="cannot switch it off"):
        await sandbox.box(network=False)


async def test_what_was_found_out_is_remembered_and_can_be_forgotten(project: Path, home: Path, scopes: Scopes) -> None:
    data = home / "data"
    first = Sandbox(SandboxSettings(), directory=project, root=project, data=data, scopes=scopes, home=home)
    rung = await first.ready()
    kept = (data / "sandbox.json").read_text()
    second = Sandbox(SandboxSettings(), directory=project, root=project, data=data, scopes=scopes, home=home)
    assert await second.ready() == rung
    assert (data / "sandbox.json").read_text() == kept
    second.distrust()
    assert not (data / "sandbox.json").exists()
    assert [entry.name for entry in data.iterdir()] == []


async def test_the_temporary_folder_goes_with_the_sandbox(project: Path, home: Path, scopes: Scopes) -> None:
    sandbox = make(project, home, scopes)
    temp = (await sandbox.box()).temp
    assert temp.is_dir()
    assert (await sandbox.box()).temp == temp
    sandbox.close()
    assert not temp.exists()


async def test_the_temporary_folder_of_one_who_was_killed_goes_too(project: Path, home: Path, scopes: Scopes) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    abandoned = home / "data" / "tmp" / f"{gone.pid}-x"
    abandoned.mkdir(parents=True)
    await make(project, home, scopes).box()
    assert not abandoned.exists()


def test_a_linked_work_tree_may_write_the_repository_it_belongs_to(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", str(linked))
    folder = folders.git_folder(linked)
    assert folder == main / ".git" / "worktrees" / "linked"
    assert folders.common_folder(folder) == main / ".git"


def test_a_git_file_that_a_command_has_made_up_opens_nothing(tmp_path: Path) -> None:
    other, project = tmp_path / "other", tmp_path / "project"
    for folder in (other, project):
        folder.mkdir()
    git(other, "init", "-q")
    for named in (other / ".git", tmp_path, Path("/")):
        (project / ".git").write_text(f"gitdir: {named}\n")
        assert folders.git_folder(project) is None
    made_up = project / "worktrees" / "x"
    made_up.mkdir(parents=True)
    (made_up / "gitdir").write_text(f"{project / '.git'}\n")
    (made_up / "commondir").write_text(f"{other}\n")
    (project / ".git").write_text(f"gitdir: {made_up}\n")
    assert folders.git_folder(project) == made_up
    assert folders.common_folder(made_up) == made_up


def test_parts_of_a_cache_that_are_programs_are_protected(home: Path) -> None:
    (home / ".cargo" / "bin").mkdir(parents=True)
    (home / ".cargo" / "config.toml").write_text("")
    writable, protected = folders.cache_folders(home)
    assert home / ".cargo" in writable
    assert protected == [home / ".cargo" / "bin", home / ".cargo" / "config.toml"]


def test_bubblewrap_is_told_the_order_in_which_places_cover_each_other(project: Path, tmp_path: Path) -> None:
    (project / "fixed").write_text("")
    (project / "hidden").mkdir()
    box = Box(
        rung="bubblewrap",
        writable=(project,),
        protected=(project / "fixed",),
        hidden=(project / "hidden",),
        temp=tmp_path / "temp",
        network=False,
    )
    words = list(bubblewrap.wrap(box, "/usr/bin/bwrap", ["true"], project).argv)
    at = [words.index("--ro-bind"), words.index(str(tmp_path / "temp")), words.index(str(project))]
    at += [words.index(str(project / "fixed")), words.index(str(project / "hidden"))]
    assert at == sorted(at)
    assert "--unshare-net" in words
    assert words[-2:] == ["--", "true"]


def test_on_macos_the_last_rule_decides(project: Path, tmp_path: Path) -> None:
    box = Box(
        rung="seatbelt",
        writable=(project,),
        protected=(project / 'a "b"',),
        pinned=(project / ".git",),
        hidden=(project / ".env",),
        temp=tmp_path,
        network=False,
    )
    devices = " ".join(f'(subpath "{device}")' for device in seatbelt.DEVICES)
    assert seatbelt.profile(box).splitlines() == [
        "(version 1)",
        "(allow default)",
        '(deny file-write* (subpath "/"))',
        f'(allow file-write* (subpath "{tmp_path}") (subpath "{project}") {devices})',
        f'(deny file-write* (subpath "{project}/a \\"b\\""))',
        f'(deny file-write-unlink (literal "{project}/.git"))',
        f'(deny file-read* file-write* (subpath "{project}/.env"))',
        "(deny network*)",
        "(allow network* (remote unix-socket) (local unix-socket))",
    ]
