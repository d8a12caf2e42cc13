"""The nine strategies written down once more, as slowly and plainly as their description, to compare ours with."""

import re
from collections.abc import Iterator

BLANK = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
RUN = re.compile(f"[{BLANK}]+")
ENDS = re.compile(f"^[{BLANK}]+|[{BLANK}]+$")


def outcome(content: str, old: str, new: str, *, everywhere: bool) -> tuple[str, str]:
    """What happens and what the content is then. Replacement text is taken literally, empty candidates are skipped."""
    found = False
    for strategy in (exact, trimmed, anchored, respaced, dedented, unescaped, bounded, contextual, exact):
        for candidate in strategy(content, old):
            if candidate not in content:
                continue
            found = True
            if not candidate and content:
                continue
            if everywhere:
                return "ok", content.replace(candidate, new) if candidate else new
            if content.find(candidate) == content.rfind(candidate):
                return "ok", content.replace(candidate, new, 1)
    return ("ambiguous" if found and not everywhere else "not_found"), content


def exact(content: str, old: str) -> Iterator[str]:
    yield old


def trimmed(content: str, old: str) -> Iterator[str]:
    wanted = popped(old)
    for window in windows(content, len(wanted)):
        if [trim(line) for line in window] == [trim(line) for line in wanted]:
            yield "\n".join(window)


def anchored(content: str, old: str) -> Iterator[str]:
    if len(old.split("\n")) < 3:
        return
    wanted = popped(old)
    blocks = list(between(content, wanted))
    if len(blocks) == 1:
        yield "\n".join(blocks[0])
        return
    best, chosen = -1.0, None
    for block in blocks:
        score = similarity(block, wanted)
        if score > best:
            best, chosen = score, block
    if chosen is not None and best >= 0.3:
        yield "\n".join(chosen)


def respaced(content: str, old: str) -> Iterator[str]:
    goal = normal(old)
    for line in content.split("\n"):
        if normal(line) == goal:
            yield line
        elif goal in normal(line):
            pattern = f"[{BLANK}]+".join(map(re.escape, goal.split(" ")))
            match = re.search(pattern, line)
            if match:
                yield match[0]
    count = len(old.split("\n"))
    if count > 1:
        for window in windows(content, count):
            if normal("\n".join(window)) == goal:
                yield "\n".join(window)


def dedented(content: str, old: str) -> Iterator[str]:
    goal = to_margin(old)
    for window in windows(content, len(old.split("\n"))):
        if to_margin("\n".join(window)) == goal:
            yield "\n".join(window)


def unescaped(content: str, old: str) -> Iterator[str]:
    goal = resolve(old)
    yield goal
    for window in windows(content, len(goal.split("\n"))):
        if resolve("\n".join(window)) == goal:
            yield "\n".join(window)


def bounded(content: str, old: str) -> Iterator[str]:
    goal = trim(old)
    if goal == old:
        return
    yield goal
    for window in windows(content, len(old.split("\n"))):
        if trim("\n".join(window)) == goal:
            yield "\n".join(window)


def contextual(content: str, old: str) -> Iterator[str]:
    if len(old.split("\n")) < 3:
        return
    wanted = popped(old)
    for block in between(content, wanted):
        if len(block) != len(wanted):
            continue
        pairs = [(trim(a), trim(b)) for a, b in zip(block[1:-1], wanted[1:-1], strict=True)]
        filled = [a == b for a, b in pairs if a or b]
        if not filled or sum(filled) / len(filled) >= 0.5:
            yield "\n".join(block)


def trim(text: str) -> str:
    return ENDS.sub("", text)


def normal(text: str) -> str:
    return trim(RUN.sub(" ", text))


def popped(old: str) -> list[str]:
    lines = old.split("\n")
    return lines[:-1] if len(lines) > 1 and lines[-1] == "" else lines


def windows(content: str, size: int) -> Iterator[list[str]]:
    lines = content.split("\n")
    for start in range(len(lines) - size + 1):
        yield lines[start : start + size]


def between(content: str, wanted: list[str]) -> Iterator[list[str]]:
    lines = content.split("\n")
    for first, line in enumerate(lines):
        if trim(line) != trim(wanted[0]):
            continue
        for last in range(first + 2, len(lines)):
            if trim(lines[last]) == trim(wanted[-1]):
                yield lines[first : last + 1]
                break


def similarity(block: list[str], wanted: list[str]) -> float:
    count = min(len(wanted) - 2, len(block) - 2)
    if count <= 0:
        return 1.0
    total = 0.0
    for number in range(1, count + 1):
        a, b = units(trim(block[number])), units(trim(wanted[number]))
        if a or b:
            total += 1 - distance(a, b) / max(len(a), len(b))
    return total / count


def distance(a: list[int], b: list[int]) -> int:
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        above, row = row, [i]
        for j, right in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (left != right)))
    return row[-1]


def units(text: str) -> list[int]:
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at] | data[at + 1] << 8 for at in range(0, len(data), 2)]


def to_margin(text: str) -> str:
    lines = text.split("\n")
    depths = [len(line) - len(line.lstrip(CHARACTERS)) for line in lines if trim(line)]
    return "\n".join(line[min(depths) :] if trim(line) else line for line in lines) if depths else text


def resolve(text: str) -> str:
    meaning = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(r"\\([ntr'\"`\\\n$])", lambda match: meaning.get(match[1], match[1]), text)


CHARACTERS = "".join(chr(code) for code in range(0x10000) if RUN.fullmatch(chr(code)))
