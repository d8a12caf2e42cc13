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
from tests.session.stage import AT_ONCE, error_of, info_of, kinds, note_waits, nothing_open, outcome
from toolwright.messages import Message
from toolwright.session.prompt import Prompt
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

READ = ("call_1", "read", '{"filePath": "a.txt"}')
TITLE = "You are a title generator"
LIMIT = 12_000
"""Bytes of the first request of the build agent, system prompt and tools together."""


class Desk:
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
async def _desk(form: Format, project: Path, **options: Any) -> AsyncIterator[Desk]:
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
            yield Desk(form, server, workspace)
        finally:
            await workspace.close()


@pytest.fixture(params=FORMATS, ids=lambda form: form.api)
async def desk(request: pytest.FixtureRequest, project: Path) -> AsyncIterator[Desk]:
    async with _desk(request.param, project) as made:
        yield made


async def test_a_whole_turn_with_a_call(desk: Desk) -> None:
    """1, 3, 4"""
    desk.reply(text="Let me see.", reasoning="A file.", seal="sealed", calls=[READ])
    desk.reply(text="It says hello.")
    message = await desk.prompt("What is in a.txt?")
    assert (message.text, error_of(message)) == ("It says hello.", "")
    first = desk.session.conversation.messages[1]
    assert kinds(first)[-2:] == ["tool completed", "step-finish"]
    assert len(desk.server.seen) == 2
    assert "00001| hello" in desk.requests[1] or "hello" in json.dumps(json.loads(desk.requests[1]))
    assert "sealed" in desk.requests[1] or desk.form is CHAT, "the provider gets back what it signed"
    info = info_of(first)
    assert (info.tokens.input, info.tokens.cache.read) == (60, 40)
    assert info.cost == pytest.approx((60 * 3 + 40 * 0.3 + 20 * 15) / 1e6)


async def test_ten_calls_in_one_reply_are_all_answered(desk: Desk, project: Path) -> None:
    for number in range(10):
        (project / f"f{number}.txt").write_text(f"content {number}\n")
    made = [(f"call_{number}", "read", json.dumps({"filePath": f"f{number}.txt"})) for number in range(10)]
    desk.reply(calls=made, size=1)
    desk.reply(text="Done.")
    assert (await desk.prompt()).text == "Done."
    parts = desk.session.conversation.messages[1].calls
    assert ["content" in outcome(part) for part in parts] == [True] * 10
    assert [f"content {number}" in desk.requests[1] for number in range(10)] == [True] * 10


async def test_a_refusal_with_a_wait_is_tried_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """24, 25"""
    busy = {"retry-after-ms": "200", "content-type": "application/json"}
    desk.server.answer(Answer(status=429, headers=busy, pieces=[b'{"error": {"message": "slow down"}}']))
    desk.reply(text="Here.")
    waits = note_waits(monkeypatch)
    assert (await desk.prompt()).text == "Here."
    assert waits == [0.2]


async def test_an_overloaded_provider_is_tried_again_and_given_up(desk: Desk) -> None:
    """26, 27"""
    desk.server.answer(Answer(status=529, pieces=[b'{"error": {"message": "Overloaded", "type": "overloaded_error"}}']))
    message = await desk.prompt()
    assert error_of(message) == "APIError"
    assert len(desk.server.seen) == 6


async def test_a_wrong_key_is_told_at_once(desk: Desk) -> None:
    """29"""
    desk.server.answer(Answer(status=401, pieces=[b'{"error": {"message": "invalid api key"}}']))
    message = await desk.prompt()
    failure = info_of(message).error
    assert failure is not None
    assert (failure.name, failure.data["statusCode"]) == ("APIError", 401)
    assert len(desk.server.seen) == 1


async def test_a_page_instead_of_an_answer_is_not_repeated_to_the_user(desk: Desk) -> None:
    """30"""
    desk.server.answer(Answer(status=404, pieces=[b"<html><body>Nothing here</body></html>"]))
    message = await desk.prompt()
    failure = info_of(message).error
    assert failure is not None
    assert "<html" not in str(failure.data)


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_a_stream_that_breaks_off_is_asked_for_again(desk: Desk, end: Any) -> None:
    """31, 33"""
    whole = list(desk.form.write(Reply(text="The whole answer, in pieces.")))
    desk.server.answer(Answer(pieces=whole[:3], end=end))
    desk.reply(text="The whole answer.")
    assert (await desk.prompt()).text == "The whole answer."
    assert len(await desk.workspace.sessions.messages(desk.session.id)) == 2


