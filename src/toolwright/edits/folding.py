"""Lines made equal that differ only in what is easily mistyped: letters' case, blanks, look-alike signs."""

import unicodedata

from toolwright.edits.blanks import BLANKS

LOOK_ALIKE = str.maketrans(
    dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("“”„‟", '"') | dict.fromkeys("‐‑‒–—―", "-") | {"\u00a0": " ", "…": "..."}
)
"""Plain signs for the punctuation that looks like them."""
_PLAIN = LOOK_ALIKE | str.maketrans({"′": "'", "`": "'", "″": '"', "−": "-"})
"""And for signs with a meaning of their own, which a patch has to name as they are."""
_NO_BLANKS = str.maketrans(dict.fromkeys(BLANKS.replace("\n", "")))


def plain(line: str) -> str:
    """The line with plain signs in place of those that look like them."""
    return line if line.isascii() else unicodedata.normalize("NFKC", line.translate(_PLAIN))


def folded(text: str) -> str:
    """The text in plain signs and small letters, without blanks. Line breaks stay."""
    return plain(text).casefold().translate(_NO_BLANKS)
