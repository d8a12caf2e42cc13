"""The data about programs that act outside: read from the text files beside it when a program is first looked up.

A file holds sections. A section begins with the names of its programs; its lines, indented, say what is true of them:

    values      options that take the next word
    nothing     rows of that class, divided by commas; so are `here`, `reads`, `changes` and `final`
    otherwise   the class where no row fits; without it the verbs of `verbs.txt` tell, and what they do not is `changes`
    path        how many operands say what is done; `leading` for those before the first option
    lowers      options that make it look only; `raises` those that make it final
    scripts     subcommands followed by the name of a script; `*` where every operand is one
    remote      words behind which a host and a command for it follow; `inside` the same with a container of this
                machine, `wraps` where the command follows at once
    http, body, reading, sql, files, script     options with a method, a body, a query, a file of queries, a script
    texts       that others wrote what it reads; `addresses` that its operands are hosts, `people` that they are mail's
    on          what it acts on; `shows` names the options that say more about that

A row is words: operands from the start, options with a dash anywhere. `a|b` is one or the other, `*` is a wildcard,
`..` any operands, `$` their end, `<` that it is fed, `@remote` a place elsewhere.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from importlib.resources import files

from toolwright.calls.acts import CLASSES, ActClass
from toolwright.record import record


@record(frozen=True, slots=True)
class ProgramRow:
    """One way to call a program, and its class."""

    kind: ActClass
    operands: tuple[str, ...]
    options: tuple[str, ...]
    fed: bool = False


@record(frozen=True, slots=True, kw_only=True)
class ProgramSection:
    """The section of a program that may act outside."""

    rows: tuple[ProgramRow, ...] = ()
    otherwise: ActClass | None = None
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Its further lines, as words."""
    on: str = ""

    def listed(self, name: str) -> tuple[str, ...]:
        return self.words.get(name, ())

    def has(self, name: str) -> bool:
        return name in self.words


@record(frozen=True, slots=True, kw_only=True)
class Verbs:
    """Words of subcommands and their classes: of the first one, and of any."""

    first: Mapping[str, ActClass]
    any: Mapping[str, ActClass]
    last: Mapping[str, ActClass]
    """Names of things, which are shown where no other word says what is done with them."""


def program_named(name: str) -> ProgramSection | None:
    """Return the section of the program; None where it is in no table."""
    lines = _sections().get(name)
    return _program(lines) if lines is not None else None


@cache
def verbs() -> Verbs:
    """The words that subcommands of any program go by."""
    sections = dict(_split(_data_text("verbs.txt")))
    return Verbs(first=_verbs(sections["first"]), any=_verbs(sections["any"]), last=_verbs(sections["last"]))


def _verbs(lines: tuple[tuple[str, str], ...]) -> dict[str, ActClass]:
    return {word: kind for kind in CLASSES for name, text in lines if name == kind for word in text.split()}


@cache
def _sections() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """The lines of every program's section, by its name."""
    sections = dict[str, tuple[tuple[str, str], ...]]()
    for path in sorted(files(__package__).joinpath("data").iterdir(), key=lambda one: one.name):
        if path.name != "verbs.txt":
            for names, lines in _split(path.read_text("utf-8")):
                sections.update(dict.fromkeys(names.split(), lines))
    return sections


def _data_text(name: str) -> str:
    return files(__package__).joinpath("data", name).read_text("utf-8")


def _split(text: str) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """The sections of a file: their heads, and their lines as name and value."""
    head, lines = "", list[tuple[str, str]]()
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if not line.strip() or line.startswith("#"):
            continue
        if indent == _LINE:
            name, _, value = line.strip().partition(" ")
            lines.append((name, value.strip()))
        elif indent and lines:
            lines[-1] = (lines[-1][0], f"{lines[-1][1]} {line.strip()}")
        elif indent or not lines:
            head = f"{head} {line.strip()}".strip()
        else:
            yield head, tuple(lines)
            head, lines = line.strip(), []
    if lines:
        yield head, tuple(lines)


_LINE = 2
"""The indent of the lines of a section; those that go on with one are further in."""


@cache
def _program(lines: tuple[tuple[str, str], ...]) -> ProgramSection:
    rows = tuple(_row(kind, text) for kind in CLASSES for name, one in lines if name == kind for text in one.split(","))
    otherwise = next((kind for kind in CLASSES if ("otherwise", kind) in lines), None)
    words = {name: tuple(value.split()) for name, value in lines if name not in (*CLASSES, "on", "otherwise")}
    on = next((value for name, value in lines if name == "on"), "")
    return ProgramSection(rows=tuple(row for row in rows if row is not None), otherwise=otherwise, words=words, on=on)


def _row(kind: ActClass, text: str) -> ProgramRow | None:
    words = text.split()
    if not words:
        return None
    operands = tuple(word for word in words if word[0] != "-" and word != "<")
    return ProgramRow(kind, operands, tuple(word for word in words if word[0] == "-"), "<" in words)
