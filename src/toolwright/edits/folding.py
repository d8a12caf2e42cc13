"""Lines made equal that differ only in what is easily mistyped: letters' case, blanks, look-alike signs."""

import unicodedata

from toolwright.edits.blanks import BLANKS

_LOOK_ALIKE = str.maketrans(
    dict.fromkeys("‘’‚‛′`", "'")
    | dict.fromkeys("“”„‟″", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | {"\u00a0": " ", "…": "..."}
)
_NO_BLANKS = str.maketrans(dict.fromkeys(BLANKS.replace("\n", "")))


def plain(line: str) -> str:
    """The line with plain signs in place of those that look like them."""
    return line if line.isascii() else unicodedata.normalize("NFKC", line.translate(_LOOK_ALIKE))


def folded(text: str) -> str:
    """The text in plain signs and small letters, without blanks. Line breaks stay."""
    return plain(text).casefold().translate(_NO_BLANKS)
