"""A project as surfaces see it, in this process and on a server: the same for both."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path

import pytest

from toolwright.app.project import LocalProject, Project, answer_later
from toolwright.calls.parts import ToolPart
from toolwright.errors import UsageError
from toolwright.events import PartUpdated, PermissionAsked
from toolwright.inbox import Reply
from toolwright.models.scripted import ScriptedTurn
from toolwright.session.prompt import Prompt
from toolwright.session.undo.file_back import NothingToUndo, Selection
from toolwright.testing import ScriptedModel, make_workspace

CONFIG = {"permission": {"bash": {"rm *": "ask"}}, "command": {"hi": {"template": "Say $1"}}}
Opening = Callable[..., AbstractAsyncContextManager[Project]]


@asynccontextmanager
async def in_this_process(project: Path, *turns: ScriptedTurn) -> AsyncIterator[Project]:
    async with make_workspace(project, model=ScriptedModel(*turns), user=answer_later, config=CONFIG) as workspace:
        yield LocalProject(workspace)


@asynccontextmanager
async def on_a_server(project: Path, *turns: ScriptedTurn) -> AsyncIterator[Project]:
    pytest.importorskip("uvicorn", reason="the server's parts are an extra")
    from tests.server.harness import TOKEN, served
    from toolwright.client import Client
    from toolwright.client.remote import RemoteProject

    async with served(project, *turns, config=CONFIG) as server:
        remote = await RemoteProject.open(Client(server.url, token=TOKEN))
        try:
            yield remote
        finally:
            await remote.close()


@pytest.fixture(params=[in_this_process, on_a_server], ids=["local", "remote"])
def opened(request: pytest.FixtureRequest) -> Opening:
    found: Opening = request.param
    return found


def write(name: str, content: str) -> ScriptedTurn:
    return {"tools": [{"name": "write", "args": {"filePath": name, "content": content}}]}


async def test_a_question_is_found_explained_and_answered_by_its_id(project: Path, opened: Opening) -> None:
    turn: ScriptedTurn = {"tools": [{"name": "bash", "args": {"command": "rm -f gone", "description": "Remove"}}]}
    async with opened(project, turn, {"text": "Removed."}) as one:
        session = await one.begin()
        events = one.follow()
        asking = asyncio.create_task(one.prompt(session.id, Prompt(text="Remove it")))
        async for event in events:
            if isinstance(event, PermissionAsked):
                break
        [question] = await one.questions()
        assert question.tool == "bash"
        assert any("rm *" in line for line in await one.explained(question))
        assert (await one.tried(question, ["rm -f gone"])).settles
        assert "word for word" in (await one.tried(question, ["rm *"])).reason
        await one.reply(question.id, Reply(kind="once"))
        assert (await asking).text == "Removed."
        assert await one.questions() == []


async def test_turns_are_undone_one_after_the_other_and_the_last_undo_is_undone(project: Path, opened: Opening) -> None:
    said: list[ScriptedTurn] = [{"text": "One."}, {"text": "Two."}, {"text": "Three."}]
    turns = (write("a.txt", "a"), said[0], said[1], write("b.txt", "b"), said[2])
    async with opened(project, *turns) as one:
        session = await one.begin()
        for words in ("first", "second", "third"):
            await one.prompt(session.id, Prompt(text=words))
        assert {Path(plan.path).name for plan in await one.changes(session.id)} == {"a.txt", "b.txt"}
        assert [plan.kind for plan in await one.undo(session.id, Selection(), preview=True)] == ["delete"]
        assert (project / "b.txt").exists()

        await one.undo(session.id, Selection())
        assert not (project / "b.txt").exists()
        assert await one.undo(session.id, Selection(), preview=True) == []
        assert await one.undo(session.id, Selection()) == [], "the second turn has changed nothing"
        assert [message.text for message in await one.messages(session.id)][-1] == "One."
        await one.undo(session.id, Selection())
        assert not (project / "a.txt").exists()
        for nothing in (Selection(), Selection(file="c.txt"), Selection(call="call_none")):
            for preview in (True, False):
                with pytest.raises(NothingToUndo):
                    await one.undo(session.id, nothing, preview=preview)
        await one.redo(session.id)
        assert (project / "a.txt").read_text() == "a"


async def test_what_there_is(project: Path, opened: Opening) -> None:
    async with opened(project, {"text": "Hello.", "usage": {"input": 100, "output": 10}}) as one:
        session = await one.begin()
        await one.prompt(session.id, Prompt(text="Hi"))
        use = await one.use_of(session.id)
        assert (use.tokens, use.context, use.limit) == (110, 110, 200_000)
        assert "build" in [agent.name for agent in await one.agents()]
        assert "bash" in [name for name, _ in await one.tools("build")]
        assert {"hi", "init", "review"} <= {command.name for command in await one.commands()}
        assert [info.id for info in await one.sessions(5)] == [session.id]
        assert any(name.startswith("anthropic/") for name in await one.models())


async def test_an_agent_at_work_is_told_something_before_its_next_step(project: Path, opened: Opening) -> None:
    wait: ScriptedTurn = {"tools": [{"name": "bash", "args": {"command": "until [ -e go ]; do sleep 0.02; done"}}]}
    async with opened(project, wait, {"text": "Heard.", "match": "use tabs"}, {"text": "Not heard."}) as one:
        session = await one.begin()
        assert not await one.steer(session.id, "too early"), "nobody is at work"
        events = one.follow()
        asking = asyncio.create_task(one.prompt(session.id, Prompt(text="Begin")))
        async for event in events:
            if isinstance(event, PartUpdated) and isinstance(event.part, ToolPart):
                break
        assert await one.steer(session.id, "use tabs")
        (project / "go").touch()
        assert (await asking).text == "Heard."
        assert [message.text for message in await one.messages(session.id) if message.info.role == "user"] == [
            "Begin",
            "use tabs",
        ]


async def test_hunks_are_undone_one_by_one_and_the_rest_with_their_turn(project: Path, opened: Opening) -> None:
    before = "".join(f"{number}\n" for number in range(40))
    (project / "long.txt").write_text(before)
    after = before.replace("\n5\n", "\nfive\n").replace("\n30\n", "\nthirty\n")
    reading: ScriptedTurn = {"tools": [{"name": "read", "args": {"filePath": "long.txt"}}]}
    async with opened(project, reading, write("long.txt", after), {"text": "Done."}) as one:
        session = await one.begin()
        await one.prompt(session.id, Prompt(text="Change it"))
        first = Selection(file="long.txt", hunks=("1",))
        [plan] = await one.undo(session.id, first, preview=True)
        assert plan.counts() == (1, 1)
        await one.undo(session.id, first)
        assert (project / "long.txt").read_text() == before.replace("\n30\n", "\nthirty\n")
        await one.redo(session.id)
        assert (project / "long.txt").read_text() == after
        await one.undo(session.id, first)
        await one.undo(session.id, Selection())
        assert (project / "long.txt").read_text() == before
        with pytest.raises(UsageError, match="There is nothing to undo"):
            await one.undo(session.id, Selection(file="long.txt", hunks=("9",)))


def picture(project: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in project.iterdir() if path.suffix == ".txt"}


@pytest.mark.parametrize("seed", range(4))
async def test_as_many_redos_as_undos_lead_back_through_every_state_in_between(
    project: Path, opened: Opening, seed: int
) -> None:
    lines = [f"{number}\n" for number in range(40)]
    (project / "long.txt").write_text("".join(lines))
    changed = "".join("x" + line if at in (5, 20, 35) else line for at, line in enumerate(lines))
    reading: ScriptedTurn = {"tools": [{"name": "read", "args": {"filePath": "long.txt"}}]}
    turns: tuple[ScriptedTurn, ...] = (
        write("a.txt", "1"),
        {"text": "One."},
        reading,
        write("long.txt", changed),
        write("b.txt", "2"),
        {"text": "Two."},
        {"text": "Only words."},
        write("a.txt", "3"),
        {"text": "Three."},
    )
    chance = random.Random(seed)
    async with opened(project, *turns) as one:
        session = await one.begin()
        for prompt in ("first", "second", "third", "fourth"):
            await one.prompt(session.id, Prompt(text=prompt))

        async def state() -> tuple[dict[str, str], list[str]]:
            return picture(project), [message.text for message in await one.messages(session.id)]

        written = (part for message in await one.messages(session.id) for part in message.calls)
        calls = [part.call_id for part in written if part.tool == "write"]
        choices = [
            Selection(),
            Selection(file="b.txt"),
            *(Selection(call=call) for call in calls),
            *(Selection(file="long.txt", hunks=(number,)) for number in "123"),
        ]
        states = [await state()]
        for _ in range(8):
            with suppress(UsageError):
                await one.undo(session.id, chance.choice(choices))
                states.append(await state())
        assert len(states) > 2
        for wanted in reversed(states[:-1]):
            await one.redo(session.id)
            assert await state() == wanted
        with pytest.raises(UsageError, match="Nothing was undone"):
            await one.redo(session.id)


async def test_a_file_undone_after_a_turn_leaves_the_turn_undone(project: Path, opened: Opening) -> None:
    turns = (write("a.txt", "a"), {"text": "One."}, write("b.txt", "b"), {"text": "Two."})
    async with opened(project, *turns) as one:
        session = await one.begin()
        await one.prompt(session.id, Prompt(text="first"))
        await one.prompt(session.id, Prompt(text="second"))
        await one.undo(session.id, Selection())
        await one.undo(session.id, Selection(file="a.txt"))
        assert picture(project) == {}
        assert [message.text for message in await one.messages(session.id) if message.text] == ["first", "One."]
