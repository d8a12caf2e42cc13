"""Programs that want a terminal: what they are given instead, and how what they drew is told."""

import pytest

from toolwright.process.jobs.full_screen_programs import (
    ADVICE,
    NO_EDITOR,
    full_screen_programs,
    is_drawn,
    plain,
    without_screen,
)


def test_editors_and_pagers_of_the_user_are_replaced_unless_they_need_no_terminal() -> None:
    given = {"EDITOR": "vim", "VISUAL": "code --wait", "GIT_EDITOR": "nano", "PAGER": "less -R", "LANG": "C"}
    assert without_screen(given) == {
        "EDITOR": NO_EDITOR,
        "VISUAL": NO_EDITOR,
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "MANPAGER": "cat",
        "LANG": "C",
    }
    assert (
        without_screen({"GIT_EDITOR": "true", "EDITOR": ":"}).items() >= {"GIT_EDITOR": "true", "EDITOR": ":"}.items()
    )


def test_the_stand_in_says_what_to_do_in_one_line() -> None:
    assert "'" not in ADVICE
    assert '"' not in ADVICE
    assert "\n" not in ADVICE


@pytest.mark.parametrize("text", ["\x1b[?1049h\x1b[H~ \x1b[2;1Hhello", "\x1b[2J\x1b[1;1Hhello", "\x1b[?47hhello"])
def test_what_was_drawn_becomes_lines_of_text(text: str) -> None:
    assert is_drawn(text)
    assert plain(text).splitlines()[-1] == "hello"
    assert "\x1b" not in plain(text)


@pytest.mark.parametrize("text", ["plain\n", "\x1b[31mred\x1b[0m\n", "50%\r100%\n"])
def test_what_was_printed_stays_as_it_is(text: str) -> None:
    assert not is_drawn(text)


def test_a_flood_of_escapes_is_done_with_soon() -> None:
    assert plain("\x1b]" * 100_000 + "\x1b[" * 100_000 + " " * 100_000) == ""


def test_programs_of_the_full_screen_are_known_by_name() -> None:
    assert full_screen_programs(["git", "vim", "less", "vim"]) == ["vim", "less"]
