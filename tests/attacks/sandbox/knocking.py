"""What a program in a box tries at one of our ports, run there by itself: `python3 knocking.py PORT REQUEST HOST`.

Whoever is let in hears something; each attempt that does prints IN and its name.
"""

import ctypes
import os
import socket
import sys
import threading

CLONE_FILES = 0x400


def port() -> int:
    return int(sys.argv[1])


def request() -> bytes:
    return sys.argv[2].encode().decode("unicode_escape").encode()


def connected(source: str = "") -> socket.socket:
    made = socket.create_connection((sys.argv[3], port()), None, (source, 0) if source else None)
    made.sendall(request())
    return made


def heard(made: socket.socket) -> bool:
    try:
        return bool(made.recv(100))
    except OSError:
        return False


def plainly() -> bool:
    return heard(connected())


def once_more() -> bool:
    return any(plainly() for _ in range(5))


def from_another_address() -> bool:
    return heard(connected(source="127.0.0.9"))


def by_a_mapped_address() -> bool:
    made = socket.socket(socket.AF_INET6)
    made.connect(("::ffff:127.0.0.1", port()))
    made.sendall(request())
    return heard(made)


def in_a_child(work: object = plainly, *, session: bool = False) -> bool:
    """In a process whose parent waits for its answer."""
    reading, writing = os.pipe()
    if not os.fork():
        if session:
            os.setsid()
        os.write(writing, b"%d" % work())  # type: ignore[operator] # a function
        os._exit(0)
    os.close(writing)
    return os.read(reading, 1) == b"1"


def in_a_session_of_its_own() -> bool:
    return in_a_child(session=True)


def by_an_orphan() -> bool:
    """Forked twice, and the process between has ended."""

    def between() -> bool:
        reading, writing = os.pipe()
        if not os.fork():
            first = os.getppid()
            if not os.fork():
                while os.getppid() == first:
                    os.sched_yield()
                os.write(writing, b"%d" % plainly())
            os._exit(0)
        os.wait()
        return os.read(reading, 1) == b"1"

    return in_a_child(between, session=True)


def handed_on() -> bool:
    """Connected by one process, held by another."""
    here, there = socket.socketpair()
    if not os.fork():
        made = connected()
        socket.send_fds(here, [b"x"], [made.fileno()])
        os._exit(0)
    _, [number], _, _ = socket.recv_fds(there, 1, 1)
    os.wait()
    return heard(socket.socket(fileno=number))


def held_by_nobody() -> bool:
    """On its way between two processes: no descriptor leads to it."""
    here, there = socket.socketpair()
    made = connected()
    socket.send_fds(here, [b"x"], [made.fileno()])
    made.close()
    # Whoever comes next is judged next.
    plainly()
    _, [number], _, _ = socket.recv_fds(there, 1, 1)
    return heard(socket.socket(fileno=number))


def with_descriptors_of_a_thread() -> bool:
    answers = []

    def alone() -> None:
        ctypes.CDLL(None).unshare(CLONE_FILES)
        answers.append(plainly())

    thread = threading.Thread(target=alone)
    thread.start()
    thread.join()
    return any(answers)


def under_another_name() -> bool:
    ctypes.CDLL(None).prctl(15, b"firefox", 0, 0, 0)
    return plainly()


def not_to_be_looked_into() -> bool:
    def alone() -> bool:
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
        return plainly()

    return in_a_child(alone)


def as_another_user() -> bool:
    """Root in a box may become anybody."""

    def alone() -> bool:
        os.setresuid(1000, 1000, 1000)
        return plainly()

    return os.getuid() == 0 and in_a_child(alone)


def half_closed() -> bool:
    made = connected()
    made.shutdown(socket.SHUT_WR)
    return heard(made)


def and_gone() -> bool:
    """Nobody hears an answer; whoever runs this looks at what came of the request."""
    for _ in range(20):
        if not os.fork():
            connected()
            os._exit(0)
        os.wait()
        connected().close()
    return False


WAYS = [
    plainly, once_more, from_another_address, by_a_mapped_address, in_a_child, in_a_session_of_its_own, by_an_orphan,
    handed_on, held_by_nobody, with_descriptors_of_a_thread, under_another_name, not_to_be_looked_into, as_another_user,
    half_closed, and_gone,
]  # fmt: skip

if __name__ == "__main__":
    for way in WAYS:
        try:
            outcome = "IN" if way() else "refused"
        except OSError as error:
            outcome = f"refused ({error})"
        # At once, so that no child says it again.
        os.write(1, f"{outcome} {way.__name__}\n".encode())
    os.write(1, b"tried\n")
