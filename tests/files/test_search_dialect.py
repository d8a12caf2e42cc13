"""ripgrep's regular expressions in Python's words: what comes out the same, and what is refused with its place."""

import pytest

from toolwright.files.dialect import PatternError, translate


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("a|b", ["a", "b"], ["c"]),
        ("(?i)todo", ["TODO"], ["tod"]),
        ("a(?i)b|c", ["aB", "C"], ["AB"]),
        ("x(?i:y)z", ["xYz"], ["xYZ"]),
        ("(?P<n>a)(?<m>b)", ["ab"], ["a"]),
        ("^a**$", ["", "aa"], ["b"]),
        ("^(?:ab){2}$", ["abab"], ["ab"]),
        (r"\x41\x{42}C", ["ABC"], ["abc"]),
        (r"\p{Lu}\pL", ["Éa"], ["éa"]),
        (r"^\P{L}+$", ["12"], ["1a"]),
        (r"[\p{Lu}_]x", ["Äx", "_x"], ["äx"]),
        ("^[[:alpha:][:digit:]]+$", ["a1"], ["a_"]),
        ("[]x]", ["]", "x"], ["y"]),
        (r"\<ab\>", ["ab", "x ab."], ["abc", "cab"]),
        (r"\b{start}b", ["ab b"], ["ab"]),
        (r"a\z", ["ba"], ["ab"]),
        (r"interface\{\}", ["interface{}"], ["interface"]),
        ("a#b c", ["a#b c"], ["ab"]),
    ],
)
def test_what_a_pattern_fits(pattern: str, fitting: list[str], others: list[str]) -> None:
    regex = translate(pattern)
    assert [text for text in fitting + others if regex.search(text)] == fitting


@pytest.mark.parametrize(
    ("pattern", "at", "reason"),
    [
        ("a(?=b)", 1, "look-around"),
        ("(?<!b)a", 0, "look-around"),
        (r"(a)\1", 3, r"\1, an escape that does not exist"),
        ("a(b", 1, "a ( that is never closed"),
        ("a)b", 1, "a closing ) without its ("),
        ("x[ab", 1, "a [ that is never closed"),
        ("[z-a]", 0, "bad character range z-a"),
        ("*a", 0, "a repetition with nothing to repeat"),
        ("a{b", 1, "a { that is no repetition"),
        (r"a\n", 1, "a line break"),
        (r"\x0A", 0, "a line break"),
        (r"\x{110000}", 0, "no character"),
        ("(?<n>a)(?<n>b)", 7, "a second group with the name n"),
        ("[a[b]]", 0, "where ripgrep is installed"),
        ("[a-z&&b]", 0, "where ripgrep is installed"),
        (r"\p{Greek}", 0, "where ripgrep is installed"),
        ("(?x)a", 0, "where ripgrep is installed"),
    ],
)
def test_what_is_refused_and_where(pattern: str, at: int, reason: str) -> None:
    with pytest.raises(PatternError) as caught:
        translate(pattern)
    assert caught.value.at == at
    assert reason in str(caught.value)
