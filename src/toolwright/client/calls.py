"""Addresses, errors and records that both clients share: servers reached, their answers read into our records."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from toolwright.errors import ToolwrightError, UsageError
from toolwright.messages import AnyPart, Info, Message, SessionInfo
from toolwright.protocols.client_json import from_json
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record


class ServerError(ToolwrightError):
    """The server has refused a request: its status, a name for programs, and the sentence."""

    def __init__(self, status: int, name: str, message: str) -> None:
        super().__init__(message)
        self.status, self.name = status, name


class RequestRefused(ServerError, UsageError):
    """Refusal of a request that cannot be done as it was asked."""


class NoAnswer(ServerError):
    """The server has carried out a request and says nothing, which OpenCode's does where a turn could not begin."""


class ServerGone(ToolwrightError):
    """Nobody answers at the address, or the connection broke before the answer was complete, or it is just ending."""


@record(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """Address of a server, and the headers and key that it wants to see."""

    url: str
    headers: Mapping[str, str]

    @classmethod
    def of(
        cls, url: str, *, token: str = "", directory: str = "", environment: Mapping[str, str] = os.environ
    ) -> "ServerAddress":
        """The address of a server; the secret of one of the same person's on this machine is found by itself."""
        url = url.rstrip("/")
        headers: dict[str, str] = {}
        if directory:
            from urllib.parse import quote

            headers["x-opencode-directory"] = quote(directory, safe="")
        user = environment.get("TOOLWRIGHT_SERVER_USERNAME") or environment.get("OPENCODE_SERVER_USERNAME") or ""
        if not token and "/k-" not in url:
            known, token = _known_token(url, environment)
            user = user or known
        if token:
            import base64

            user = user or "opencode"
            headers["authorization"] = "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()
        return cls(url=url, headers=headers)


def _known_token(url: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """User and token, as far as they are known."""
    password = environment.get("TOOLWRIGHT_SERVER_PASSWORD") or environment.get("OPENCODE_SERVER_PASSWORD")
    port = _port_here(url)
    if password or not port:
        return "", password or ""
    from toolwright.app.server_secret import find_token

    return find_token(environment, port)


def note_of_killed(url: str, environment: Mapping[str, str]) -> str:
    """Return the note of a server on this machine that was killed at an address; empty where none was."""
    if not (port := _port_here(url)):
        return ""
    from toolwright.app.server_secret import is_anybody_s, notes_folder

    return str(notes_folder(environment) / f"{port}.json") if is_anybody_s(environment, port) else ""


def _port_here(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or 0 if parts.hostname in ("127.0.0.1", "localhost", "::1") else 0


def without_secret(url: str) -> str:
    """An address as it may be shown."""
    return url.partition("/k-")[0]


def answer_of(status: int, content: bytes) -> Any:
    """The JSON of an answer; ServerError where it is a refusal."""
    text = content.decode("utf-8", "replace").strip()
    try:
        value: Any = read_json(text) if text else None
    except ValueError as error:
        raise ServerError(
            status, "NoJson", f"The server answered {status} with something that is not JSON. Check the address."
        ) from error
    if status >= 400:
        data = value.get("data") if isinstance(value, dict) else None
        message = data.get("message") if isinstance(data, dict) else None
        name = str(value.get("name", "")) if isinstance(value, dict) else ""
        if status in (502, 503, 504):
            raise ServerGone(str(message or f"The server answered {status}."))
        refused = RequestRefused if status in (400, 403, 404, 409, 413, 422) else ServerError
        raise refused(status, name, str(message or f"The server answered {status}."))
    return value


@contextmanager
def reading_answer() -> Iterator[None]:
    """Read an answer within; one that does not hold what it should is a ServerError: it is no server of ours."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        message = f"The server answered what this program does not understand ({error}). Is it one of tw serve?"
        raise ServerError(200, "Unreadable", message[:500]) from error


def as_list(value: Any) -> list[Any]:
    """An answer that is a list."""
    with reading_answer():
        if not isinstance(value, list):
            raise TypeError(f"a list was asked for, not {type(value).__name__}")
    return value


@reading_answer()
def session_of(value: Any) -> SessionInfo:
    session: SessionInfo = from_json(SessionInfo, value)
    return session


@reading_answer()
def message_of(value: Any) -> Message:
    if not isinstance(value, dict) or "info" not in value:
        raise NoAnswer(200, "NoAnswer", "The server took the prompt and answered nothing; its log may say why.")
    info: Info = from_json(Info, value["info"])
    parts: list[AnyPart] = []
    for part in value["parts"]:
        try:
            parts.append(from_json(AnyPart, part))
        except (TypeError, ValueError):
            continue  # of a kind that this version does not know
    return Message(info, {part.id: part for part in parts})


def prompt_body(
    text: str,
    *,
    files: Sequence[str] = (),
    agent: str = "",
    model: str = "",
    system: str = "",
    variant: str = "",
    tools: Sequence[str] | None = None,
    budget: Json | None = None,
    until: str = "",
) -> Json:
    """The body of a prompt; files are `file:` or `data:` addresses, tools the only ones offered.

    What the text names by `@` is looked up there, as it would be here.
    """
    parts: list[Json] = [{"type": "text", "text": text}] if text else []
    parts += file_parts(files)
    provider, slash, name = model.partition("/")
    optional = {
        "agent": agent,
        "system": system,
        "variant": variant,
        "budget": budget,
        "tools": None if tools is None else {"*": False} | dict.fromkeys(tools, True),
        "model": {"providerID": provider, "modelID": name} if slash else None,
        "mentions": "@" in text,
        "until": until,
    }
    return {"parts": parts} | {key: value for key, value in optional.items() if value}


def file_parts(files: Sequence[str]) -> list[Json]:
    return [{"type": "file", "mime": _kind_of(url), "url": url} for url in files]


def _kind_of(url: str) -> str:
    """Return the media type that a `data:` address names."""
    return url[len("data:") :].partition(",")[0].partition(";")[0] if url.startswith("data:") else "text/plain"
