"""Width of texts in columns of a terminal."""

import unicodedata


def columns(text: str) -> int:
    """Wide letters take two columns, those that combine with the one before take none."""
    if text.isascii():
        return len(text)
    return sum(map(_of_one, text))


def clipped(text: str, width: int) -> str:
    """The text, or as much of its beginning as fits, with an ellipsis."""
    if columns(text) <= width:
        return text
    taken, room = 0, max(0, width - 1)
    for at, character in enumerate(text):
        taken += _of_one(character)
        if taken > room:
            return f"{text[:at]}…"[: width or 0]
    return text


def pieces(text: str, width: int) -> list[str]:
    """The text in pieces that fit, broken between words where there are any."""
    rows: list[str] = []
    line = ""
    for word in text.split(" "):
        if line and columns(line) + 1 + columns(word) > width:
            rows.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*rows, line]


def _of_one(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
