"""Quotes, escapes and braces: the words that are judged are the words that a program would get."""

import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from tests.shell.grammar import ansi_quoted, backslashed, double_quoted, mixed, single_quoted
from toolwright.shell import analyse

QUOTERS = [single_quoted, double_quoted, backslashed, ansi_quoted, mixed]
TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=12)

WRITTEN = [
    "plain",
    "a'b'\"c\"",
    "a\\ b",
    '"it\'s"',
    "'a\"b'",
    "$'tab\\there'",
    "$'\\x41\\102\\u0043\\'q'",
    '$"locale"',
    '"a\\\\b\\$c\\`d\\"e\\f"',
    "a\\\nb",
    '"a\\\nb"',
    "{a,b}{c,d}",
    "{1..3}",
    "{3..1}",
    "{01..03}",
    "{a..c}",
    "x{,y}",
    "{a,{b,c}}d",
    "{a}",
    "{a,b",
    "a,b}",
    "{}",
    "\\{a,b}",
    "'{a,b}'",
    '{"a b",c}',
    "{$A,x}",
    "$A",
    '"$A"',
    "${A}b",
    "$A$A",
    "$B",
    '"$B"',
    "x$B",
    "$E",
    '"$E"',
    "a${E}b",
    "$HOME",
    "~",
    "~/x",
    "a~",
    "'~'",
    "$((1+2))",
    "$PWD",
    "$(pwd)",
    "${A%.txt}",
    "${P##*/}",
    "${P%/*}",
    "${A:-other}",
    "$#",
    "a#b",
    "=x",
    "-x",
    "--x=y",
    "!",
    "{",
    "}",
]


def test_words_come_out_as_bash_makes_them() -> None:
    """One run of bash for all: every word on its own, one argument per line."""
    head = "A=a.txt; B='two words'; E=''; P=dir/sub/file; "
    script = head + "".join(f"printf '<%s>' {word}; echo; " for word in WRITTEN)
    done = subprocess.run(
        ["bash", "-c", script], env={"HOME": "/h"}, cwd="/", capture_output=True, text=True, check=True
    )
    for word, line in zip(WRITTEN, done.stdout.splitlines(), strict=True):
        analysis = analyse(f"{head}printf '<%s>' {word}", cwd="/", home="/h")
        words = next(command.words[2:] for command in analysis.commands if command.words[0] == "printf")
        expected = line.replace("<>", "") if words == () else line
        shown = "".join(f"<{text}>" for text in words)
        if "$((" in word or word == "$#":
            assert analysis.verdict == "understood"
        else:
            assert shown == expected, word


@given(st.lists(st.tuples(TEXTS, st.sampled_from(QUOTERS)), min_size=1, max_size=4))
@settings(max_examples=rounds(50, 200), deadline=None)
def test_any_way_of_quoting_a_text_is_undone(pairs: list[tuple[str, object]]) -> None:
    quoted = [quoter(text) for text, quoter in pairs if callable(quoter)]
    (command,) = analyse("run " + " ".join(quoted), cwd="/p", home="/h").commands
    assert command.words == ("run", *(text for text, _ in pairs))


@given(TEXTS, st.sampled_from(QUOTERS))
@settings(max_examples=rounds(50, 200), deadline=None)
def test_a_quoted_path_is_the_path_that_is_touched(text: str, quoter: object) -> None:
    assert callable(quoter)
    name = text.replace("/", "_").replace("\x00", "_")
    if name in (".", "..") or name.startswith("-"):
        return
    analysis = analyse(f"rm -- {quoter(name)}", cwd="/p", home="/h")
    assert analysis.verdict == "understood"
    assert analysis.paths("delete") == (f"/p/{name}",)
