"""Bytes as text and back: encoding and byte order mark are found out once and kept, byte for byte."""

import codecs
from typing import Literal

from toolwright.errors import ToolError
from toolwright.record import record

SAMPLE = 4096
"""This many bytes decide whether a file is text."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(code for code in range(32) if code < 9 or code > 13)


@record(frozen=True, slots=True, kw_only=True)
class Text:
    """The text of a file and what is needed to write it back as it was."""

    content: str
    """Without the byte order mark; line ends as they are in the file."""
    encoding: str = "utf-8"
    bom: bool = False
    guessed: bool = False
    """The bytes are in no encoding we know; each stands for one character, so that all can be written back."""

    def encode(self, content: str) -> bytes:
        """Other content in the same form. Text that came from `decode` gives its bytes again exactly."""
        self._refuse_new_characters(content)
        mark = next(mark for mark, name in _MARKS if name == self.encoding) if self.bom else b""
        try:
            return mark + content.encode(self.encoding)
        except UnicodeEncodeError as error:
            bad = content[error.start]
            raise ToolError(
                f"The character {bad!r} (U+{ord(bad):04X}) cannot be written in {self.encoding}, the encoding of this "
                "file. Use another character.",
                "schema",
            ) from error

    def _refuse_new_characters(self, content: str) -> None:
        if not self.guessed or content.isascii():
            return
        new = sorted(char for char in set(content) - set(self.content) if not char.isascii())
        if new:
            raise ToolError(
                f"The file is not UTF-8 and its encoding is unknown, so {new[0]!r} cannot be added to it. "
                "Use ASCII, or name the encoding in the configuration (encoding).",
                "schema",
            )


def decode(data: bytes, legacy: str = "") -> Text:
    """The text in these bytes, by byte order mark, strict UTF-8, the zeros of UTF-16, or the `legacy` encoding.

    Nothing is ever replaced: bytes in no known encoding are kept one by one, bytes that are no text are refused.
    """
    encoding, mark = detect(data[:SAMPLE])
    body = data[len(mark) :]
    if encoding == "binary":
        raise ToolError("This is a binary file, not text. Use a program made for its format.", "binary")
    try:
        return Text(content=body.decode(encoding), encoding=encoding, bom=bool(mark))
    except UnicodeDecodeError as error:
        if encoding != "utf-8" or mark:
            raise ToolError(
                f"The file begins like {encoding} text but is damaged at byte {error.start}.", "binary"
            ) from error
    return _decode_legacy(data, legacy) or Text(content=data.decode("latin-1"), encoding="latin-1", guessed=True)


def detect(sample: bytes) -> tuple[str, bytes]:
    """The encoding that the beginning of a file speaks for, or `binary`, and the byte order mark found."""
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding, mark
    if b"\0" in sample:
        return _utf16_by_zeros(sample) or "binary", b""
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return ("binary" if controls > 0.30 * len(sample) else "utf-8"), b""


def line_ends(content: str) -> Literal["none", "lf", "crlf", "mixed"]:
    """Return the kind of line ends of a text."""
    all_ends, crlf = content.count("\n"), content.count("\r\n")
    if not all_ends:
        return "none"
    if not crlf:
        return "lf"
    return "crlf" if crlf == all_ends else "mixed"


def _decode_legacy(data: bytes, legacy: str) -> Text | None:
    if not legacy:
        return None
    try:
        content = data.decode(legacy)
        faithful = content.encode(legacy) == data
    except (UnicodeError, LookupError):
        return None
    return Text(content=content, encoding=legacy) if faithful else None


def _utf16_by_zeros(sample: bytes) -> str | None:
    """UTF-16 without a mark: mostly ASCII, so nearly every second byte is zero and hardly any of the others."""
    pairs = len(sample) // 2
    low, high = sample[0 : 2 * pairs : 2].count(0), sample[1 : 2 * pairs : 2].count(0)
    if pairs < 2 or min(low, high) > 0.02 * pairs or max(low, high) < 0.70 * pairs:
        return None
    encoding = "utf-16-le" if high > low else "utf-16-be"
    text = sample[: 2 * pairs].decode(encoding, "ignore")  # the sample may end inside a pair
    return encoding if all(char.isprintable() or char in "\t\r\n\f\v" for char in text) else None
