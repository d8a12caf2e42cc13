"""Text as a person is shown it: nothing in it can move the cursor, hide letters or change their order."""

import re
from functools import cache


def visible(text: str, *, lines: bool = True) -> str:
    r"""The text with every character that cannot be seen written as an escape, such as `\x1b` or `\u202e`.

    Everything that reaches a terminal, a log or a page goes through here. Line feeds and tabs stay as they are,
    unless the text must fit into one line (`lines=False`).
    """
    if text.isascii() and text.isprintable():
        return text
    return _hidden(lines).sub(_escape, text)


def visible_json(text: str) -> str:
    """The same for JSON text, whose own escapes keep it readable by programs."""
    return text if text.isascii() and "\x7f" not in text else _hidden(lines=True).sub(_json_escape, text)


@cache
def _hidden(lines: bool) -> re.Pattern[str]:
    controls = "\x00-\x08\x0b-\x1f" if lines else "\x00-\x1f"
    return re.compile(f"[{controls}{_INVISIBLE}]|{_BETWEEN_EMOJI}|{_NOT_AFTER_SYMBOL}")


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if character in "\n\t":
        return "\\n" if character == "\n" else "\\t"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))


_INVISIBLE = (
    "\x7f-\x9f"  # delete and the C1 controls, among them one-character forms of the escape sequences
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200c\u200e\u200f"  # zero width, and the marks of direction
    "\u2028-\u202e\u2060-\u206f"  # separators, embeddings and overrides, isolates, invisible operators
    "\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ufdd0-\ufdef\ufffe\uffff"
    "\ufe00-\ufe0d"
    "\ud800-\udfff"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and further variation selectors, which can carry a whole hidden text
)
_BETWEEN_EMOJI = "(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
"""A joiner is part of how some emoji are written; anywhere else it hides."""
_NOT_AFTER_SYMBOL = "(?<![#*0-9\u00a9\u00ae\u2000-\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
"""The selectors that say whether a symbol is drawn in colour; twice in a row they say nothing."""
