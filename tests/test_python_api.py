"""The Python API, as a program uses it: everything here is public and stays."""

import asyncio
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

import pytest

from toolwright import (
    Budget,
    ConfigError,
    Extension,
    Hook,
    Question,
    Reply,
    Rule,
    StructuredOutputError,
    TextDelta,
    Tool,
    ToolError,
    TurnResult,
    UsageError,
    open_workspace,
    run_sync,
    tool,
)
from toolwright.models.scripted import ScriptedCall
from toolwright.session.prompt import Prompt
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


def writing(name: str, content: str) -> ScriptedCall:
    return {"name": "write", "args": {"filePath": name, "content": content}}


def delegating(agent: str) -> ScriptedCall:
    return {"name": "task", "args": {"description": "Help", "prompt": "Help.", "subagent_type": agent}}


async def test_the_changes_are_those_of_the_turn_and_of_no_earlier_one(folder: Path, home: dict[str, str]) -> None:
    async def prompted(session_id: str, *calls: ScriptedCall) -> tuple[str, list[Any]]:
        model = ScriptedModel({"tools": list(calls)} if calls else {"text": "Nothing to do."}, {"text": "Done."})
        async with (
            open_workspace(folder, model=model, environment=home, keep=True) as w,
            w.session(id=session_id) as s,
        ):
            changes = (await s.prompt("Go.")).changes
            return s.id, sorted((Path(one.file).name, one.before, one.after) for one in changes)

    session, first = await prompted("", writing("x.txt", "1\n"), writing("y.txt", "1\n"))
    assert first == [("x.txt", "", "1\n"), ("y.txt", "", "1\n")]
    assert (await prompted(session))[1] == []
    again = READ | {"args": {"filePath": "x.txt"}}
    assert (await prompted(session, again, writing("x.txt", "2\n")))[1] == [("x.txt", "1\n", "2\n")]


async def test_a_turn_that_goes_on_counts_what_it_has_changed_before_it_was_broken_off(
    folder: Path, home: dict[str, str]
) -> None:
    model = ScriptedModel(
        {"tools": [writing("x.txt", "1\n")]},
        {"text": "Done."},
        {"tools": [writing("y.txt", "1\n")]},
        {"error": {"kind": "auth", "message": "No key."}},
        {"text": "Done."},
    )
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        turns = [await s.prompt("First."), await s.prompt("Second."), await s.go_on()]
    assert [[Path(one.file).name for one in turn.changes] for turn in turns] == [["x.txt"], ["y.txt"], ["y.txt"]]
    assert [turn.error is None for turn in turns] == [True, False, True]


async def test_what_subagents_change_at_any_depth_is_among_the_changes(folder: Path, home: dict[str, str]) -> None:
    agents: dict[str, dict[str, Any]] = {
        name: {"description": name, "mode": "subagent", "permission": {"task": "allow"}} for name in ("one", "two")
    }
    model = ScriptedModel(
        {"tools": [delegating("one")]},
        {"tools": [delegating("two")]},
        {"tools": [writing("deep.txt", "x\n")]},
        default={"text": "Done."},
    )
    extension = Extension(agents=agents)
    async with open_workspace(folder, model=model, environment=home, extensions=[extension]) as w:
        result = await w.prompt("Go.")
    assert [Path(one.file).name for one in result.changes] == ["deep.txt"]


@pytest.mark.parametrize(
    ("permission", "kind"),
    [({"edit": "deny"}, "denied"), ({"edit": {"bad.txt": "deny"}}, "denied"), ({"edit": "ask"}, "rejected")],
)
async def test_what_subagents_were_refused_is_refused(
    folder: Path, home: dict[str, str], permission: dict[str, Any], kind: str
) -> None:
    agents: dict[str, dict[str, Any]] = {
        "top": {"description": "top", "mode": "subagent", "permission": {"task": "allow"}},
        "low": {"description": "low", "mode": "subagent", "permission": permission},
    }
    model = ScriptedModel(
        {"tools": [delegating("top")]},
        {"tools": [delegating("low")]},
        {"tools": [writing("bad.txt", "x\n")]},
        default={"text": "Done."},
    )
    async with open_workspace(folder, model=model, environment=home, extensions=[Extension(agents=agents)]) as w:
        result = await w.prompt("Go.")
    [refused] = result.refused
    assert (refused.tool, refused.arguments["filePath"]) == ("write", "bad.txt")
    assert refused.result.error is not None
    assert refused.result.error.kind == kind
    assert refused.session_id not in ("", result.session_id)
    assert [call.tool for call in result.calls] == ["task"]


