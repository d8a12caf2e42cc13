"""Prompts: files, folders, mentions and instructions on their way to the model."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.trial import call, calls, error_of, opened, says, words
from toolwright.calls.parts import FilePart
from toolwright.definition import Attachment
from toolwright.errors import UsageError
from toolwright.messages import Message, TextPart
from toolwright.models.model import UserMessage
from toolwright.session.prompt import Attached, mentioned
from toolwright.session.turns.instructions import Instructions

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def _files(message: Message) -> list[FilePart]:
    return [part for part in message.parts.values() if isinstance(part, FilePart)]


async def _sent(
    project: Path, *files: Attached, text: str = "Look.", **more: Any
) -> tuple[Message, str, list[Attachment]]:
    """The prompt as it is stored, the words of it the model got, and the files."""
    async with opened(project, says("Seen."), **more) as trial:
        message = await trial.prompt(text, files=files)
        assert (error_of(message), message.text) == ("", "Seen.")
        [request] = trial.requests
        pieces = [piece for one in request.messages if isinstance(one, UserMessage) for piece in one.content]
        return trial.messages[0], words(request), [one for one in pieces if isinstance(one, Attachment)]


async def test_a_range_of_lines_is_read_as_asked(project: Path) -> None:
    """73"""
    (project / "code.py").write_text("".join(f"line_{number}\n" for number in range(1, 12)))
    user, told, _ = await _sent(project, Attached(url=f"{(project / 'code.py').as_uri()}?start=5&end=8"))
    assert "line_5" in told
    assert "line_8" in told
    assert "line_4" not in told
    assert "line_9" not in told
    assert [part.mime for part in _files(user)] == ["text/plain"]


async def test_a_folder_is_listed(project: Path) -> None:
    """74"""
    (project / "src").mkdir()
    (project / "src" / "deep.py").write_text("")
    user, told, _ = await _sent(project, Attached(url="src"))
    assert "deep.py" in told
    assert [part.mime for part in _files(user)] == ["application/x-directory"]


async def test_a_picture_goes_to_the_model(project: Path) -> None:
    """75"""
    (project / "dot.png").write_bytes(PIXEL)
    _, _, [picture] = await _sent(project, Attached(url="dot.png"))
    assert picture.mime == "image/png"
    assert picture.url.startswith("data:image/png;base64,")


async def test_a_missing_file_is_told_and_the_turn_goes_on(project: Path) -> None:
    """77, weakness 9"""
    user, told, _ = await _sent(project, Attached(url="nope.txt"))
    assert "could not be read" in told
    assert "nope.txt" in told
    assert user.text == "Look."


async def test_a_text_in_the_address_is_read_whole(project: Path) -> None:
    """78, weakness 27"""
    encoded = base64.b64encode("grüße\n".encode()).decode()
    for url in (
        f"data:text/plain;base64,{encoded}",
        "data:text/plain,gr%C3%BC%C3%9Fe%0A",
        "data:,gr%C3%BC%C3%9Fe%0A",
    ):
        _, told, _ = await _sent(project, Attached(url=url, filename="note.txt"))
        assert "The user attached note.txt:\ngrüße\n" in told


async def test_an_address_that_is_damaged_is_refused_before_anything_is_written(project: Path) -> None:
    async with opened(project, says("Seen.")) as trial:
        with pytest.raises(UsageError, match="base64"):
            await trial.prompt(files=(Attached(url="data:image/png;base64,@@@"),))
        assert await trial.stored() == []


async def test_a_file_that_no_model_takes_does_not_spoil_the_session(project: Path) -> None:
    """79, weakness 10: what a model is sent of it is words, by the adapters; see the tests of media."""
    async with opened(project, says("One."), says("Two.")) as trial:
        odd = Attached(url="data:application/octet-stream;base64,AAEC", filename="blob.bin")
        assert (await trial.prompt(files=(odd,))).text == "One."
        assert (await trial.prompt()).text == "Two."


async def test_mentions_in_the_text_are_looked_up(project: Path) -> None:
    """81"""
    user, told, _ = await _sent(project, text="What is in @a.txt, and @nobody?")
    assert "hello" in told
    assert user.text == "What is in @a.txt, and @nobody?"
    assert [part.filename for part in _files(user)] == ["a.txt"]


@pytest.mark.parametrize("name", ["nope.txt", "docs/nope.md", "docs/nope", "../nope.py"])
async def test_a_mention_of_a_file_that_is_not_there_is_told_to_the_user_alone(project: Path, name: str) -> None:
    (project / "docs").mkdir()
    user, told, _ = await _sent(project, text=f"See @{name}, please.")
    assert told == user.text == f"See @{name}, please."
    assert [part.metadata for part in user.parts.values() if isinstance(part, TextPart) and part.metadata] == [
        {"notAttached": f"there is no file {name}; @{name} is sent as words"}
    ]


@pytest.mark.parametrize(
    "words", ["@nobody", "@types/node", "@app.route('/')", "@s:x://notes", "@dataclasses.dataclass"]
)
async def test_a_word_that_is_plainly_no_file_is_not_missed(project: Path, words: str) -> None:
    user, _, _ = await _sent(project, text=f"About {words} and so on.")
    assert len(user.parts) == 1


async def test_mentions_are_left_alone_if_that_is_wanted(project: Path) -> None:
    async with opened(project, says("Seen.")) as trial:
        await trial.prompt("What is in @a.txt?", mentions=False)
        assert words(trial.requests[0]) == "What is in @a.txt?"


async def test_a_mention_is_read_under_the_rules_of_the_agent(project: Path) -> None:
    (project / ".env").write_text("KEY=secret\n")
    _, told, _ = await _sent(project, text="What is in @.env?")
    assert "secret" not in told
    assert "could not be read" in told


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see @src/a.py.", ["src/a.py"]),
        ("@a @b, @a", ["a", "b"]),
        ("mail me@example.org", []),
        ("`@quoted`", []),
        ("(@src/a.py)", ["src/a.py"]),
        ("is @.env there?", [".env"]),
        ("just @", []),
    ],
)
def test_what_counts_as_a_mention(text: str, names: list[str]) -> None:
    assert mentioned(text) == names


async def test_a_mention_longer_than_any_file_name_is_just_words(project: Path) -> None:
    _, told, _ = await _sent(project, text=f"@{'x' * 5000}")
    assert told == f"@{'x' * 5000}"


@given(st.text(max_size=200))
def test_any_text_can_be_searched_for_mentions(text: str) -> None:
    assert all(name and name in text for name in mentioned(text))


@asynccontextmanager
async def _web(*answers: bytes) -> AsyncIterator[str]:
    """A server that answers each request with the next answer, which may name the server's port."""
    waiting = list(answers)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(waiting.pop(0).replace(b"PORT", b"%d" % port))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.close()


