"""Every parser that reads what a stranger wrote, as a target."""

import asyncio
import atexit
import json
import random
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import cache, partial
from pathlib import Path

from tests.attacks.fuzz import Mutate, Target, changed_json, changed_text
from tests.attacks.fuzz_shell import PIECES
from tests.attacks.shell.catalogue import ATTACKS
from tests.models import replies
from tests.models.replies import Reply
from toolwright.config import jsonc
from toolwright.config.load import load_config
from toolwright.config.markdown import read_document
from toolwright.edits.chunks import apply_chunks
from toolwright.edits.patch import ADD, BEGIN, DELETE, END, MOVE, UPDATE, parse
from toolwright.edits.replacement import replace
from toolwright.edits.sections import END_OF_FILE, Update
from toolwright.errors import ConfigError, ToolError, UsageError
from toolwright.files.globs import GlobError, literal_folders, parse_glob, parse_ignore_line
from toolwright.files.paths import Tree
from toolwright.machine.folders import Folders
from toolwright.models.connect import connect
from toolwright.models.formats.wire import HttpModel
from toolwright.models.model import ModelError, ReplySettings, UserMessage
from toolwright.models.transport.endpoint import Address
from toolwright.protocols.framing import Headers, LineFraming
from toolwright.protocols.http_answer import AnswerBody, BadAnswer, read_head
from toolwright.protocols.json_text import read_json
from toolwright.protocols.sse import EventReader
from toolwright.session.storage.copies import exported, ids_of, read_export
from toolwright.shell import analyse, checks_for, requests_for
from toolwright.text.wildcard import matches
from toolwright.web.convert import convert

BREAK = b"\0"
"""Between the parts of an input that has several."""
MARKS = tuple(
    f"{text}\n".encode()
    for text in (
        BEGIN,
        END,
        END_OF_FILE,
        f"{UPDATE} a",
        f"{ADD} b",
        f"{DELETE} c",
        f"{MOVE} d",
        "@@",
        "@@ -1,2 +1,2 @@",
    )
)


def _words(text: str) -> tuple[bytes, ...]:
    """The words that a language is made of."""
    return tuple(word.encode() for word in text.split())


def _text_of(*words: bytes) -> Mutate:
    return lambda data, others, dice: changed_text(data, others, words, dice)


def _json_of(*words: bytes) -> Mutate:
    return lambda data, others, dice: changed_json(data, others, words, dice)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


# The shell


def read_command(data: bytes) -> None:
    """Both ways of reading a line, and what is asked about it; every line gets an answer."""
    place = Tree("/p").place
    for shell in ("bash", "zsh"):
        found = analyse(_text(data), cwd="/p", home="/h", shell=shell, top="/p")
        checks_for(found, place)
        requests_for(found, place)


# Files


def read_patch(data: bytes) -> None:
    """A patch, and the file that it is for."""
    patch, _, file = _text(data).partition("\0")
    for section in parse(patch).sections:
        if isinstance(section, Update):
            apply_chunks(file, section.chunks)


def read_edit(data: bytes) -> None:
    """A file, what is to be found in it, and what is to stand there."""
    file, old, new = (*_text(data).split("\0"), "", "", "")[:3]
    replace(file, old, new)
    replace(file, old, new, everywhere=True)


def read_globs(data: bytes) -> None:
    """A pattern in its three languages, and a path."""
    pattern, _, path = _text(data).partition("\0")
    matches(path, pattern)
    matches(path, pattern, any_case=True)
    line = parse_ignore_line(pattern)
    if line is not None:
        line.fits(path, folder=True)
    literal_folders(pattern)
    glob = parse_glob(pattern)
    glob.selects(path)


# Settings


def read_jsonc(data: bytes) -> None:
    """What can be read has a place for every entry."""
    text = _text(data)
    value = jsonc.parse(text, "x")
    found = jsonc.positions(text)
    if isinstance(value, dict) and not set(value) <= {path[0] for path in found if len(path) == 1}:
        raise AssertionError("a key has no place")


