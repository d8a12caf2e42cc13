"""Positions in UTF-16 units, there and back."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.lsp.positions import Positions, edited, path_of, uri_of

TEXTS = st.text(st.sampled_from("ab é😀\n\r"), max_size=40)


@given(text=TEXTS, data=st.data())
@settings(deadline=None)
def test_every_place_in_a_text_has_a_position_that_leads_back_to_it(text: str, data: st.DataObject) -> None:
    places = [place for place in range(len(text) + 1) if text[place - 1 : place + 1] != "\r\n"]
    offset = data.draw(st.sampled_from(places))
    positions = Positions(text)
    assert positions.offset(positions.at(offset)) == offset


def test_characters_beyond_the_first_plane_count_twice_for_the_server_and_once_for_the_model() -> None:
    positions = Positions("😀 name\n")
    assert positions.given(1, 3) == {"line": 0, "character": 3}
    assert positions.shown({"line": 0, "character": 3}) == (1, 3)


def test_a_position_beyond_the_text_is_its_end() -> None:
    assert Positions("ab\ncd").offset({"line": 0, "character": 99}) == 2
    assert Positions("ab\ncd").offset({"line": 99, "character": 0}) == 5


def test_edits_speak_of_the_text_before_and_come_in_any_order() -> None:
    def edit(first: int, last: int, new: str) -> dict[str, object]:
        place = {"start": {"line": 0, "character": first}, "end": {"line": 0, "character": last}}
        return {"range": place, "newText": new}

    assert edited("abcdef", [edit(4, 6, "Z"), edit(0, 1, "XY"), edit(2, 2, "-")]) == "XYb-cdZ"
    assert edited("ab", [edit(1, 1, "1"), edit(1, 1, "2"), edit(1, 2, "B")]) == "a12B"
    with pytest.raises(ValueError, match="overlap"):
        edited("abcdef", [edit(0, 3, "x"), edit(2, 4, "y")])


@pytest.mark.parametrize("name", ["/a b/c.py", "/ä/#x?.py", "/100%/x.py", "/odd\udcff/x.py"])
def test_a_path_survives_its_address(name: str) -> None:
    assert path_of(uri_of(Path(name))) == Path(name)


def test_what_is_no_file_has_no_path() -> None:
    assert path_of("untitled:1") is None
