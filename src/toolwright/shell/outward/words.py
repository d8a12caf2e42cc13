"""The words of a call told apart: operands and options, in each way that its options may be read."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from toolwright.record import record


@record(frozen=True, slots=True)
class GivenOption:
    """An option as it was given, with its value where it has one."""

    name: str
    value: str | None = None


@record(frozen=True, slots=True, kw_only=True)
class Words:
    """A call's words after the program's name."""

    operands: tuple[str, ...] = ()
    options: tuple[GivenOption, ...] = ()
    loose: frozenset[int] = frozenset()
    """Places of operands that follow an option that is in no list, so that they may be its value."""
    places: tuple[int, ...] = ()
    """The place of each operand among the words."""
    leading: int = 0
    """The number of operands that come before the first option that follows one."""
    given: tuple[str, ...] = ()

    def has(self, *names: str) -> bool:
        return any(option.name in names for option in self.options)

    def values(self, *names: str) -> list[str]:
        return [option.value for option in self.options if option.name in names and option.value is not None]

    def readings(self) -> Iterator["Words"]:
        """The words with every operand, and without those that may be an option's value."""
        yield self
        if self.loose:
            kept = [place for place in range(len(self.operands)) if place not in self.loose]
            yield replace(
                self,
                operands=tuple(self.operands[place] for place in kept),
                places=tuple(self.places[place] for place in kept),
                leading=sum(place < self.leading for place in kept),
                loose=frozenset(),
            )


def told_apart(arguments: Sequence[str], takes: Collection[str], flags: Collection[str] = ()) -> Words:
    """Sort the words; `takes` lists options whose value is the next word, `flags` some that have none."""
    operands, places, options, loose = list[str](), list[int](), list[GivenOption](), set[int]()
    position, after_unknown, leading = 0, False, -1
    while position < len(arguments):
        word = arguments[position]
        if word == "--":
            rest = range(position + 1, len(arguments))
            operands += [arguments[place] for place in rest]
            places += rest
            break
        if len(word) < 2 or word[0] != "-":
            loose |= {len(operands)} if after_unknown else set()
            operands.append(word)
            places.append(position)
            after_unknown = False
        else:
            leading = len(operands) if leading < 0 and operands else leading
            new_options, waits, known = _options(word, takes, flags)
            if waits and position + 1 < len(arguments):
                position += 1
                new_options[-1] = GivenOption(new_options[-1].name, arguments[position])
            options += new_options
            after_unknown = not known
        position += 1
    return Words(
        operands=tuple(operands),
        options=tuple(options),
        loose=frozenset(loose),
        places=tuple(places),
        leading=leading if leading >= 0 else len(operands),
        given=tuple(arguments),
    )


def _options(word: str, takes: Collection[str], flags: Collection[str]) -> tuple[list[GivenOption], bool, bool]:
    """The options in a word, whether the last of them waits for its value, and whether that is known."""
    name, equals, value = word.partition("=")
    if equals and (name in takes or word[:2] not in takes):
        return [GivenOption(name, value)], False, True
    if word in takes:
        return [GivenOption(word)], True, True
    if word[1] == "-" or word in flags:
        return [GivenOption(word)], False, word in flags
    letters = [GivenOption(word)] if len(word) > len("-x") else []
    for place, letter in enumerate(word[1:], 1):
        option = f"-{letter}"
        if option in takes:
            rest = word[place + 1 :]
            return [*letters, GivenOption(option, rest or None)], not rest, True
        letters.append(GivenOption(option))
    return letters, False, letters[-1].name in flags
