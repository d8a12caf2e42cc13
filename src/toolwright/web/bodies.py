"""The body of an answer, unpacked as it comes and never beyond a limit."""

import zlib

from toolwright.errors import ToolError

_FORMATS = {"gzip": 31, "x-gzip": 31}
_MEMBERS = 1000
"""Packed pieces, one after the other, that a body may consist of."""
_RAW = -15
_OVERHEAD = 64 * 1024
"""Bytes that a body may grow by when it is packed."""
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
        self._members = 1
        self._arrived = 0
        if self._packed and self._unpacker is None and self._encoding != "deflate":
            raise ToolError(f"The answer is compressed as {encoding!r}, which was not asked for. Leave it.", "network")

    def feed(self, chunk: bytes) -> None:
        if not self._packed:
            self._keep(chunk)
            return
        self._arrived += len(chunk)
        if self._arrived > self._limit + _OVERHEAD:  # what unpacks to nothing may be endless too
            raise too_large(self._limit)
        try:
            self._unpack(chunk)
        except zlib.error as error:
            raise ToolError(f"The answer is not {self._encoding}, as it says it is: {error}.", "network") from error

    def close(self) -> bytes:
        """All of it, once the answer has ended."""
        if self._arrived and not (self._unpacker and self._unpacker.eof):
            raise ToolError("The answer broke off in the middle. Try again.", "network")
        return bytes(self.data)

    def _unpack(self, chunk: bytes) -> None:
        if self._unpacker is None:
            chunk = self._head = self._head + chunk
            if len(chunk) < 2:
                return
            self._unpacker = zlib.decompressobj(zlib.MAX_WBITS if _has_zlib_header(chunk) else _RAW)
        while chunk:
            if self._unpacker.eof:
                if self._encoding == "deflate" or not chunk.startswith(b"\x1f"):
                    return  # what follows the body is not part of it
                self._next_member()
            # One byte more than fits tells a body that is too large, whatever it would grow to.
            self._keep(self._unpacker.decompress(chunk, self._limit - len(self.data) + 1))
            chunk = self._unpacker.unused_data

    def _next_member(self) -> None:
        self._members += 1
        if self._members > _MEMBERS:
            raise ToolError(f"The answer is compressed in more than {_MEMBERS:,} pieces. Leave it.", "network")
        self._unpacker = zlib.decompressobj(_FORMATS[self._encoding])

    def _keep(self, data: bytes) -> None:
        if len(self.data) + len(data) > self._limit:
            raise too_large(self._limit)
        self.data += data


def too_large(limit: int) -> ToolError:
    return ToolError(f"The answer has more than {limit:,} bytes, which is the limit. Fetch a part of it.", "too_large")


def _has_zlib_header(head: bytes) -> bool:
    return head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0
