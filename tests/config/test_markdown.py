"""Markdown with a head of settings, as people really write it."""

import pytest

from toolwright.config.markdown import Document, read_document
from toolwright.errors import ConfigError

DOCUMENTS: list[tuple[str, Document]] = [
    ("Just text.\n", Document({}, "Just text.")),
    ("---\na: 1\n---\nBody.\n", Document({"a": 1}, "Body.")),
    ("---\r\na: 1\r\n---\r\nBody.\r\n", Document({"a": 1}, "Body.")),
    ("\ufeff---\na: 1\n---\nBody.", Document({"a": 1}, "Body.")),
    ("---\n---\nBody.", Document({}, "Body.")),
    ("---\n# only a comment\n---\nBody.", Document({}, "Body.")),
    ("---\na: 1\n---", Document({"a": 1}, "")),
    ("Body first\n---\na: 1\n---\n", Document({}, "Body first\n---\na: 1\n---")),
    ("---yaml\na: 1\n---\nBody.", Document({"a": 1}, "Body.")),
    ("---\na: 1\n-----\nBody.", Document({"a": 1}, "Body.")),
    ("----\nBody.", Document({}, "----\nBody.")),
    ("---\na: 1\nb: 2\n", Document({"a": 1, "b": 2}, "")),
    ("---\na: 1\n---\nBody\n---\nmore", Document({"a": 1}, "Body\n---\nmore")),
    ("---\ndescription: Use: me, please\n---\n", Document({"description": "Use: me, please"}, "")),
    ("---\ndescription: it's: fine\n---\n", Document({"description": "it's: fine"}, "")),
    ("---\ntools:\n  '*': false\n  read: true\n---\n", Document({"tools": {"*": False, "read": True}}, "")),
    ("---\ntext: |\n  one\n  two\n---\n", Document({"text": "one\ntwo\n"}, "")),
    (
        "---\nno: no\non: on\nv: 012\nat: 12:30\nday: 2026-01-02\nnone: null\ntilde: ~\nn: 1.5\nm: -3\n---\n",
        Document(
            {
                "no": "no",
                "on": "on",
                "v": "012",
                "at": "12:30",
                "day": "2026-01-02",
                "none": None,
                "tilde": None,
                "n": 1.5,
                "m": -3,
            },
            "",
        ),
    ),
]


@pytest.mark.parametrize(("text", "document"), DOCUMENTS)
def test_head_and_body_are_taken_apart(text: str, document: Document) -> None:
    assert read_document(text, "x.md") == document


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("---\na: [1\n---\nBody", r"x\.md:\d+: .*Correct the lines between the two `---`"),
        ("---\n- a\n- b\n---\nBody", r"x\.md:2: expected `key: value` lines"),
        ("---\njust words\n---\nBody", r"x\.md:2: expected `key: value` lines"),
        ("---\npermission:\n  edit: deny\n\nA body without an end above it.\n", r"x\.md:\d+: .*between the two `---`"),
    ],
)
def test_a_head_that_is_not_settings_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_document(text, "x.md")


def test_a_head_makes_nothing_but_plain_values() -> None:
    text = "---\na: !!python/object/apply:os.system ['true']\n---\n"
    assert read_document(text, "x.md").head == {"a": "!!python/object/apply:os.system ['true']"}


def test_a_head_cannot_blow_up_by_referring_to_itself() -> None:
    levels = "\n".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 30))
    with pytest.raises(ConfigError):
        read_document(f"---\na0: &a0 x\n{levels}\n---\n", "x.md")
