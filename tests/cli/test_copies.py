"""tw copy and tw merge: work beside a project and its way back, by the command line."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Tw
from tests.outside import outside_folder
from toolwright.copies.store import Copies
from toolwright.testing import make_workspace

SHOP = "import os\n\n\ndef total(prices):\n    return sum(prices)\n"
GOES_OUT = """
for place in ("{other}", "{project}"):
    try:
        open(place + "/a.txt", "w").write("x")
    except OSError:
        pass
try:
    print("read", open("{other}/a.txt").read())
except OSError:
    pass
"""
"""Writes into another copy and the project, and reads the other copy."""
CHECK = "grep -q 'sum(prices)' shop.py"


@pytest.fixture
def shop(project: Path) -> Path:
    (project / "shop.py").write_text(SHOP)
    (project / "notes.txt").write_text("a\nb\nc\n")
    return project


def made(tw: Tw, *purpose: str) -> tuple[str, Path]:
    copy = tw("copy", "create", *purpose, "--json").json
    return copy["name"], Path(copy["folder"])


def append(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)


def test_the_work_of_two_copies_comes_back_at_once_and_one_undo_takes_it_back(tw: Tw, shop: Path) -> None:
    one, first = made(tw, "net prices")
    two, second = made(tw, "gross prices")
    append(first / "shop.py", "\n\ndef net(price):\n    return price / 1.2\n")
    append(second / "shop.py", "\n\ndef gross(price):\n    return price * 1.2\n")
    (second / "new").mkdir()
    (second / "new" / "run.sh").write_text("#!/bin/sh\n")
    (second / "new" / "run.sh").chmod(0o755)
    assert (shop / "shop.py").read_text() == SHOP
    outcome = tw("merge", one, two, "--check", CHECK)
    assert outcome.code == 0, outcome.err
    assert f"Merged {one}, {two}: 2 files." in outcome.out
    text = (shop / "shop.py").read_text()
    assert text.index("def total") < text.index("def net") < text.index("def gross")
    assert os.access(shop / "new" / "run.sh", os.X_OK)
    assert tw("undo").code == 0
    assert (shop / "shop.py").read_text() == SHOP
    assert not (shop / "new").exists()


def test_the_file_that_fails_the_check_is_named_and_the_rest_can_be_had(tw: Tw, shop: Path) -> None:
    name, folder = made(tw, "faster")
    (folder / "shop.py").write_text(SHOP.replace("sum(prices)", "max(prices)"))
    for number in range(5):
        (folder / f"more{number}.txt").write_text("more\n")
    outcome = tw("merge", name, "--check", CHECK)
    assert outcome.code == 1
    assert f"{name}: the check fails with shop.py" in outcome.err
    assert f"{name} was made for: faster" in outcome.err
    assert not (shop / "more0.txt").exists()
    assert tw("merge", name, "--check", CHECK, "--rest", "--json").json["copies"] == [
        {
            "copy": name,
            "whole": False,
            "merged": [f"more{number}.txt" for number in range(5)],
            "conflicts": [],
            "purpose": "faster",
            "guilty": ["shop.py"],
            "check": f"`{CHECK}` ended with code 1:\n[exit code 1]",
        }
    ]
    assert ((shop / "shop.py").read_text(), (shop / "more4.txt").read_text()) == (SHOP, "more\n")


def test_a_check_that_fails_before_anything_is_merged_blames_nobody(tw: Tw, shop: Path) -> None:
    name, folder = made(tw)
    (folder / "new.txt").write_text("new\n")
    outcome = tw("merge", name, "--check", "false")
    assert outcome.code == 2
    assert "The check fails in the project as it is, before anything is merged." in outcome.err
    assert not (shop / "new.txt").exists()


def test_nothing_that_a_check_leaves_behind_is_merged(tw: Tw, shop: Path) -> None:
    name, folder = made(tw)
    (folder / "new.txt").write_text("new\n")
    leaving = "echo left > left.txt; echo changed >> notes.txt; rm shop.py"
    assert tw("merge", name, "--check", leaving).code == 0
    assert sorted(one.name for one in shop.iterdir()) == ["new.txt", "notes.txt", "shop.py"]
    assert (shop / "notes.txt").read_text() == "a\nb\nc\n"


def test_a_conflict_keeps_the_copy_out_and_says_what_each_side_wanted(tw: Tw, shop: Path) -> None:
    name, folder = made(tw, "other letters")
    (folder / "notes.txt").write_text("a\nx\nc\n")
    (folder / "new.txt").write_text("new\n")
    (shop / "notes.txt").write_text("a\ny\nc\n")
    outcome = tw("merge", name)
    assert outcome.code == 1
    assert f"{name}: notes.txt: both sides change the same lines" in outcome.err
    assert not (shop / "new.txt").exists()
    assert tw("merge", name, "--rest").code == 1
    assert ((shop / "notes.txt").read_text(), (shop / "new.txt").read_text()) == ("a\ny\nc\n", "new\n")


def test_rules_about_edits_hold_for_what_is_merged(tw: Tw, shop: Path) -> None:
    name, folder = made(tw)
    (folder / "notes.txt").write_text("other\n")
    (shop / "toolwright.json").write_text(json.dumps({"permission": {"edit": {"notes.txt": "deny"}}}))
    outcome = tw("merge", name)
    assert outcome.code == 1
    assert "notes.txt" in outcome.err
    assert (shop / "notes.txt").read_text() == "a\nb\nc\n"


def test_settings_that_a_copy_has_changed_have_no_effect_while_it_is_tried_and_ask_to_be_merged(
    tw: Tw, shop: Path
) -> None:
    name, folder = made(tw)
    plugin = folder / ".toolwright" / "plugin" / "evil.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(f"open({str(shop.parent / 'PWNED')!r}, 'w').close()\n")
    assert tw("merge", name, "--check", "true").code == 1
    assert not (shop.parent / "PWNED").exists()
    assert not (shop / ".toolwright").exists()


def test_nothing_is_trusted_where_a_merge_is_tried_whatever_a_variable_says(
    tw: Tw, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = {"type": "command", "command": f"touch {shop.parent / 'PWNED'}"}
    (shop / "toolwright.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}))
    name, folder = made(tw)
    (folder / "notes.txt").write_text("other\n")
    monkeypatch.setenv("TOOLWRIGHT_TRUST", "1")
    assert tw("merge", name, "--check", "true").code == 0
    assert not (shop.parent / "PWNED").exists()


def test_a_preview_shows_the_diff_and_changes_nothing(tw: Tw, shop: Path) -> None:
    name, folder = made(tw)
    (folder / "notes.txt").write_text("a\nb\nC\n")
    assert "-c\n+C" in tw("merge", name, "--preview").out
    assert (shop / "notes.txt").read_text() == "a\nb\nc\n"


def test_a_project_that_changes_while_it_is_merged_into_is_left_alone(tw: Tw, shop: Path) -> None:
    name, folder = made(tw)
    (folder / "notes.txt").write_text("a\nb\nC\n")
    meanwhile = f"echo late > {shop / 'notes.txt'}"
    tw("config")  # the sandbox keeps commands in their copy; what changes the project is the person
    subprocess.run(["sh", "-c", meanwhile], check=True)
    outcome = tw("merge", name)
    assert outcome.code == 1
    assert (shop / "notes.txt").read_text() == "late\n"


def test_copies_are_listed_by_name_and_work_that_is_nowhere_else_is_not_dropped_unasked(tw: Tw, shop: Path) -> None:
    name, folder = made(tw, "try it")
    [listed] = tw("copy", "list", "--json").json
    assert (listed["name"], listed["purpose"], listed["number"]) == (name, "try it", 1)
    (folder / "notes.txt").write_text("other\n")
    outcome = tw("copy", "drop", name)
    assert (outcome.code, folder.exists()) == (2, True)
    assert "--force removes it" in outcome.err
    assert tw("merge", name[:-1]).code == 0
    assert tw("copy", "list", "--json").json[0]["state"] == "merged"
    assert tw("copy", "drop", name).code == 0
    assert not folder.exists()
    assert tw("copy", "diff", name).err == f"tw: There is no copy {name!r}. There are none; tw copy create makes one.\n"


def test_a_copy_can_become_a_folder_of_its_own(tw: Tw, shop: Path) -> None:
    name, folder = made(tw)
    (folder / "notes.txt").write_text("other\n")
    target = shop.parent / "kept"
    assert tw("copy", "keep", name, "--to", str(target)).code == 0
    assert (target / "notes.txt").read_text() == "other\n"
    assert tw("copy", "list", "--json").json == []


def test_a_copy_has_all_that_the_project_has_but_what_a_setting_leaves_out(tw: Tw, shop: Path, home: Path) -> None:
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    (shop / ".gitignore").write_text("build\n")
    for place in ("build", "node_modules"):
        (shop / place).mkdir()
        (shop / place / "big").write_text("big\n")
    os.mkfifo(shop / "pipe")
    (shop / "out").symlink_to("/nowhere")
    (shop / "notes.txt").chmod(0o640)
    settings = home / ".config" / "toolwright" / "toolwright.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"copies": {"leave_out": ["node_modules"]}}))
    _, folder = made(tw)
    assert sorted(one.name for one in folder.iterdir()) == [
        ".git", ".gitignore", "build", "notes.txt", "out", "shop.py"
    ]  # fmt: skip
    assert (folder / "notes.txt").stat().st_mode & 0o777 == 0o640
    assert (folder / "out").readlink() == Path("/nowhere")


def test_a_run_in_a_copy_leaves_the_project_alone_and_the_copy_for_a_merge(tw: Tw, shop: Path) -> None:
    turns = [{"tools": [{"name": "write", "args": {"filePath": "new.txt", "content": "n\n"}}]}, {"text": "Made."}]
    (shop.parent / "turns.json").write_text(json.dumps(turns))
    outcome = tw("run", "Make it", "--copy", "--model", f"scripted/{shop.parent / 'turns.json'}")
    assert outcome.code == 0, outcome.err
    assert not (shop / "new.txt").exists()
    [copy] = tw("copy", "list", "--json").json
    assert copy["purpose"] == "Make it"
    assert f"1 file changed in {copy['name']}: tw copy diff {copy['name']}, tw merge {copy['name']}" in outcome.err
    assert tw("merge", copy["name"]).code == 0
    assert (shop / "new.txt").read_text() == "n\n"


def test_a_run_in_a_copy_that_changes_nothing_leaves_none(tw: Tw, shop: Path) -> None:
    (shop.parent / "turns.json").write_text(json.dumps([{"text": "Nothing to do."}]))
    tw("run", "Look", "--copy", "--model", f"scripted/{shop.parent / 'turns.json'}")
    assert tw("copy", "list", "--json").json == []


@pytest.fixture
def ground() -> Iterator[Path]:
    with outside_folder() as folder:
        yield folder


async def test_a_command_in_a_copy_sees_neither_other_copies_nor_its_project_written(ground: Path) -> None:
    project, data = ground / "project", ground / "data"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / "a.txt").write_text("a\n")
    copies = Copies(data / "toolwright-copies")
    one, other = await copies.create(project), await copies.create(project)
    environment = {"PATH": os.environ["PATH"], "HOME": str(ground / "home"), "XDG_DATA_HOME": str(data)}
    (ground / "home").mkdir()
    async with make_workspace(one.folder, config={"permission": "allow"}, environment=environment) as workspace:
        (one.folder / "go.py").write_text(GOES_OUT.format(other=other.folder, project=project))
        result = await workspace.call("bash", command="python3 go.py; echo mine > a.txt")
        if result.metadata.get("sandbox", "none") == "none":
            pytest.skip("there is no sandbox on this machine")
    assert "read" not in result.output
    assert (one.folder / "a.txt").read_text() == "mine\n"
    assert (other.folder / "a.txt").read_text() == (project / "a.txt").read_text() == "a\n"


def scripted(project: Path, *turns: object) -> str:
    file = project.parent / "turns.json"
    file.write_text(json.dumps({"turns": list(turns)}))
    return f"scripted/{file}"


@pytest.mark.parametrize("background", [False, True])
def test_what_an_agent_has_done_in_a_copy_comes_back_at_its_end_and_undo_takes_it_back(
    tw: Tw, shop: Path, background: bool
) -> None:
    work = {"description": "Try it", "prompt": "Write it down.", "subagent_type": "general", "copy": True}
    task = {"name": "task", "args": work | ({"background": True} if background else {})}
    write = {"name": "write", "args": {"filePath": "tried.txt", "content": "tried\n"}}
    begun = [{"text": "Begun."}] if background else []
    model = scripted(
        shop,
        {"tools": [task]},
        {"tools": [write], "match": "^Write it down"},
        {"text": "Written.", "match": "^Write it down"},
        *begun,
        {"text": "All done."},
    )
    outcome = tw("run", "Try it.", "--model", model, "--yes", "--format", "json")
    assert outcome.code == 0, outcome.err
    assert (shop / "tried.txt").read_text() == "tried\n"
    assert "its work is in the project now: tried.txt." in tw("session", "export", "last").out
    assert tw("copy", "list", "--json").json == []
    assert tw("undo").code == 0
    assert not (shop / "tried.txt").exists()


def test_a_copy_gets_its_own_variables_and_is_set_up_and_taken_down(tw: Tw, shop: Path, home: Path) -> None:
    settings = home / ".config" / "toolwright"
    settings.mkdir(parents=True)
    copies = {
        "variables": {"DATABASE": "shop_{number}", "PORT": "{port}"},
        "setup": ["echo $DATABASE $PORT > database.txt"],
        "teardown": ["test -f database.txt"],
    }
    (settings / "toolwright.json").write_text(json.dumps({"sandbox": "off", "copies": copies}))
    (one, first), (two, second) = made(tw), made(tw)
    assert (first / "database.txt").read_text() == "shop_1 20100\n"
    assert (second / "database.txt").read_text() == "shop_2 20200\n"
    (second / "database.txt").unlink()
    assert "copies.teardown: `test -f database.txt` ended with 1" in tw("copy", "drop", two, one, "--force").err
    assert tw("copy", "list", "--json").json == []
    (settings / "toolwright.json").write_text(json.dumps({"sandbox": "off", "copies": {"setup": ["echo no; exit 3"]}}))
    failed = tw("copy", "create")
    assert failed.code == 2
    assert "The copy could not be set up (copies.setup): `echo no; exit 3` ended with 3:\nno" in failed.err
    assert tw("copy", "list", "--json").json == []


def test_of_several_attempts_the_one_that_the_check_prefers_is_kept(tw: Tw, shop: Path, home: Path) -> None:
    settings = home / ".config" / "toolwright"
    settings.mkdir(parents=True)
    (settings / "toolwright.json").write_text('{"sandbox": "off"}')
    work = "[ $TOOLWRIGHT_COPY_NUMBER = 1 ] && sed -i s/sum/max/ shop.py || echo new > new.txt"
    model = scripted(shop, {"tools": [{"name": "bash", "args": {"command": work}}]}, {"text": "Tried."})
    common = ("run", "Try it.", "--model", model, "--yes", "--parallel", "2", "--check", CHECK)
    outcome = tw(*common, "--format", "json")
    assert outcome.code == 0, outcome.err
    best, other = outcome.json["attempts"]
    assert (outcome.json["kept"], best["check"], best["files"]) == (best["copy"], "", ["new.txt"])
    assert other["files"] == ["shop.py"]
    assert other["check"].startswith(f"`{CHECK}` ended with code 1")
    assert [one["name"] for one in tw("copy", "list", "--json").json] == [best["copy"]]
    assert (shop / "shop.py").read_text() == SHOP
    assert tw("run", "Try.", "--model", model, "--parallel", "1").code == 2
    assert "go with --parallel" in tw("run", "Try.", "--check", "true").err


def test_a_conflict_shows_what_each_side_wanted_and_an_agent_settles_it(tw: Tw, shop: Path) -> None:
    name, folder = made(tw, "round up")
    (folder / "shop.py").write_text(SHOP.replace("sum(prices)", "round(sum(prices), 2)"))
    (shop / "shop.py").write_text(SHOP.replace("sum(prices)", "sum(prices) * 1.2"))
    both = SHOP.replace("sum(prices)", "round(sum(prices) * 1.2, 2)")
    read = {"name": "read", "args": {"filePath": "shop.py"}}
    write = {"name": "write", "args": {"filePath": "shop.py", "content": both}}
    model = scripted(shop, {"tools": [read]}, {"tools": [write]}, {"text": "Both."})
    outcome = tw("merge", name, "--settle", "--model", model, "--yes")
    assert outcome.code == 1
    assert f"what {name} wanted:" in outcome.err
    assert "+    return round(sum(prices), 2)" in outcome.err
    assert "+    return sum(prices) * 1.2" in outcome.err
    settled = next(one["name"] for one in tw("copy", "list", "--json").json if one["name"] != name)
    assert f"settled in the copy {settled}" in outcome.err
    assert tw("merge", settled, "--yes").code == 0
    assert (shop / "shop.py").read_text() == both
