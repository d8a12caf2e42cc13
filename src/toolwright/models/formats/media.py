"""Files on their way to a model: in a form it can take, or as words that say it cannot."""

import base64
import binascii
from collections.abc import Iterable, Set
from typing import Literal, TypeGuard
from urllib.parse import unquote_to_bytes

from toolwright.definition import Attachment
from toolwright.record import record

Kind = Literal["image", "pdf", "audio", "video"]


@record(frozen=True, slots=True, kw_only=True)
class Media:
    """A file that the model will see. Either its content or an address where the provider finds it."""

    kind: Kind
    mime: str
    base64: str = ""
    url: str = ""
    filename: str

    @property
    def address(self) -> str:
        return self.url or f"data:{self.mime};base64,{self.base64}"


def media_of(attachment: Attachment, accepts: Set[str]) -> Media | str:
    """The file if the model accepts its kind; text files as their text; otherwise a sentence about it.

    A sentence and not an error: a file nobody can read must not make the whole conversation unsendable.
    """
    name = attachment.filename or "a file"
    mime = attachment.mime.partition(";")[0].strip().lower()
    kind = _kind(mime)
    if kind is None and not _is_text(mime):
        return _unreadable(name, mime, "files of this type cannot be sent to a model")
    if kind is not None and kind not in accepts:
        return _unreadable(name, mime, f"this model does not take {_PLURAL[kind]}")
    if kind is not None and attachment.url.startswith(("https://", "http://")):
        return Media(kind=kind, mime=mime, url=attachment.url, filename=name)
    content = _content(attachment.url)
    if content is None:
        return _unreadable(name, mime, "its content was not included")
    if kind is None:
        text = base64.b64decode(content).decode("utf-8", "replace")
        return f'<file name="{name}">\n{text}\n</file>'
    return Media(kind=kind, mime=mime, base64=content, filename=name)


def left_out(attachments: Iterable[Attachment], accepts: Set[str]) -> list[str]:
    """The files that the model will not see, each with the reason."""
    given = (media_of(one, accepts) for one in attachments)
    return [text.strip("[]").removesuffix(" Tell the user so if it matters.") for text in given if _is_excuse(text)]


def _is_excuse(given: Media | str) -> TypeGuard[str]:
    return isinstance(given, str) and given.startswith("[") and _EXCUSE in given


_EXCUSE = " is not shown: "
_PLURAL = {"image": "images", "pdf": "PDF files", "audio": "sound", "video": "videos"}


def _kind(mime: str) -> Kind | None:
    match mime.partition("/")[0]:
        case "image" if mime != "image/svg+xml":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
    return "pdf" if mime == "application/pdf" else None


def _is_text(mime: str) -> bool:
    return mime.startswith("text/") or mime in {"application/json", "application/xml", "image/svg+xml"}


def _content(url: str) -> str | None:
    """The base64 of a `data:` address; None for any other address and for damaged content."""
    head, comma, data = url.partition(",")
    if not head.startswith("data:") or not comma:
        return None
    if not head.endswith(";base64"):
        return base64.b64encode(unquote_to_bytes(data)).decode()
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data


def _unreadable(name: str, mime: str, reason: str) -> str:
    return f"[{name} ({mime or 'unknown type'}){_EXCUSE}{reason}. Tell the user so if it matters.]"