async def test_a_turn_that_a_persons_no_has_ended_says_so(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"tools": [writing("b.txt", "b\n")]}, {"text": "Never said."})
    rules = {"edit": "ask"}
    async with open_workspace(folder, model=model, environment=home, rules=rules, answer=lambda _: "reject") as w:
        result = await w.prompt("Go.")
    assert (result.text, result.error, result.finish) == ("", None, "refused")
    assert [call.tool for call in result.refused] == ["write"]


async def test_a_call_of_an_unknown_tool_has_failed_under_the_name_that_was_called(
    folder: Path, home: dict[str, str]
) -> None:
    unknown: ScriptedCall = {"name": "teleport", "args": {"to": "Rome"}}
    broken: ScriptedCall = {"name": "read", "raw": '{"filePath": '}
    model = ScriptedModel({"tools": [unknown, broken]}, {"text": "Done."})
    async with open_workspace(folder, model=model, environment=home, rules={"websearch": "deny"}) as w:
        result = await w.prompt("Go.", tools=["read", "glob"])
    assert [(call.tool, call.result.error and call.result.error.kind) for call in result.calls] == [
        ("teleport", "unknown_tool"),
        ("read", "schema"),
    ]
    assert "There is no tool 'teleport'. There are: read, glob." in result.calls[0].result.output


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
    assert (result.error.kind, result.error.name) == ("limit", "LimitReachedError")
    assert "2 of 2 steps" in str(result.error)
    assert result.text == ""


async def test_a_stream_that_is_left_early_stops_its_turn_and_the_session_goes_on(
    folder: Path, home: dict[str, str]
) -> None:
    model = ScriptedModel({"text": "Slow and long.", "delay": 0.01, "repeat": 1}, {"text": "Next."})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        stream = s.stream("Go.")
        async for event in stream:
            if isinstance(event, TextDelta):
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
        result: TurnResult[Any] = await s.prompt("Tell.", output=Weather)
    main = [request for request in model.requests if request.settings.purpose == "main"]
    assert len(main) == 2
    assert not result.output
    assert not result.text
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


def failing(_: Question) -> str:
    raise RuntimeError("the phone is dead")


def not_fitting(_: Question) -> Reply:
    return Reply(kind="always", patterns=("npm *",))


def misspelt(_: Question) -> Reply:
    return Reply(kind=cast("Any", "yes"))


ANSWERERS = [
    (failing, r"answer= failed at .*, so nothing was done: RuntimeError: the phone is dead"),
    (not_fitting, r"The answer to .* does not fit: npm \* would not answer this question; there is \*\."),
    (misspelt, r"The answer to .* does not fit: Reply\(kind='yes'\): kind is one of once, always, reject"),
]


@pytest.mark.parametrize(("answer", "told"), ANSWERERS)
async def test_a_mistake_in_answer_is_told_to_the_program_and_nothing_is_done(
    folder: Path, home: dict[str, str], answer: Any, told: str
) -> None:
    call: ScriptedCall = {"name": "batch", "args": {"tool_calls": [{"tool": "deploy", "parameters": {"target": "x"}}]}}
    single: ScriptedCall = {"name": "deploy", "args": {"target": "x"}}
    model = ScriptedModel(
        {"tools": [call, call]}, {"tools": [delegating("general")]}, {"tools": [single]}, {"text": "Next."}
    )
    done: list[str] = []

    @tool(id="deploy")
    def counting(target: str) -> str:
        """Deploys."""
        done.append(target)
        return ""

    config = {"experimental": {"batch_tool": True}, "permission": {"deploy": "ask"}}
    async with (
        open_workspace(folder, tools=[counting], config=config, answer=answer, model=model, environment=home) as w,
        w.session() as s,
    ):
        with pytest.raises(UsageError, match=told):
            await w.call("deploy", target="x")
        with pytest.raises(UsageError, match=told):
            await s.prompt("Go.")
        with pytest.raises(UsageError, match=told):
            await s.prompt("Let somebody else go.")
        assert (await s.prompt("Again.")).text == "Next."
        assert w.inbox.pending == []
    assert done == []


