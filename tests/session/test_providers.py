"""Whole turns over real HTTP, in each of the four wire formats: calls, trouble, signatures and sizes."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.models.conftest import ANTHROPIC, CHAT, FORMATS, GEMINI, Format
from tests.models.replies import Reply
from tests.models.server import Answer, Server, serving
from tests.session.trial import AT_ONCE, error_of, info_of, kinds, note_waits, nothing_open, outcome
from toolwright.messages import Message
from toolwright.session.prompt import Prompt
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

READ = ("call_1", "read", '{"filePath": "a.txt"}')
TITLE = "You are a title generator"
LIMIT = 12_000
"""Bytes of the first request of the build agent, system prompt and tools together."""


class Trial:
    """A workspace whose provider is a server of the test's own."""

    def __init__(self, form: Format, server: Server, workspace: Workspace) -> None:
        self.form = form
        self.server = server
        self.workspace = workspace
        self.session = workspace.sessions.create(title="Named already")
        self.session.turns.settings = replace(self.session.turns.settings, retry=AT_ONCE)

    def reply(self, **said: Any) -> None:
        self.server.stream(*self.form.write(Reply(**said)))

    async def prompt(self, text: str = "Go.") -> Message:
        return (await self.session.turns.answer(Prompt(text=text))).message

    @property
    def requests(self) -> list[str]:
        return [seen.raw.decode() for seen in self.server.seen]


@asynccontextmanager
async def _trial(form: Format, project: Path, **options: Any) -> AsyncIterator[Trial]:
    (project / "a.txt").write_text("hello\nworld\n")
    record = {
        "reasoning": True,
        "modalities": {"input": ["text", "image"]},
        "limit": {"context": 200_000, "output": 8_000},
        "cost": {"input": 3, "output": 15, "cache_read": 0.3},
    }
    async with serving() as server:
        provider = {
            "name": "Acme",
            "api": form.api,
            "options": {"baseURL": server.url, "apiKey": "secret", **options},
            "models": {"m": record},
        }
        config = {"provider": {"acme": provider}, "model": "acme/m"}
        workspace = make_workspace(project, config=config, keep=True)
        try:
            yield Trial(form, server, workspace)
        finally:
            await workspace.close()


@pytest.fixture(params=FORMATS, ids=lambda form: form.api)
async def trial(request: pytest.FixtureRequest, project: Path) -> AsyncIterator[Trial]:
    async with _trial(request.param, project) as made:
        yield made


async def test_a_whole_turn_with_a_call(trial: Trial) -> None:
    """1, 3, 4"""
    trial.reply(text="Let me see.", reasoning="A file.", seal="sealed", calls=[READ])
    trial.reply(text="It says hello.")
    message = await trial.prompt("What is in a.txt?")
    assert (message.text, error_of(message)) == ("It says hello.", "")
    first = trial.session.conversation.messages[1]
    assert kinds(first)[-2:] == ["tool completed", "step-finish"]
    assert len(trial.server.seen) == 2
    assert "00001| hello" in trial.requests[1] or "hello" in json.dumps(json.loads(trial.requests[1]))
    assert "sealed" in trial.requests[1] or trial.form is CHAT, "the provider gets back what it signed"
    info = info_of(first)
    assert (info.tokens.input, info.tokens.cache.read) == (60, 40)
    assert info.cost == pytest.approx((60 * 3 + 40 * 0.3 + 20 * 15) / 1e6)


async def test_ten_calls_in_one_reply_are_all_answered(trial: Trial, project: Path) -> None:
    for number in range(10):
        (project / f"f{number}.txt").write_text(f"content {number}\n")
    made = [(f"call_{number}", "read", json.dumps({"filePath": f"f{number}.txt"})) for number in range(10)]
    trial.reply(calls=made, size=1)
    trial.reply(text="Done.")
    assert (await trial.prompt()).text == "Done."
    parts = trial.session.conversation.messages[1].calls
    assert ["content" in outcome(part) for part in parts] == [True] * 10
    assert [f"content {number}" in trial.requests[1] for number in range(10)] == [True] * 10


