"""What is meant by a name or by the letters of one, and what of a conversation is offered for copying."""

from pathlib import Path

import pytest

from toolwright.app.background import AgentAtWork, agent_meant
from toolwright.app.copying import passages_of
from toolwright.app.desk import Desk
from toolwright.app.outcome import Pick
from toolwright.app.project import LocalProject
from toolwright.app.runs import BackgroundRun, Runs
from toolwright.app.who_answers import variant
from toolwright.errors import UsageError
from toolwright.models.scripted import ScriptedTurn
from toolwright.testing import ScriptedModel, make_workspace

AGENTS = [
    AgentAtWork(session=f"ses_{name}", name=name, agent="general", title="x", state="working")
    for name in ("quiet-fox", "quiet-fox-2", "tall-oak")
]


def test_an_agent_in_the_background_is_meant_by_its_name_or_by_a_beginning_that_no_other_has() -> None:
    assert [agent_meant(AGENTS, name).name for name in ("quiet-fox", "quiet-fox-", "tall")] == [
        "quiet-fox",
        "quiet-fox-2",
        "tall-oak",
    ]
    with pytest.raises(UsageError, match=r"^Several agents begin with 'quiet': quiet-fox, quiet-fox-2\.$"):
        agent_meant(AGENTS, "quiet")
    with pytest.raises(UsageError, match=r"begins with 'x': quiet-fox, quiet-fox-2, tall-oak\.$"):
        agent_meant(AGENTS, "x")


def test_who_names_no_run_is_told_which_there_are(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs.json")
    for name in ("quiet-heron", "quiet-fox"):
        runs.put(BackgroundRun(session=f"ses_{name}", name=name, directory="/p", began=0))
    with pytest.raises(UsageError, match=r"There is no run 'x'\. There are: quiet-heron, quiet-fox\."):
        runs.named("x")


async def test_a_file_whose_name_has_the_letters_as_they_were_typed_comes_before_others(project: Path) -> None:
    for name in ("m-a-i-n.py", "sub/the_main.py", "aa/m_a_in.py", "sub/main/x.txt"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    async with make_workspace(project) as workspace:
        here = LocalProject(workspace)
        found = await here.files("main")
        below = await here.files("sub/main")
    assert found[0] == "sub/the_main.py"
    assert set(found) == {"sub/the_main.py", "m-a-i-n.py", "aa/m_a_in.py"}
    assert below == ["sub/the_main.py"]


async def test_only_what_commands_have_printed_is_offered_for_copying(project: Path) -> None:
    (project / "a.txt").write_text("content")
    turn: ScriptedTurn = {
        "tools": [
            {"name": "read", "args": {"filePath": "a.txt"}},
            {"name": "bash", "args": {"command": "echo printed", "description": "Print"}},
            {"name": "bash", "args": {"command": 3}},
        ]
    }
    async with make_workspace(project, model=ScriptedModel(turn, {"text": "Done."})) as workspace:
        desk = Desk(project=LocalProject(workspace), agent="build")
        await desk.say("Go")
        offered = list(passages_of(await desk.project.messages(desk.require_session().id)))
    assert [(label.split()[0], text) for label, text in offered] == [
        ("answer", "Done."),
        ("output", "printed"),
        ("prompt", "Go"),
    ]


async def test_the_effort_of_a_models_reasoning_is_listed_chosen_and_given_up_again(project: Path) -> None:
    async with make_workspace(project, config={"model": "openai/gpt-5"}) as workspace:
        desk = Desk(project=LocalProject(workspace), agent="build")
        listed = await variant(desk, "")
        assert isinstance(listed, Pick)
        assert (listed.chosen, listed.entries[0][0]) == ("usual", "usual")
        effort = listed.entries[-1][0]
        await variant(desk, effort)
        assert desk.variant == effort
        again = await variant(desk, "")
        assert isinstance(again, Pick)
        assert again.chosen == effort
        await variant(desk, "usual")
        assert desk.variant == ""
        with pytest.raises(UsageError, match=f"There is no variant 'none-such'. There are: .*{effort}"):
            await variant(desk, "none-such")
    async with make_workspace(project) as workspace:
        with pytest.raises(UsageError, match="has no reasoning effort to choose"):
            await variant(Desk(project=LocalProject(workspace), agent="build"), "high")