async def test_what_an_answerer_says_to_the_model_is_a_tool_error(folder: Path, home: dict[str, str]) -> None:
    def gone(_: Question) -> str:
        raise ToolError("Whoever decides has left.", "aborted")

    async with open_workspace(folder, tools=[deploy], rules={"deploy": "ask"}, answer=gone, environment=home) as w:
        result = await w.call("deploy", target="x")
    assert (result.output, result.error and result.error.kind) == ("Whoever decides has left.", "aborted")


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


def test_help_of_open_workspace_shows_what_is_used_and_nothing_else() -> None:
    import pydoc

    told = pydoc.plain(pydoc.render_doc(open_workspace))
    signature = inspect.signature(open_workspace)
    assert "answer" in signature.parameters
    about = told.partition("path  ")[2].partition("What the workspace")[0]
    named = {name.strip() for line in about.split("\n") for name in line[:23].split(",")}
    assert signature.parameters.keys() - {"path"} <= named
    for inner in ("owner", "scopes", "hosts", "titles", "_join", "Methods defined here"):
        assert f" {inner}" not in told


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
        ({"rules": {"bahs": "deny"}}, "rules= has a rule about 'bahs'; did you mean 'bash'?"),
        ({"rules": {"web_fetch": "deny"}}, "rules= has a rule about 'web_fetch'; did you mean 'webfetch'?"),
        ({"rules": [Rule("edt", "*", "deny")]}, "rules= has a rule about 'edt'; did you mean 'edit'?"),
        ({"rules": {"deplyo": "deny"}, "tools": [deploy]}, "rules= has a rule about 'deplyo'; did you mean 'deploy'?"),
        ({"config": {"permission": {"bahs": "deny"}}}, "config= has a rule about 'bahs'; did you mean 'bash'?"),
        ({"config": {"agent": {"x": {"permission": {"raed": "deny"}}}}}, "config= has a rule about 'raed'"),
        ({"config": {"modle": "x"}}, "config=: unknown key 'modle'; did you mean 'model'?"),
        ({"config": {"sandbox": {"mod": "off"}}}, "config=: unknown key 'sandbox.mod'; did you mean 'mode'?"),
        ({"config": {"agent": {"x": {"permision": {}}}}}, "config=: unknown key 'agent.x.permision'"),
        ({"extensions": [3]}, "extensions= has 3"),
        ({"extensions": Extension()}, r"write extensions=\[\.\.\.\]"),
        ({"tools": deploy}, r"write tools=\[\.\.\.\]"),
        ({"tools": "read"}, "tools='read' is no list"),
        ({"tools": [3]}, "A tool is a function or a Tool, not int: 3"),
        ({"tools": [deploy, deploy]}, "tools= has two tools called 'deploy'"),
        ({"hooks": [deploy]}, "is no hook"),
        ({"answer": 3}, "answer=3 cannot be asked"),
        ({"budget": 3}, "budget=3 is no budget"),
        ({"budget": {"stepz": 1}}, "budget= has 'stepz', which is no limit. There are: steps, tokens, cost, seconds"),
        ({"budget": {"steps": "x"}}, "A budget has steps='x': give a whole number of more than 0"),
        ({"model": object()}, r"model=<object.*> is no model, for it has no info"),
        ({"model": ScriptedModel}, "model= is the class ScriptedModel: make one of it"),
        ({"store": "x.db"}, "store='x.db' is no store, for it has no .*keep=True"),
        ({"client": "web"}, "client='web' is none of cli, app, desktop, acp, api"),
        ({"config": [1]}, r"config=\[1\] is no dict of settings"),
        ({"environment": {"HOME": 3}}, "environment= is no dict of texts"),
        ({"trust": "no"}, "trust='no' is neither on nor off: give True or False"),
        ({"keep": 1}, "keep=1 is neither on nor off"),
        ({"agent": 3}, "agent=3 is no agent"),
        ({"agent": "biuld"}, "There is no agent 'biuld'. Did you mean 'build'?"),
        ({"agent": "explore"}, "agent='explore' is a subagent, which takes no prompts itself. There are: build, plan"),
    ],
)
def test_what_a_program_gives_wrong_is_told_when_the_folder_is_opened(
    folder: Path, home: dict[str, str], given: dict[str, Any], told: str
) -> None:
    with pytest.raises((UsageError, ConfigError), match=told):
        open_workspace(folder, **({"environment": home} | given))


