"""Says to the proxy and to the answers of names whatever is nothing of the kind, from within a box."""

import socket
from contextlib import suppress

PIECES = (
    b"",
    b"\x05",
    b"\x05\xff",
    b"\x05\x01\x00\x05\x01\x00\x03\xff",
    b"\x05\x01\x00\x05\x02\x00\x01aaaabb",
    b"\x05\x01\x00\x05\x01\x00\x09aaaabb",
    b"\x04\x01",
    b"GET\r\n\r\n",
    b"CONNECT :\r\n\r\n",
    b"CONNECT a:99999 HTTP/1.1\r\n\r\n",
    b"GET http://[::1 HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"A" * 70_000,
    bytes(range(256)) * 40,
)
QUESTIONS = (
    b"\0" * 12,
    b"\0\1\1\0\0\1\0\0\0\0\0\0\xff",
    b"\0\1\1\0\xff\xff\0\0\0\0\0\0\1a\0\0\1\0\1",
    b"\0\1\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1",
)

for piece in PIECES:
    for port in (61080, 61081):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as one:
            one.sendall(piece)
            one.shutdown(socket.SHUT_WR)
            one.recv(100)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
    for piece in (*PIECES, *QUESTIONS):
        datagrams.sendto(piece[:60_000], ("127.0.0.53", 53))
