"""Bytes to text and back."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwright.errors import ToolError
from toolwright.files.text import Text, decode, detect, line_ends

ENDS = st.sampled_from(["\n", "\r\n", "\r", ""])
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=20)
CONTENT = st.lists(st.tuples(WORDS, ENDS).map("".join), max_size=8).map("".join)
MARKED = [
    ("utf-8", codecs.BOM_UTF8),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
]


@given(content=CONTENT, form=st.sampled_from([("utf-8", b""), *MARKED]))
def test_every_encoding_mark_and_line_end_comes_back_byte_for_byte(content: str, form: tuple[str, bytes]) -> None:
    encoding, mark = form
    content = content.lstrip("\ufeff\0")  # would itself be a mark, or part of one
    data = mark + content.encode(encoding)
    text = decode(data)
    assert text.encode(text.content) == data
    if mark:
        assert (text.content, text.encoding, text.bom) == (content, encoding, True)


@given(st.binary(max_size=300))
def test_any_bytes_come_back_or_are_refused(data: bytes) -> None:
    try:
        text = decode(data)
    except ToolError:
        return
    assert text.encode(text.content) == data


@given(before=CONTENT, added=CONTENT, form=st.sampled_from(MARKED))
def test_untouched_bytes_stay_when_text_is_added(before: str, added: str, form: tuple[str, bytes]) -> None:
    encoding, mark = form
    before = before.lstrip("\ufeff\0")
    data = mark + before.encode(encoding)
    text = decode(data)
    assert text.encode(text.content + added) == data + added.encode(encoding)


@pytest.mark.parametrize("encoding", ["shift_jis", "cp1251", "latin-1", "euc-kr"])
def test_a_configured_encoding_is_kept(encoding: str) -> None:
    words = {"shift_jis": "日本語\n", "cp1251": "привет\n", "latin-1": "Käse\n", "euc-kr": "한국어\n"}[encoding]
    text = decode(words.encode(encoding), encoding)
    assert (text.content, text.encoding, text.guessed) == (words, encoding, False)
    assert text.encode(words * 2) == words.encode(encoding) * 2


def test_utf_8_wins_over_a_configured_encoding() -> None:
    assert decode("Käse".encode(), "latin-1").encoding == "utf-8"


def test_a_configured_encoding_that_does_not_fit_or_exist_is_no_harm() -> None:
    for name in ("shift_jis", "no-such-encoding"):
        text = decode(b"caf\xe9\xff\n", name)
        assert text.guessed
        assert text.encode(text.content) == b"caf\xe9\xff\n"


def test_an_unknown_encoding_takes_ascii_and_what_it_already_has() -> None:
    text = decode(b"caf\xe9\nline\n")
    assert text.encode(text.content.replace("line", "LINE")) == b"caf\xe9\nLINE\n"
    assert text.encode(text.content * 2) == b"caf\xe9\nline\n" * 2
    with pytest.raises(ToolError, match="encoding is unknown"):
        text.encode("naïve\n")


def test_a_character_the_encoding_lacks_is_refused() -> None:
    with pytest.raises(ToolError, match=r"U\+5473"):
        Text(content="", encoding="latin-1").encode("味")
    with pytest.raises(ToolError, match="D800"):
        Text(content="").encode("a\ud800b")


@pytest.mark.parametrize(
    ("sample", "encoding"),
    [
        (b"", "utf-8"),
        (b"plain", "utf-8"),
        (b"a\0b", "binary"),
        (b"\x01" * 30 + b"a" * 70, "utf-8"),
        (b"\x01" * 31 + b"a" * 69, "binary"),
        (b"\t\n\r\v\f" * 20, "utf-8"),
        (b"\xe9" * 100, "utf-8"),
        ("some words\r\n".encode("utf-16-le"), "utf-16-le"),
        ("some words\r\n".encode("utf-16-be"), "utf-16-be"),
        (b"\0" * 100, "binary"),
        (b"\x01\0\x02\0\x03\0\x04\0", "binary"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 9, "binary"),
    ],
)
def test_the_beginning_tells_the_encoding(sample: bytes, encoding: str) -> None:
    assert detect(sample)[0] == encoding


@pytest.mark.parametrize("data", [b"\xff\xfea", b"\xff\xfe\x00\xd8a\0", b"\xef\xbb\xbf\xff"])
def test_damaged_unicode_is_refused(data: bytes) -> None:
    with pytest.raises(ToolError, match="damaged"):
        decode(data)


@pytest.mark.parametrize(
    ("content", "ends"),
    [("", "none"), ("a", "none"), ("a\rb", "none"), ("a\nb", "lf"), ("a\r\nb\r\n", "crlf"), ("a\r\nb\n", "mixed")],
)
def test_line_ends(content: str, ends: str) -> None:
    assert line_ends(content) == ends
