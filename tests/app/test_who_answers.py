"""Who answers the next prompt: the same at every door that lets a person choose."""

from pathlib import Path

import pytest

from tests.app.doors import Door, Place, every_door
from toolwright.app.desk import Desk
from toolwright.app.models import readiness, ready_models
from toolwright.app.outcome import AtScreen, Pick
from toolwright.app.project import LocalProject
from toolwright.app.who_answers import account, connect
from toolwright.errors import UsageError
from toolwright.models.scripted import ScriptedTurn
from toolwright.testing import make_workspace

PLAN: list[ScriptedTurn] = [
    {"tools": [{"name": "plan_exit", "args": {}}]},
    {"text": "Now building."},
    {"text": "More.", "repeat": True},
]


CHOOSING = ("python", "tw run", "tw run --attach", "HTTP message", "HTTP command")
"""Doors that keep no choice between two prompts."""


@every_door(*CHOOSING)
async def test_after_an_accepted_plan_the_next_prompt_goes_to_the_agent_that_builds(project: Path, door: Door) -> None:
    here = Place(project, PLAN, agent="plan", agrees=True)
    await door(here, ["make a plan", "go on"])
    [session], _ = await here.records()
    assert [one.agent for one in session.prompts] == ["plan", "build", "build"]


@every_door(*CHOOSING)
async def test_after_a_command_of_another_agent_the_next_prompt_goes_to_the_one_chosen(
    project: Path, door: Door
) -> None:
    look = {"template": "Look", "agent": "plan"}
    here = Place(project, [{"text": "Yes.", "repeat": True}], {"command": {"look": look}})
    await door(here, ["hello", "/look", "go on"])
    [session], _ = await here.records()
    assert [one.agent for one in session.prompts] == ["build", "plan", "build"]


async def test_a_session_goes_on_with_the_account_that_was_chosen_for_it(project: Path) -> None:
    async with make_workspace(project, config={"model": "openai/gpt-5"}) as workspace:
        desk = Desk(project=LocalProject(workspace), agent="build", room="desk")
        for name in ("openai", "openai@work"):
            await desk.project.store_key(name, "a-key")
        pick = await account(desk, "")
        assert isinstance(pick, Pick)
        assert [name for name, _ in pick.entries] == ["usual", "work", "another"]
        await account(desk, "work")
        assert await desk.next_model() == "openai@work/gpt-5"
        await account(desk, "usual")
        assert await desk.next_model() == "openai/gpt-5"
        with pytest.raises(UsageError, match=r"no account 'home' at openai\. There are: usual, work"):
            await account(desk, "home")
        assert await account(desk, "another") == AtScreen(act="account", text="openai")


async def test_a_provider_is_connected_by_its_key_by_a_login_or_as_another_account(project: Path) -> None:
    async with make_workspace(project) as workspace:
        desk = Desk(project=LocalProject(workspace), agent="build", room="desk")
        assert await connect(desk, "openai") == AtScreen(act="connect", text="openai")
        ways = await connect(desk, "openrouter")
        assert isinstance(ways, Pick)
        assert [name for name, _ in ways.entries] == ["openrouter key", "openrouter login"]
        assert await connect(desk, "openrouter login") == AtScreen(act="login", text="openrouter")
        await desk.project.store_key("openai", "a-key")
        models = await connect(desk, "openai")
        assert isinstance(models, Pick)
        assert models.entries[0][0].startswith("openai/")
        assert models.entries[-1][0] == "openai account"
        assert await connect(desk, "openai@work") == AtScreen(act="connect", text="openai@work")
        with pytest.raises(UsageError, match="no provider 'nobody@work'"):
            await connect(desk, "nobody@work")


async def test_access_to_a_provider_comes_from_the_settings_a_variable_or_what_was_stored(project: Path) -> None:
    acme = {"options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "k"}, "models": {"m": {}}}
    config = {"provider": {"acme": acme, "mistral": {}}}
    async with make_workspace(project, config=config, environment={"OPENAI_API_KEY": "k"}) as workspace:
        known = {one.id: one for one in workspace.connections.catalog.providers()}

        def ready(name: str) -> tuple[bool, str]:
            return readiness(workspace, known[name])

        assert ready("acme") == (True, "config")
        assert ready("openai") == (True, "env")
        assert ready("anthropic") == (False, "custom")
        assert not [name for name in ready_models(workspace) if name.startswith("anthropic/")]
        await LocalProject(workspace).store_key("anthropic", "a-key")
        assert ready("anthropic") == (True, "api")
        assert [name for name in ready_models(workspace) if name.startswith("anthropic/")]
