"""What a box is made of: which places are open, protected or hidden, and what says so."""

import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.process.places import ours_of
from toolwright.errors import ToolError
from toolwright.process.box import seatbelt
from toolwright.process.box.access import Access
from toolwright.process.box.box import Box, Wall
from toolwright.process.box.caches import cache_folders
from toolwright.process.box.mechanisms import put_up, within
from toolwright.process.paths import git_folders
from toolwright.process.running.scope import Scopes
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings
from toolwright.process.sandbox.self_test import SandboxFindings

ALL_WORK = SandboxFindings(bubblewrap="", landlock="", seatbelt="only on macOS", mounts=True, offline=True)


@pytest.fixture
async def scopes() -> AsyncIterator[Scopes]:
    scopes = Scopes()
    yield scopes
    await scopes.close()


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders of tests lie in the temporary one, which commands may always write."""
    monkeypatch.setattr("toolwright.process.box.box.WRITABLE_ANYWHERE", ())


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
    findings: SandboxFindings = ALL_WORK,
    directory: Path | None = None,
) -> Sandbox:
    ours = ours_of(home, home / "data")
    sandbox = Sandbox(settings, directory=directory or project, root=project, ours=ours, scopes=scopes)
    sandbox._findings = findings
    return sandbox


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


async def test_the_project_and_caches_are_open_and_nothing_else(project: Path, home: Path, scopes: Scopes) -> None:
    box = await make(project, home, scopes).box()
    assert box.places("write")[0] == project
    assert home / ".cache" in box.places("own")
    assert all(place == project or place.is_relative_to(home) for place in box.places("write"))
    assert not box.allows_writing(home / ".bashrc")
    assert box.allows_writing(project / "src" / "new.py")


async def test_a_command_that_has_no_use_for_caches_is_not_given_them(
    project: Path, home: Path, scopes: Scopes
) -> None:
    sandbox = make(project, home, scopes)
    box = await sandbox.box(Access(caches=False))
    assert (box.places("own"), box.places("write")) == ((), (project,))
    with_caches = (await sandbox.box()).places("read")
    assert box.places("read") == tuple(place for place in with_caches if not place.is_relative_to(home))


async def test_git_code_and_our_settings_are_protected(project: Path, home: Path, scopes: Scopes) -> None:
    git(project, "init", "-q")
    (project / "toolwright.json").write_text("{}")
    (project / ".opencode").mkdir()
    (project / "sub").mkdir()
    (project / "sub" / "opencode.jsonc").write_text("{}")
    box = await make(project, home, scopes, directory=project / "sub").box()
    git_code = [".git/hooks", ".git/config", ".git/info", ".git/commondir", ".git/config.worktree"]
    expected = [*git_code, "sub/opencode.jsonc", "toolwright.json", ".opencode"]
    assert {project / name for name in expected} <= set(box.places("read"))
    assert not {project / ".git" / name for name in ("objects", "refs", "HEAD", "description")} & set(
        box.places("read")
    )
    assert box.places("stay") == (project / ".git",)
    assert not box.allows_writing(project / ".git" / "hooks" / "pre-commit")
    assert box.allows_writing(project / ".git" / "index")


async def test_a_protected_place_can_be_opened_by_name(project: Path, home: Path, scopes: Scopes) -> None:
    git(project, "init", "-q")
    settings = SandboxSettings(writable=(".git/config", "~/notes"))
    (home / "notes").mkdir()
    box = await make(project, home, scopes, settings).box()
    assert project / ".git" / "config" not in box.places("read")
    assert project / ".git" / "hooks" in box.places("read")
    assert home / "notes" in box.places("write")


async def test_a_read_only_box_leaves_only_what_was_approved_by_name(project: Path, home: Path, scopes: Scopes) -> None:
    plan = project / ".toolwright" / "plans" / "a.md"
    findings = replace(ALL_WORK, brokered=("bubblewrap",))
    access = Access(read_only=True, changes=(plan,), enters=(home,))
    box = await make(project, home, scopes, findings=findings).box(access)
    assert (box.places("write"), box.places("open"), box.places("give")) == ((), (), (plan,))
    assert box.allows_writing(plan)
    assert not box.allows_writing(plan.with_name("b.md"))
    assert not box.allows_writing(project / "x")


@pytest.mark.parametrize(
    ("access", "folders", "files", "given"),
    [
        ({"changes": "there/file"}, [], ["there/file"], ["there/file"]),
        ({"changes": "there"}, ["there"], [], []),
        ({"changes": "there/new"}, ["there"], [], ["there/new"]),
        ({"deletes": "there/file"}, ["there"], [], ["there/file"]),
        ({"enters": "there"}, ["there"], [], []),
        ({"reads": "there/file"}, [], [], []),
        ({"changes": "home/notes"}, [], [], ["home/notes"]),
        ({"changes": "home/.config/autostart/new"}, [], [], ["home/.config/autostart/new"]),
        ({"deletes": "home/.bashrc"}, [], [], ["home/.bashrc"]),
        ({"enters": "home"}, [], [], []),
        ({"changes": "."}, [], [], []),
        ({"changes": "home/data/approvals.json"}, [], [], []),
        ({"changes": "home/data/plans/a.md"}, ["home/data/plans"], [], []),
    ],
    ids=str,
)
async def test_a_grant_opens_what_was_granted_as_it_was_granted(
    project: Path,
    home: Path,
    scopes: Scopes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    access: dict[str, str],
    folders: list[str],
    files: list[str],
    given: list[str],
) -> None:
    # What is in the temporary folder is the commands' own.
    monkeypatch.setattr("toolwright.process.box.access.TEMP_FOLDERS", ())
    for name in ("there/file", "there/other", "home/.bashrc", "home/data/approvals.json", "home/data/plans/b.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    before = await make(project, home, scopes).box()
    wanted = Access(**{kind: ((tmp_path / name).resolve(),) for kind, name in access.items()})  # type: ignore[arg-type]
    box = await make(project, home, scopes).box(wanted)
    assert set(box.places("write")) - set(before.places("write")) == {tmp_path / name for name in folders}
    assert (set(box.places("open")), box.places("give")) == ({tmp_path / name for name in files}, ())
    assert box.allows_writing(tmp_path / "there" / "other") == (access in ({"changes": "there"}, {"enters": "there"}))
    findings = replace(ALL_WORK, brokered=("bubblewrap",))
    brokered = await make(project, home, scopes, findings=findings).box(wanted)
    whole = [] if given else folders
    assert set(brokered.places("write")) - set(before.places("write")) == {tmp_path / name for name in whole}
    assert (brokered.places("open"), set(brokered.places("give"))) == ((), {tmp_path / name for name in given})


async def test_masked_files_are_hidden_unless_revealed(project: Path, home: Path, scopes: Scopes) -> None:
    for name in (".env", "test.env"):
        (project / name).write_text("x")
    masked = [project / ".env", project / "test.env", project / "gone.env"]
    access = Access(hidden=tuple(masked))
    assert (await make(project, home, scopes).box(access)).hidden == (project / ".env", project / "test.env")
    settings = SandboxSettings(reveal=("test.*",))
    assert (await make(project, home, scopes, settings).box(access)).hidden == (project / ".env",)


async def test_landlock_without_namespaces_promises_no_more_than_it_keeps(
    project: Path, home: Path, scopes: Scopes
) -> None:
    git(project, "init", "-q")
    (project / ".env").write_text("x")
    findings = replace(ALL_WORK, bubblewrap="bubblewrap is not installed", mounts=False)
    sandbox = make(project, home, scopes, findings=findings)
    box = await sandbox.box(Access(hidden=(project / ".env",)))
    assert (box.rung, box.places("read", "stay"), box.hidden) == ("landlock", (), ())
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
    project: Path, home: Path, scopes: Scopes, mode: str, findings: SandboxFindings, rung: str
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
        await sandbox.box(Access(network=False))


async def test_what_was_found_out_is_remembered_and_can_be_forgotten(project: Path, home: Path, scopes: Scopes) -> None:
    data = home / "data"
    first = Sandbox(SandboxSettings(), directory=project, root=project, ours=ours_of(home, data), scopes=scopes)
    rung = await first.ready()
    kept = (data / "sandbox.json").read_text()
    second = Sandbox(SandboxSettings(), directory=project, root=project, ours=ours_of(home, data), scopes=scopes)
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


async def test_a_temporary_folder_goes_when_nobody_holds_its_lock_whatever_its_number(
    project: Path, home: Path, scopes: Scopes
) -> None:
    abandoned = home / "data" / "tmp" / f"{os.getpid()}-x"
    abandoned.mkdir(parents=True)
    first = make(project, home, scopes)
    temp = (await first.box()).temp
    assert not abandoned.exists()
    second = make(project, home, scopes)
    assert (await second.box()).temp.exists()
    assert temp.exists()


async def test_where_our_own_folder_cannot_be_written_the_systems_serves(
    project: Path, home: Path, scopes: Scopes, tmp_path: Path
) -> None:
    (home / "data").write_text("in the way")
    sandbox = Sandbox(
        SandboxSettings(),
        directory=project,
        root=project,
        ours=ours_of(home, home / "data" / "x"),
        scopes=scopes,
    )
    rung = await sandbox.ready()
    box = await sandbox.box()
    assert rung == "none" or box.temp.is_dir()
    sandbox.close()


def test_a_linked_work_tree_may_write_the_repository_it_belongs_to(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", str(linked))
    folder = git_folders.git_folder(linked)
    assert folder == main / ".git" / "worktrees" / "linked"
    assert git_folders.common_folder(folder, linked) == main / ".git"


def test_a_git_file_that_a_command_has_made_up_opens_nothing(tmp_path: Path) -> None:
    other, project = tmp_path / "other", tmp_path / "project"
    for folder in (other, project):
        folder.mkdir()
    git(other, "init", "-q")
    for named in (other / ".git", tmp_path, Path("/")):
        (project / ".git").write_text(f"gitdir: {named}\n")
        assert git_folders.git_folder(project) is None
    made_up = project / "worktrees" / "x"
    made_up.mkdir(parents=True)
    (made_up / "gitdir").write_text(f"{project / '.git'}\n")
    (made_up / "commondir").write_text(f"{other}\n")
    (project / ".git").write_text(f"gitdir: {made_up}\n")
    assert git_folders.git_folder(project) == made_up
    assert git_folders.common_folder(made_up, project) == made_up


def test_of_a_cache_only_the_stores_of_packages_are_shared(home: Path, tmp_path: Path) -> None:
    for name in (".cargo/bin", ".cargo/registry", ".cache/pip", ".cache/browsers", ".npm/_npx", ".npm/_cacache"):
        (home / name).mkdir(parents=True)
    (home / ".cargo" / "config.toml").write_text("")
    caches = cache_folders(home, tmp_path / "own", lambda _: True)
    places = {kind: [one.path for one in caches.walls if one.effect == kind] for kind in ("write", "read")}
    assert {home / ".cargo/registry", home / ".cache/pip", home / ".npm/_cacache"} <= set(places["write"])
    assert not {home / ".cargo", home / ".cache", home / ".npm"} & set(places["write"])
    assert {home / ".cargo/bin", home / ".cargo/config.toml", home / ".cache/browsers"} <= set(places["read"])
    assert Wall(home / ".cache", "own", source=tmp_path / "own" / ".cache") in caches.walls
    assert home / ".npm/_npx" not in (*places["write"], *places["read"])


def test_bubblewrap_is_told_the_order_in_which_places_cover_each_other(project: Path, tmp_path: Path) -> None:
    (project / "fixed").write_text("")
    (project / "hidden").mkdir()
    box = Box(
        rung="bubblewrap",
        walls=(Wall(project, "write"), Wall(project / "fixed", "read"), Wall(project / "hidden", "empty")),
        temp=tmp_path / "temp",
        network=False,
    )
    words = list(within(put_up(box), box, ["true"], project).argv)
    at = [words.index("--ro-bind"), words.index(str(tmp_path / "temp")), words.index(str(project))]
    at += [words.index(str(project / "fixed")), words.index(str(project / "hidden"))]
    assert at == sorted(at)
    assert "--unshare-net" in words
    assert words[-2:] == ["--", "true"]


def test_on_macos_the_last_rule_decides(project: Path, tmp_path: Path) -> None:
    box = Box(
        rung="seatbelt",
        walls=(
            Wall(project, "write"),
            Wall(project / 'a "b"', "read"),
            Wall(project / ".git", "stay"),
            Wall(project / ".env", "replace", "hidden"),
        ),
        temp=tmp_path,
        network=False,
        ports=(4096,),
    )
    held = seatbelt.profile(replace(box, network=True, doors=(4000, 5432, 8000), ports=(8000,)))
    assert held.splitlines()[-6:] == [
        '(deny network-outbound (remote ip "*:8000"))',
        "(deny network*)",
        "(allow network* (remote unix-socket) (local unix-socket))",
        '(allow network-bind network-inbound (local ip "localhost:*"))',
        '(allow network-outbound (remote ip "localhost:4000"))',
        '(allow network-outbound (remote ip "localhost:5432"))',
    ]
    devices = " ".join(f'(subpath "{device}")' for device in seatbelt.DEVICES)
    assert seatbelt.profile(box).splitlines() == [
        "(version 1)",
        "(allow default)",
        '(deny file-write* (subpath "/"))',
        f'(allow file-write* (subpath "{tmp_path}") (subpath "{project}") {devices})',
        f'(deny file-write* (subpath "{project}/a \\"b\\""))',
        f'(deny file-write-unlink (literal "{project}/.git"))',
        f'(deny file-read* file-write* (subpath "{project}/.env"))',
        '(deny network-outbound (remote ip "*:4096"))',
        "(deny network*)",
        "(allow network* (remote unix-socket) (local unix-socket))",
    ]
