"""Signals that reach a program whose main thread waits in a line editor."""

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

AGAIN = 0.05
"""Seconds after which a signal that the line editor has overslept is sent again."""


HANDLED = b"\0"
"""Stands after the numbers of the signals that were handled."""
READ = 64
HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCONT)


class Ended(BaseException):
    """The process was told to end."""


@contextmanager
def handled(
    interrupted: Callable[[], None], reading: Callable[[], int], continued: Callable[[], None]
) -> Iterator[None]:
    """Ctrl-C calls a function, and so does going on after a stop; a signal to end raises Ended.

    A signal that comes just before the line editor begins to wait does not wake it; so while `reading` gives the same
    number above zero, and nobody has handled it, the signal is sent again.
    """
    read_fd, write_fd = os.pipe()
    os.set_blocking(write_fd, False)
    before = {number: signal.getsignal(number) for number in HEARD}

    def handle(number: int, _: object) -> None:
        with suppress(OSError):
            os.write(write_fd, HANDLED)
        if number == signal.SIGCONT:
            continued()
        elif number == signal.SIGINT:
            interrupted()
        else:
            raise Ended

    for number in before:
        signal.signal(number, handle)
    earlier = signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)
    main = threading.get_ident()
    threading.Thread(target=_repeat, args=(read_fd, main, reading), name="signals", daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier)
        os.close(write_fd)
        for number, handler in before.items():
            signal.signal(number, handler)


def _repeat(read_fd: int, main: int, reading: Callable[[], int]) -> None:
    """Hear of every signal when it comes, and of its being handled; however late this thread gets to run."""
    with suppress(OSError), os.fdopen(read_fd, "rb", buffering=0) as heard:
        while waiting := heard.read(READ):
            waiting = waiting.rpartition(HANDLED)[2]
            place = reading()
            while waiting and place and reading() == place:
                time.sleep(AGAIN)
                if select.select([read_fd], [], [], 0)[0]:
                    waiting = (waiting + heard.read(READ)).rpartition(HANDLED)[2]
                if waiting and reading() == place and waiting[-1] in HEARD:
                    signal.pthread_kill(main, waiting[-1])