def read_settings(data: bytes) -> None:
    """A project that brings this as its settings."""
    folder = _project()
    (folder / "opencode.json").write_bytes(data)
    config = load_config(folder, Folders.of({"HOME": str(folder / "home")}), {}, trusted=False)
    for layer in config.layers:
        for rule in layer.rules:
            matches("x", rule.pattern)


@cache
def _project() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="toolwright-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "home").mkdir()
    (folder / ".git").mkdir()
    return folder


# Streams


def read_events(data: bytes) -> None:
    """However a stream is cut into pieces, the same comes of it."""
    whole, pieces = EventReader(), EventReader()
    size = 1 + len(data) % 7
    cut = [data[start : start + size] for start in range(0, len(data), size)]
    one = [*whole.feed(data), *whole.close()]
    other = [event for piece in cut for event in pieces.feed(piece)]
    if one != [*other, *pieces.close()]:
        raise AssertionError("it depends on the pieces")


def read_answer(data: bytes) -> None:
    """However an answer over HTTP is cut into pieces, the same comes of it."""
    head, _, body = data.partition(b"\r\n\r\n")
    size = 1 + len(data) % 7
    whole, pieces = AnswerBody(read_head(head)), AnswerBody(read_head(head))
    one = b"".join(whole.feed(body)) if body else b""
    other = b"".join(part for start in range(0, len(body), size) for part in pieces.feed(body[start : start + size]))
    if (one, whole.done) != (other, pieces.done):
        raise AssertionError("it depends on the pieces")


def read_frames(data: bytes) -> None:
    size = 1 + len(data) % 7
    for frames in (LineFraming(10_000), Headers(10_000)):
        for start in range(0, len(data), size):
            list(frames.feed(data[start : start + size]))


class _Stranger:
    """A provider that answers with what it is given."""

    def __init__(self, data: bytes) -> None:
        self.address = Address(provider="acme", base_url="http://localhost")
        self.login = None
        self._data = data

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str], *, whole: bool = False
    ) -> AsyncGenerator[bytes, None]:
        half = len(self._data) // 2
        for piece in (self._data[:half], self._data[half:]):
            if piece:
                yield piece

    async def close(self) -> None:
        return


def read_reply(api: str, data: bytes) -> None:
    """A whole answer of a provider."""
    config = {"name": "Acme", "api": api, "options": {"baseURL": "http://localhost", "apiKey": "k"}}
    model = connect("acme", "m", {**config, "models": {"m": {"reasoning": True}}})
    if not isinstance(model, HttpModel):
        raise TypeError(type(model).__name__)
    model.endpoint = _Stranger(data)  # type: ignore[assignment] # all that is used of an endpoint
    _runner().run(_drain(model))


async def _drain(model: HttpModel) -> None:
    async with aclosing(model.stream([UserMessage(content=("hi",))], (), ReplySettings())) as events:
        async for event in events:
            repr(event).encode("utf-8")


@cache
def _runner() -> asyncio.Runner:
    return asyncio.Runner()


REPLY = Reply(reasoning="thinking", seal="s", text="Hello 😀", calls=[("c1", "read", '{"filePath": "a"}')], size=5)


def changed_stream(words: Sequence[bytes], data: bytes, others: Sequence[bytes], dice: random.Random) -> bytes:
    """An event changed as JSON, dropped, repeated, or moved; sometimes the bytes themselves."""
    events = data.split(b"\n\n")
    at = dice.randrange(len(events))
    match dice.randrange(6):
        case 0 | 1 | 2 if b"data:" in events[at]:
            head, _, body = events[at].partition(b"data:")
            events[at] = head + b"data:" + changed_json(body.strip(), [body], words, dice)
        case 3:
            del events[at]
        case 4:
            events.insert(dice.randrange(len(events) + 1), events[at])
        case _:
            return changed_text(data, others, words, dice)
    return b"\n\n".join(events)


# What people send


def read_import(data: bytes) -> None:
    """An exported session: what is taken in can be written out again."""
    info, messages = read_export(read_json(_text(data)))
    ids_of(info, messages)
    json.dumps(exported(info, messages))


