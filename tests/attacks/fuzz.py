"""Random text for every parser that reads what a stranger wrote: none may crash, hang, or take more and more memory.

A target is a name, a function, the errors it may raise, and the words its language is made of. What it reads comes from
the kept files of `corpus/NAME`, changed at random. An input that does harm is saved there and read again at every test.
Run: python -m tests.attacks.fuzz --seconds 60 --seed 1 [--target NAME] [--collect]
"""

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any

CORPUS = Path(__file__).with_name("corpus")
LONGEST = 40_000
"""Bytes of an input: enough for whatever takes quadratic time to stand out."""
PATIENCE = 10
"""Seconds of the processor's time that one input may take."""
GROWTH = 300 * 1024
"""Kilobytes that a whole run may take beyond what the kept inputs took."""

Mutate = Callable[[bytes, Sequence[bytes], random.Random], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A parser under attack."""

    name: str
    run: Callable[[bytes], object]
    refuses: tuple[type[Exception], ...] = ()
    """Errors by which it may say that it does not take an input."""
    mutate: Mutate = field(default=lambda data, others, dice: changed_text(data, others, (), dice))
    seeds: Callable[[], Sequence[bytes]] = list
    """More to begin with than is kept in files."""

    @property
    def folder(self) -> Path:
        return CORPUS / self.name

    def kept(self) -> list[bytes]:
        """Every input that is read again, always in the same order."""
        return [*(file.read_bytes() for file in sorted(self.folder.glob("*"))), *self.seeds()]

    def keep(self, data: bytes) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / hashlib.sha256(data).hexdigest()[:16]
        file.write_bytes(data)
        return file


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run has come to."""

    rounds: int = 0
    refused: int = 0
    problem: str = ""


# What is read


def inputs(target: Target, dice: random.Random) -> Iterator[bytes]:
    """The kept inputs as they are, then without end such as come of them."""
    kept = target.kept()
    yield from kept
    while True:
        data = dice.choice(kept)
        for _ in range(dice.choice((1, 1, 2, 4, 8))):
            data = target.mutate(data, kept, dice)[:LONGEST]
        yield data


_ODD_LETTERS = "\0\n\r\t \ufeff\u2028\ud800é😀\x1b\x85\\\x7f"
ODD = (*(letter.encode("utf-8", "surrogatepass") for letter in _ODD_LETTERS), b"\r\n", b"\xff", b"\xc3", b"\xf0\x9f")


def changed_text(data: bytes, others: Sequence[bytes], words: Sequence[bytes], dice: random.Random) -> bytes:
    """Something put in, taken out, exchanged, repeated many times, or taken from another input."""
    start = dice.randrange(len(data) + 1)
    end = min(len(data), start + dice.choice((0, 1, 1, 2, 4, 16, 64)))
    piece = data[start:end]
    match dice.randrange(8):
        case 0 | 1 | 2:
            piece = dice.choice((*words, *ODD) if dice.random() < 0.2 or not words else words)
        case 3:
            piece = b""
        case 4:
            piece = (piece or dice.choice((*words, *ODD))) * dice.choice((2, 3, 10, 100, 3000))
        case 5:
            other = dice.choice(others)
            cut = dice.randrange(len(other) + 1)
            piece = other[cut : cut + dice.choice((1, 8, 64, 500))]
        case 6:
            piece = bytes(byte ^ (1 << dice.randrange(8)) for byte in piece)
        case _:
            piece = piece[::-1]
    return data[:start] + piece + data[end:]


ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 10**30, 1e308, float("inf"), float("nan"), 0.1, 2**63),
    *("", "x", "\0", "\ud800", "../../x", "*", "~", "$x", "{file:x}", "{env:HOME}", "1" * 5000, "x" * 10_000),
    *([], [[]], {}, {"a": {}}, {"": ""}, ["x"] * 300, {"*": "allow"}, {"type": "x"}),
)


def changed_json(data: bytes, others: Sequence[bytes], words: Sequence[bytes], dice: random.Random) -> bytes:
    """A value exchanged, removed, nested, or said under another key; sometimes the text itself is changed."""
    if dice.random() < 0.3:
        return changed_text(data, others, words, dice)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return changed_text(data, others, words, dice)
    try:
        return json.dumps(_changed_value(value, words, dice)).encode()
    except (ValueError, RecursionError):
        return data