def _answer(status: str, kind: str = "text/plain", body: bytes = b"", more: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n{more}\r\n"
    )
    return head.encode() + body


def _opening(address: str) -> dict[str, Any]:
    """Settings that let this server of the machine be reached."""
    return {"permission": {"webfetch": {f"{address}/*": "allow"}}}


async def test_a_picture_of_the_web_is_fetched_once(project: Path) -> None:
    async with _web(_answer("200 OK", "image/png", PIXEL)) as address:
        _, _, [picture] = await _sent(project, Attached(url=f"{address}/dot.png"), config=_opening(address))
    assert picture.url.startswith("data:image/png;base64,")
    assert picture.filename == "dot.png"


async def test_a_page_of_the_web_is_read_as_the_tool_reads_it(project: Path) -> None:
    async with _web(_answer("200 OK", body=b"Read me.\n")) as address:
        user, told, files = await _sent(project, Attached(url=f"{address}/a.txt"), config=_opening(address))
    assert f"The user attached {address}/a.txt:\nRead me." in told
    assert files == []
    assert [(part.mime, part.filename) for part in _files(user)] == [("text/plain", "a.txt")]


async def test_what_is_attached_is_looked_at_whatever_tools_the_prompt_leaves_on(project: Path) -> None:
    async with opened(project, says("Seen.")) as trial:
        await trial.session.prompt("Look.", files=["a.txt"], tools=["glob"])
        assert "hello" in words(trial.requests[0])


async def test_an_address_in_a_private_network_is_as_closed_to_an_attachment_as_to_the_tool(project: Path) -> None:
    async with _web(_answer("200 OK", body=b"SECRET")) as address:
        _, told, _ = await _sent(project, Attached(url=f"{address}/a.txt"))
    assert "is no public address" in told
    assert "SECRET" not in told


