"""The state at one point of a script: the folder, the variables, the arguments. Branches are joined again."""

from collections.abc import Container
from dataclasses import field, replace
from typing import Literal

from toolwright.record import record

ALTERNATIVES = 16
"""The most values of a variable, or folders, that are followed side by side."""


@record(frozen=True, slots=True)
class Field:
    """One argument as the program would get it, as far as that can be said before it runs."""

    spelled: str
    """For people: as written, with what is known put in."""
    texts: tuple[str, ...] = ()
    """Every text it may be; patterns if `glob`."""
    known: bool = True
    glob: bool = False
    number: bool = False
    """A number that is only known later."""
    splits: bool = False
    """Not known and not quoted: it may turn out to be several arguments, or options, or none."""
    several: bool = False
    """A pattern or a listing: as many arguments as there are files, or none, so that no place among them is certain."""

    @property
    def text(self) -> str:
        """The one text it must be; empty if there may be several."""
        return self.texts[0] if self.known and not self.glob and len(self.texts) == 1 else ""

    @property
    def exact(self) -> bool:
        return self.known and not self.glob and len(self.texts) == 1

    @property
    def single(self) -> bool:
        """True if it is surely one argument, so that those behind it are where they seem; `{}` is a file at a time."""
        if self.splits or "$@" in self.spelled or "[@]" in self.spelled:
            return False
        return not self.glob or self.number or self.spelled == "{}"


def literal(text: str) -> Field:
    return Field(text, (text,))


def unknown(spelled: str) -> Field:
    return Field(spelled, (spelled,), known=False)


def some_number(spelled: str) -> Field:
    return Field(spelled, ("*",), glob=True, number=True)


def is_number(value: Field) -> bool:
    return value.number or (value.known and all(text.lstrip("-").isdecimal() for text in value.texts))


Dialect = Literal["bash", "zsh", "sh"]
"""Whose rules hold; `sh` is whatever is behind that name, so what its shells disagree on is taken both ways."""


def dialect_of(shell: str) -> Dialect:
    """The rules that a shell goes by, from its name or path."""
    name = shell.rpartition("/")[2]
    return "zsh" if name == "zsh" else "sh" if name in ("sh", "dash", "ash", "busybox") else "bash"


@record(slots=True, kw_only=True)
class ShellState:
    """Changed in place by the statements that are walked; copied where the script branches."""

    folders: tuple[str, ...]
    """The folders the script may be in; empty if that is not known."""
    variables: dict[str, Field] = field(default_factory=dict[str, Field])
    """Variables that this script has set; all others come from outside and are not known."""
    arguments: tuple[Field, ...] | None = None
    calls: tuple[str, ...] = ()
    """The functions that are being run."""
    own: frozenset[str] = frozenset()
    """Variables that the innermost of them has declared for itself."""
    fixed: frozenset[str] = frozenset()
    """Variables that were made read-only, so that a later assignment may have no effect."""
    stops_on_error: bool = False
    dialect: Dialect = "bash"
    top: str = ""
    """The top folder of the git work tree that the line begins in, if it is known."""
    functions: Container[str] = field(default=(), compare=False)
    """Names that the script gives a meaning of its own."""
    ended: bool = False
    """True if the script cannot get here, having left before."""

    def copy(self) -> "ShellState":
        return ShellState(
            folders=self.folders,
            variables=dict(self.variables),
            arguments=self.arguments,
            calls=self.calls,
            own=self.own,
            fixed=self.fixed,
            stops_on_error=self.stops_on_error,
            dialect=self.dialect,
            top=self.top,
            functions=self.functions,
            ended=self.ended,
        )

    def forget(self, name: str) -> None:
        self.variables.pop(name, None)

    def join(self, other: "ShellState") -> "ShellState":
        """Return the state that holds whichever of the two ways was taken."""
        if self is other or other.ended:
            return self
        if self.ended:
            return other
        folders = tuple(dict.fromkeys(self.folders + other.folders))
        if not self.folders or not other.folders or len(folders) > ALTERNATIVES:
            folders = ()
        return ShellState(
            folders=folders,
            variables=_join_variables(self.variables, other.variables),
            arguments=self.arguments if self.arguments == other.arguments else None,
            calls=self.calls,
            own=self.own | other.own,
            fixed=self.fixed | other.fixed,
            stops_on_error=self.stops_on_error and other.stops_on_error,
            dialect=self.dialect,
            top=self.top,
            functions=self.functions,
        )


def _join_variables(first: dict[str, Field], second: dict[str, Field]) -> dict[str, Field]:
    if first == second:
        return dict(first)
    joined = {name: _join_values(first[name], second[name]) for name in first.keys() & second.keys()}
    return {name: value for name, value in joined.items() if value is not None}


def _join_values(first: Field, second: Field) -> Field | None:
    if first == second:
        return first
    if is_number(first) and is_number(second):
        return some_number(first.spelled)
    texts = tuple(dict.fromkeys(first.texts + second.texts))
    if not (first.known and second.known) or first.glob != second.glob or len(texts) > ALTERNATIVES:
        return None
    return replace(first, texts=texts)


@record(frozen=True, slots=True)
class EndStates:
    """The state after success and after failure; None where the script does not go on."""

    succeeded: ShellState | None
    failed: ShellState | None

    def either(self, otherwise: ShellState) -> ShellState:
        """Return the state afterwards. If the script has ended, what follows is still looked at, from `otherwise`."""
        if self.succeeded is None or self.failed is None:
            return self.succeeded or self.failed or otherwise
        return self.succeeded.join(self.failed)

    @property
    def negated(self) -> "EndStates":
        return EndStates(self.failed, self.succeeded)


def always(state: ShellState) -> EndStates:
    """The same state, whether it worked or not."""
    return EndStates(state, state)


def joined(first: ShellState | None, second: ShellState | None) -> ShellState | None:
    if first is None or second is None:
        return first or second
    return first.join(second)