def test_rules_may_name_what_servers_files_and_plugins_bring_later(folder: Path, home: dict[str, str]) -> None:
    (folder / ".toolwright" / "tool").mkdir(parents=True)
    (folder / ".toolwright" / "tool" / "reads.py").write_text("")

    @tool(permission="edits")
    def change() -> str:
        """Changes."""
        return ""

    names = ["reads", "reads_all", "web_fetch", "edits", "everything_*", "bahs*", "frobnicate"]
    server = {"mcp": {"web": {"type": "local", "command": ["true"]}}}
    opened = open_workspace(
        folder, environment=home, rules=dict.fromkeys(names, "deny"), config=server, trust=True, tools=[change]
    )
    assert opened.agents.default().name == "build"


async def test_a_slip_in_rules_of_a_session_is_told_too(folder: Path, home: dict[str, str]) -> None:
    async with open_workspace(folder, environment=home) as w:
        with pytest.raises(UsageError, match="did you mean 'bash'"):
            w.session(rules={"bahs": "deny"})
        async with w.session() as s:
            with pytest.raises(UsageError, match="did you mean 'bash'"):
                s.permit({"bahs": "deny"})


def test_what_is_odd_in_files_of_settings_is_logged(
    folder: Path, home: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "toolwright.json").write_text('{"permission": {"bahs": "deny"}}')
    with caplog.at_level("WARNING", "toolwright"):
        opened = open_workspace(folder, environment=home)
    assert "did you mean 'bash'?" in caplog.text
    assert "did you mean 'bash'?" in opened.config.warnings[0]


def test_a_tool_that_says_nothing_of_itself_is_logged(
    folder: Path, home: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    def silent() -> str:
        return ""

    with caplog.at_level("WARNING", "toolwright"):
        open_workspace(folder, environment=home, tools=[silent, deploy])
    assert [one.getMessage().split(":")[0] for one in caplog.records] == ["the tool silent has no docstring"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"text": 3}, "A prompt is text, not 3"),
        ({"agent": 3}, "agent=3 is no agent"),
        ({"files": "a.txt"}, r"files='a\.txt' is no list of names: write files=\[\.\.\.\]"),
        ({"tools": "read"}, "tools='read' is no list of names"),
        ({"tools": ["raed"]}, "There is no tool 'raed' to offer"),
        ({"model": object()}, "is no model, for it has no info"),
        ({"budget": {"steps": -1}}, "A budget has steps=-1: give a whole number of more than 0"),
        ({"output": "json"}, "output='json' is no form for an answer: .*Give a TypedDict, a dataclass"),
    ],
)
async def test_what_a_program_gives_wrong_to_a_prompt_is_told_there(
    folder: Path, home: dict[str, str], given: dict[str, Any], told: str
) -> None:
    model = ScriptedModel({"text": "Never said."})
    async with open_workspace(folder, model=model, environment=home) as w, w.session() as s:
        with pytest.raises(UsageError, match=told):
            await s.prompt(**({"text": "Go."} | given))
    assert not model.requests


async def test_arguments_of_a_call_have_names(folder: Path, home: dict[str, str]) -> None:
    async with open_workspace(folder, environment=home) as w, w.session() as s:
        calls: list[Any] = [w.call, s.call]
        for call in calls:
            with pytest.raises(UsageError, match=r"The arguments of read need their names: call\('read', filePath="):
                await call("read", "a.txt")
            with pytest.raises(UsageError, match=r"or call\('read', \*\*arguments\)"):
                await call("read", {"filePath": "a.txt"})
            with pytest.raises(UsageError, match="The arguments of read cannot be sent as JSON"):
                await call("read", filePath=object())
            with pytest.raises(UsageError, match="tool=3 is no text"):
                await call(3)


def test_a_reply_is_checked_where_it_is_made() -> None:
    make: Any = Reply
    for given, told in (
        ({"kind": "yes"}, "kind is one of once, always, reject"),
        ({"kind": "always", "scope": "ever"}, "scope is one of session, project, user"),
        ({"kind": "always", "patterns": "npm *"}, "has a text in the place of a tuple"),
        ({"kind": "once", "answers": ("Yes",)}, "has a text in the place of a tuple"),
    ):
        with pytest.raises(UsageError, match=told):
            make(**given)


def test_the_function_behind_a_tool_is_still_one() -> None:
    assert deploy("here", force=True) == "deployed to here"
    with pytest.raises(UsageError, match="read has no function of its own"):
        Tool(id="read", description="", parameters={}, run=deploy.run)()


