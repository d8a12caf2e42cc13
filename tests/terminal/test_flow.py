"""Words of a model on the screen: wrapped between words, Markdown as what it means, the same however it comes."""

import io
import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.terminal.columns import clipped, columns, pieces
from toolwright.terminal.flow import Flow
from toolwright.terminal.screen import Screen


def shown(*texts: str, colour: bool = False) -> str:
    out = io.StringIO()
    flow = Flow(screen=Screen(out=out, colour=colour))
    for text in texts:
        flow.add(text)
    flow.end()
    return out.getvalue()


@pytest.fixture(autouse=True)
def forty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")


def test_lines_break_between_words() -> None:
    lines = shown("one two three " * 20).splitlines()
    assert all(columns(line) <= 40 for line in lines)
    assert " ".join(lines).split() == ["one", "two", "three"] * 20


def test_wide_letters_count_twice() -> None:
    assert all(columns(line) <= 40 for line in shown("日本語 テスト " * 20).splitlines())
    assert columns("日本e\u0301") == 5
    assert clipped("日本語テスト", 6) == "日本…"
    assert pieces("aa bb cc", 5) == ["aa bb", "cc"]


def test_what_follows_a_bullet_is_set_in() -> None:
    lines = shown("- " + "word " * 20).splitlines()
    assert lines[0].startswith("- word")
    assert all(line.startswith("  word") for line in lines[1:])


def test_code_is_never_wrapped_and_never_taken_for_words() -> None:
    line = "x = **not bold** + " + "a" * 60
    for colour in (False, True):
        assert line in shown(f"```python\n{line}\n```\nafter", colour=colour)


def test_marks_of_bold_and_code_become_colours() -> None:
    text = shown("a **big** `thing` and src/**/*.py", colour=True)
    assert "\x1b[1mbig\x1b[0m" in text
    assert "\x1b[36mthing\x1b[0m" in text
    assert "src/**/*.py" in text


def test_without_colours_markdown_stays_as_it_was_written() -> None:
    assert shown("# Head\n\na **big** `thing`\n") == "# Head\n\na **big** `thing`\n"


def test_a_table_is_aligned() -> None:
    text = shown("| a | b |\n|---|---|\n| long | 1 |\n\nafter", colour=True)
    assert "long │ 1" in text
    assert "a    │ b" in text


def test_escape_sequences_are_shown_as_text() -> None:
    for colour in (False, True):
        text = shown("a \x1b]0;evil\x07 b \x1b[2J `\x9b31m`\n```\n\x1b[H\n```\n", colour=colour)
        assert re.sub(r"\x1b\[\d*m", "", text).isprintable() or "\x1b" not in re.sub(r"\x1b\[\d*m", "", text)
        assert "\x07" not in text
        assert "\x9b" not in text


def test_a_table_that_has_only_an_edge_is_shown_as_it_is() -> None:
    assert shown("|-", colour=True).strip() == "|-"
    assert shown("|--|--|\n\n", colour=True).strip() == "|--|--|"


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="ab `*#|-\n1.>日\x1b~", max_size=80), st.lists(st.integers(0, 80), max_size=6), st.booleans())
def test_the_pieces_in_which_words_come_make_no_difference(text: str, cuts: list[int], colour: bool) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    parts = [text[start:end] for start, end in itertools.pairwise(places)]
    assert shown(*parts, colour=colour) == shown(text, colour=colour)


def test_slanted_words_lose_their_stars_and_other_stars_stay() -> None:
    text = shown("the *total* and *all of it* is 2 * 3, *args, a*b*c, *.py", colour=True)
    for words in ("total", "all", "of", "it"):
        assert f"\x1b[3m{words}\x1b[0m" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert " ".join(plain.split()) == "the total and all of it is 2 * 3, *args, a*b*c, *.py"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_link_is_its_words_and_where_it_leads_however_it_comes(size: int) -> None:
    whole = "see [the docs](https://a.example/x), [x] done and [not] (one)"
    text = shown(*(whole[at : at + size] for at in range(0, len(whole), size)), colour=True)
    plain = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())
    assert plain == "see the docs (https://a.example/x), [x] done and [not] (one)"


def test_an_address_of_a_model_is_shown_whole_and_harmless() -> None:
    text = shown("[safe](https://evil.example/\x1b]0;x\x07)\n", colour=True)
    assert "evil.example" in text
    assert "\x1b]" not in text


def test_a_link_that_never_ends_is_shown_as_it_was_written() -> None:
    assert "[the docs](https://a" in shown("see [the docs](https://a", colour=True)


def test_columns_stand_where_the_table_says() -> None:
    text = shown("| name | price |\n|:--|--:|\n| pear | 1.20 |\n| kiwi | 12.50 |\n", colour=True)
    assert "pear │  1.20" in text
    assert "kiwi │ 12.50" in text


def test_a_block_of_differences_has_their_colours() -> None:
    text = shown("```diff\n-old\n+new\n same\n```\n", colour=True)
    assert "\x1b[31m  -old" in text
    assert "\x1b[32m  +new" in text
