"""Docstrings: what they say of arguments, in three styles, and what is left for the description."""

import pytest

from toolwright.functions.docstrings import read_docstring

GOOGLE = """Search the shop.

Finds what is there.

Args:
    query (str): What to look for,
        in any language.
    limit: At most so many.
    ctx: The context.

Returns:
    The names found.
"""
NUMPY = """Search the shop.

Finds what is there.

Parameters
----------
query : str
    What to look for,
    in any language.
limit : int, optional
    At most so many.
ctx
    The context.

Returns
-------
list
    The names found.
"""
SPHINX = """Search the shop.

Finds what is there.

:param str query: What to look for,
    in any language.
:param limit: At most so many.
:type limit: int
:param ctx: The context.
:returns: The names found.
"""
NAMES = ["query", "limit", "ctx"]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (GOOGLE, "Returns:\n    The names found."),
        (NUMPY, "Returns\n-------\nlist\n    The names found."),
        (SPHINX, ":returns: The names found."),
    ],
    ids=["google", "numpy", "sphinx"],
)
def test_each_style_tells_the_arguments_and_loses_nothing_else(text: str, rest: str) -> None:
    found = read_docstring(text, NAMES)
    assert found.parameters == {
        "query": "What to look for, in any language.",
        "limit": "At most so many.",
        "ctx": "The context.",
    }
    assert found.text == f"Search the shop.\n\nFinds what is there.\n\n{rest}"


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_what_is_said_of_a_name_that_is_no_parameter_stays_in_the_text(text: str) -> None:
    found = read_docstring(text, ["query"])
    assert found.parameters.keys() == {"query"}
    assert "At most so many." in found.text
    assert "What to look for" not in found.text


def test_paragraphs_and_lists_of_a_description_keep_their_lines() -> None:
    found = read_docstring(
        "Do.\n\nArgs:\n    mode: One of\n        - fast\n        - slow\n\n    size: Big\n", ["mode", "size"]
    )
    assert found.parameters == {"mode": "One of\n- fast\n- slow", "size": "Big"}
    assert found.text == "Do."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "One line.",
        "Args: are described elsewhere.",
        "Args:\n    this is a sentence about arguments",
        "Parameters\n\nare many.",
        "Note:\n    query: in another section",
        "See :param for more.",
    ],
)
def test_text_that_only_looks_like_it_is_left_as_it_is(text: str) -> None:
    found = read_docstring(text, NAMES)
    assert (found.text, found.parameters) == (text, {})


def test_two_names_may_share_a_description() -> None:
    found = read_docstring("Add.\n\nParameters\n----------\na, b : int\n    A number.", ["a", "b"])
    assert found.parameters == {"a": "A number.", "b": "A number."}
