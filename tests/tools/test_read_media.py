"""The read tool on pictures and documents."""

import base64
import os
from io import BytesIO
from typing import Any

import pytest

from tests.files.tool_case import ToolCase
from toolwright.definition import Attachment
from toolwright.files.media import SENT, SIDE
from toolwright.tools.read import read

Image = pytest.importorskip("PIL.Image")


async def test_a_picture_that_fits_goes_as_it_is(case: ToolCase) -> None:
    data = _picture((30, 20), "PNG")
    (case.project / "p.png").write_bytes(data)
    result = await case.run(read, filePath="p.png")
    assert result.output == "Picture read: p.png"
    assert result.attachments == (Attachment(mime="image/png", url=_url("image/png", data), filename="p.png"),)


async def test_a_large_picture_is_scaled_down(case: ToolCase) -> None:
    (case.project / "p.jpg").write_bytes(_picture((5000, 2500), "JPEG"))
    result = await case.run(read, filePath="p.jpg")
    assert result.output == "Picture read: p.jpg (scaled from 5000 by 2500 to 2000 by 1000 pixels)"
    (attachment,) = result.attachments
    assert _opened(attachment).size == (SIDE, SIDE // 2)
    assert attachment.mime == "image/jpeg"


async def test_a_picture_of_too_many_bytes_is_packed_tighter(case: ToolCase) -> None:
    packed = BytesIO()
    Image.frombytes("RGB", (1200, 1200), os.urandom(3 * 1200 * 1200)).save(packed, "PNG", compress_level=0)
    assert len(packed.getvalue()) * 4 / 3 > SENT
    (case.project / "p.png").write_bytes(packed.getvalue())
    result = await case.run(read, filePath="p.png")
    (attachment,) = result.attachments
    assert len(attachment.url) <= SENT + 100
    assert _opened(attachment).format == "JPEG"


@pytest.mark.parametrize("form", ["BMP", "TIFF"])
async def test_a_picture_no_model_takes_becomes_one_that_all_take(case: ToolCase, form: str) -> None:
    (case.project / f"p.{form.lower()}").write_bytes(_picture((30, 20), form))
    result = await case.run(read, filePath=f"p.{form.lower()}")
    (attachment,) = result.attachments
    assert attachment.mime == "image/png"
    assert _opened(attachment).size == (30, 20)


async def test_transparency_is_kept(case: ToolCase) -> None:
    packed = BytesIO()
    Image.new("RGBA", (3000, 10), (0, 0, 0, 0)).save(packed, "PNG")
    (case.project / "p.png").write_bytes(packed.getvalue())
    result = await case.run(read, filePath="p.png")
    assert _opened(result.attachments[0]).convert("RGBA").getpixel((0, 0)) == (0, 0, 0, 0)


async def test_what_is_no_picture_says_so_in_its_address(case: ToolCase) -> None:
    (case.project / "p.png").write_text("not an image\n")
    result = await case.run(read, filePath="p.png")
    assert result.output == "Picture read: p.png. Its content is not what its name says."
    assert result.attachments[0].url == _url("text/plain", b"not an image\n")


async def test_a_picture_by_another_name_is_told_from_its_bytes(case: ToolCase) -> None:
    (case.project / "p.webp").write_bytes(_picture((3, 2), "PNG"))
    result = await case.run(read, filePath="p.webp")
    assert result.attachments[0].url.startswith("data:image/png;")


async def test_a_broken_picture_is_passed_on(case: ToolCase) -> None:
    data = _picture((3000, 10), "PNG")[:60]
    (case.project / "p.png").write_bytes(data)
    result = await case.run(read, filePath="p.png")
    assert result.attachments[0].url == _url("image/png", data)


async def test_a_file_of_immense_size_is_refused_unread(case: ToolCase) -> None:
    with (case.project / "p.png").open("wb") as file:
        file.truncate(1024**3)
    result = await case.run(read, filePath="p.png")
    assert result.error is not None
    assert result.error.kind == "too_large"


async def test_a_pdf_is_attached(case: ToolCase) -> None:
    data = _document("one")
    (case.project / "d.pdf").write_bytes(data)
    result = await case.run(read, filePath="d.pdf")
    assert result.output == "PDF read: d.pdf"
    assert result.attachments[0].url == _url("application/pdf", data)


async def test_the_text_of_some_pages(case: ToolCase) -> None:
    pytest.importorskip("pypdfium2")
    (case.project / "d.pdf").write_bytes(_document("one", "two", "three"))
    result = await case.run(read, filePath="d.pdf", pages="2-9")
    assert result.output == "--- page 2 of 3 ---\ntwo\n\n--- page 3 of 3 ---\nthree"
    assert result.title == "d.pdf, pages 2-3"
    assert (await case.run(read, filePath="d.pdf", pages="1")).output == "--- page 1 of 3 ---\none"


@pytest.mark.parametrize(
    ("pages", "kind"),
    [
        ("0", "schema"),
        ("3-1", "schema"),
        ("x", "schema"),
        ("-2", "schema"),
        ("4", "not_found"),
        ("1234567890", "schema"),
        ("123456789", "not_found"),
    ],
)
async def test_pages_that_are_not_there(case: ToolCase, pages: str, kind: str) -> None:
    pytest.importorskip("pypdfium2")
    (case.project / "d.pdf").write_bytes(_document("one", "two", "three"))
    result = await case.run(read, filePath="d.pdf", pages=pages)
    assert result.error is not None
    assert result.error.kind == kind


async def test_pages_of_what_is_no_pdf(case: ToolCase) -> None:
    (case.project / "d.txt").write_text("text")
    result = await case.run(read, filePath="d.txt", pages="1")
    assert "is not a PDF file" in result.output


def _picture(size: tuple[int, int], form: str) -> bytes:
    packed = BytesIO()
    Image.new("RGB", size, (200, 30, 30)).save(packed, form)
    return packed.getvalue()


def _opened(attachment: Attachment) -> Any:
    return Image.open(BytesIO(base64.b64decode(attachment.url.partition(",")[2])))


def _url(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def _document(*pages: str) -> bytes:
    """A PDF of a few words, written by hand."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    for number, text in enumerate(pages):
        drawn = f"BT /F1 24 Tf 20 100 Td ({text}) Tj ET"
        box = f"/MediaBox [0 0 200 200] /Resources {font}"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} /Contents {4 + 2 * number} 0 R >>")
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    body, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + (end + trailer).encode()
