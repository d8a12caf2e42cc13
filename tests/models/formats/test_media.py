"""Files on their way to a model."""

import base64

import pytest

from toolwright.definition import Attachment
from toolwright.models.formats.media import Media, media_of

ALL = frozenset({"text", "image", "pdf", "audio", "video"})


def given(mime: str, url: str = "data:x;base64,AAAA", filename: str | None = "it") -> Attachment:
    return Attachment(mime=mime, url=url, filename=filename)


@pytest.mark.parametrize(
    ("mime", "kind"),
    [
        ("image/png", "image"),
        ("IMAGE/JPEG; q=1", "image"),
        ("application/pdf", "pdf"),
        ("audio/mpeg", "audio"),
        ("video/mp4", "video"),
    ],
)
def test_what_the_model_accepts_is_sent(mime: str, kind: str) -> None:
    media = media_of(given(mime), ALL)
    assert isinstance(media, Media)
    assert (media.kind, media.base64, media.url) == (kind, "AAAA", "")
    assert media.address == f"data:{media.mime};base64,AAAA"


def test_an_address_on_the_web_is_passed_on() -> None:
    media = media_of(given("image/png", "https://host/a.png"), ALL)
    assert isinstance(media, Media)
    assert media.address == "https://host/a.png"


def test_an_address_that_is_not_base64_becomes_so() -> None:
    media = media_of(given("image/png", "data:image/png,%00a"), ALL)
    assert isinstance(media, Media)
    assert base64.b64decode(media.base64) == b"\x00a"


def test_text_is_sent_as_text() -> None:
    content = base64.b64encode("größe".encode()).decode()
    assert media_of(given("text/plain", f"data:text/plain;base64,{content}", "a.txt"), frozenset()) == (
        '<file name="a.txt">\ngröße\n</file>'
    )
    assert media_of(given("application/json", "data:,{}", None), frozenset()) == '<file name="a file">\n{}\n</file>'


@pytest.mark.parametrize(
    ("attachment", "reason"),
    [
        (given("image/png"), "this model does not take images"),
        (given("application/pdf"), "this model does not take PDF files"),
        (given("application/zip"), "files of this type cannot be sent to a model"),
        (given(""), "files of this type cannot be sent to a model"),
    ],
)
def test_what_the_model_does_not_accept_becomes_a_sentence(attachment: Attachment, reason: str) -> None:
    sentence = media_of(attachment, frozenset({"text"}))
    assert isinstance(sentence, str)
    assert reason in sentence


@pytest.mark.parametrize(
    "url", ["file:///tmp/a.png", "data:image/png;base64,§§", "data:image/png;base64,A", "nonsense"]
)
def test_what_cannot_be_read_becomes_a_sentence(url: str) -> None:
    sentence = media_of(given("image/png", url), ALL)
    assert isinstance(sentence, str)
    assert "its content was not included" in sentence
