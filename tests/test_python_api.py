"""The Python API, as a program uses it: everything here is public and stays."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

import pytest

from toolwright import Budget, Extension, Question, Reply, Rule, TurnResult, UsageError, open_workspace, run_sync, tool
from toolwright.models.scripted import ScriptedCall
from toolwright.session.result import TurnFinished
from toolwright.testing import ScriptedModel

READ: ScriptedCall = {"name": "read", "args": {"filePath": "a.txt"}}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "a.txt").write_text("hello\n")
    return made


@tool
def deploy(target: str, force: bool = False) -> str:
    """Deploys."""
    return f"deployed to {target}"


async def test_a_turn_is_one_result_that_counts_all_of_it(folder: Path, home: dict[str, str]) -> None:
    write: ScriptedCall = {"name": "write", "args": {"filePath": "b.txt", "content": "b\n"}}
    model = ScriptedModel({"tools": [READ, write]}, {"text": "Done."})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        result = await s.prompt("Go.")
    assert (result.text, result.error, result.refused, result.session_id) == ("Done.", None, (), s.id)
    assert [(call.tool, call.arguments, call.result.error) for call in result.calls] == [
        ("read", READ["args"], None),
        ("write", write["args"], None),
    ]
    assert "hello" in result.calls[0].result.output
    assert [change.file for change in result.changes] == [str(folder / "b.txt")]
    assert "b.txt" in repr(result.changes[0])
    assert (result.tokens.input, result.tokens.output) == (200, 20), "of both requests"
    assert result.steps == 2


async def test_several_turns_remember_each_other_and_a_system_text_holds_for_one(
    folder: Path, home: dict[str, str]
) -> None:
    model = ScriptedModel({"text": "One."}, {"text": "Two."}, {"text": "Three."})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        await s.prompt("First.")
        await s.prompt("Second.", system="Speak like a pirate.")
        await s.prompt("Third.")
    asked = [request for request in model.requests if request.settings.purpose == "main"]
    assert ["pirate" in str(request.messages[0]) for request in asked] == [False, True, False]
    assert all(word in str(asked[2].messages) for word in ("First.", "One.", "Second.", "Two."))


async def test_files_go_along_and_one_that_is_missing_is_told_before_anything_is_sent(
    folder: Path, home: dict[str, str]
) -> None:
    model = ScriptedModel({"text": "Seen."})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        with pytest.raises(UsageError, match=r"There is no file 'nope\.txt'"):
            await s.prompt("Look.", files=["nope.txt"])
        assert not model.requests
        assert (await s.prompt("Look.", files=[Path("a.txt")])).text == "Seen."
    assert "hello" in str(model.requests[0].messages)


async def test_only_the_tools_that_a_prompt_names_are_offered_and_run(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"tools": [{"name": "glob", "args": {"pattern": "*"}}, READ]}, {"text": "Done."})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        result = await s.prompt("Go.", tools=["read"])
        with pytest.raises(UsageError, match="There is no tool 'raed'"):
            await s.prompt("Go.", tools=["raed"])
    assert [spec.name for spec in model.requests[0].tools] == ["read"]
    assert [call.result.error is None for call in result.calls] == [False, True]


async def test_a_budget_of_a_prompt_ends_it(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"tools": [READ], "repeat": True})
    rules = {"doom_loop": "allow"}
    async with open_workspace(folder, model=model, environment=home, rules=rules) as w, w.session() as s:
        result = await s.prompt("Go on.", budget=Budget(steps=2))
    assert result.error is not None
    assert result.error.kind == "LimitReachedError"
    assert "2 of 2 steps" in str(result.error)
    assert result.text == ""


async def test_a_stream_ends_with_the_result(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"tools": [READ]}, {"text": "Done."})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        events = [event async for event in s.stream("Go.")]
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert last.result.text == "Done."
    assert {"message.part.delta", "message.part.updated"} <= {event.type for event in events}


async def test_a_stream_that_is_left_early_stops_its_turn_and_the_session_goes_on(
    folder: Path, home: dict[str, str]
) -> None:
    model = ScriptedModel({"text": "Slow and long.", "delay": 0.01, "repeat": 1}, {"text": "Next."})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        stream = s.stream("Go.")
        async for event in stream:
            if event.type == "message.part.delta":
                break
        await stream.aclose()
        assert not s.turns.busy
        assert (await s.prompt("And now?")).text == "Next."


class Weather(TypedDict):
    city: str
    degrees: int


@dataclass
class Point:
    x: int
    y: int


@pytest.mark.parametrize(
    ("kind", "said", "value"),
    [
        (Weather, '{"city": "Oslo", "degrees": 3}', {"city": "Oslo", "degrees": 3}),
        (Point, '```json\n{"x": 1, "y": 2}\n```', Point(1, 2)),
        ({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, '{"n": 7}', {"n": 7}),
    ],
)
async def test_an_answer_has_the_type_that_was_asked_for(
    folder: Path, home: dict[str, str], kind: Any, said: str, value: Any
) -> None:
    model = ScriptedModel({"text": said})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        result = await s.prompt("Tell.", output=kind)
    assert (result.output, result.error) == (value, None)
    assert "JSON Schema" in str(model.requests[0].messages[0])


async def test_a_wrong_answer_is_asked_for_once_more_and_no_oftener(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"text": "It is cold."}, {"text": '{"city": "Oslo"}'}, {"text": "not reached"})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        result = await s.prompt("Tell.", output=Weather)
    main = [request for request in model.requests if request.settings.purpose == "main"]
    assert len(main) == 2
    assert (result.output, result.text) == (None, "")
    assert "degrees" in str(result.error)
    assert result.tokens.input == 200


async def test_a_model_that_fails_is_an_error_of_the_result(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"error": {"kind": "auth", "message": "No key."}})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        result = await s.prompt("Go.")
    assert "No key." in str(result.error)
    assert result.text == ""


async def test_an_unknown_tool_is_an_error(folder: Path, home: dict[str, str]) -> None:
    async with open_workspace(folder, environment=home) as w:
        result = await w.call("raed", filePath="a.txt")
    assert result.error is not None
    assert result.error.kind == "unknown_tool"
    assert "Did you mean 'read'" in result.output


# Questions.


async def test_the_question_has_the_whole_call_in_it(folder: Path, home: dict[str, str]) -> None:
    asked: list[Question] = []

    async def answer(question: Question) -> str:
        asked.append(question)
        return "once"

    rules = [Rule("deploy", "*", "ask")]
    async with open_workspace(folder, tools=[deploy], rules=rules, answer=answer, environment=home) as w:
        assert (await w.call("deploy", target="production", force=True)).output == "deployed to production"
    [question] = asked
    assert (question.tool, dict(question.arguments)) == ("deploy", {"target": "production", "force": True})
    assert (question.agent, question.callers, question.permission) == ("build", (), "deploy")
    assert (question.patterns, question.always) == (("*",), ("*",))
    assert question.title
    assert question.session_id.startswith("ses_")


@pytest.mark.parametrize("said", ["once", "always", Reply(kind="once"), Reply(kind="always", scope="session")])
async def test_an_answer_may_be_a_word_or_a_reply(folder: Path, home: dict[str, str], said: Any) -> None:
    rules = {"deploy": "ask"}
    async with open_workspace(folder, tools=[deploy], rules=rules, answer=lambda _: said, environment=home) as w:
        assert (await w.call("deploy", target="x")).error is None


@pytest.mark.parametrize("said", [True, False, 1, "yes", b"once", ["once"], {"reply": "once"}])
async def test_anything_else_is_a_mistake_of_the_caller_and_nothing_is_done(
    folder: Path, home: dict[str, str], said: Any
) -> None:
    async with open_workspace(
        folder, tools=[deploy], rules={"deploy": "ask"}, answer=lambda _: said, environment=home
    ) as w:
        with pytest.raises(UsageError, match="is no answer: return a Reply or one of the words"):
            await w.call("deploy", target="x")
        assert w.inbox.pending == []


async def test_a_wrong_answer_in_a_turn_is_told_to_whoever_prompted(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"tools": [{"name": "deploy", "args": {"target": "x"}}]}, {"text": "Next."})
    async with (
        open_workspace(
            folder, tools=[deploy], rules={"deploy": "ask"}, model=model, answer=lambda _: "sure", environment=home
        ) as w,
        w.session() as s,
    ):
        with pytest.raises(UsageError, match="'sure' is no answer"):
            await s.prompt("Go.")
        assert not s.turns.busy
        assert (await s.prompt("Again.")).text == "Next."


async def test_an_answerer_that_raises_is_an_error_of_the_call(folder: Path, home: dict[str, str]) -> None:
    def answer(_: Question) -> str:
        raise RuntimeError("the phone is dead")

    async with open_workspace(folder, tools=[deploy], rules={"deploy": "ask"}, answer=answer, environment=home) as w:
        result = await w.call("deploy", target="x")
    assert result.error is not None
    assert "the phone is dead" in result.output
    assert "deploy broke" not in result.output


async def test_an_answer_may_come_later_by_id_from_another_task(folder: Path, home: dict[str, str]) -> None:
    asked = asyncio.Event()

    def later(_: Question) -> None:
        asked.set()

    async with open_workspace(folder, tools=[deploy], rules={"deploy": "ask"}, answer=later, environment=home) as w:
        call = asyncio.create_task(w.call("deploy", target="x"))
        await asked.wait()
        [question] = w.inbox.pending
        w.inbox.reply(question.id, "once")
        assert (await call).error is None
        assert w.inbox.pending == []
        with pytest.raises(UsageError, match="No question"):
            w.inbox.reply(question.id, "once")


async def test_a_cancelled_call_withdraws_its_question(folder: Path, home: dict[str, str]) -> None:
    asked = asyncio.Event()

    async def never(_: Question) -> str:
        asked.set()
        await asyncio.Event().wait()
        return "once"

    async with open_workspace(folder, tools=[deploy], rules={"deploy": "ask"}, answer=never, environment=home) as w:
        call = asyncio.create_task(w.call("deploy", target="x"))
        await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert w.inbox.pending == []


async def test_without_anybody_to_ask_the_model_is_told_so_and_goes_on(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel(
        {"tools": [{"name": "deploy", "args": {"target": "x"}}]},
        {"match": "nobody can be asked in this run", "text": "Then without it."},
    )
    async with (
        open_workspace(folder, tools=[deploy], rules={"deploy": "ask"}, model=model, environment=home) as w,
        w.session() as s,
    ):
        result = await s.prompt("Go.")
    assert (result.text, result.error) == ("Then without it.", None)
    assert [call.tool for call in result.refused] == ["deploy"]
    assert "question" not in {spec.name for spec in model.requests[0].tools}


# Rules and lifetimes.


async def test_rules_of_a_session_hold_from_the_next_call_on(folder: Path, home: dict[str, str]) -> None:
    async with open_workspace(folder, environment=home) as w, w.session() as s:
        assert (await s.call("read", filePath="a.txt")).error is None
        s.permit({"read": "deny"})
        denied = await s.call("read", filePath="a.txt")
        assert denied.error is not None
        assert denied.error.kind == "denied"
        s.permit([])
        assert (await s.call("read", filePath="a.txt")).error is None


async def test_what_a_session_started_ends_when_it_is_left(folder: Path, home: dict[str, str]) -> None:
    async with open_workspace(folder, environment=home, config={"sandbox": "off"}) as w:
        async with w.session() as s:
            await s.call("bash", command="sleep 1000 & echo $! > pid; wait", description="x", background=True)
            jobs = w.jobs
            assert jobs.running(s.id)
        assert not jobs.running(s.id)


@pytest.mark.parametrize("use", ["call", "prompt", "stream"])
async def test_a_session_that_was_left_and_a_closed_workspace_raise(
    folder: Path, home: dict[str, str], use: str
) -> None:
    async with open_workspace(folder, environment=home) as w:
        async with w.session() as s:
            pass
        with pytest.raises(UsageError, match="was left"):
            await _used(s, use)
    with pytest.raises(UsageError, match="was closed"):
        await w.call("read", filePath="a.txt")
    with pytest.raises(UsageError, match="was closed"):
        w.session()


async def _used(session: Any, use: str) -> None:
    match use:
        case "call":
            await session.call("read", filePath="a.txt")
        case "prompt":
            await session.prompt("Hi.")
        case _:
            [_ async for _ in session.stream("Hi.")]


async def test_an_earlier_session_is_gone_on_with_by_its_id(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"text": "One."}, {"text": "Two."})
    async with open_workspace(folder, model=model, environment=home, keep=True) as w, w.session(agent="plan") as s:
        await s.prompt("First.")
    async with open_workspace(folder, model=model, environment=home, keep=True) as w:
        async with w.session(id=s.id) as again:
            assert (await again.prompt("Second.")).text == "Two."
            assert again.agent == "plan"
        with pytest.raises(UsageError, match="no session"):
            async with w.session(id="ses_none"):
                pass
    assert "First." in str(model.requests[-1].messages)


def test_a_script_needs_one_line(folder: Path, home: dict[str, str]) -> None:
    result = run_sync("Hi.", folder, model=ScriptedModel({"text": "Hello."}), environment=home)
    assert isinstance(result, TurnResult)
    assert result.text == "Hello."


def test_help_shows_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import pydoc

    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    for name in ("open_workspace", "run_sync", "Workspace", "Session", "tool", "Extension"):
        import toolwright

        assert "sk-secret" not in pydoc.render_doc(getattr(toolwright, name))


async def test_reprs_are_short(folder: Path, home: dict[str, str]) -> None:
    async with open_workspace(folder, environment=home) as w, w.session() as s:
        assert len(repr(w)) < 300
        assert len(repr(s)) < 300


async def test_a_folder_that_is_none_is_told_in_words_of_python() -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        async with open_workspace("/nope"):
            pass


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rules": {"edit": "maybe"}}, "'maybe' is none of allow, ask, deny"),
        ({"rules": {"edit": {"*": "maybe"}}}, "'maybe' is none of allow, ask, deny"),
        ({"rules": [Rule("edit", "*", cast("Any", "maybe"))]}, "'maybe' is none of allow, ask, deny"),
        ({"rules": 7}, "7 is no rule"),
        ({"extensions": [3]}, "extensions= has 3"),
        ({"answer": 3}, "answer=3 cannot be asked"),
        ({"budget": 3}, "budget=3 is no budget"),
    ],
)
def test_what_a_program_gives_wrong_is_told_when_the_folder_is_opened(
    folder: Path, home: dict[str, str], given: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        open_workspace(folder, environment=home, **given)


async def test_a_script_inside_async_code_and_a_budget_that_is_none_are_told(
    folder: Path, home: dict[str, str]
) -> None:
    model = ScriptedModel({"text": "hi"})
    with pytest.raises(UsageError, match="cannot run inside async code"):
        run_sync("hello", folder, model=model, environment=home)
    wrong: Any = 3
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        with pytest.raises(UsageError, match="budget=3 is no budget"):
            await s.prompt("hello", budget=wrong)


def test_a_script_may_name_the_only_tools_that_are_offered(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"text": "hi"})
    run_sync("hello", folder, model=model, environment=home, tools=["read"])
    assert [one.name for one in model.requests[0].tools] == ["read"]


async def test_a_plain_function_may_be_asked_after_a_commit(folder: Path, home: dict[str, str]) -> None:
    extension = Extension(committed=lambda commit: f"{commit.path.name} was looked at.")
    async with open_workspace(folder, environment=home, extensions=[extension]) as w:
        result = await w.call("write", filePath="b.txt", content="b\n")
    assert "b.txt was looked at." in result.output
