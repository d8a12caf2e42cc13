"""Nodes of a command line that was parsed: words with their parts, and the statements that hold them.

Made for every command line and never compared or printed, so they are kept light.
"""

from dataclasses import field

from toolwright.record import record


@record(slots=True, eq=False, repr=False)
class Literal:
    """Text that stands for itself. Unquoted text may still hold wildcards, braces and a tilde."""

    text: str
    quoted: bool


@record(slots=True, eq=False, repr=False)
class ParameterExpansion:
    """`$name` or `${name…}`."""

    name: str
    source: str
    quoted: bool
    operator: str = ""
    """The operator behind the name inside the braces, such as `:-` or `%`; `!` and `#` where they come before it."""
    index: "Word | None" = None
    argument: "Word | None" = None
    opaque: bool = False
    """True if quotes stand in quotes, of which nobody can say what they leave."""


@record(slots=True, eq=False, repr=False)
class Substitution:
    """A script whose output (or a pipe to it) takes the place of the text: `$(…)`, backquotes, `<(…)`, `>(…)`."""

    script: "Script"
    source: str
    quoted: bool
    opener: str


@record(slots=True, eq=False, repr=False)
class Arithmetic:
    """`$((…))`: `text` is what is calculated, with every expansion in it among `parts`."""

    text: str
    parts: "list[Part]"
    quoted: bool = True
    opaque: bool = False
    """True if it holds quotes, which calculations hardly ever need and which can hide a subscript."""


Part = Literal | ParameterExpansion | Substitution | Arithmetic


@record(slots=True, eq=False, repr=False)
class Word:
    source: str
    parts: list[Part]

    @property
    def bare(self) -> str:
        """The text of a word without quotes and expansions; empty for all others."""
        first = self.parts[0] if len(self.parts) == 1 else None
        return first.text if isinstance(first, Literal) and not first.quoted else ""


@record(slots=True, eq=False, repr=False)
class Assignment:
    name: str
    value: Word
    source: str
    append: bool = False
    index: Word | None = None
    elements: list[Word] | None = None
    """The words of an array, if it is one."""


@record(slots=True, eq=False, repr=False)
class Redirect:
    operator: str
    target: Word
    descriptor: str = ""
    body: Word | None = None
    """The text of a here-document."""


@record(slots=True, eq=False, repr=False)
class Statement:
    """The start and the end of a statement in the source, which all kinds have in common."""

    start: int
    source: str
    redirects: list[Redirect]


@record(slots=True, eq=False, repr=False)
class Simple(Statement):
    assignments: list[Assignment]
    words: list[Word]
    declared: list[Assignment] = field(default_factory=list[Assignment])
    """The assignments of `export`, `declare` and their like."""


@record(slots=True, eq=False, repr=False)
class Group(Statement):
    """`{ …; }` or `(…)`."""

    body: "Script"
    subshell: bool


@record(slots=True, eq=False, repr=False)
class If(Statement):
    branches: "list[tuple[Script, Script]]"
    otherwise: "Script | None"


@record(slots=True, eq=False, repr=False)
class LoopStatement(Statement):
    """`while` and `until`."""

    condition: "Script"
    body: "Script"


@record(slots=True, eq=False, repr=False)
class For(Statement):
    """`for` and `select`; without `in`, over the arguments."""

    name: str
    words: list[Word] | None
    body: "Script"


@record(slots=True, eq=False, repr=False)
class CountedFor(Statement):
    """`for ((…;…;…))`."""

    header: Arithmetic
    body: "Script"


@record(slots=True, eq=False, repr=False)
class Case(Statement):
    subject: Word
    items: "list[tuple[list[Word], Script]]"


@record(slots=True, eq=False, repr=False)
class Function(Statement):
    name: str
    body: Statement


@record(slots=True, eq=False, repr=False)
class Calculation(Statement):
    """`((…))`."""

    arithmetic: Arithmetic


@record(slots=True, eq=False, repr=False)
class Test(Statement):
    """`[[ … ]]`, as its words and operators in order."""

    words: list[Word]


@record(slots=True, eq=False, repr=False)
class Pipeline:
    statements: list[Statement]
    negated: bool = False


@record(slots=True, eq=False, repr=False)
class Chain:
    """Pipelines joined by `&&` and `||`; `links` has the operator before each but the first."""

    pipelines: list[Pipeline]
    links: list[str]
    background: bool = False


@record(slots=True, eq=False, repr=False)
class Script:
    chains: list[Chain]
