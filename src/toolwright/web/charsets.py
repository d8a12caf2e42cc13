"""Bytes of the web as text: by byte order mark, by what the server says, by what the page says, by trying."""

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HEAD = 2048
"""Bytes at the beginning of a page in which it may name its character set."""
_SAID = re.compile(rb"""(?:<meta[^>]*?charset\s*=|<\?xml[^>]*?encoding\s*=)\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_IN_TYPE = re.compile(r"""charset\s*=\s*["']?([^\s"';]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
# Names of codecs that turn bytes into letters and do nothing else.
_KNOWN = re.compile(
    r"utf-(8|16|16-le|16-be|32|32-le|32-be)|iso8859-\d+|cp(125\d|8\d\d|9\d\d)|koi8-[rut]|mac-\w+|tis-620|ascii"
    r"|gb2312|gbk|gb18030|hz|big5(hkscs)?|euc_\w+|shift_\w+|iso2022_\w+|johab|ptcp154|kz1048"
)
# Pages say the name of a standard and use the larger set that grew out of it; browsers read them so.
_LARGER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
_PREFIX = re.compile(r"^(x-)+|^unicode-1-1-(?=utf-8$)")
_CODE_PAGE = re.compile(r"^(windows|dos|ms)-?(?=\d)")


def decode(data: bytes, content_type: str) -> str:
    """The text. What no character set explains becomes a replacement character; line ends are as they were."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    declared = _IN_TYPE.search(content_type)
    for label in (declared.group(1) if declared else "", _said_inside(data)):
        name = _codec(label)
        if name:
            return data.decode(name, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # A page cut in the middle of a character is still UTF-8; any other fault speaks for the old default.
        return data.decode("utf-8" if error.start > len(data) - 4 else "cp1252", "replace")


def is_text(data: bytes, content_type: str) -> bool:
    """Tell whether the bytes can be meant as text at all."""
    if data.startswith(tuple(mark for mark, _ in _MARKS)):
        return True
    declared = _IN_TYPE.search(content_type)
    wide = declared is not None and _codec(declared.group(1)).startswith(("utf-16", "utf-32"))
    return wide or b"\0" not in data[: 4 * _HEAD]


def _said_inside(data: bytes) -> str:
    match = _SAID.search(_COMMENT.sub(b"", data[:_HEAD]))
    label = match.group(1).decode("ascii", "replace") if match else ""
    # A page that could be read this far is not in a wide encoding, whatever it says.
    return "utf-8" if label.lower().startswith(("utf-16", "utf-32")) else label


def _codec(label: str) -> str:
    """The name of the codec behind a label of the web, or nothing if there is none that is fit for it."""
    plain = _CODE_PAGE.sub("cp", _PREFIX.sub("", label.lower())).replace("cp31j", "cp932")
    plain = plain.removesuffix("-i") if plain.startswith("iso-8859") else plain  # how letters stand, not which they are
    try:
        name = codecs.lookup(plain).name if plain and plain.isascii() else ""
    except (LookupError, ValueError):
        return ""
    name = _LARGER.get(name, name)
    return name if _KNOWN.fullmatch(name) else ""
