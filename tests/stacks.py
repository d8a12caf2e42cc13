"""Where everything stands: the stacks of all threads, and of all tasks of the loop that runs in this one."""

import asyncio
import io
import sys
import threading
import traceback
from collections.abc import Iterator


def stacks() -> str:
    return "\n".join((*_threads(), *_tasks()))


def _threads() -> Iterator[str]:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        yield f"~~~ thread {names.get(ident, ident)} ~~~\n{''.join(traceback.format_stack(frame))}"


def _tasks() -> Iterator[str]:
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:  # no loop runs here
        return
    for task in tasks:
        written = io.StringIO()
        task.print_stack(file=written)
        yield f"~~~ {task.get_name()} ~~~\n{written.getvalue()}"