async def test_a_stream_that_breaks_off_inside_a_call_runs_nothing(desk: Desk, project: Path) -> None:
    """23"""
    write = ("call_1", "write", json.dumps({"filePath": "b.txt", "content": "x" * 200}))
    whole = list(desk.form.write(Reply(calls=[write])))
    desk.server.answer(Answer(pieces=whole[: len(whole) // 2] if desk.form is not GEMINI else [], end="close"))
    desk.reply(text="Rather not.")
    assert (await desk.prompt()).text == "Rather not."
    assert not (project / "b.txt").exists()
    assert nothing_open(*await desk.workspace.sessions.messages(desk.session.id))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.api)
async def test_a_provider_that_falls_silent_is_tried_again(project: Path, form: Format) -> None:
    """35, weakness 26"""
    async with _desk(form, project, chunkTimeout=200) as desk:
        whole = list(form.write(Reply(text="The whole answer, in pieces.")))
        desk.server.answer(Answer(pieces=[*whole[:2], 3600.0, *whole[2:]]))
        desk.reply(text="The whole answer.")
        assert (await desk.prompt()).text == "The whole answer."


@pytest.mark.parametrize("form", [one for one in FORMATS if one is not GEMINI], ids=lambda form: form.api)
async def test_arguments_that_are_no_json_are_answered(project: Path, form: Format) -> None:
    """20; one format sends arguments as JSON itself, so that they cannot be broken there"""
    async with _desk(form, project) as desk:
        desk.reply(calls=[("call_1", "read", '{"filePath": ')])
        desk.reply(text="Sorry.")
        assert (await desk.prompt()).text == "Sorry."
        assert "not JSON" in outcome(desk.session.conversation.messages[1].calls[0])
        assert "not JSON" in desk.requests[1]


async def test_too_long_a_conversation_is_summarised_on_the_providers_word(desk: Desk) -> None:
    """28"""
    words = (
        b'{"error": {"message": "prompt is too long: maximum context length is 10", "type": "invalid_request_error"}}'
    )
    desk.server.answer(Answer(status=400, pieces=[words]))
    desk.reply(text="A summary.")
    desk.reply(text="Now it fits.")
    message = await desk.prompt("Say it.")
    assert (message.text, error_of(message)) == ("Now it fits.", "")
    assert len(desk.server.seen) == 3


async def test_a_long_argument_and_split_characters_arrive_whole(desk: Desk, project: Path) -> None:
    content = "grüße 😀\n" * 8_000
    desk.reply(calls=[("call_1", "write", json.dumps({"filePath": "b.txt", "content": content}))], size=997)
    desk.reply(text="Geschrieben 😀")
    assert (await desk.prompt()).text == "Geschrieben 😀"
    assert (project / "b.txt").read_text() == content


async def test_titles_go_to_the_provider_the_user_chose_and_only_once(project: Path) -> None:
    """91, 92, weakness 17"""
    async with _desk(CHAT, project) as desk:
        desk.session = desk.workspace.sessions.create()
        desk.reply(text="An answer or a title")
        await desk.prompt("First.")
        await desk.prompt("Second.")
        await desk.workspace.titles.settled()
        assert sum(TITLE in request for request in desk.requests) == 1
        assert len(desk.requests) == 3
        assert desk.session.conversation.info.title == "An answer or a title"


async def test_the_first_request_of_the_build_agent_is_small(project: Path) -> None:
    async with _desk(CHAT, project) as desk:
        desk.reply(text="Hello.")
        await desk.prompt("Hi")
        [request] = desk.server.seen
        assert len(request.raw) < LIMIT
        assert len(request.body["tools"]) >= 12


async def test_what_was_cached_is_told_apart(project: Path) -> None:
    async with _desk(ANTHROPIC, project) as desk:
        desk.reply(text="Hello.", usage={"input": 1000, "output": 20, "reasoning": 0, "cached": 200, "written": 300})
        info = info_of(await desk.prompt())
        assert (info.tokens.input, info.tokens.cache.read, info.tokens.cache.write) == (800, 200, 300)