def _changed_value(value: Any, words: Sequence[bytes], dice: random.Random) -> Any:
    places = list(_places(value))
    if not places:
        return dice.choice(ODD_VALUES)
    holder, key = dice.choice(places)
    match dice.randrange(6):
        case 0 | 1:
            holder[key] = dice.choice(ODD_VALUES)
        case 2 if isinstance(holder, dict):
            name = dice.choice(words).decode("utf-8", "replace") if words else "x"
            holder[name] = holder.pop(key)
        case 3:
            for _ in range(dice.choice((1, 3, 99, 400))):
                holder[key] = [holder[key]] if dice.random() < 0.5 else {"a": holder[key]}
        case 4:
            other, place = dice.choice(places)
            holder[key] = json.loads(json.dumps(other[place]))
        case _:
            del holder[key]
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        entries = holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        for key, entry in list(entries):
            yield holder, key
            waiting.append(entry)


# How it is read


def fuzz(target: Target, *, seed: int, seconds: float | None = None, count: int | None = None) -> Outcome:
    """Go on for so long, or for so many inputs, in a process of its own; what did harm is kept."""
    context = get_context("fork")
    listening, telling = context.Pipe(duplex=False)
    current = Path(tempfile.gettempdir()) / f"toolwright-fuzz-{os.getpid()}-{target.name}"
    child = context.Process(target=_read_all, args=(target, seed, seconds, count, current, telling))
    child.start()
    telling.close()
    try:
        told: Outcome = listening.recv()
    except EOFError:
        child.join()
        told = Outcome(problem=_how_it_died(child.exitcode))
    child.join()
    if told.problem:
        file = target.keep(current.read_bytes())
        told = Outcome(rounds=told.rounds, refused=told.refused, problem=f"{file.name}: {told.problem}")
    current.unlink(missing_ok=True)
    return told


def _how_it_died(code: int | None) -> str:
    if code == -signal.SIGPROF:
        return f"it took more than {PATIENCE} s"
    return f"the process died ({code})"


def _read_all(target: Target, seed: int, seconds: float | None, count: int | None, current: Path, telling: Any) -> None:
    """The processor's own clock ends what hangs, even where no Python code runs that could look at one."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    end = time.monotonic() + seconds if seconds is not None else None
    kept, rounds, refused, base = len(target.kept()), 0, 0, 0
    with current.open("wb", buffering=0) as note:
        for data in inputs(target, random.Random(seed)):
            if rounds >= kept and ((end is not None and time.monotonic() > end) or rounds - kept == count):
                break
            note.seek(0)
            note.truncate()
            note.write(data)
            problem = tried(target, data)
            if rounds == kept:
                base = _memory()
            if not problem and base and _memory() > base + GROWTH:
                problem = f"memory has grown by more than {GROWTH} KB"
            if problem not in ("", REFUSED):
                telling.send(Outcome(rounds=rounds, refused=refused, problem=problem))
                return
            rounds, refused = rounds + 1, refused + (problem == REFUSED)
    telling.send(Outcome(rounds=rounds, refused=refused))


REFUSED = "refused"


def tried(target: Target, data: bytes) -> str:
    """What came of one input: nothing, `refused`, or a traceback."""
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        target.run(data)
    except target.refuses:
        return REFUSED
    except Exception:  # noqa: BLE001 - any other is what is looked for
        return traceback.format_exc(limit=-4)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# What is kept


def collect(target: Target, *, seed: int, seconds: float) -> int:
    """Keep each short input that reaches a line of ours which none before it has reached."""
    dice, seen, added = random.Random(seed), set[tuple[str, int]](), 0
    end = time.monotonic() + seconds
    kept = len(target.kept())
    for number, data in enumerate(inputs(target, dice)):
        if time.monotonic() > end:
            break
        lines = _lines_of(target, data)
        if number >= kept and len(data) < 1500 and len(lines - seen) > 1:
            target.keep(data)
            added += 1
        seen |= lines
    return added


def _lines_of(target: Target, data: bytes) -> set[tuple[str, int]]:
    lines = set[tuple[str, int]]()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if "toolwright" not in frame.f_code.co_filename:
            return None
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        tried(target, data)
    finally:
        sys.settrace(None)
    return lines


def main() -> None:
    from tests.attacks.fuzz_targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=sorted(TARGETS))
    parser.add_argument("--collect", action="store_true", help="keep inputs that reach new lines")
    given = parser.parse_args()
    chosen = [TARGETS[given.target]] if given.target else list(TARGETS.values())
    each, failed = given.seconds / len(chosen), False
    for target in chosen:
        if given.collect:
            sys.stdout.write(f"{target.name}: {collect(target, seed=given.seed, seconds=each)} kept\n")
            continue
        told = fuzz(target, seed=given.seed, seconds=each)
        failed = failed or bool(told.problem)
        sys.stdout.write(f"{target.name}: {told.rounds} inputs, {told.refused} refused. {told.problem or 'No harm'}\n")
        sys.stdout.flush()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
