"""Code in the colours of its language: comments, strings, numbers and words, found in one pass.

The words of a model come unasked, so no pattern here may look at a character more often than a few times.
"""

import re
from functools import lru_cache

from toolwright.record import record
from toolwright.terminal.screen import CYAN, DIM, GREEN, YELLOW
from toolwright.text.display import visible

LONGEST = 60_000
"""Characters beyond which code is shown in one colour: colouring takes time."""
MAGENTA = "35"

_QUOTES = (
    r'"(?:[^"\\\n]|\\[^\n])*+"?',
    # Not an apostrophe.
    r"(?<!\w)'(?:[^'\\\n]|\\[^\n])*+'?",
)
_LETTER = r"'(?:[^'\\\n]|\\[^\n]{1,8})'"
_TRIPLE = (
    r'[a-zA-Z]{0,2}"""(?:[^"\\]|\\[\s\S]|"(?!""))*+(?:""")?',
    r"[a-zA-Z]{0,2}'''(?:[^'\\]|\\[\s\S]|'(?!''))*+(?:''')?",
)
_BACKTICKS = r"`(?:[^`\\]|\\[\s\S])*+`?"
_HASH = r"(?<!\S)\#[^\n]*+"
_SLASHES = (r"//[^\n]*+", r"/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
_DASHES = r"--[^\n]*+"

_C_WORDS = """
abstract as async auto await bool break byte case catch chan char class const constexpr continue crate data def default
defer delete do double dyn elif else enum export extends extern false final finally float fn for foreach from func
function global go goto guard if impl implements import in init inline instanceof int interface internal is lateinit let
long loop map match mod module move mut namespace native new nil null nullptr object of open operator override package
private protected protocol pub public raise range readonly record ref return sealed select self short signed sizeof
static string struct super switch synchronized template this throw throws trait true try type typedef typename typeof
undefined union unsafe unsigned use using val var virtual void volatile when where while with yield
"""
_HASH_WORDS = """
alias and as assert async await begin break case class continue def defmodule del do done elif else elsif end ensure
esac except export false fi finally for from function global if import in is lambda local loop match module nil nonlocal
not null or pass raise require rescue resource return self set source then true try type unless unset until use variable
when while with yield False None True FROM RUN COPY CMD ENTRYPOINT WORKDIR ENV ARG EXPOSE ADD USER VOLUME LABEL
"""
_DASH_WORDS = """
add all alter and as asc begin between by case check column commit constraint create cross database default delete desc
distinct do drop else elseif end exists false for foreign from full function grant group having if in index inner insert
instance into is join key left let like limit local module nil not null of offset on or order outer primary references
repeat return returning revoke right rollback select set table then true type union unique until update using values
view where while with
"""


@record(frozen=True, slots=True, kw_only=True)
class _Family:
    """Languages that look alike."""

    names: str
    comments: tuple[str, ...]
    strings: tuple[str, ...]
    words: str = ""
    any_case: bool = False
    keys: bool = False
    """True if lines begin with names of what follows."""


_FAMILIES = (
    _Family(
        names="""
        python py python3 pycon ruby rb bash sh shell zsh fish console perl pl r elixir ex nix hcl terraform tf make
        makefile dockerfile docker powershell ps1 graphql julia jl cmake nginx
        """,
        comments=(_HASH,),
        strings=(*_TRIPLE, *_QUOTES),
        words=_HASH_WORDS,
    ),
    _Family(
        names="yaml yml toml ini conf cfg properties env",
        comments=(_HASH,),
        strings=(*_TRIPLE, *_QUOTES),
        words="true false null yes no",
        keys=True,
    ),
    _Family(names="rust rs", comments=_SLASHES, strings=(_QUOTES[0], _LETTER), words=_C_WORDS),
    _Family(
        names="""
        c h cpp c++ cc hpp cs csharp java javascript js jsx mjs typescript ts tsx go golang kotlin kt swift scala dart
        php css scss less json jsonc json5 proto protobuf zig groovy gradle objc d v solidity
        """,
        comments=_SLASHES,
        strings=(*_TRIPLE, *_QUOTES, _BACKTICKS),
        words=_C_WORDS,
    ),
    _Family(
        names="sql mysql postgresql postgres sqlite plsql lua haskell hs ada elm",
        comments=(_DASHES, _SLASHES[1]),
        strings=_QUOTES,
        words=_DASH_WORDS,
        any_case=True,
    ),
    _Family(
        names="html xml svg vue svelte xhtml jinja xsl markup",
        comments=(r"<!--(?:[^-]|-(?!->))*+(?:-->)?",),
        strings=_QUOTES,
    ),
)
_BY_NAME = {name: family for family in _FAMILIES for name in family.names.split()}
_COLOURS = {
    "comment": DIM,
    "string": GREEN,
    "number": YELLOW,
    "mark": YELLOW,
    "tag": MAGENTA,
    "call": CYAN,
    "key": CYAN,
}


def highlighted(code: str, language: str) -> "list[list[tuple[str, str]]] | None":
    """The lines in pieces with a colour each; None if the language is not known or the code is too long."""
    family = _BY_NAME.get(language.split()[0].lower()) if language.strip() else None
    if family is None or len(code) > LONGEST:
        return None
    pattern, words = _pattern(family)
    text = visible(code.expandtabs(4))
    lines: list[list[tuple[str, str]]] = [[]]
    at = 0
    for match in pattern.finditer(text):
        kind, word = str(match.lastgroup), match[0]
        plain = word.lower() if family.any_case else word
        colour = MAGENTA if plain in words else _COLOURS.get(kind, "")
        if colour:
            _add(lines, text[at : match.start()], "")
            _add(lines, word, colour)
            at = match.end()
    _add(lines, text[at:], "")
    return lines


@lru_cache(maxsize=len(_FAMILIES))
def _pattern(family: _Family) -> "tuple[re.Pattern[str], frozenset[str]]":
    kinds = {
        "comment": "|".join(family.comments),
        "string": "|".join(family.strings),
        "tag": r"</?+[A-Za-z][\w:.-]*+",
        "mark": r"@[A-Za-z_][\w.]*+",
        "number": r"(?<![\w.])\d[\w.]*+",
        "call": r"(?<!\w)[^\W\d]\w*+(?=\()",
        "key": r"(?m:^)[ ]*+(?:- )?+[^\W\d][\w.-]*+(?=[ ]*+[:=])",
        "word": r"(?<!\w)[^\W\d]\w*+",
    }
    unused = {"tag" if family.words else "", "" if family.keys else "key"}
    pattern = "|".join(f"(?P<{kind}>{spelled})" for kind, spelled in kinds.items() if kind not in unused)
    return re.compile(pattern), frozenset(family.words.split())


def _add(lines: list[list[tuple[str, str]]], text: str, colour: str) -> None:
    if text:
        first, *rest = text.split("\n")
        lines[-1].append((first, colour))
        lines += ([(one, colour)] for one in rest)
