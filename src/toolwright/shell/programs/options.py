"""The options a program is known to have, and what each means for files; whatever is not listed is doubted.

A list is text, one word for each option: `-q` and `--quiet` stand alone, `-n:` takes a value, `--color?` may have one
after `=`, `-f<` names a file that is read, `-o>` one that is written, `-x!` is never plain, `-#` is a number such as
`-5`.
"""

from collections.abc import Sequence
from functools import lru_cache

from toolwright.record import record
from toolwright.shell.programs.arguments import Arguments, Effects, tail
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field

_MARKS = ":<>!?"


@record(frozen=True, slots=True)
class KnownOptions:
    """The marks of a program's options by name."""

    marks: dict[str, str]

    def named(self, text: str) -> list[str]:
        """The options that a long one may stand for: itself, or those that begin like it."""
        if text in self.marks:
            return [text]
        return [name for name in self.marks if name.startswith(text)] if len(text) > 2 else []


@lru_cache(maxsize=512)
def options(text: str) -> KnownOptions:
    marks = {"--help": "", "--version": ""}
    for word in text.split():
        mark = word[-1] if word[-1] in _MARKS and len(word) > 2 else ""
        marks[word.removesuffix(mark) if mark else word] = mark
    return KnownOptions(marks)


def take_options(
    effects: Effects, program: str, arguments: Sequence[Field], known: str, *, in_full: bool = False
) -> Arguments:
    """Tell options from operands, note the files that options name, and doubt every option that is not known.

    `in_full` is for programs that take no beginning of a long option for the option.
    """
    return _Reader(effects, program, options(known), in_full=in_full).read(arguments)


class _Reader:
    """Goes through the arguments of one call as programs built on getopt do."""

    def __init__(self, found: Effects, program: str, known: KnownOptions, *, in_full: bool) -> None:
        self.in_full = in_full
        self.effects = found
        self.program = program
        self.marks = known.marks
        self.known = known
        self.parsed = Arguments()
        self.waiting: tuple[str, ...] = ()
        self.perhaps: tuple[str, ...] = ()
        """Options that have got a pattern for their value, and get what follows if no file fits it."""

    def read(self, arguments: Sequence[Field]) -> Arguments:
        only_operands = False
        for argument in arguments:
            text = argument.text or (argument.spelled if argument.spelled.startswith("-") else "")
            if self.perhaps:
                self._note(self.perhaps, argument)
                self.perhaps = self.perhaps if argument.several else ()
            if self.waiting:
                self._take_value(argument)
            elif only_operands or len(text) < 2 or not text.startswith("-"):
                if argument.splits and not argument.known and not only_operands:
                    self._doubt(argument.spelled)
                self.parsed.operands.append(argument)
            elif text == "--":
                only_operands = True
            elif not argument.exact:
                self._partly_known(argument, text)
            elif text.startswith("--") or text in self.marks:
                self._long(argument, text)
            else:
                self._short(argument, text)
        if self.waiting:
            self._note(self.waiting, None)
        return self.parsed

    def _take_value(self, argument: Field) -> None:
        self._note(self.waiting, argument)
        if argument.several:
            # Only the first of the files is the value.
            self.parsed.operands.append(argument)
            self.perhaps = self.waiting
        elif argument.splits and not argument.known:
            self._doubt(argument.spelled)
        self.waiting = ()

    def _partly_known(self, argument: Field, text: str) -> None:
        """`--include=$x` and `-n$x`: the option is known, its value is not."""
        head, equals, _ = text.partition("=")
        if argument.splits:
            # what follows a blank in the value is a word of its own
            self._doubt(argument.spelled)
        elif text.startswith("--") and equals and "$" not in head and (names := self._named(head)):
            self._note(names, tail(argument, len(head) + 1))
        elif self.marks.get(text[:2], "") == ":" or (self.marks.get(text[:2]) == "?" and _ends_in_number(argument)):
            self._note((text[:2],), tail(argument, 2))
        else:
            self._doubt(argument.spelled)

    def _named(self, head: str) -> tuple[str, ...]:
        return () if self.in_full and head not in self.marks else tuple(self.known.named(head))

    def _long(self, argument: Field, text: str) -> None:
        head, equals, _ = text.partition("=")
        names = self._named(head)
        if not names or (equals and any(self.marks[name] == "" for name in names)):
            self._doubt(head)
        elif equals:
            self._note(names, tail(argument, len(head) + 1))
        elif any(self.marks[name] in (":", "<", ">") for name in names):
            self.waiting = names
        else:
            self._note(names, None)

    def _short(self, argument: Field, text: str) -> None:
        if "-#" in self.marks and text[1:].isdecimal():
            self._note(("-#",), None)
            return
        for position in range(1, len(text)):
            name = f"-{text[position]}"
            mark = self.marks.get(name)
            if mark is None:
                if "-#" in self.marks and text[position].isdecimal():
                    continue
                self._doubt(text)
                return
            if mark in ("", "!"):
                self._note((name,), None)
                continue
            rest = tail(argument, position + 1) if position + 1 < len(text) else None
            if rest is not None or mark == "?":
                self._note((name,), rest)
            else:
                self.waiting = (name,)
            return

    def _note(self, names: tuple[str, ...], value: Field | None) -> None:
        for name in names:
            self.parsed.options.setdefault(name, []).append(value)
            mark = self.marks[name]
            if mark == "!":
                self._doubt(name)
            elif value is not None and mark == "<" and value.text != "-":
                self.effects.touch("read", value)
            elif value is not None and mark == ">" and value.text != "-":
                self.effects.touch("write", value)

    def _doubt(self, text: str) -> None:
        self.effects.doubts.append(
            Contained(f"`{text}` is not among the options of `{self.program}` that are known to be harmless.")
        )


def _ends_in_number(argument: Field) -> bool:
    """`-j$(nproc)`: a letter, and a number that is only known later."""
    return argument.known and argument.texts == (f"{argument.spelled[:2]}*",) and "*" not in argument.spelled
