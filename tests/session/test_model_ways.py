"""What a session makes of a model's ways: variants, prices, titles, doubled ids, thinking aloud, what does not fit."""

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.models.conftest import CHAT, Format
from tests.models.replies import Reply, sse
from tests.models.server import Server, serving
from tests.session.trial import AT_ONCE, call, calls, error_of, info_of, opened, results, says
from toolwright.errors import UsageError
from toolwright.messages import ReasoningPart
from toolwright.models.formats.sizes import tools_size
from toolwright.models.info import ModelInfo, Prices
from toolwright.models.known.catalog import Catalog
from toolwright.models.model import UserMessage
from toolwright.models.scripted import DEFAULT_INFO, ScriptedModel
from toolwright.models.transport.fallback import FallbackModel
from toolwright.session.budget import Budget
from toolwright.session.events import SessionStatus
from toolwright.session.prompt import Attached, Prompt
from toolwright.session.turns.title import small_sibling
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace


@asynccontextmanager
async def provider(project: Path, form: Format = CHAT, **record: Any) -> AsyncIterator[tuple[Server, Workspace]]:
    (project / "a.txt").write_text("hello\nworld\n")
    async with serving() as server:
        said = {"name": "Acme", "api": form.api, "options": {"baseURL": server.url}, "models": {"m": record}}
        workspace = make_workspace(project, config={"provider": {"acme": said}, "model": "acme/m"}, keep=True)
        try:
            yield server, workspace
        finally:
            await workspace.close()


async def test_two_calls_of_one_id_both_run(project: Path) -> None:
    made: list[Any] = [{**call("read", filePath=path), "id": "call_1"} for path in ("a.txt", "none.txt")]
    async with opened(project, calls(*made), says("Done.")) as trial:
        await trial.prompt()
        first = trial.replies[0]
        assert "hello" in results(first)[0]
        assert "none.txt" in results(first)[1]
        assert [part.state.input["filePath"] for part in first.calls] == ["a.txt", "none.txt"]


@pytest.mark.parametrize("variant", ["low", "medium", "high", "max"])
async def test_a_variant_reaches_the_provider(project: Path, variant: str) -> None:
    async with provider(project, reasoning=True) as (server, workspace):
        server.stream(*CHAT.write(Reply(text="x")))
        await workspace.sessions.create(title="T").turns.answer(Prompt(text="Go.", variant=variant))
        assert server.seen[-1].body["reasoning_effort"] == ("high" if variant == "max" else variant)


async def test_a_degree_that_changes_nothing_is_told(project: Path) -> None:
    info = ModelInfo(provider="xai", id="grok-code-fast", reasoning=True, limits=DEFAULT_INFO.limits)
    model = ScriptedModel(*[says("Yes.", no_usage=True)] * 2, info=info)
    async with opened(project, model=model) as trial:
        await trial.prompt(variant="high")
        await trial.prompt()
        doing = [one.status["notice"] for one in trial.told(SessionStatus) if one.status.get("notice")]
        assert doing == ["xai/grok-code-fast decides itself how much it thinks; the variant high changes nothing"]


async def test_a_variant_that_is_not_there_is_an_error_that_names_those_that_are(project: Path) -> None:
    async with provider(project, reasoning=True) as (server, workspace):
        server.stream(*CHAT.write(Reply(text="x")))
        session = workspace.sessions.create(title="T")
        with pytest.raises(UsageError, match="acme/m has no variant 'huge'"):
            await session.turns.answer(Prompt(text="Go.", variant="huge"))
        assert (session.conversation.messages, server.seen) == ([], [])


async def test_a_model_without_tools_is_offered_none(project: Path) -> None:
    async with provider(project, tool_call=False) as (server, workspace):
        server.stream(*CHAT.write(Reply(text="x")))
        await workspace.sessions.create(title="T").turns.answer(Prompt(text="Go."))
        assert "tools" not in server.seen[-1].body


async def test_a_limit_on_costs_needs_a_price(project: Path) -> None:
    model = ScriptedModel(says("x"), info=replace(DEFAULT_INFO, priced=False))
    async with opened(project, model=model) as trial:
        with pytest.raises(UsageError, match="none is known for scripted/"):
            await trial.prompt(budget=Budget(cost=1.0))
        assert trial.messages == []
        assert (await trial.prompt()).text == "x"


async def test_a_guess_is_called_one(project: Path) -> None:
    model = ScriptedModel(says("x"), says("y"), info=replace(DEFAULT_INFO, known=False, guessed_from="older"))
    async with opened(project, model=model) as trial:
        await trial.prompt()
        await trial.prompt()
        told = [event.status["notice"] for event in trial.told(SessionStatus) if "notice" in event.status]
        assert told == ["Limits and prices of scripted/scripted are not known; those of older are assumed"]


