"""The time as records have it."""

import time


def now() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
