"""Signals that reach a program whose main thread waits in a line editor."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

AGAIN = 0.05
"""Seconds after which a signal that the line editor has overslept is sent again."""


class Ended(BaseException):
    """The process was told to end."""


@contextmanager
def handled(interrupted: Callable[[], None], reading: Callable[[], int]) -> Iterator[None]:
    """Ctrl-C calls a function, a signal to end raises Ended.

    A signal that comes just before the line editor begins to wait does not wake it; so while `reading` gives the same
    number above zero, the signal is sent again.
    """
    ears, mouth = os.pipe()
    os.set_blocking(mouth, False)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number in before:
        signal.signal(number, _end)
    signal.signal(signal.SIGINT, lambda *_: interrupted())
    earlier = signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    main = threading.get_ident()
    threading.Thread(target=_repeat, args=(ears, main, reading), name="signals", daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier)
        os.close(mouth)
        for number, handler in before.items():
            signal.signal(number, handler)


def _repeat(ears: int, main: int, reading: Callable[[], int]) -> None:
    with suppress(OSError), os.fdopen(ears, "rb", buffering=0) as heard:
        while number := heard.read(1):
            place = reading()
            time.sleep(AGAIN)
            if place and reading() == place and number[0] in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.pthread_kill(main, number[0])


def _end(*_: object) -> None:
    raise Ended
