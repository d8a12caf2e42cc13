"""Claims of the final message: that tests pass, how many, what was run and which files were changed."""

import re
from collections.abc import Iterator
from typing import Literal

from toolwright.record import record

ClaimKind = Literal["tests_pass", "count", "ran", "changed"]

_NOT = re.compile(
    r"(?i)\b(not|no|never|cannot|can't|couldn't|didn't|doesn't|don't|unable|unless|until|if|should|will|would|may|might"
    r"|need|once|before|please|try|to make)\b"
)
_PASS = re.compile(
    r"(?i)\b(all|every|the|full|whole|entire|both|\d+)?\s*(unit |integration |existing |the )?"
    r"(tests?|test suite|suite|specs?|checks?|builds?|ci)\b[^.;,\n]{0,40}?"
    r"\b(pass(es|ed|ing)?|succeed(s|ed)?|(is|are) (all )?(green|ok|passing)|ok)\b"
    r"|\b(everything|all) (passes|is green|green)\b|\btests? (?:are|is) (?:now )?green\b"
)
_COUNT = re.compile(
    r"(?i)\b(\d+)(?: of \d+|/\d+)? (?:tests? )?(?:pass(?:ed|ing|es)?)\b|\b(\d+)/(\d+)\b[^.\n]{0,12}\bpass"
)
_RAN = re.compile(
    r"(?i)\b(?:I |we |after )?(?:ran|run(?:ning)?|executed|verified (?:with|by)|checked with|tested with)\b"
    r"[^.`\n]{0,30}`([^`\n]+)`"
)
_ENDINGS = "py|js|mjs|cjs|ts|tsx|jsx|go|rs|c|h|cc|cpp|java|rb|php|cs|sh|md|txt|json|ya?ml|toml|html|css|sql|cfg|ini"
_CHANGED = re.compile(
    r"(?i)\b(fixed|changed|updated|edited|modified|added|created|removed|deleted|rewrote|renamed|refactored|implemented"
    r"|corrected|patched|wrote)\b"
    rf"[^.;\n`]{{0,60}}?(?:\bin\b|\bto\b|\bfrom\b|\bof\b|:)?\s*`?((?:[\w.-]+/)*[\w-]+\.(?:{_ENDINGS}))`?(?![\w(])"
)


@record(frozen=True, slots=True)
class Claim:
    """One thing that is said, in the words it is said in."""

    kind: ClaimKind
    value: str
    text: str


def claims_of(message: str) -> Iterator[Claim]:
    """Yield what a message says has been done; what it only plans, or says is not so, is no claim."""
    for sentence in re.split(r"(?<=[.!?;])\s+|\n+", re.sub(r"```.*?```", "", message, flags=re.DOTALL)):
        text = sentence.strip()[:200]
        if not text:
            continue
        for match in _COUNT.finditer(sentence):
            yield Claim("count", match[1] or match[2], text)
        for match in _RAN.finditer(sentence):
            yield Claim("ran", match[1].strip(), text)
        if _NOT.search(sentence):
            continue
        if _PASS.search(sentence):
            yield Claim("tests_pass", "", text)
        for match in _CHANGED.finditer(sentence):
            yield Claim("changed", match[2], text)
