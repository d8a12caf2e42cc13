"""Prompts of the user: text, files and mentions, turned into the parts of a message."""

import base64
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict
from urllib.parse import parse_qs, unquote, unquote_to_bytes, urlsplit

from toolwright.calls.parts import FilePart, Part
from toolwright.definition import Call, Result
from toolwright.errors import UsageError
from toolwright.events import Bus
from toolwright.messages import AgentPart, PartKeys, TextPart, new_part
from toolwright.models.model import Model
from toolwright.proof.goal import Condition, Function, Goal
from toolwright.record import record
from toolwright.session.budget import Budget
from toolwright.session.records.call_record import CallRecord
from toolwright.session.turns.terms import CallTerms
from toolwright.text.ids import is_id, new_id

if TYPE_CHECKING:
    from toolwright.session.agent import Agent
    from toolwright.session.session import Session
    from toolwright.session.turns.turn import Turn
    from toolwright.structured import Output

Until = str | Function | Condition | Goal | Sequence["str | Function | Condition"]
"""Forms of a goal that a program may give."""
MENTION = re.compile(r"(?<![\w`])@(?:\"([^\"\n]+)\"|(\.?[^\s`,.]*(?:\.[^\s`,.]+)*))")
_PATH = re.compile(r"[\w./~+-]+")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}")
_PUNCTUATION = "?!:;)]}\"'>"


@record(frozen=True, slots=True, kw_only=True)
class Attached:
    """A file the user sends along: a path, or an address such as `data:` or `file:`."""

    url: str
    mime: str = ""
    filename: str = ""


