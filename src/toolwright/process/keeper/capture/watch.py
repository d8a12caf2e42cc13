"""Capture at work: a thread of the leader that looks at each call that changes files, and lets it go on or makes it."""

import errno
import os
import signal
import time
from functools import cached_property

from ..gate import ScopeConnections
from ..order import Capture
from . import listener as kernel
from .broker import Broker, OpenedFile
from .calls import ARCHITECTURE, CALLS, SystemCall, is_reading
from .earlier import Earlier, Irreplaceable
from .names import Names
from .questions import ChangeQuestions, Say
from .store import CaptureStore

EXCLUSIVE = os.O_CREAT | os.O_EXCL
FOLLOWED, NOT_FOLLOWED = 0x400, 0x100
MOST_DOUBTS = MOST_REFUSED = 20
WRAPPER = "bwrap"


class CaptureWatch:
    """Watch over what the programs of one scope change, from the first call to the last."""

    def __init__(
        self,
        listener: int,
        order: Capture,
        say: Say,
        *,
        anchored: bool,
        wrapped: bool,
        connections: ScopeConnections | None = None,
    ) -> None:
        """`say` tells our master; `anchored` is as for `Names`; `wrapped` says that the first program is bubblewrap;
        `connections` are made by us where those are heard of as well."""
        self._listener, self._connections = listener, connections
        self._calls = CALLS[os.uname().machine]
        self._ours = ARCHITECTURE[os.uname().machine]
        self._anchored = anchored
        self._order = order
        self._store = CaptureStore(order["store"], order["room"])
        roots = tuple(root.rstrip("/") + "/" for root in order["roots"])
        self._earlier = Earlier(self._store, roots, lambda: self._names.forget(), self._may_lose)
        self.questions = ChangeQuestions(say, roots, order["asks"]) if order["brokered"] else None
        self._wrapped = wrapped
        self._doubts = set[str]()
        self._refused = dict[str, None]()
        self._marked = 0
        self._since = 0.0
        self.is_silent = False
        """True if not even that could be noted that something was not, as on a full disk."""

    def held_for(self) -> float:
        """Return for how many seconds the call that is looked at has been held."""
        since = self._since
        return time.monotonic() - since if since else 0.0

    def refused(self) -> list[str]:
        """Return what was to be changed that walls keep from it, in the order in which it was tried."""
        return list(self._refused)

    def mark(self, number: int) -> None:
        """Note what changes from now on as if nothing had changed before, after a mark of this number."""
        self._marked = number

    def run(self) -> None:
        """Answer until all have ended, in a thread of its own.

        Without us nothing could be changed any more, so whatever fails is noted, and the call goes on.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        request = bytearray(kernel.SIZE)
        try:
            while True:
                held = kernel.receive(self._listener, request)
                if held is None:
                    if kernel.is_over(self._listener):
                        return
                    continue
                if self._connections is not None and self._connections.takes(held):
                    self._connections.answer(self._listener, held)
                    continue
                self._since = time.monotonic()
                answered = False
                try:
                    answered = not self._is_wrapper(held.task) and self._look(held)
                except Exception as problem:  # noqa: BLE001 - whatever it is, the program must go on
                    if kernel.is_still_held(self._listener, held) and not _is_bad_address(problem):
                        self._doubt(f"{type(problem).__name__}: {problem}"[:200])
                self._since = 0.0
                if not answered:
                    kernel.let_go_on(self._listener, held)
        finally:
            # Whoever waits for us would wait for ever.
            os.close(self._listener)

    def _is_wrapper(self, task: int) -> bool:
        """Tell whether it is still bubblewrap that puts up its box, which changes nothing of the user's."""
        self._wrapped = self._wrapped and self._names.program(task) == WRAPPER
        return self._wrapped

    def _doubt(self, reason: str) -> None:
        """Note that something may not have been seen, and why; once."""
        if reason not in self._doubts and len(self._doubts) < MOST_DOUBTS:
            self._doubts.add(reason)
            try:
                self._store.note(kind="doubt", reason=reason)
            except OSError:
                self.is_silent = True

    # Which call it is, and of which files.

    @cached_property
    def _names(self) -> Names:
        """Most commands change nothing."""
        return Names(anchored=self._anchored)

    @cached_property
    def _broker(self) -> Broker | None:
        return Broker(self._order, self._names, self._store) if self._order["brokered"] else None

    def _look(self, held: kernel.HeldCall) -> bool:
        """Keep what a call is about to change; return whether it was answered."""
        call = self._calls.get(held.number) if held.architecture == self._ours else None
        if call is None:
            self._doubt("a program for another machine")
            return False
        if self._marked:
            number, self._marked = self._marked, 0
            self._earlier.begin_anew(number)
        places = self._places(held, call)
        if not kernel.is_still_held(self._listener, held):
            return False
        if self._broker is not None and any(places):
            try:
                if not self._is_agreed_to(call, held, places):
                    self._note_refused(*places)
                    raise OSError(errno.EACCES, "the user or a rule has said no")
                if self._broker.takes(call, places, _flags(held, call)):
                    return self._make(self._broker, call, held, places)
                self._note_refused(*self._broker.refused(call, places, _flags(held, call)))
            except OSError as problem:
                self._note_refused(*self._broker.refused(call, places, _flags(held, call)))
                kernel.refuse(self._listener, held, problem.errno or errno.EACCES)
                return True
        if is_reading(call, _flags(held, call)) or not any(map(self._earlier.is_inside, places)):
            return False
        try:
            self._keep_first(call, held, places)
        except Irreplaceable as problem:
            kernel.refuse(self._listener, held, problem.errno or errno.EACCES)
            return True
        return False

    def _may_lose(self, place: str) -> bool:
        """Ask whether what cannot be kept may be changed all the same, where somebody can be asked."""
        if self.questions is None:
            return True
        since, self._since = self._since, 0.0
        allowed = self.questions.allows_loss(place)
        self._since = time.monotonic() if since else 0.0
        return allowed

    def _is_agreed_to(self, call: SystemCall, held: kernel.HeldCall, places: tuple[str, ...]) -> bool:
        if self.questions is None or is_reading(call, _flags(held, call)):
            return True
        # The time that an answer takes is nobody's fault.
        since, self._since = self._since, 0.0
        agreed = self.questions.allows(call, places, _flags(held, call), self._names.program(held.task))
        self._since = time.monotonic() if since else 0.0
        return agreed

    def _note_refused(self, *places: str) -> None:
        if len(self._refused) < MOST_REFUSED:
            self._refused |= dict.fromkeys(places)

    def _make(self, broker: Broker, call: SystemCall, held: kernel.HeldCall, places: tuple[str, ...]) -> bool:
        """Make a call that the program cannot make itself, and give it what comes of that."""
        flags = _flags(held, call)
        try:
            if not is_reading(call, flags):
                self._earlier.keep(call, places, flags)
        except Exception:
            self._earlier.lose(*places)
            raise
        if not kernel.is_still_held(self._listener, held):
            return True
        result = broker.make(call, held, places, flags)
        if isinstance(result, OpenedFile):
            kernel.give(self._listener, held, result.descriptor, passed_on=result.passed_on)
            os.close(result.descriptor)
        else:
            kernel.answer(self._listener, held)
        return True

    def _keep_first(self, call: SystemCall, held: kernel.HeldCall, places: tuple[str, ...]) -> None:
        if "threads" not in self._doubts and self._names.has_threads(held.task):
            # Another thread may change the path after we have read it.
            self._doubt("threads")
        try:
            try:
                self._earlier.keep(call, places, _flags(held, call))
            except OSError as problem:
                if problem.errno != errno.ELOOP:
                    raise
                # A link has been put in the way meanwhile.
                self._names.forget()
                places = self._places(held, call)
                self._earlier.keep(call, places, _flags(held, call))
        except Irreplaceable:
            raise
        except Exception:
            # What is at these places now may be what was there before: nobody must take it for new.
            self._earlier.lose(*places)
            raise

    def _places(self, held: kernel.HeldCall, call: SystemCall) -> tuple[str, ...]:
        place = self._place(held, call.folder, call.path, follow=_follows(call, _flags(held, call)))
        return (place,) if call.other < 0 else (place, self._place(held, call.other_folder, call.other, follow=False))

    def _place(self, held: kernel.HeldCall, folder: int, path: int, *, follow: bool) -> str:
        descriptor = None if folder < 0 else _signed(held.arguments[folder])
        text = self._names.text(held.task, held.arguments[path]) if path >= 0 else ""
        return self._names.place(held.task, descriptor, text, follow=follow)


def _flags(held: kernel.HeldCall, call: SystemCall) -> int:
    return held.arguments[call.flags] if call.flags >= 0 else 0


def _follows(call: SystemCall, flags: int) -> bool:
    """Tell whether the last part of a path is followed if it is a link."""
    match call.kind:
        case "open":
            return not (flags & os.O_NOFOLLOW or flags & EXCLUSIVE == EXCLUSIVE)
        case "link":
            return bool(flags & FOLLOWED)
        case "mode" | "owner" | "attribute" | "times":
            return not (call.link or flags & NOT_FOLLOWED)
        case kind:
            return kind in ("write", "create")


def _signed(argument: int) -> int:
    number = argument & 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def _is_bad_address(problem: Exception) -> bool:
    """Tell whether a program gave a path that is not in its memory, with which the call fails."""
    return isinstance(problem, OSError) and problem.errno == errno.EFAULT
