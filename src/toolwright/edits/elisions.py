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


def is_elision(line: str) -> bool:
    """Whether a line says nothing but that lines are left out there."""
    if not _SIGN.search(line) or not _MARK.fullmatch(line):
        return False
    letters = re.sub(r"[\W\d_]|\bREM\b", "", line)
    return not letters or _WORDS.search(line) is not None
