"""Pictures for a model to look at: known by their bytes, and made small enough to send."""

from io import BytesIO
from typing import TYPE_CHECKING

from toolwright.errors import ToolError
from toolwright.record import record

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 2000
"""Pixels that a picture may be wide or high."""
SENT = 5 * 1024 * 1024
"""Bytes that a picture or document may have once it is written in base64."""
DOCUMENT = 20 * 1024 * 1024
"""Bytes that a file may have to be taken up at all."""
PIXELS = 80_000_000
"""More are not unpacked, for the memory it would take."""

NAMES = {
    "png": "image/png",
    "apng": "image/apng",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "jpe": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "bmp": "image/x-ms-bmp",
    "ico": "image/x-icon",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "avif": "image/avif",
    "heic": "image/heic",
    "heif": "image/heif",
    "psd": "image/vnd.adobe.photoshop",
    "pdf": "application/pdf",
}
"""Media types by the ending of the name."""

_SENDABLE = ("image/png", "image/jpeg", "image/gif", "image/webp")


@record(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture as it will be sent."""

    data: bytes
    mime: str
    shrunk: str = ""
    """A sentence on how it was made to fit; empty if it fitted."""


def kind_of(data: bytes) -> str:
    """The media type that the first bytes speak for; empty if they are of no picture or document known here."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data.startswith(b"%PDF-"):
        return "application/pdf"
    if data[4:8] == b"ftyp" and data[8:12] in (b"avif", b"heic", b"heix", b"mif1"):
        return "image/avif" if data[8:12] == b"avif" else "image/heic"
    if data.startswith((b"II*\0", b"MM\0*")):
        return "image/tiff"
    return "image/bmp" if data[:2] == b"BM" and data[6:10] == b"\0\0\0\0" else ""


def fit(data: bytes) -> Picture:
    """The picture, scaled down or turned into PNG or JPEG if no model would take it as it is.

    Needs Pillow for that; without it a picture that is small enough goes as it is, and a larger one is refused.
    """
    mime = kind_of(data)
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        return Picture(data=_checked(data), mime=mime)
    try:
        with Image.open(BytesIO(data)) as image:
            width, height = image.size
            if mime in _SENDABLE and max(width, height) <= SIDE and _base64_size(data) <= SENT:
                return Picture(data=data, mime=mime)
            if width * height > PIXELS:
                raise ToolError(f"The picture has {width} by {height} pixels, too many to show.", "too_large")
            return _smaller(image)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError):
        # Not a picture that Pillow can read; whether a model can is for the model to say.
        return Picture(data=_checked(data), mime=mime)


def _smaller(image: "Image") -> Picture:
    width, height = image.size
    if image.format == "JPEG":
        image.draft("RGB", (SIDE, SIDE))
    transparent = "A" in image.getbands() or "transparency" in image.info
    form = "PNG" if transparent or image.format != "JPEG" else "JPEG"
    copy = image.convert("RGBA" if transparent else "RGB")
    side = SIDE
    while True:
        copy.thumbnail((side, side))
        data = _packed(copy, form)
        if _base64_size(data) <= SENT:
            break
        side, form = side * 3 // 4, form if transparent else "JPEG"
    size = f"{copy.width} by {copy.height} pixels"
    shrunk = f"scaled from {width} by {height} to {size}" if copy.size != (width, height) else f"turned into {form}"
    return Picture(data=data, mime=f"image/{form.lower()}", shrunk=shrunk)


def _packed(image: "Image", form: str) -> bytes:
    packed = BytesIO()
    image.save(packed, form, **({"quality": 85} if form == "JPEG" else {}))
    return packed.getvalue()


def _checked(data: bytes) -> bytes:
    if _base64_size(data) > SENT:
        raise ToolError(
            f"The picture has {len(data):,} bytes, too many to send. Scale it down first, "
            "or install toolwright[media], which does it by itself.",
            "too_large",
        )
    return data


def _base64_size(data: bytes) -> int:
    return (len(data) + 2) // 3 * 4
