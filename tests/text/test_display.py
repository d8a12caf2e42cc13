"""Whatever a model or a file says, a person sees all of it."""

import json
import sys
import unicodedata

import pytest

from toolwright.text.display import visible, visible_json

SEQUENCES = (
    "\x1b[2K\r", "\x1b[1A", "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]52;c;ZXZpbA==\x07", "\x1b]8;;http://a.example\x1b\\",
    "\x1b[8m", "\x1b[30;40m", "\x1b[?25l", "\x1b[?1049h", "\x1bc", "\x1bP1$q\x1b\\", "\x1b_x\x1b\\", "\x1b^x\x1b\\",
    "\x9b2K", "\x9d0;title\x9c", "\x90q\x9c", "\x85", "\x8d",
    "\r", "\b\b\b", "\x7f", "\x00", "\x0b", "\x0c", "\x0e", "\x0f",
    "\u202e", "\u202d", "\u202a", "\u202b", "\u2066", "\u2067", "\u2068", "\u2069", "\u200e", "\u200f", "\u061c",
    "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff",
    "\u00ad", "\u034f", "\u180e", "\u115f", "\u3164", "\uffa0", "\u2800",
)  # fmt: skip
MORE = ("\u2028", "\u2029", "\ud83d", "\udc00", "\ufe0f", "\ufe00", "\U000e0041", "\U000e0100", "\U0001d173", "\ufff9")
SURROUNDINGS = ("{}", "ls -la{}", "{}rm -rf x", "touch evil.txt '{}bash: ls'", "line one\n{}\tline two")
HOSTILE = tuple(place.format(text) for text in SEQUENCES + MORE for place in SURROUNDINGS)


def unseen(text: str) -> list[str]:
    return [one for one in text if one not in "\n\t" and unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


def test_the_corpus_has_at_least_two_hundred_strings() -> None:
    assert len(set(HOSTILE)) >= 200


def test_nothing_hidden_is_left_of_a_hostile_string() -> None:
    for text in HOSTILE:
        shown = visible(text)

        assert shown != text
        assert unseen(shown) == []
        assert shown.count("\n") == text.count("\n")
        assert visible(shown) == shown
        assert shown.encode("utf-8")
        assert visible(text, lines=False).isprintable()


def test_json_keeps_its_meaning_and_hides_nothing() -> None:
    for text in HOSTILE:
        shown = visible_json(json.dumps(text, ensure_ascii=False))

        assert json.loads(shown) == text
        assert unseen(shown) == []


def test_every_control_and_format_character_is_shown_except_those_that_can_be_seen() -> None:
    seen = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    hidden = {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and code not in seen | {0x09, 0x0A}
    }

    assert [hex(code) for code in sorted(hidden) if visible(chr(code)) == chr(code)] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words, 100 % ASCII",
        "two lines\n\tand a tab",
        "Grüße, 你好, здравствуйте, مرحبا, नमस्ते",
        "e\u0301 and o\u0308",
        "a heart ❤\ufe0f, a family 👨\u200d👩\u200d👧, a key 1\ufe0f\u20e3",
        "no-break\u00a0space, ideographic\u3000space",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_an_escape_says_which_character_it_was() -> None:
    assert visible("\x1b[2K\r\x9b\u202e\ud83d\U000e0041") == "\\x1b[2K\\x0d\\x9b\\u202e\\ud83d\\U000e0041"
    assert visible("a\nb\tc", lines=False) == "a\\nb\\tc"