@record(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """A command by its name, and what goes with it."""

    name: str
    text: str = ""
    """As it was typed, with its quotes."""
    words: tuple[str, ...] = ()
    """The same told apart, without the quotes that keep several words together."""


@record(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One thing the user wants."""

    text: str
    command: CommandCall | None = None
    """The command that is called; without one, a text that begins with `/name` calls it."""
    verbatim: bool = False
    """True if the text is sent as it stands, and calls no command: what a command comes to calls no other."""
    typed: str | None = None
    """Part of the text that the person wrote, where others have written the rest; None where all of it is theirs."""
    files: tuple[Attached, ...] = ()
    agent: str = ""
    model: "str | Model" = ""
    """A name, or the model itself."""
    system: str = ""
    variant: str = ""
    tools: dict[str, bool] = field(default_factory=dict[str, bool])
    """Tools by id; those set to false are switched off until the prompt is answered."""
    only_tools: tuple[str, ...] | None = None
    """The only tools that are offered for this prompt; None for all the agent has."""
    budget: "Budget | None" = None
    """Limits of this turn; None for what the settings say."""
    mentions: bool = True
    """True if `@path` and `@agent` in the text are looked up."""
    message_id: str = ""
    """An id of the caller's for the message; a new one if empty."""
    output: "Output | None" = None
    """The form of the answer, where the program wants a value."""
    until: "Goal | None" = None
    """Goal that must hold before the work counts as done."""
    waits: bool = True
    """True if the turn lasts until the agents that it begins in the background are done. In a conversation it does
    not: they go on, and begin a turn when they have something."""

    def check(self) -> None:
        """Raise UsageError for what nobody could answer."""
        if not self.text.strip() and not self.files:
            raise UsageError("The prompt is empty. Say what you want, or attach a file.")
        if self.message_id and not is_id(self.message_id, "msg"):
            raise UsageError(f"{self.message_id!r} is not the id of a message; they look like msg_… .")
        for file in self.files:
            if file.url.startswith("data:"):
                _data_of(file.url)


class PromptOptions(TypedDict, total=False):
    """Options of a prompt that a program may give, beside the type of the answer."""

    files: "Sequence[str | Path]"
    """Files that go along, by path or address."""
    system: str
    """Told to the model for this prompt alone."""
    model: "str | Model | None"
    """A name, or the model itself."""
    budget: "Budget | Mapping[str, Any] | None"
    """Limits of the turn."""
    tools: "Sequence[str] | None"
    """The only tools that are offered."""
    variant: str
    retries: int
    """Times that an answer that does not fit `output` is asked for again; once if not said."""
    validate: "Callable[[Any], object] | None"
    """Checks the `output`, plain or async; a ValueError it raises is told to the model, which tries again."""
    until: "Until | None"
    """Goal that must hold before the work counts as done: a command, a function of the project's folder, or several."""


class AskedOptions(PromptOptions, total=False):
    """The same with who is asked, which types the answer."""

    agent: "str | Agent[Any]"


def mentioned(text: str) -> list[str]:
    """The names after `@` in a text, each once, as in @a.py and @"two words.png"; in an address it is no mention."""
    names = (match[1] or match[2].rstrip(_PUNCTUATION) for match in MENTION.finditer(text))
    return list(dict.fromkeys(name for name in names if name))


@record(slots=True)
class PromptReader:
    """Makes the parts of a user message. Files are read by `read`, addresses by `webfetch`, under the agent's rules."""

    turn: "Turn"
    message_id: str

    @property
    def session(self) -> "Session":
        return self.turn.session

    async def attached(self) -> AsyncIterator[Part]:
        """The files that came along and what the text mentions, one after the other."""
        prompt = self.turn.prompt
        for file in prompt.files:
            for part in await self._file(file):
                yield part
        for name in mentioned(prompt.text) if prompt.mentions else ():
            for part in await self._mention(name):
                yield part

    def _new(self) -> PartKeys:
        return new_part(self.session.id, self.message_id)

    def _synthetic(self, text: str) -> TextPart:
        return TextPart(**self._new(), text=text, synthetic=True)

    def _not_attached(self, name: str, reason: str) -> TextPart:
        """Told to the model, and marked so that the user is told as well."""
        text = f"The user attached {name}, but it could not be {reason}"
        return TextPart(
            **self._new(), text=text, synthetic=True, metadata={"notAttached": f"{name} could not be {reason}"}
        )

    def _no_file(self, name: str) -> TextPart:
        """Told to the user alone: to the model it is a word like any other."""
        notice = f"there is no file {name}; @{name} is sent as words"
        return TextPart(**self._new(), text=notice, synthetic=True, ignored=True, metadata={"notAttached": notice})

    async def _mention(self, name: str) -> list[Part]:
        path = Path(
            name.replace("~/", f"{Path.home()}/", 1) if name.startswith("~/") else self.session.home.directory / name
        )
        if os.path.exists(path):  # noqa: PTH110 - unlike Path.exists it says no to a name that is too long
            return await self._local(path, {}, name)
        if name in self.turn.settings.mentionable:
            name = self.session.home.agents[name].name
            advice = f"Hand the work that concerns it to the agent {name} with the task tool."
            return [AgentPart(**self._new(), name=name), self._synthetic(advice)]
        beside_others = "/" in name and os.path.isdir(path.parent)  # noqa: PTH112 - as above
        means_a_file = _PATH.fullmatch(name) and (beside_others or _SUFFIX.fullmatch(path.suffix))
        return [self._no_file(name)] if means_a_file else []

    async def _file(self, file: Attached) -> list[Part]:
        address = urlsplit(file.url)
        match address.scheme:
            case "data":
                return self._data(file)
            case "http" | "https":
                return await self._remote(file)
            case "file":
                lines = {key: values[0] for key, values in parse_qs(address.query).items()}
                return await self._local(Path(unquote(address.path)), lines, file.filename)
            case _:
                return await self._local(self.session.home.directory / file.url, {}, file.filename)

    def _data(self, file: Attached) -> list[Part]:
        kind, data = _data_of(file.url)
        mime = file.mime or kind
        part = FilePart(**self._new(), mime=mime, url=file.url, filename=file.filename or None)
        if mime != "text/plain":
            return [part]
        text = data.decode("utf-8", "replace")
        return [self._synthetic(f"The user attached {file.filename or 'a text'}:\n{text}"), part]

    async def _remote(self, file: Attached) -> list[Part]:
        """A page or file of the web, fetched now, so that the conversation never depends on its address again."""
        result = await self._call("webfetch", {"url": file.url})
        if result.error is not None:
            return [self._not_attached(file.url, f"fetched: {result.output}")]
        name = file.filename or unquote(urlsplit(file.url).path.rpartition("/")[2])
        return self._attached_parts(result, file.url, Attached(mime="text/plain", url=file.url, filename=name))

    async def _local(self, path: Path, lines: dict[str, str], name: str) -> list[Part]:
        """A file or folder of this machine, as the read tool shows it; a refusal is told, not raised."""
        arguments: dict[str, object] = {"filePath": str(path), **_range(lines)}
        result = await self._call("read", arguments)
        label = f"{name or path}"
        if result.error is not None:
            return [self._not_attached(label, f"read: {result.output}")]
        kind = "application/x-directory" if path.is_dir() else "text/plain"
        return self._attached_parts(result, label, Attached(mime=kind, url=path.as_uri(), filename=path.name))

    def _attached_parts(self, result: Result, label: str, whole: Attached) -> list[Part]:
        """Return a file as parts: the tool's words, then its pictures and documents, or the file by its place."""
        words = self._synthetic(f"The user attached {label}:\n{result.output}")
        files = [
            FilePart(**self._new(), mime=file.mime, url=file.url, filename=file.filename or whole.filename)
            for file in result.attachments or (whole,)
        ]
        return [words, *files]

    async def _call(self, tool: str, arguments: dict[str, object]) -> Result:
        """Look as the agent may, whatever the prompt leaves on; without a record, for the prompt itself tells of it."""
        call = Call(id=new_id("call"), tool=tool, arguments=arguments)
        quiet = CallRecord.begin(call, session_id=self.session.id, message_id=self.message_id, store=None, bus=Bus())
        turn = self.turn
        terms = CallTerms(
            agent=turn.agent,
            provider=turn.provider,
            model_id=turn.model_id,
            abort=turn.abort,
            spending=turn.spending,
        )
        return await self.session.run_call(call, terms, journal=quiet)


def _data_of(url: str) -> tuple[str, bytes]:
    """The type and the content of a `data:` address."""
    head, _, body = url.removeprefix("data:").partition(",")
    mime = head.partition(";")[0] or "text/plain"
    if not head.endswith(";base64"):
        return mime, unquote_to_bytes(body)
    try:
        return mime, base64.b64decode(body, validate=True)
    except ValueError as error:
        raise UsageError(f"A data: attachment of type {mime} is not valid base64: {error}.") from error


def _range(lines: dict[str, str]) -> dict[str, int]:
    """`?start=5&end=8` as offset and limit."""
    if not lines.get("start", "").isdigit():
        return {}
    start = max(int(lines["start"]), 1)
    end = int(lines["end"]) if lines.get("end", "").isdigit() else start
    return {"offset": start, "limit": max(end - start + 1, 1)}
