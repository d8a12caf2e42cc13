"""tw agent: list, show with every rule, and create."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw

Configure = Callable[[Any], None]


def test_the_list_has_the_visible_agents_and_all_if_asked(tw: Tw) -> None:
    assert [line.split()[0] for line in tw("agent", "list").out.splitlines()] == ["build", "plan", "general", "explore"]
    names = [one["name"] for one in tw("agent", "list", "--all", "--json").json]
    assert names[-3:] == ["compaction", "title", "summary"]


def test_an_agent_is_shown_with_every_rule_and_where_it_was_written(
    tw: Tw, project: Path, configure: Configure
) -> None:
    configure('{\n  "agent": {"plan": {"temperature": 0.3, "permission": {"bash": "ask"}}}\n}')
    text = tw("agent", "show", "plan", "--trust").out
    assert text.startswith("plan  (primary)\n")
    assert "temperature: 0.3" in text
    assert f"bash *: ask   {project.resolve() / 'toolwright.json'}:2".replace("   ", " ") in " ".join(text.split())
    rules = tw("agent", "show", "plan", "--json").json["permission"]
    assert {"permission": "edit", "pattern": "*", "action": "deny", "source": "built in"} in rules


def test_an_unknown_agent_is_told_with_the_nearest(tw: Tw) -> None:
    outcome = tw("agent", "show", "biuld")
    assert outcome.code == 2
    assert outcome.err == "tw: There is no agent 'biuld'. Did you mean 'build'?\n"


def test_a_new_agent_is_a_file_that_works_at_once(tw: Tw, project: Path) -> None:
    outcome = tw(
        *("agent", "create", "team/reviewer", "--description", "Reviews: a change", "--mode", "subagent"),
        *("--deny", "edit", "--deny", "bash", "--model", "a/b"),
    )
    file = project.resolve() / ".toolwright" / "agent" / "team" / "reviewer.md"
    assert (outcome.code, outcome.out) == (0, f"{file}\n")
    shown = tw("agent", "show", "team/reviewer", "--json", "--trust").json
    assert (shown["mode"], shown["description"], shown["model"]) == ("subagent", "Reviews: a change", "a/b")
    offered = [one["id"] for one in tw("tool", "list", "--json", "--agent", "team/reviewer").json]
    assert not {"edit", "write", "bash"} & set(offered)


def test_a_trusted_project_stays_so_with_an_agent_of_the_users_own(tw: Tw) -> None:
    tw("trust")
    tw("agent", "create", "reviewer", "--description", "Reviews", "--model", "a/b")
    assert tw("trust", "--check").code == 0
    assert tw("agent", "show", "reviewer", "--json").json["model"] == "a/b"


def test_an_agent_for_all_projects_goes_to_the_users_folder(tw: Tw, home: Path) -> None:
    tw("agent", "create", "mine", "--description", "Mine", "--user")
    assert (home / ".config" / "toolwright" / "agent" / "mine.md").is_file()


def test_an_agent_that_is_there_is_not_overwritten(tw: Tw, project: Path) -> None:
    tw("agent", "create", "mine", "--description", "First")
    outcome = tw("agent", "create", "mine", "--description", "Second")
    assert outcome.code == 2
    assert "There is an agent 'mine' already" in outcome.err
    assert "First" in (project / ".toolwright" / "agent" / "mine.md").read_text()


@pytest.mark.parametrize("name", ["../evil", "Upper", "a b", "", "/abs", "a//b", "-x"])
def test_a_name_that_is_none_is_refused_and_nothing_is_written(tw: Tw, project: Path, name: str) -> None:
    outcome = tw("agent", "create", "--description", "x", "--", name)
    assert outcome.code == 2
    assert not (project / ".toolwright").exists()
