"""The body of an answer, unpacked as it comes and never beyond a limit."""

import zlib

from toolwright.errors import ToolError

_FORMATS = {"gzip": 31, "x-gzip": 31}
_RAW = -15
ACCEPTED = "gzip, deflate"


class Body:
    """Feed it the bytes of an answer; it keeps what they unpack to."""

    def __init__(self, encoding: str, limit: int) -> None:
        self._encoding = encoding.strip().lower()
        self._limit = limit
        self.data = bytearray()
        self._packed = self._encoding not in ("", "identity")
        self._unpacker = zlib.decompressobj(_FORMATS[self._encoding]) if self._encoding in _FORMATS else None
        self._head = b""
        self._begun = False
        if self._packed and self._unpacker is None and self._encoding != "deflate":
            raise ToolError(f"The server answered packed as {encoding!r}, which nobody asked for.", "network")

    def feed(self, chunk: bytes) -> None:
        if not self._packed:
            self._keep(chunk)
            return
        self._begun = True
        try:
            self._unpack(chunk)
        except zlib.error as error:
            raise ToolError(f"The answer is not {self._encoding}, as it says it is: {error}.", "network") from error

    def close(self) -> bytes:
        """All of it, once the answer has ended."""
        if self._begun and not (self._unpacker and self._unpacker.eof):
            raise ToolError("The answer ended in the middle of its packed body.", "network")
        return bytes(self.data)

    def _unpack(self, chunk: bytes) -> None:
        if self._unpacker is None:
            chunk = self._head = self._head + chunk
            if len(chunk) < 2:
                return
            self._unpacker = zlib.decompressobj(zlib.MAX_WBITS if _has_zlib_header(chunk) else _RAW)
        while chunk:
            # One byte more than fits tells a body that is too large, whatever it would grow to.
            self._keep(self._unpacker.decompress(chunk, self._limit - len(self.data) + 1))
            chunk = self._unpacker.unused_data
            if chunk and self._encoding != "deflate":
                self._unpacker = zlib.decompressobj(_FORMATS[self._encoding])
            elif self._unpacker.eof:
                return

    def _keep(self, data: bytes) -> None:
        if len(self.data) + len(data) > self._limit:
            raise too_large(self._limit)
        self.data += data


def too_large(limit: int) -> ToolError:
    return ToolError(f"The answer has more than {limit:,} bytes, which is the limit. Fetch a part of it.", "too_large")


def _has_zlib_header(head: bytes) -> bool:
    return head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0