async def test_the_reply_is_booked_on_the_model_that_gave_it(project: Path) -> None:
    down = ScriptedModel({"error": {"kind": "quota", "retryable": False}}, info=replace(DEFAULT_INFO, id="down"))
    usage = {"input": 1_000_000, "output": 0}
    up = ScriptedModel(says("Here.", usage=usage), info=replace(DEFAULT_INFO, id="up", prices=Prices(input=2.0)))
    both: Any = FallbackModel([down, up])
    async with opened(project, model=both) as trial:
        info = info_of(await trial.prompt())
        assert (info.model_id, info.cost) == ("up", 2.0)
        told = [event.status for event in trial.told(SessionStatus) if event.status["type"] == "retry"]
        assert "Going on with scripted/up." in str(told[0]["message"])
        assert told[0]["wait"] == "at once; attempt 2 of 6"


async def test_the_model_that_goes_on_is_asked_in_its_own_way(project: Path) -> None:
    thinking = replace(DEFAULT_INFO, provider="openai", id="gpt-6-sol", api="openai-responses", reasoning=True)
    plain = replace(DEFAULT_INFO, provider="mistral", id="codestral", api="openai-chat")
    down = ScriptedModel({"error": {"kind": "quota", "retryable": False}}, info=thinking)
    up = ScriptedModel(says("Here.", usage={"input": 9_000}), info=plain)
    both: Any = FallbackModel([down, up])
    async with opened(project, model=both) as trial:
        assert (await trial.prompt(variant="high")).text == "Here."
        asked = [one.settings.options.get("reasoningEffort") for one in (*down.requests, *up.requests)]
        assert asked == ["high", None]


async def test_a_wait_is_told_with_its_length_and_its_reason(project: Path) -> None:
    script = says("", error={"kind": "overload", "message": "Busy.", "retry_after": 0.01}), says("Here.")
    async with opened(project, *script) as trial:
        await trial.prompt()
        (told,) = [event.status for event in trial.told(SessionStatus) if event.status["type"] == "retry"]
        assert told["wait"] == "waiting 0.01 s, as the provider asks; attempt 2 of 6"


async def test_a_wait_that_is_too_long_is_told_too(project: Path) -> None:
    async with opened(project, says("", error={"kind": "overload", "message": "Busy.", "retry_after": 600})) as trial:
        failure = info_of(await trial.prompt()).error
        assert failure is not None
        assert failure.data["message"] == "Busy. The provider asks to wait 10 minutes, longer than is waited here."


async def test_thinking_whose_first_tag_the_server_has_swallowed_is_no_answer(project: Path) -> None:
    async with opened(project, says("Let me see.\n</think>\n\nIt is four.")) as trial:
        message = await trial.prompt()
        assert message.text == "It is four."
        (thought,) = [part for part in message.parts.values() if isinstance(part, ReasoningPart)]
        assert thought.text == "Let me see."


async def test_a_tag_that_is_spoken_of_stays_in_the_answer(project: Path) -> None:
    async with opened(project, says("Write `</think>` after it.")) as trial:
        assert (await trial.prompt()).text == "Write `</think>` after it."


# What does not fit.


async def test_instructions_and_tools_that_do_not_fit_are_told_at_once(project: Path) -> None:
    async with opened(project, says("x"), context=2048) as trial:
        failure = info_of(await trial.prompt()).error
        assert failure is not None
        assert "The instructions and tools alone need about" in str(failure.data["message"])
        assert "has 2.0k for them and the answer" in str(failure.data["message"])
        assert trial.requests == []


async def test_a_prompt_that_does_not_fit_is_told_at_once(project: Path) -> None:
    async with opened(project, says("x"), context=16_000) as trial:
        failure = info_of(await trial.prompt("word " * 20_000)).error
        assert failure is not None
        assert "The prompt with its files needs about 25.0k tokens" in str(failure.data["message"])
        assert trial.requests == []


async def test_a_summary_is_told_while_it_is_written_and_is_bounded(project: Path) -> None:
    script = says("x", usage={"input": 60_000, "output": 10}), says("Goal: …", kind="compaction"), says("Done.")
    async with opened(project, *script, context=64_000) as trial:
        await trial.prompt()
        await trial.prompt("And on.")
        told = [event.status for event in trial.told(SessionStatus) if "doing" in event.status]
        assert "writing a summary" in str(told[0]["doing"])
        (summary,) = [one for one in trial.requests if one.settings.purpose == "compaction"]
        assert summary.settings.max_output == 8_000


async def test_a_file_that_the_model_cannot_take_is_told_to_the_user(project: Path) -> None:
    (project / "a.pdf").write_bytes(b"%PDF-1.4 x")
    async with opened(project, says("Seen.")) as trial:
        await trial.prompt("Look.", files=(Attached(url="a.pdf"),))
        told = [str(event.status["notice"]) for event in trial.told(SessionStatus) if "notice" in event.status]
        assert told == ["a.pdf (application/pdf) is not shown: this model does not take PDF files."]


async def test_a_small_context_leaves_room_to_work(project: Path) -> None:
    async with opened(project, says("Hello."), context=16_384) as trial:
        assert (await trial.prompt()).text == "Hello."
        assert len(trial.requests) == 1


