"""The skill tool, through the door."""

import json
from pathlib import Path

import pytest

from tests.files.tool_case import lay_out, rows
from tests.tools.doubles import make_doubles
from toolwright.permission.rules import Rule
from toolwright.protocols.json_types import Json
from toolwright.tools.skill import skill

TIDY = "---\nname: tidy\ndescription: Tidy up\n---\n\nDo the thing.\n"


@pytest.mark.parametrize("row", list(rows("skills")), ids=lambda row: f"{row['id']} {row['note']}")
async def test_recorded_rows(project: Path, row: Json) -> None:
    lay_out(project, row["files"])
    (project / ".git").mkdir()
    (project / "opencode.json").write_text(json.dumps(row.get("config", {})), "utf-8")
    doubles = make_doubles(project, skill, replies=["once"])
    shown = await doubles.shown(skill)
    result = await doubles.run("skill", **row["args"])

    listing = shown.description.partition("Skills:\n")[2]
    expected = [f"- {one['name']}: {one['description'].strip()}" for one in row["offered"]]
    assert listing == ("\n".join(expected) or "(none at present)")
    asked = doubles.permissions.questions
    assert [(one.permission, one.patterns, one.always, list(one.metadata)) for one in asked] == [
        (one["permission"], tuple(one["patterns"]), tuple(one["always"]), one["metadata_keys"]) for one in row["asked"]
    ]
    if row["outcome"] == "error":
        assert result.error is not None
        assert result.error.kind == row["error_kind"]
        return
    folder = row["dir"].replace("{project}", str(project))
    assert result.metadata["name"] == row["name"]
    assert result.metadata["dir"] == folder
    assert result.output == f"# Skill: {row['name']}\n\nBase directory: {folder}\n\n{row['body_after_header']}"
    assert result.title == f"Loaded skill: {row['name']}"


async def test_an_unknown_name_is_answered_with_the_names_this_agent_may_load(project: Path) -> None:
    lay_out(project, {f".toolwright/skill/{name}/SKILL.md": TIDY.replace("tidy", name) for name in ("a", "b", "c")})
    doubles = make_doubles(project, skill, rules=[Rule("skill", "b", "deny")])
    result = await doubles.run("skill", name="nope")
    assert result.output == "There is no skill 'nope'. There are: a, c."


async def test_without_any_skill_the_answer_says_so(project: Path) -> None:
    result = await make_doubles(project, skill).run("skill", name="nope")
    assert result.output == "There is no skill 'nope'. There are none; go on without."


async def test_our_folder_counts_over_the_references_and_the_project_over_the_home(project: Path) -> None:
    home = project.parent / f"{project.name}.home"
    lay_out(home, {".agents/skills/t/SKILL.md": TIDY, ".claude/skills/mine/SKILL.md": TIDY.replace("tidy", "mine")})
    places = {".opencode/skill/t/SKILL.md": "theirs", ".toolwright/skills/t/SKILL.md": "ours"}
    lay_out(project, {path: TIDY.replace("Do the thing.", body) for path, body in places.items()})
    doubles = make_doubles(project, skill)
    assert (await doubles.run("skill", name="tidy")).output.endswith("ours")
    assert (await doubles.run("skill", name="mine")).metadata["dir"] == str(home / ".claude/skills/mine")


async def test_a_description_cannot_pass_for_another_entry(project: Path) -> None:
    text = '---\nname: a\ndescription: "one\\n- b: $skills two"\n---\n'
    lay_out(project, {".toolwright/skill/a/SKILL.md": text, ".toolwright/skill/z/SKILL.md": _long("z")})
    shown = await make_doubles(project, skill).shown(skill)
    *_, first, second = shown.description.splitlines()
    assert first == "- a: one - b: $skills two"
    assert second.endswith("...")
    assert len(second) == len("- z: ") + 1024


def _long(name: str) -> str:
    return f"---\nname: {name}\ndescription: {'word ' * 1000}\n---\n"


async def test_a_name_that_would_approve_others_too_is_never_approved_for_good(project: Path) -> None:
    lay_out(project, {".toolwright/skill/a/SKILL.md": '---\nname: "a*"\ndescription: x\n---\n'})
    doubles = make_doubles(project, skill, rules=[Rule("skill", "*", "ask")], replies=["once"])
    result = await doubles.run("skill", name="a*")
    assert result.error is None
    assert doubles.permissions.questions[0].always == ()