async def test_a_session_that_was_not_kept_is_not_looked_for_elsewhere(folder: Path, home: dict[str, str]) -> None:
    async with open_workspace(folder, environment=home) as w:
        with pytest.raises(UsageError, match=r"keeps them in memory alone\. Open it with keep=True"):
            async with w.session(id="ses_019a00000000aaaaaaaaaaaaaa"):
                pass
        async with w.session() as s:
            with pytest.raises(UsageError, match="by model= in Python"):
                await s.prompt("Go.")


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


async def test_an_option_that_no_prompt_has_is_told_with_those_there_are(folder: Path, home: dict[str, str]) -> None:
    misspelt = cast("Any", {"modell": "a/b"})
    async with open_workspace(folder, environment=home, model=ScriptedModel()) as w, w.session() as s:
        with pytest.raises(
            TypeError, match=r"prompt\(\) has no option 'modell'\. There are: files, system, model, budget"
        ):
            await s.prompt("hello", **misspelt)
        with pytest.raises(TypeError, match="no option 'modell'"):
            await anext(s.stream("hello", **misspelt))


async def test_all_that_may_be_said_of_a_prompt_arrives_with_it(folder: Path, home: dict[str, str]) -> None:
    seen: list[Prompt] = []

    async def keep(proceed: Any, prompt: Prompt, _: str) -> Any:
        seen.append(prompt)
        return await proceed(prompt)

    model = ScriptedModel({"text": "Done."})
    async with open_workspace(
        folder, environment=home, model=model, extensions=[Extension(hooks=[Hook(prompt=keep)])]
    ) as w:
        await w.prompt(
            "Go.", files=["a.txt"], system="Be short.", model=model, budget={"steps": 3}, tools=["read"], agent="plan"
        )
    [prompt] = seen
    assert (prompt.text, prompt.system, prompt.agent, prompt.only_tools) == ("Go.", "Be short.", "plan", ("read",))
    assert (prompt.model, prompt.budget, [file.filename for file in prompt.files]) == (
        model,
        Budget(steps=3),
        ["a.txt"],
    )


@pytest.mark.parametrize(
    ("kind", "said", "value"),
    [
        (list[Point], '[{"x": 1, "y": 2}]', [Point(1, 2)]),
        (Weather | Point, '{"x": 1, "y": 2}', Point(1, 2)),
        (Weather | Point, '{"city": "Oslo", "degrees": 3}', {"city": "Oslo", "degrees": 3}),
    ],
)
async def test_lists_and_unions_are_types_of_answers_too(
    folder: Path, home: dict[str, str], kind: Any, said: str, value: Any
) -> None:
    model = ScriptedModel({"text": said})
    async with open_workspace(folder, model=model, environment=home) as w:
        assert (await w.prompt("Tell.", output=kind)).output == value
    assert model.requests[0].settings.answer_schema is not None, "a provider that can is asked to hold it to that"


async def test_what_the_program_refuses_goes_back_to_the_model(folder: Path, home: dict[str, str]) -> None:
    async def known(weather: Weather) -> None:
        if weather["city"] != "Oslo":
            raise ValueError(f"{weather['city']} is not in the list; Oslo is.")

    model = ScriptedModel(
        {"text": '{"city": "Atlantis", "degrees": 3}'},
        {"text": "Oslo."},
        {"text": '{"city": "Oslo", "degrees": 3}', "match": "not JSON"},
    )
    async with open_workspace(folder, model=model, environment=home) as w:
        result = await w.prompt("Tell.", output=Weather, validate=known, retries=2)
    assert result.output["city"] == "Oslo"
    assert result.steps == 3
    assert "- Atlantis is not in the list; Oslo is." in str(model.requests[1].messages[-1])


async def test_after_the_last_try_the_error_has_what_came(folder: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"text": "It is cold."})
    async with open_workspace(folder, model=model, environment=home) as w:
        result = await w.prompt("Tell.", output=Weather, retries=0)
    assert isinstance(result.error, StructuredOutputError)
    assert result.error.answers == ("It is cold.",)
    assert "not JSON" in result.error.problems[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"retries": 2}, "say its type, output="),
        ({"output": Weather, "retries": -1}, "retries=-1 is no number of times"),
        ({"output": Weather, "validate": "city"}, "validate='city' cannot be called"),
    ],
)
async def test_what_cannot_be_meant_of_an_answer_is_said_at_once(
    folder: Path, home: dict[str, str], options: Any, words: str
) -> None:
    async with open_workspace(folder, model=ScriptedModel({"text": "x"}), environment=home) as w:
        with pytest.raises(UsageError, match=words):
            await w.prompt("Tell.", **options)
