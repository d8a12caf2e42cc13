"""Ports for programs that must be told theirs before they listen."""

import random
import socket

GIVEN_OUT = 30_000
"""Below the ports that systems give to whoever asks for any, so that nobody gets one between its choice and its use."""


def free_port() -> int:
    """One that nobody has."""
    for port in random.Random().sample(range(20_000, GIVEN_OUT), 1_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise AssertionError("none of a thousand ports is free")
