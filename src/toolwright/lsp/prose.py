"""Comments and strings in source text, by the plain look of them: names that stand there mean nothing to servers."""

import re
from collections.abc import Iterator

_DOUBLE, _SINGLE = r'"(?:\\.|[^"\\\n])*"', r"'(?:\\.|[^'\\\n])*'"
_LETTER = r"'(?:\\[^'\n]+|[^'\\\n])'"
"""A single letter: where nothing longer is quoted so, a lone quote means something else."""
_RAW = r"`[^`]*`"
_BLOCK, _LINE, _HASH = r"/\*[\s\S]*?(?:\*/|\Z)", r"//[^\n]*", r"#[^\n]*"
_LONG = r'"""(?:\\[\s\S]|[^\\])*?(?:"""|\Z)'
_LONG_SINGLE = _LONG.replace('"', "'")

_C = (_BLOCK, _LINE, _DOUBLE)
_KINDS: dict[tuple[str, ...], tuple[str, ...]] = {
    (*_C, _SINGLE): ("c", "cpp", "objective-c", "objective-cpp", "java", "csharp", "php", "zig"),
    (*_C, _SINGLE, _RAW): ("javascript", "javascriptreact", "typescript", "typescriptreact", "prisma"),
    (*_C, _LETTER, _RAW): ("go",),
    (*_C, _LETTER): ("rust", "fsharp", "typst"),
    (_BLOCK, _LINE, _LONG, _LONG_SINGLE, _DOUBLE, _SINGLE): ("dart", "kotlin", "swift", "scala", "groovy", "gleam"),
    (_HASH, _LONG, _LONG_SINGLE, _DOUBLE, _SINGLE): ("python", "elixir", "julia"),
    (_HASH, _DOUBLE, _SINGLE): ("ruby", "toml", "terraform", "r", "perl", "nix"),
    # What stands between double quotes is looked into by a shell.
    (r"(?<![^\s;&|(])#[^\n]*", _SINGLE): ("shellscript", "dockerfile", "yaml", "makefile"),
    (r"--\[\[[\s\S]*?(?:\]\]|\Z)", r"--[^\n]*", _DOUBLE, _SINGLE): ("lua",),
    (r"\{-[\s\S]*?(?:-\}|\Z)", r"--[^\n]*", _DOUBLE): ("haskell",),
    (r"\(\*[\s\S]*?(?:\*\)|\Z)", _DOUBLE): ("ocaml",),
    (r";[^\n]*", _DOUBLE): ("clojure",),
    (r"(?<!\\)%[^\n]*",): ("latex", "bibtex", "erlang"),
    (r"<!--[\s\S]*?(?:-->|\Z)",): ("html", "vue", "svelte", "astro", "markdown", "xml", "razor"),
}
_PATTERNS = {language: re.compile("|".join(kinds)) for kinds, languages in _KINDS.items() for language in languages}


def prose_in(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield where each comment and string begins and ends; nothing for a language whose look is not known."""
    pattern = _PATTERNS.get(language)
    for match in pattern.finditer(text) if pattern is not None else ():
        if not (match[0].startswith("`") and "${" in match[0]):
            yield match.span()
