"""Where a name is looked for: in code before comments and strings, in the looks of many languages."""

import pytest

from toolwright.lsp.positions import Positions
from toolwright.lsp.prose import prose_in
from toolwright.tools.symbols.question import NEAR, nearest

GO = """package uuid

// MustParse is like Parse but panics. It is used as
//    MustParse("x")
func MustParse(s string) UUID {
\tp := '"'
\tname := `MustParse`
\treturn MustParse2(s, "MustParse")
}

func other() { MustParse("a") }
"""


@pytest.mark.parametrize(
    ("line", "expected"), [(1, (5, 6)), (3, (5, 6)), (4, (5, 6)), (7, (5, 6)), (8, (5, 6)), (11, (11, 16))]
)
def test_a_name_in_a_comment_or_a_string_is_passed_over_for_one_in_code(line: int, expected: tuple[int, int]) -> None:
    assert nearest(Positions(GO), "MustParse", line, 1, language="go") == expected


def test_where_it_stands_in_no_code_nearby_the_nearest_is_taken() -> None:
    text = "// name\n" + "\n" * NEAR + "name()\n"
    assert nearest(Positions(text), "name", 1, 1, language="go") == (1, 4)
    assert nearest(Positions(text), "name", 2, 1, language="go") == (NEAR + 2, 1)
    assert nearest(Positions("// name\n"), "name", 1, 1, language="go") == (1, 4)
    assert nearest(Positions("// nothing\n"), "name", 1, 1, language="go") is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", '"""X says\nX."""\ndef code(a="X", b=\'X\'): # X\n    return "\\"X" + code'),
        ("python", "'''X''' + code('it''s') + f(\"X's\", code)"),
        ("javascript", "/* X\nX */ code(`X`, 'X\\'X', \"X\"); // X\ncode(`a ${code} b`)"),
        ("typescript", "const code = `${code}`; const a = 'X'"),
        ("rust", "/// X\nfn code<'a>(x: &'a str, c: char) { code('\"', \"X\", '\\'') } // X"),
        ("c", '#include <code.h>\nchar code = \'"\'; /* X */ char *s = "X\\\\"; int code; // X'),
        ("shellscript", "code=1 # X\necho \"$code\" 'X' ${#code} a#code"),
        ("ruby", "code # X\n'X'"),
        ("lua", "--[[ X\nX ]] code -- X\n'X'"),
        ("haskell", "{- X -} code -- X"),
        ("kotlin", '"""X\nX""" + code + "X" // X'),
        ("html", "<!-- X --> <a onclick='code()'>it's code</a>"),
        ("plaintext", "code // code 'code'"),
    ],
)
def test_comments_and_strings_are_known_by_their_look(language: str, text: str) -> None:
    spans = list(prose_in(text, language))

    def is_prose(offset: int) -> bool:
        return any(start <= offset < end for start, end in spans)

    assert all(is_prose(index) for index, letter in enumerate(text) if letter == "X")
    assert not any(is_prose(index) for index in range(len(text)) if text.startswith("code", index))


@pytest.mark.parametrize(
    "text", ["/*" * 50_000, '"' * 50_001, "'" * 50_001, '"""' * 30_000, "\\" * 100_000, "`$" * 50_000]
)
def test_whatever_the_text_it_takes_no_time(text: str) -> None:
    for language in ("python", "go", "typescript", "kotlin", "lua", "haskell"):
        assert sum(end - start for start, end in prose_in(text, language)) <= len(text)
