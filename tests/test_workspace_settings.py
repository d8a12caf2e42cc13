"""What a workspace makes of its settings for conversations: budgets, compaction, models, plans."""

import threading
from dataclasses import replace
from pathlib import Path

from tests.session.trial import call, calls, error_of, opened, read, says, words
from toolwright.inbox import Reply
from toolwright.models.model import AssistantMessage, ModelCall
from toolwright.models.scripted import DEFAULT_INFO, ScriptedModel
from toolwright.session.prompt import Prompt
from toolwright.session.subagents.plan_mode import AgentModes
from toolwright.session.turns.settings import CompactionSettings
from toolwright.testing import make_workspace


async def test_a_workspace_answers_a_prompt_in_a_session_of_its_own(project: Path) -> None:
    workspace = make_workspace(project, model=ScriptedModel(says("Hello.")))
    assert (await workspace.prompt("Hi")).text == "Hello."
    assert len(await workspace.sessions.listed()) == 1
    await workspace.close()


async def test_budgets_and_compaction_come_from_the_configuration(project: Path) -> None:
    config = {"budget": {"steps": 1}, "compaction": {"prune": False, "reserved": 500}}
    async with opened(project, calls(read()), config=config) as trial:
        assert trial.session.turns.settings.compaction == CompactionSettings(auto=True, prune=False, reserved=500)
        assert error_of(await trial.prompt()) == "LimitReachedError"


async def test_the_chosen_small_model_writes_the_title(project: Path) -> None:
    small = ScriptedModel(title=says("A small title"), info=replace(DEFAULT_INFO, id="small"))
    async with opened(project, says("Hello."), config={"small_model": "scripted/small"}) as trial:
        trial.workspace.connections.add("scripted/small", small)
        await trial.prompt("Hi")
        await trial.workspace.titles.settled()
        assert trial.session.conversation.info.title == "A small title"
        assert (await trial.workspace.sessions.info(trial.session.id)).title == "A small title"


async def test_a_subagent_and_a_named_session_get_no_title(project: Path) -> None:
    model = ScriptedModel(says("Hello."), says("Hello."))
    workspace = make_workspace(project, model=model)
    named = workspace.sessions.create(title="My own")
    await named.turns.answer(Prompt(text="Hi"))
    await workspace.sessions.create(parent=named).turns.answer(Prompt(text="Hi"))
    assert model.count == 2
    await workspace.close()


async def test_plans_are_written_into_the_project_if_it_has_a_history(project: Path) -> None:
    async with opened(project) as trial:
        modes = trial.workspace.modes
        assert isinstance(modes, AgentModes)
        assert not Path(modes.plan_file(trial.session.id)).is_relative_to(project)
    (project / ".git").mkdir()
    async with opened(project) as trial:
        plan = trial.workspace.modes.plan_file(trial.session.id)
        assert Path(plan).parent == project / ".toolwright" / "plans"


async def test_closing_leaves_no_thread_behind(project: Path) -> None:
    before = threading.active_count()
    for keep in (True, False):
        workspace = make_workspace(project, model=ScriptedModel(says("Hello.")), keep=keep)
        await workspace.prompt("Hi")
        await workspace.close()
    writers = [thread for thread in threading.enumerate() if thread.name == "toolwright-storage"]
    assert writers == []
    assert threading.active_count() <= before + 8, "threads of the loop's own pool may stay"


async def test_todos_of_a_workspace_that_keeps_nothing_are_in_memory(project: Path) -> None:
    async with opened(project, keep=False) as trial:
        assert await trial.workspace.todos.of("ses_1") == []


async def test_planning_and_back_by_the_users_word(project: Path) -> None:
    """71"""
    (project / ".git").mkdir()
    script = (
        calls(call("plan_enter")),
        calls(call("write", filePath="x.txt", content="x\n")),
        calls(call("plan_exit")),
        calls(call("write", filePath="y.txt", content="y\n")),
        says("Done."),
    )
    async with opened(project, *script, config={"experimental": {"plan_mode": True}}) as trial:
        trial.workspace.inbox.answer = lambda _: Reply(kind="once", answers=(("Yes",),))
        assert (await trial.prompt("Plan it first.")).text == "Done."
        assert [one.info.agent for one in trial.replies] == ["build", "plan", "plan", "build", "build"]
        offered = [{spec.name for spec in request.tools} for request in trial.requests]
        assert ["plan_exit" in names for names in offered] == [False, True, True, False, False]
        assert not (project / "x.txt").exists()
        assert (project / "y.txt").exists()
        assert len([one for one in trial.messages if one.info.role == "user"]) == 3


async def test_the_calls_inside_a_batch_are_not_taken_for_the_models_own(project: Path) -> None:
    """67, weakness 15"""
    inner = [{"tool": name, "parameters": {"filePath": "a.txt"}} for name in ("read", "nope", "batch")]
    config = {"experimental": {"batch_tool": True}}
    async with opened(project, calls(call("batch", tool_calls=inner)), says("Done."), config=config) as trial:
        await trial.prompt()
        reply = next(one for one in trial.requests[1].messages if isinstance(one, AssistantMessage))
        assert [piece.name for piece in reply.content if isinstance(piece, ModelCall)] == ["batch"]
        assert "1 of 3 calls succeeded" in words(trial.requests[1])