async def test_a_refusal_with_a_wait_is_tried_again(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    """24, 25"""
    busy = {"retry-after-ms": "200", "content-type": "application/json"}
    trial.server.answer(Answer(status=429, headers=busy, pieces=[b'{"error": {"message": "slow down"}}']))
    trial.reply(text="Here.")
    waits = note_waits(monkeypatch)
    assert (await trial.prompt()).text == "Here."
    assert waits == [0.2]


async def test_an_overloaded_provider_is_tried_again_and_given_up(trial: Trial) -> None:
    """26, 27"""
    trial.server.answer(
        Answer(status=529, pieces=[b'{"error": {"message": "Overloaded", "type": "overloaded_error"}}'])
    )
    message = await trial.prompt()
    assert error_of(message) == "APIError"
    assert len(trial.server.seen) == 6


async def test_a_wrong_key_is_told_at_once(trial: Trial) -> None:
    """29"""
    trial.server.answer(Answer(status=401, pieces=[b'{"error": {"message": "invalid api key"}}']))
    message = await trial.prompt()
    failure = info_of(message).error
    assert failure is not None
    assert (failure.name, failure.data["statusCode"]) == ("APIError", 401)
    assert len(trial.server.seen) == 1


async def test_a_page_instead_of_an_answer_is_not_repeated_to_the_user(trial: Trial) -> None:
    """30"""
    trial.server.answer(Answer(status=404, pieces=[b"<html><body>Nothing here</body></html>"]))
    message = await trial.prompt()
    failure = info_of(message).error
    assert failure is not None
    assert "<html" not in str(failure.data)


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_a_stream_that_breaks_off_is_asked_for_again(trial: Trial, end: Any) -> None:
    """31, 33"""
    whole = list(trial.form.write(Reply(text="The whole answer, in pieces.")))
    trial.server.answer(Answer(pieces=whole[:3], end=end))
    trial.reply(text="The whole answer.")
    assert (await trial.prompt()).text == "The whole answer."
    assert len(await trial.workspace.sessions.messages(trial.session.id)) == 2


async def test_a_stream_that_breaks_off_inside_a_call_runs_nothing(trial: Trial, project: Path) -> None:
    """23"""
    write = ("call_1", "write", json.dumps({"filePath": "b.txt", "content": "x" * 200}))
    whole = list(trial.form.write(Reply(calls=[write])))
    trial.server.answer(Answer(pieces=whole[: len(whole) // 2] if trial.form is not GEMINI else [], end="close"))
    trial.reply(text="Rather not.")
    assert (await trial.prompt()).text == "Rather not."
    assert not (project / "b.txt").exists()
    assert nothing_open(*await trial.workspace.sessions.messages(trial.session.id))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.api)
async def test_a_provider_that_falls_silent_is_tried_again(project: Path, form: Format) -> None:
    """35, weakness 26"""
    async with _trial(form, project, chunkTimeout=200) as trial:
        whole = list(form.write(Reply(text="The whole answer, in pieces.")))
        trial.server.answer(Answer(pieces=[*whole[:2], 3600.0, *whole[2:]]))
        trial.reply(text="The whole answer.")
        assert (await trial.prompt()).text == "The whole answer."


@pytest.mark.parametrize("form", [one for one in FORMATS if one is not GEMINI], ids=lambda form: form.api)
async def test_arguments_that_are_no_json_are_answered(project: Path, form: Format) -> None:
    """20; one format sends arguments as JSON itself, so that they cannot be broken there"""
    async with _trial(form, project) as trial:
        trial.reply(calls=[("call_1", "read", '{"filePath": ')])
        trial.reply(text="Sorry.")
        assert (await trial.prompt()).text == "Sorry."
        assert "not JSON" in outcome(trial.session.conversation.messages[1].calls[0])
        assert "not JSON" in trial.requests[1]


async def test_too_long_a_conversation_is_summarised_on_the_providers_word(trial: Trial) -> None:
    """28"""
    words = (
        b'{"error": {"message": "prompt is too long: maximum context length is 10", "type": "invalid_request_error"}}'
    )
    trial.server.answer(Answer(status=400, pieces=[words]))
    trial.reply(text="A summary.")
    trial.reply(text="Now it fits.")
    message = await trial.prompt("Say it.")
    assert (message.text, error_of(message)) == ("Now it fits.", "")
    assert len(trial.server.seen) == 3


async def test_a_long_argument_and_split_characters_arrive_whole(trial: Trial, project: Path) -> None:
    content = "grüße 😀\n" * 8_000
    trial.reply(calls=[("call_1", "write", json.dumps({"filePath": "b.txt", "content": content}))], size=997)
    trial.reply(text="Geschrieben 😀")
    assert (await trial.prompt()).text == "Geschrieben 😀"
    assert (project / "b.txt").read_text() == content


async def test_titles_go_to_the_provider_the_user_chose_and_only_once(project: Path) -> None:
    """91, 92, weakness 17"""
    async with _trial(CHAT, project) as trial:
        trial.session = trial.workspace.sessions.create()
        trial.reply(text="An answer or a title")
        await trial.prompt("First.")
        await trial.prompt("Second.")
        await trial.workspace.titles.settled()
        assert sum(TITLE in request for request in trial.requests) == 1
        assert len(trial.requests) == 3
        assert trial.session.conversation.info.title == "An answer or a title"


async def test_the_first_request_of_the_build_agent_is_small(project: Path) -> None:
    async with _trial(CHAT, project) as trial:
        trial.reply(text="Hello.")
        await trial.prompt("Hi")
        [request] = trial.server.seen
        assert len(request.raw) < LIMIT
        assert len(request.body["tools"]) >= 12


async def test_what_was_cached_is_told_apart(project: Path) -> None:
    async with _trial(ANTHROPIC, project) as trial:
        trial.reply(text="Hello.", usage={"input": 1000, "output": 20, "reasoning": 0, "cached": 200, "written": 300})
        info = info_of(await trial.prompt())
        assert (info.tokens.input, info.tokens.cache.read, info.tokens.cache.write) == (800, 200, 300)
