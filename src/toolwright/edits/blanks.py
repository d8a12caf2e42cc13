"""The characters that count as blank, and texts stripped and squeezed by that rule.

The set is ECMAScript's: it has U+FEFF and U+00A0, and it lacks U+0085 and U+001C to U+001F. Python's own
`str.strip` differs in exactly those, so it serves only where none of them occurs.
"""

import re
from collections.abc import Callable

BLANKS = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
WORD = re.compile(f"[^{re.escape(BLANKS)}]+")
_UNLIKE_PYTHON = "\x1c\x1d\x1e\x1f\x85\ufeff"
_INNER = BLANKS.replace("\n", "").replace(" ", "")
_ASCII_INNER = "".join(filter(str.isascii, _INNER))


def strip(text: str) -> str:
    return text.strip(BLANKS)


def stripper(text: str) -> Callable[[str], str]:
    """The fastest function that strips any part of this text by our rule."""
    return strip if any(character in text for character in _UNLIKE_PYTHON) else str.strip


def squeeze(text: str) -> str:
    """The text with every run of blanks inside a line made one space. Line breaks stay."""
    for character in _ASCII_INNER if text.isascii() else _INNER:
        if character in text:
            text = text.replace(character, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def words(text: str) -> str:
    """All words of the text with one space between them."""
    return " ".join(WORD.findall(text))


def indent_of(line: str) -> str:
    """The blanks a line begins with; all of a blank line."""
    return line[: len(line) - len(line.lstrip(BLANKS))]


def units(text: str) -> str:
    """The text with each character beyond U+FFFF as its two UTF-16 units, so that lengths count units."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    return re.sub(r"[\U00010000-\U0010ffff]", lambda match: _halves(match[0]), text)


def _halves(character: str) -> str:
    rest = ord(character) - 0x10000
    return chr(0xD800 + (rest >> 10)) + chr(0xDC00 + (rest & 0x3FF))
