"""JSON with comments: what it means, and where in the text each thing stands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwright.config.jsonc import parse, positions
from toolwright.errors import ConfigError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES)
def test_plain_json_means_what_it_means(value: object) -> None:
    assert parse(json.dumps(value, indent=1), "x") == value


@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4))
def test_comments_and_trailing_commas_change_nothing(value: dict[str, object]) -> None:
    text = json.dumps(value, indent=1)
    commented = f"// {{ first\n/* [ */ {text[:-2]}, // last, }}\n}} // end"
    assert parse(commented, "x") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "// no comment", "b": "/* nor this */"}', {"a": "// no comment", "b": "/* nor this */"}),
        ('{"a": "x\\"//", }', {"a": 'x"//'}),
        ('{"a": [1, 2, ], }', {"a": [1, 2]}),
        ('{"a": ",]"}', {"a": ",]"}),
        ("", {}),
        ("  // nothing\n", {}),
        ("{/* a\nb */}", {}),
    ],
)
def test_strings_are_never_taken_for_comments(text: str, value: object) -> None:
    assert parse(text, "x") == value


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"permission" "ask"}', "cfg:1:15"),
        ('{\n  "a": 1\n  "b": 2\n}', "cfg:3:3"),
        ('{\n  // fine\n  "a": oops\n}', "cfg:3:8"),
        ("{\n", "cfg:2:1"),
        ('{"a": 1', "cfg:1:8"),
        ('{"a": 1}}', "cfg:1:9"),
        ('{"a": "' + "x" * 500, "cfg:1:7"),
    ],
)
def test_a_mistake_is_told_with_line_and_column(text: str, where: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse(text, "cfg")
    assert str(raised.value).startswith(f"{where}: ")


def test_the_line_itself_is_shown_with_a_pointer_unless_it_is_endless() -> None:
    with pytest.raises(ConfigError) as raised:
        parse('{\n  "a": oops\n}', "cfg")
    assert str(raised.value).splitlines()[1:] == ['  "a": oops', "       ^"]
    with pytest.raises(ConfigError) as raised:
        parse('{"a": "' + "x" * 500, "cfg")
    assert len(str(raised.value)) < 100


def test_bottomless_nesting_is_refused_in_one_sentence() -> None:
    for depth in (200, 100_000):
        with pytest.raises(ConfigError, match="nested more than 100 levels deep"):
            parse("[" * depth + "]" * depth, "cfg")


def test_every_key_and_entry_has_its_place() -> None:
    text = '{\n  // why\n  "a": {"b": [1, {"c": 2}]},\n\n  "d": [\n    "x",\n    "y"\n  ]\n}'
    found = {path: (place.line, place.column) for path, place in positions(text).items()}
    assert found == {
        ("a",): (3, 3),
        ("a", "b"): (3, 9),
        ("a", "b", 0): (3, 15),
        ("a", "b", 1): (3, 18),
        ("a", "b", 1, "c"): (3, 19),
        ("d",): (5, 3),
        ("d", 0): (6, 5),
        ("d", 1): (7, 5),
    }


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4))
def test_every_place_begins_with_what_stands_there(value: dict[str, object]) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=False)
    lines = text.split("\n")
    for path, place in positions(text).items():
        rest = lines[place.line - 1][place.column - 1 :]
        if isinstance(path[-1], str):
            assert rest.startswith(json.dumps(path[-1], ensure_ascii=False))
    assert {path for path in positions(text) if len(path) == 1} == {(key,) for key in value}
