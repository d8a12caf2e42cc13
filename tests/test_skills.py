"""Where skills are found, which of two counts, and what is wrong with the others."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolwright import skills as skills_module
from toolwright.errors import ConfigError
from toolwright.skills import Skills, find_skill_files, parse_skill, skill_folders


def write(folder: Path, name: str = "tidy", description: str = "Tidy up", body: str = "Do it.") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "SKILL.md"
    file.write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n", "utf-8")
    return file


def test_the_places_from_the_weakest_to_the_strongest() -> None:
    root, home = Path("/p"), Path("/h")
    places = skill_folders(
        home=home, root=root, directory=root / "sub", config_folders=[home / ".toolwright", root / ".opencode"]
    )
    assert [str(place) for place in places] == [
        "/h/.claude/skills",
        "/h/.agents/skills",
        "/p/.claude/skills",
        "/p/.agents/skills",
        "/p/sub/.claude/skills",
        "/p/sub/.agents/skills",
        "/h/.toolwright/skill",
        "/h/.toolwright/skills",
        "/p/.opencode/skill",
        "/p/.opencode/skills",
    ]


def test_other_programs_folders_can_be_left_out() -> None:
    places = skill_folders(
        home=Path("/h"), root=Path("/p"), directory=Path("/p"), config_folders=[Path("/c")], foreign=False
    )
    assert places == [Path("/c/skill"), Path("/c/skills")]


def test_a_project_that_is_the_home_folder_is_looked_through_once() -> None:
    places = skill_folders(home=Path("/h"), root=Path("/h"), directory=Path("/h"), config_folders=[])
    assert places == [Path("/h/.claude/skills"), Path("/h/.agents/skills")]


def test_the_later_of_two_with_one_name_counts_and_a_warning_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = write(tmp_path / "user" / "tidy", description="old")
    second = write(tmp_path / "project" / "other", description="new")
    skills = Skills([tmp_path / "user", tmp_path / "project"])
    with caplog.at_level(logging.WARNING):
        assert skills.all()["tidy"].description == "new"
        skills.all()
    assert skills.warnings == (f"Two skills are named 'tidy': {second} counts, {first} does not.",)
    assert caplog.messages == list(skills.warnings)


def test_files_are_found_in_the_order_of_their_names_at_any_depth(tmp_path: Path) -> None:
    for name in ("b", "a/deep/er", "", "c/.git/x", "c/node_modules/y"):
        write(tmp_path / name)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "skill.md").touch()
    found = [str(file.relative_to(tmp_path)) for file in find_skill_files(tmp_path)]
    assert found == ["SKILL.md", "a/deep/er/SKILL.md", "b/SKILL.md"]


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "tidy")
    place = tmp_path / "skills"
    place.mkdir()
    (place / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(place)
    assert list(find_skill_files(place)) == [place / "linked" / "tidy" / "SKILL.md"]


def test_a_link_to_the_whole_disk_costs_no_more_than_a_few_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(skills_module, "MAX_FOLDERS", 5)
    for number in range(20):
        write(tmp_path / f"{number:02}")
    assert len(list(find_skill_files(tmp_path))) == 4
    assert "more than 5 folders" in caplog.text


def test_what_changes_counts_from_the_next_look_on(tmp_path: Path) -> None:
    skills = Skills([tmp_path])
    assert skills.all() == {}
    file = write(tmp_path / "tidy")
    first = skills.all()["tidy"]
    assert skills.all()["tidy"] is first
    write(tmp_path / "tidy", body="Do it well.")
    os.utime(file, ns=(1, 1))
    assert skills.all()["tidy"].body == "Do it well."
    file.unlink()
    assert skills.all() == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("just text\n", "expected `name:`"),
        ("---\nname: 42\ndescription: x\n---\n", "expected `name:`"),
        ("---\nname: ' '\ndescription: x\n---\n", "expected `name:`"),
        ('---\nname: "two\\nlines"\ndescription: x\n---\n', "expected `name:`"),
        ("---\nname: a\n---\n", "expected `description:`"),
        ("---\nname: a\ndescription: [x]\n---\n", "expected `description:`"),
        ("---\nname: [a\ndescription: x\n---\n", "Correct the lines between"),
    ],
)
def test_a_file_without_name_or_description_is_no_skill(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        parse_skill(text, Path("/p/SKILL.md"))
    assert "/p/SKILL.md" in str(caught.value)


def test_a_colon_in_a_description_needs_no_quotes() -> None:
    skill = parse_skill("---\nname: a\ndescription: Use when: always\n---\nBody\n", Path("/p/SKILL.md"))
    assert (skill.description, skill.body, skill.folder) == ("Use when: always", "Body", Path("/p"))


def test_broken_files_do_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skills_module, "MAX_BYTES", 200)
    write(tmp_path / "good")
    for name, data in {"head": b"---\nname: [\n---\n", "latin": b"---\nname: \xe4\n---\n", "long": b"x" * 300}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_bytes(data)
    (tmp_path / "folder" / "SKILL.md").mkdir(parents=True)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "SKILL.md").symlink_to(tmp_path / "nowhere")
    skills = Skills([tmp_path])
    assert list(skills.all()) == ["tidy"]
    assert len(skills.warnings) == 5
    assert all(warning.startswith(f"A skill is left out. {tmp_path}/") for warning in skills.warnings)


def test_a_workspace_without_skills_never_loads_yaml(tmp_path: Path) -> None:
    check = "import sys; from pathlib import Path; from toolwright.skills import Skills; import toolwright.tools.skill"
    check += "; assert Skills([Path(sys.argv[1])]).all() == {}; assert 'yaml' not in sys.modules"
    subprocess.run([sys.executable, "-c", check, str(tmp_path)], check=True)
