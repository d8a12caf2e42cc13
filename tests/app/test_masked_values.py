"""Which parts of a value a mask takes the place of, form by form."""

from typing import Any

import pytest

from toolwright.app.masking import MASK, is_masked, masked

SECRETS = frozenset({"s3cret", "abc"})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"apiKey": "x"}, {"apiKey": MASK}),
        ({"apiKey": ""}, {"apiKey": ""}),
        ({"apiKey": 5}, {"apiKey": 5}),
        ({"apiKeys": ["x", "", 5]}, {"apiKeys": [MASK, "", 5]}),
        ({"token": {"inner": "x"}}, {"token": {"inner": "x"}}),
        ({"keybinds": "ctrl+x", "tokens": "5", "setCacheKey": "yes"}, None),
        ({"name": "x"}, None),
        (
            {"headers": {"X-Any": "x", "Empty": "", "More": ["s3cret"]}},
            {"headers": {"X-Any": MASK, "Empty": "", "More": [MASK]}},
        ),
        ({"environment": {"A": "x"}}, {"environment": {"A": MASK}}),
        ({"env": {"A": "x"}}, {"env": {"A": MASK}}),
        ({"env": ["A", "s3cret"]}, {"env": ["A", MASK]}),
        ({"other": {"A": "x"}}, None),
        ("before s3cret after", f"before {MASK} after"),
        ("abc", MASK),
        ("abcd", None),
        (["--api-key", "x"], ["--api-key", MASK]),
        (["--api-key", "--other"], None),
        (["--api-key=x", "y"], [f"--api-key={MASK}", "y"]),
        (["--name=x", "y"], None),
        (["--name", "x"], None),
        (["x", "--auth-token"], None),
        (["--token", 5, "x"], None),
        (["api-key", "x"], None),
        (["api-key=x"], None),
        ("https://me:pass@a.org/x", f"https://{MASK}@a.org/x"),
        ("https://a.org/x@y", None),
        ("https://a.org/?access_token=x&b=y", f"https://a.org/?access_token={MASK}&b=y"),
        ("https://a.org/?a=1;sig=x#y", f"https://a.org/?a=1;sig={MASK}#y"),
        ("sk-12345678", MASK),
        ("sk-1234567", None),
        ("ghp_12345678", MASK),
        ("mask-12345678", None),
        (5, None),
        (None, None),
        (True, None),
        ([1, None, {"password": "x"}], [1, None, {"password": MASK}]),
        (("a", "s3cret"), ["a", MASK]),
    ],
)
def test_a_secret_is_masked_wherever_it_stands(value: Any, shown: Any) -> None:
    assert masked(value, SECRETS) == (value if shown is None and value is not None else shown)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (MASK, True),
        (f"a{MASK}b", True),
        ("a", False),
        ({"a": {"b": [1, MASK]}}, True),
        ({"a": {"b": [1, "c"]}}, False),
        ((MASK,), True),
        ([], False),
        (5, False),
        (None, False),
    ],
)
def test_a_value_with_a_mask_in_it_is_known_as_such(value: Any, found: bool) -> None:
    assert is_masked(value) is found