async def test_every_hop_of_an_attachment_is_judged(project: Path) -> None:
    away = _answer("302 Found", more="location: http://localhost:PORT/secret\r\n")
    async with _web(away, _answer("200 OK", body=b"SECRET")) as address:
        _, told, _ = await _sent(project, Attached(url=f"{address}/a.txt"), config=_opening(address))
    assert "is no public address" in told
    assert "SECRET" not in told


async def test_a_rule_against_addresses_holds_for_attachments(project: Path) -> None:
    async with _web(_answer("200 OK", body=b"SECRET")) as address:
        config = {"permission": {"webfetch": "deny"}}
        _, told, _ = await _sent(project, Attached(url=f"{address}/a.txt"), config=config)
    assert "could not be fetched: A rule forbids webfetch" in told
    assert "SECRET" not in told


async def test_what_the_web_does_not_give_is_told_and_the_turn_goes_on(project: Path) -> None:
    """36, weakness 10"""
    async with _web(_answer("404 Not Found")) as address:
        _, told, _ = await _sent(
            project, Attached(url=f"{address}/dot.png", mime="image/png"), config=_opening(address)
        )
    assert f"could not be fetched: {address}/dot.png answered 404 Not Found." in told


async def test_planning_is_reminded_of_and_its_end_once(project: Path) -> None:
    script = [says(f"{number}.") for number in range(4)]
    async with opened(project, *script) as trial:
        for agent in ("plan", "plan", "build", "build"):
            await trial.prompt("Go.", agent=agent)
        prompts = [one for one in trial.messages if one.info.role == "user"]
        reminders = [
            [part.text.split()[0] for part in one.parts.values() if isinstance(part, TextPart) and part.synthetic]
            for one in prompts
        ]
        assert reminders == [["You"], ["You"], ["The"], []]


@pytest.fixture
def instructions(tmp_path: Path) -> Callable[..., Instructions]:
    root = tmp_path / "root"
    deep = root / "sub" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "config").mkdir()

    def make(**more: tuple[str, ...]) -> Instructions:
        return Instructions(
            root=root, directory=deep, home=tmp_path / "home", config=tmp_path / "config", wanted=more.get("wanted", ())
        )

    return make


def test_instructions_come_from_the_general_to_the_particular(
    instructions: Callable[..., Instructions], tmp_path: Path
) -> None:
    """82"""
    root = tmp_path / "root"
    for file in (
        root / "AGENTS.md",
        root / "CLAUDE.md",
        root / "sub" / "AGENTS.md",
        root / "docs" / "one.md",
        root / "sub" / "docs" / "two.md",
        tmp_path / "config" / "AGENTS.md",
    ):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"From {file.name}\n")
    found = instructions(wanted=("docs/*.md",)).files()
    assert [str(file.relative_to(tmp_path)) for file in found] == [
        "config/AGENTS.md",
        "root/AGENTS.md",
        "root/sub/AGENTS.md",
        "root/docs/one.md",
        "root/sub/docs/two.md",
    ]


def test_instructions_that_change_are_read_again(instructions: Callable[..., Instructions], tmp_path: Path) -> None:
    made = instructions()
    file = tmp_path / "root" / "AGENTS.md"
    file.write_text("Be brief.")
    assert made.text().endswith("Be brief.")
    file.write_text("Be thorough.")
    assert made.text().endswith("Be thorough.")
    file.unlink()
    assert made.text() == ""


async def test_instructions_are_in_the_system_prompt_and_the_same_all_turn_long(project: Path) -> None:
    (project / "AGENTS.md").write_text("Use tabs.")
    change = call("bash", command="echo 'Use blanks.' > AGENTS.md", description="Change")
    async with opened(project, calls(change), says("One."), says("Two."), config={"sandbox": "off"}) as trial:
        await trial.prompt(system="Speak plainly.")
        await trial.prompt()
        systems = [str(request.messages[0]) for request in trial.requests]
        assert "Use tabs." in systems[0]
        assert "Speak plainly." in systems[0]
        assert systems[1] == systems[0]
        assert "Use blanks." in systems[2]
        assert "Speak plainly." not in systems[2]