def read_page(data: bytes) -> None:
    convert(_text(data), "markdown", "https://example.com/")
    convert(_text(data), "text", "https://example.com/")


def _wire(api: str, write: Callable[[Reply], Iterator[bytes]], words: str) -> Target:
    return Target(
        name=f"wire-{api}",
        run=partial(read_reply, api),
        refuses=(ModelError,),
        mutate=partial(changed_stream, (*_words(words), b"data: ", b"[DONE]", b"\n\n", b"event: x\n")),
        seeds=lambda: [b"".join(write(REPLY)), b"".join(write(Reply(text="x", finish="length")))],
    )


_ALL = (
    Target(
        name="shell",
        run=read_command,
        refuses=(ToolError,),
        mutate=_text_of(*(piece.encode() for piece in PIECES)),
        seeds=lambda: [attack.command.encode() for attack in ATTACKS],
    ),
    Target(
        name="patch",
        run=read_patch,
        refuses=(ToolError,),
        mutate=_text_of(*MARKS, *_words("- + one two <<'EOF' EOF"), b"\n", b" ", BREAK),
    ),
    Target(
        name="edit",
        run=read_edit,
        refuses=(ToolError,),
        mutate=_text_of(*_words("... … ( ) one two 12 // <!--"), b"\n", b"    ", b"\t", BREAK),
    ),
    Target(
        name="globs",
        run=read_globs,
        refuses=(GlobError,),
        mutate=_text_of(*_words("* ** ? [ ] { } , / **/ ! \\ [!a-z] a . #"), BREAK),
    ),
    Target(
        name="jsonc",
        run=read_jsonc,
        refuses=(ConfigError,),
        mutate=_text_of(*_words('{ } [ ] " \\ // /* */ , : 1e999 null \\u - "a":')),
    ),
    Target(
        name="frontmatter",
        run=lambda data: read_document(_text(data), "x"),
        refuses=(ConfigError,),
        mutate=_text_of(*_words("--- : - &a *a | > !!python/object:x ? { [ <<: ' \" # %TAG"), b"---\n", b": ", b"- "),
    ),
    Target(
        name="settings",
        run=read_settings,
        refuses=(ConfigError,),
        mutate=_json_of(
            *_words("permission agent mode tools provider mcp command sandbox * allow model prompt disable"),
            *_words("instructions plan build environment options"),
        ),
    ),
    Target(
        name="events",
        run=read_events,
        refuses=(ValueError,),
        mutate=_text_of(*_words("data: event: : id: retry:"), b"\n\n", b"\r", b"\n"),
    ),
    Target(
        name="answer",
        run=read_answer,
        refuses=(BadAnswer,),
        mutate=_text_of(
            *_words("HTTP/1.1 200 content-length: transfer-encoding: chunked content-encoding: gzip 0 5 ffff ;"),
            b"\r\n",
            b"\r\n\r\n",
            b"0\r\n\r\n",
            b"5\r\nhello\r\n",
        ),
    ),
    Target(
        name="frames",
        run=read_frames,
        refuses=(ValueError,),
        mutate=_text_of(*_words("Content-Length: {} 5 99999999999"), b"\r\n\r\n", b"\r\n"),
    ),
    _wire("openai-chat", replies.chat, "choices delta tool_calls function arguments finish_reason usage error"),
    _wire("openai-responses", replies.responses, "type item output response arguments error usage status"),
    _wire("anthropic", replies.anthropic, "type content_block delta partial_json stop_reason usage error"),
    _wire("gemini", replies.gemini, "candidates content parts functionCall args finishReason usageMetadata"),
    Target(
        name="import",
        run=read_import,
        refuses=(UsageError, ValueError),
        mutate=_json_of(*_words("info messages parts state type time id metadata role tool")),
    ),
    Target(
        name="page",
        run=read_page,
        refuses=(ToolError,),
        mutate=_text_of(
            *_words("<div> </div> <a href= <!-- --> <script> </ <table><tr><td> &amp; &# <p > <![CDATA[ <pre> <ul><li>")
        ),
    ),
)
TARGETS: Mapping[str, Target] = {target.name: target for target in _ALL}
