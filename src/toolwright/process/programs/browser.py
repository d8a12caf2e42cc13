"""The user's browser: opened beside us by a program that no command could have put there, and told no secret.

Everybody on a machine can read the arguments of every program, and an address may hold a secret. What the browser is
told is the name of a file that only its owner can read, and that leads on to the address.
"""

import html
import os
import secrets
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from threading import Thread, Timer
from typing import Final

from toolwright.machine.private_files import keep_private, make_folder, open_private
from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.child import leave_to_user

LASTS: Final = 60.0
"""Seconds after which the file is removed, used or not."""
UNREADABLE: Final = "If the browser shows nothing, or may not read the file it was given, open the address yourself."
OPENERS = ("xdg-open", "x-www-browser", "sensible-browser", "wslview", "firefox", "chromium", "google-chrome")
WITHOUT_A_SCREEN = ("wslview",)
"""Those that reach a browser although this system has no screen."""
TEXT = frozenset({"www-browser", "links", "elinks", "lynx", "w3m", "browsh"})
"""Browsers that fill the terminal. They are used only where BROWSER names one."""
_PAGE: Final = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={address}">
<title>toolwright</title>
<p><a href="{address}">Go on</a></p>
"""


class OpenedBrowser:
    """A browser that was told to open a file; it may be gone already, or run until the user closes it."""

    def __init__(self, argv: Sequence[str], path: str, page: Path, *, fills_terminal: bool) -> None:
        self.fills_terminal = fills_terminal
        self._page = page
        process = leave_to_user(argv, env={**os.environ, "PATH": path}, has_terminal=fills_terminal)
        self._thread = Thread(target=process.wait, daemon=True)
        self._thread.start()
        self._removing = Timer(LASTS, lambda: page.unlink(missing_ok=True))
        self._removing.daemon = True
        self._removing.start()

    def wait(self) -> None:
        """Return once it is closed. It blocks: call it in a thread."""
        self._thread.join()

    def forget(self) -> None:
        """Remove the file that leads to the address, once the address was opened or nobody waits for it any more."""
        self._removing.cancel()
        self._page.unlink(missing_ok=True)


def open_browser(address: str, programs: Lookup, state: Path, *, has_terminal: bool = False) -> OpenedBrowser | None:
    """Open an address and return at once; None where there is no browser, or only one that would need the terminal.

    OSError if no file can be left in the folder for what is true while we run.
    """
    page: Path | None = None
    for name, words in _openers():
        program = programs.find(name)
        fills_terminal = PurePath(name).name in TEXT
        if program is None or (fills_terminal and not has_terminal):
            continue
        page = page or leave_page(address, state)
        argv = [program, *(word.replace("%s", page.as_uri()) for word in words)]
        with suppress(OSError):
            return OpenedBrowser(argv, programs.path, page, fills_terminal=fills_terminal)
    if page is not None:
        page.unlink(missing_ok=True)
    return None


def leave_page(address: str, state: Path) -> Path:
    """Write the file, for its owner alone; those of programs that were killed go."""
    folder = state / "open"
    make_folder(folder)
    keep_private(folder)
    for left in folder.glob("*.html"):
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - LASTS:
                left.unlink()
    page = folder / f"{secrets.token_hex(16)}.html"
    with open_private(page) as stream:
        stream.write(_PAGE.format(address=html.escape(address, quote=True)).encode())
    return page


def _openers() -> Iterator[tuple[str, list[str]]]:
    for command in os.environ.get("BROWSER", "").split(os.pathsep):
        words: list[str] = []
        with suppress(ValueError):
            words = shlex.split(command)
        if words:
            yield words[0], words[1:] if "%s" in command else [*words[1:], "%s"]
    if sys.platform == "darwin":
        yield "/usr/bin/open", ["%s"]
    shows = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    yield from ((name, ["%s"]) for name in (OPENERS if shows else WITHOUT_A_SCREEN))