async def test_a_small_context_is_offered_the_tools_in_few_words(project: Path) -> None:
    sizes = {}
    for context in (16_384, 200_000):
        async with opened(project, says("Hello."), says("Again."), context=context) as trial:
            await trial.prompt()
            await trial.prompt("Once more.")
            first, second = trial.requests
            assert [one.name for one in first.tools] == [one.name for one in second.tools]
            assert all(one is other for one, other in zip(first.tools, second.tools, strict=True))
            sizes[context] = tools_size(first.tools)
    assert sizes[16_384] < 0.7 * sizes[200_000], sizes


# The date, titles, circles.


async def test_the_day_comes_with_the_first_prompt_and_the_first_of_a_later_day(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(project, *[says("Yes.")] * 4) as trial:
        for day, text in ((17, "One."), (17, "Two."), (18, "Three."), (18, "Four.")):
            noon = time.mktime((2026, 10, day, 12, 0, 0, 0, 0, -1))
            monkeypatch.setattr("toolwright.session.turns.turns.now", lambda noon=noon: int(noon * 1000))
            await trial.prompt(text)
        last = trial.requests[-1].messages
        assert not re.search(r"\bdate\b|20\d\d", getattr(last[0], "text", "none").replace(str(project), ""))
        assert [(one.content, one.note) for one in last if isinstance(one, UserMessage)] == [
            (("One.",), "[Today is Saturday, 17 October 2026.]"),
            (("Two.",), ""),
            (("Three.",), "[Today is Sunday, 18 October 2026.]"),
            (("Four.",), ""),
        ]
        for seen in trial.requests:
            assert list(seen.messages) == list(last[: len(seen.messages)])
        shown = "".join(message.text for message in await trial.stored())
        assert shown == "One.Yes.Two.Yes.Three.Yes.Four.Yes."


async def test_the_day_is_told_again_after_a_summary(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("turns", "compaction"):
        monkeypatch.setattr(f"toolwright.session.turns.{module}.now", lambda: 1_792_300_000_000)
    async with opened(project, says("One."), says("Two."), says("Three.")) as trial:
        await trial.prompt()
        await trial.prompt("More.")
        await trial.session.turns.compact()
        await trial.prompt("Go on.")
        notes = [one.note for one in trial.requests[-1].messages if isinstance(one, UserMessage)]
        assert notes[0].startswith("[Today is ")
        assert not any(notes[1:])


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("anthropic/claude-opus-5-5", "claude-haiku-5-5"),
        ("openai/gpt-6.1-sol", "gpt-6-luna"),
        ("google/gemini-4-argon", "gemini-3.8-flash"),
        ("openrouter/anthropic/claude-sonnet-4.5", None),
        ("openrouter/google/gemini-2.5-pro", None),
    ],
)
def test_titles_are_asked_of_a_small_model_of_the_same_maker(name: str, small: str | None) -> None:
    catalog = Catalog()
    info = catalog.find(name)
    found = small_sibling(info, catalog.models(info.provider))
    assert (found.id if found else None) == small


def test_a_word_inside_another_makes_no_model_small() -> None:
    models = [ModelInfo(provider="p", id="gemini-9"), ModelInfo(provider="p", id="minimax-m9")]
    assert small_sibling(ModelInfo(provider="p", id="x"), models) is None


async def test_a_title_is_short_and_waits_its_turn_on_a_local_server(project: Path) -> None:
    async with provider(project) as (server, workspace):
        server.stream(*CHAT.write(Reply(text="x")))
        turns = workspace.sessions.create()
        turns.turns.settings = replace(turns.turns.settings, retry=AT_ONCE)
        await turns.turns.answer(Prompt(text="Go."))
        await workspace.titles.settled()
        asked = ["You are a title generator" in seen.raw.decode() for seen in server.seen]
        assert asked == [False, True]
        assert server.seen[1].body["max_tokens"] == 100


async def test_a_circle_of_eight_calls_is_noticed(project: Path) -> None:
    names = [f"{number}.txt" for number in range(8)]
    script = [calls(call("read", filePath=name)) for _ in range(3) for name in names]
    async with opened(project, *script, says("Done.")) as trial:
        await trial.prompt()
        assert "doom_loop" in [question.permission for question in trial.user.questions]


async def test_a_turn_ends_after_some_hundred_steps_if_nobody_says_otherwise(project: Path) -> None:
    assert Budget().steps == 500
    script = [calls(call("read", filePath=f"{number}.txt")) for number in range(9)]
    async with opened(project, *script) as trial:
        assert error_of(await trial.prompt(budget=Budget(steps=3))) == "LimitReachedError"


async def test_an_emoji_in_two_halves_is_stored_whole(project: Path) -> None:
    async with provider(project) as (server, workspace):
        pieces = [b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % half for half in (b"\\ud83d", b"\\ude00")]
        server.stream(*pieces, sse("[DONE]"))
        message = (await workspace.sessions.create(title="T").turns.answer(Prompt(text="Go."))).message
        assert message.text == "😀"
