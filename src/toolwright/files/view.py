"""A look at a text file for someone who may change it next: some of its lines, and what state it was in."""

import codecs
import os
from io import BytesIO, FileIO

from toolwright.errors import ToolError
from toolwright.files.disk import Stamp, digest_of, digest_of_file, read_some, read_whole
from toolwright.files.lines import LineIndex, LineIndexes, LineLimits, LineReader, LineWindow
from toolwright.files.paths import Place
from toolwright.files.text import SAMPLE, detect
from toolwright.record import record

WHOLE = 4 * 1024 * 1024
"""Files up to this size are read and hashed whole, whatever part of them is shown."""


@record(frozen=True, slots=True, kw_only=True)
class FileView:
    """Lines of a file, and by what its content can be known again."""

    window: LineWindow
    stamp: Stamp
    digest: str
    """Hash of the whole content; empty for a large file, which its stamp alone identifies."""
    encoding: str


@record(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Looks into files. Keeps an index of lines for those too large to be read whole each time."""

    indexes: LineIndexes
    legacy: str = ""

    def view(
        self,
        place: Place,
        file: FileIO | BytesIO,
        limits: LineLimits,
        *,
        first: int,
        column: int,
        stamp: Stamp | None = None,
    ) -> FileView:
        """The lines from `first` on. ToolError if the file is not text. What is in memory alone needs a `stamp`."""
        stamp = stamp or Stamp.of(os.fstat(file.fileno()))
        data = read_some(place, file, -1 if stamp.size <= WHOLE else SAMPLE)
        encoding, mark = detect(data[:SAMPLE])
        if encoding == "binary":
            raise ToolError(f"{place.path} is a binary file. Use a program made for its format.", "binary")
        if stamp.size > WHOLE and encoding != "utf-8":
            file.seek(0)
            data = read_whole(place, file)
        if stamp.size <= WHOLE or encoding != "utf-8":
            if (window := _at_a_glance(data, encoding, limits, first, column)) is not None:
                return FileView(window=window, stamp=stamp, digest=digest_of(data), encoding=encoding)
            body = BytesIO(_as_utf8(data[len(mark) :], encoding))
            reader = LineReader(source=body, index=LineIndex(), limits=limits, legacy=self.legacy)
            window = reader.read(first, column)
            window.total = reader.count()
            return FileView(window=window, stamp=stamp, digest=digest_of(data), encoding=encoding)
        index = self.indexes.of(place.path, stamp, len(mark))
        window = LineReader(source=file, index=index, limits=limits, legacy=self.legacy).read(first, column)
        # A file written a moment ago may be written again without its times telling; only its content is proof then.
        digest = "" if stamp.settled else digest_of_file(file)
        return FileView(window=window, stamp=stamp, digest=digest, encoding=encoding)


def _at_a_glance(data: bytes, encoding: str, limits: LineLimits, first: int, column: int) -> LineWindow | None:
    """All lines of a file that is shown whole, as most are; None if there is anything to weigh."""
    if encoding != "utf-8" or first != 1 or column != 1 or len(data) > limits.bytes or not data.isascii():
        return None
    lines = data.decode("ascii").split("\n")
    if b"\r" in data or len(lines) > limits.lines or len(max(lines, key=len)) > limits.width:
        return None
    return LineWindow(first=1, lines=lines, total=len(lines))


def _as_utf8(body: bytes, encoding: str) -> bytes:
    """Anything but UTF-8 is turned into it; what cannot be decoded is shown as U+FFFD, half a character not at all."""
    if encoding == "utf-8":
        return body
    return codecs.getincrementaldecoder(encoding)("replace").decode(body).encode()
