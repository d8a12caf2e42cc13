"""Our own commands: one function each, listed and called from the same place by every surface."""

from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest

from tests.app.doors import Door, Place, every_door
from toolwright.app.desk import Desk, Room
from toolwright.app.line import OwnLine, PromptLine, ShellLine, meaning_of
from toolwright.app.outcome import OutputLines, Pick, text_of
from toolwright.app.own import OTHER_NAMES, own_command, own_commands
from toolwright.app.project import LocalProject
from toolwright.errors import UsageError
from toolwright.models.scripted import ScriptedTurn
from toolwright.testing import ScriptedModel, make_workspace

TURNS: list[ScriptedTurn] = [{"text": "Hello there.", "repeat": True}]
PROMPTS_ALONE = ("python", "tw run", "tw run --attach", "HTTP message", "HTTP command")
"""Doors whose lines are prompts: programs and scripts call what they want by itself."""


@every_door(*PROMPTS_ALONE)
async def test_a_command_of_ours_tells_the_same_everywhere(project: Path, door: Door) -> None:
    here = Place(project, TURNS)
    shown = await door(here, ["hello", "/cost"])
    assert "tokens in this session" in shown
    [session], _ = await here.records()
    assert session.texts == [("user", "hello"), ("assistant", "Hello there.")]


@every_door(*PROMPTS_ALONE)
async def test_a_loop_is_begun_seen_and_stopped_everywhere(project: Path, door: Door) -> None:
    here = Place(project, TURNS, {"sandbox": "off"})
    loop = "/loop 1h --times 3 --if-changed nothing.txt look"
    shown = " ".join((await door(here, ["hello", loop, "/agents", "/loop stop loop-1", "/loop"])).split())
    assert "loop-1 waiting every 1h where nothing.txt has changed: look (0 of 3 rounds)" in shown
    assert "loop-1 stopped every 1h" in shown
    [session], _ = await here.records()
    assert session.texts == [("user", "hello"), ("assistant", "Hello there.")]


@pytest.mark.parametrize("room", get_args(Room))
def test_every_command_has_a_sentence_and_one_name(room: Room) -> None:
    listed = own_commands(room)
    assert all(one.help and not one.help.endswith(".") for one in listed.values())
    assert not set(OTHER_NAMES) & set(listed)
    assert all(own_command(other, "screen") is own_command(name, "screen") for other, name in OTHER_NAMES.items())


def test_a_surface_has_what_smaller_ones_have() -> None:
    rooms = [set(own_commands(room)) for room in get_args(Room)]
    assert all(smaller < larger for smaller, larger in pairwise(rooms))
    assert {"undo", "cost"} <= rooms[0]
    assert "sessions" in rooms[1] - rooms[0]
    assert "quit" in rooms[2] - rooms[1]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hello", PromptLine),
        ("/review main", PromptLine),
        ("/cost", OwnLine),
        ("  /cost ", OwnLine),
        ("/clear", OwnLine),
        ("/mine x", PromptLine),
        ("/compact", PromptLine),
        ("/etc/passwd is a file", PromptLine),
        ("/tmp is a folder", PromptLine),
        ("!ls -l", ShellLine),
        ("!", PromptLine),
        ("! ", PromptLine),
        ("/ alone", PromptLine),
        ("/", PromptLine),
        ("a /cost", PromptLine),
    ],
)
def test_what_a_line_means(text: str, kind: type) -> None:
    meant = meaning_of(text, {"review", "mine", "compact"}, "terminal")
    assert isinstance(meant, kind)
    assert not isinstance(meant, PromptLine) or (meant.text, meant.sentence) == (text, "")


def test_what_looks_like_a_command_and_is_none_is_told() -> None:
    meant = meaning_of("/revew main", set(), "terminal")
    assert isinstance(meant, PromptLine)
    assert meant.sentence == "There is no command /revew."
    assert isinstance(meaning_of("/timeline", set(), "terminal"), PromptLine), "only a whole screen has it"


async def test_what_a_command_needs_is_said_in_a_sentence(project: Path) -> None:
    async with make_workspace(project, model=ScriptedModel(*TURNS)) as workspace:
        desk = Desk(project=LocalProject(workspace), agent="build", room="terminal")
        every = own_commands("terminal")
        with pytest.raises(UsageError, match="no session yet"):
            await every["cost"].run(desk, "")
        with pytest.raises(UsageError, match="no agent 'nobody'"):
            await every["agent"].run(desk, "nobody")
        await desk.begin()
        with pytest.raises(UsageError, match="/undo takes"):
            await every["undo"].run(desk, "half of it")
        listed = await every["agent"].run(desk, "")
        assert isinstance(listed, Pick)
        await every["agent"].run(desk, listed.entries[-1][0])
        assert desk.agent == listed.entries[-1][0]
        assert "/undo" in text_of(await every["help"].run(desk, ""))


async def test_the_context_is_told_by_what_fills_it(project: Path) -> None:
    (project / "a.txt").write_text("words " * 100)
    read: ScriptedTurn = {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}]}
    async with make_workspace(project, model=ScriptedModel(read, *TURNS)) as workspace:
        desk = Desk(project=LocalProject(workspace), agent="build")
        await desk.say("Read it")
        outcome = await own_commands("session")["context"].run(desk, "")
    assert isinstance(outcome, OutputLines)
    kinds = [line.split()[:2] for line, _ in outcome.lines if line.startswith("  ")]
    assert kinds == [["results", "of"], ["answers", "1"], ["your", "prompts"]]
