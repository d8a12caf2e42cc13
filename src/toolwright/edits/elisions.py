"""Marks that stand for lines left out, as `# ...` or `// ... existing code ...`."""

import re

_MARK = re.compile(
    r"""\s*
    (?: (?:\#|//|--|;|%|"|'|REM\b|\*|/\*+|<!--|\{/\*)\s* )?
    [(\[<]?\s*
    (?: (?:\.\.\.|…)\s*[\w ,'’()/-]{0,60}?(?:\s*(?:\.\.\.|…))?
      | [\w ,'’()/-]{0,60}?\s*(?:\.\.\.|…) )
    \s*[)\]>]?
    \s*(?:\*+/\}?|-->)?\s*""",
    re.VERBOSE,
)
_WORDS = re.compile(
    r"\b(existing|rest|unchanged|remaining|omitted|same|other|more|previous|above|before|code|lines?)\b", re.IGNORECASE
)
_SIGN = re.compile(r"\.\.\.|…")
LONGEST = 200
"""Characters of a mark, rows of blanks counted as one."""


def is_elision(line: str) -> bool:
    """Tell whether a line says nothing but that lines are left out there."""
    if not _SIGN.search(line):
        return False
    # Blanks fit in many places of the mark: a long row of them would be divided up in every way there is.
    line = " ".join(line.split())
    if len(line) > LONGEST or not _MARK.fullmatch(line):
        return False
    letters = re.sub(r"[\W\d_]|\bREM\b", "", line)
    return not letters or _WORDS.search(line) is not None
