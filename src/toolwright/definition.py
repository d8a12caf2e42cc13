"""The definition of a tool: its record, the decorator that makes one from a function, its call, context and result."""

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from functools import partial
from pathlib import Path
from string import Template
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, Protocol, TypedDict, Unpack, cast, overload

from toolwright.calls.acts import CLASSES, ActClass
from toolwright.calls.look import Look
from toolwright.calls.request import Request
from toolwright.errors import InvalidArguments, ToolError, UsageError
from toolwright.functions.signature import Signature, signature_of, written
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.schema.basics import Problem
from toolwright.schema.check import problems_with

if TYPE_CHECKING:
    # Defaults, so that who does not care writes `Tool` and `ToolContext`. Python has them itself from 3.13 on.
    from typing_extensions import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")
    Deps = TypeVar("Deps", default=Any)
    Given = ParamSpec("Given", default=...)
    Returned = TypeVar("Returned", covariant=True, default=Any)
else:
    from typing import ParamSpec, TypeVar

    P, Given = ParamSpec("P"), ParamSpec("Given")
    R, Deps, Returned = TypeVar("R"), TypeVar("Deps"), TypeVar("Returned")

Action = Literal["allow", "ask", "deny"]
T = TypeVar("T")

MAX_NAME = 64
"""Characters in the name of a tool; the least any provider allows."""
_TOLD = 20
"""Problems told one by one; a model that made more has made the same one many times."""


@record(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that goes with a result, such as an image for the model to look at."""

    mime: str
    url: str
    """A `data:` or `file:` address."""
    filename: str | None = None

    @classmethod
    def of(cls, content: bytes | Path, *, mime: str = "", filename: str | None = None) -> "Attachment":
        """A file, or the bytes of one; its kind is seen from its first bytes or its name, unless it is said."""
        from toolwright.protocols.data_urls import data_url, kind_of

        if isinstance(content, Path):
            filename, content = filename or content.name, content.read_bytes()
        kind = mime or kind_of(content, filename or "")
        return cls(mime=kind, url=data_url(kind, content), filename=filename)


@record(frozen=True, slots=True)
class Result:
    """The result of a call."""

    output: str
    """Text that the model reads."""
    title: str = ""
    """One line on the call for people."""
    metadata: Json = field(default_factory=dict[str, Any])
    """Details for programs; never sent to the model."""
    attachments: tuple[Attachment, ...] = ()
    truncated: bool | None = None
    """True if the tool has truncated its own output; None leaves that to the caller."""
    error: ToolError | None = None

    @classmethod
    def failed(cls, error: ToolError) -> "Result":
        return cls(str(error), error=error)


@record(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool and its arguments, as the model or a person asked for them."""

    id: str
    tool: str
    arguments: Any
    """An object, if all is well; whatever the model sent otherwise."""


class Abort:
    """The sign that the turn is being stopped, for tools that poll. Everything else is simply cancelled."""

    def __init__(self) -> None:
        self._reason: str | None = None

    @property
    def aborted(self) -> bool:
        return self._reason is not None

    @property
    def reason(self) -> str:
        return self._reason or ""

    def set(self, reason: str) -> None:
        self._reason = reason

    def raise_if_aborted(self) -> None:
        if self._reason is not None:
            raise ToolError(f"The call was stopped: {self._reason}.", "aborted")


class Use(Protocol):
    """Finds the one instance of a service by its type."""

    def __call__(self, kind: type[T]) -> T: ...


def nothing_to_use(kind: type[T]) -> T:
    """Raise the error of a service that is not there without a workspace."""
    raise ToolError(f"There is no {kind.__name__} here.")


Client = Literal["cli", "app", "desktop", "acp", "api"]


@record(frozen=True, slots=True, kw_only=True)
class Offer:
    """Circumstances in which a tool is offered: the client, the model, and what the user has turned on."""

    client: Client = "cli"
    provider: str = ""
    model: str = ""
    attended: bool = True
    """True if somebody is there to answer questions."""
    web_search: bool = False
    code_search: bool = True
    """True if the search service knows code as well."""
    lsp: bool = False
    batch: bool = False
    plan_mode: bool = False

    @property
    def searches(self) -> bool:
        """Return whether there is a service to send searches to."""
        return self.web_search or self.provider in ("toolwright", "opencode")

    @property
    def wants_patches(self) -> bool:
        """Some models were taught to change files by patch."""
        return "gpt-" in self.model and "oss" not in self.model and "gpt-4" not in self.model


@record(frozen=True, slots=True, kw_only=True, repr=False)
class ToolContext(ABC, Generic[Deps]):
    """The surroundings of one call: whose it is, where, and what the tool may ask its session for.

    `ToolContext[Shop]` has a `Shop` as its `deps`: what the program gave by `open_workspace(deps=...)`.
    """

    session_id: str
    message_id: str
    call_id: str
    agent: str
    directory: Path
    """The folder that was opened; relative paths start here."""
    abort: Abort = field(default_factory=Abort)
    mentioned: tuple[str, ...] = ()
    """The agents that the user has named in the prompt."""
    parent: str = ""
    """The call that makes this one, if one does."""
    deps: Deps = cast("Any", None)
    """Dependencies that the program has given for its tools."""

    def __repr__(self) -> str:
        """Name the call; short, for it ends up in logs and, by mistake, in outputs."""
        return f"<ToolContext of call {self.call_id[:40]} by {self.agent[:40]} in session {self.session_id[:40]}>"

    async def ask(self, permission: str, *patterns: str, always: tuple[str, ...] = ("*",), **metadata: Any) -> None:
        """Return if the call may go on; raise PermissionDenied or PermissionRejected if not."""
        await self.ask_all(Request(permission=permission, patterns=patterns, always=always, metadata=metadata))

    @abstractmethod
    async def ask_all(self, *requests: Request) -> None:
        """Like `ask` for several permissions at once: all are judged before the first question is put."""

    @abstractmethod
    def check(self, *requests: Request) -> None:
        """Raise PermissionDenied if a rule forbids any of these; ask nobody.

        For tools that must look at something before they can put the real question.
        """

    @abstractmethod
    def decide(self, permission: str, pattern: str) -> Action:
        """Return the decision of the rules, without asking and without leaving a trace."""

    @abstractmethod
    def hides(self, permission: str) -> bool:
        """Return whether a rule denies this outright, so that tools under it are not even offered to the agent."""

    @abstractmethod
    def rules_about(self, permission: str) -> "tuple[tuple[str, str, Action], ...]":
        """Every rule about this: the permission it names, its pattern, its action. For walls, which must know all."""

    @abstractmethod
    def asked_by_user(self, permission: str) -> tuple[str, ...]:
        """The patterns about which somebody's own rules ask; what is asked about without any rule is not among them."""

    @abstractmethod
    def metadata(self, title: str | None = None, metadata: Json | None = None) -> None:
        """Show how the call is getting on: a new title, and metadata in place of the last ones."""

    @abstractmethod
    async def call(self, tool: str, arguments: Json) -> Result:
        """Run another tool through the same door, for the same agent."""

    @abstractmethod
    def use(self, kind: type[T]) -> T:
        """The workspace's one instance of a service, such as `Files`; made when first needed."""

    @property
    @abstractmethod
    def offered(self) -> Sequence[str]:
        """The tools this agent has, so that advice names no others."""


class AgentLike(Protocol):
    """The facts of an agent that a tool's `init` may know."""

    @property
    def name(self) -> str: ...
    def decide(self, permission: str, pattern: str) -> Action: ...
    def use(self, kind: type[T]) -> T: ...


ANY = "*"
Run = Callable[[ToolContext, Json], Awaitable[Result]]
FormatProblems = Callable[[Sequence[Problem]], str]


@record(frozen=True, slots=True, kw_only=True)
class Tool(Generic[Given, Returned]):
    """A tool as the registry, the door and the model know it. One made of a function is called as that function."""

    id: str
    description: str
    parameters: Json
    """JSON Schema of the arguments."""
    run: Run
    permission: str = ""
    """The permission that decides whether an agent is offered the tool; its own id unless said otherwise."""
    asks: bool = False
    """True if the body asks for its own permissions. If not, the caller asks for the tool by its id."""
    act: ActClass | None = None
    """Kind of effect that calls have beyond this machine, matched by rules about `act`; None if not known."""
    acts_on: str = ""
    """Object of that effect, for people."""
    reaches: Sequence[str] | None = None
    """The arguments that say who gets to see something, or where it goes; None for those whose names say so."""
    about: Sequence[str] | None = None
    """The arguments that say what is changed, where its calls change something; None for those that are ids."""
    untrusted: bool = False
    """True if its results have words in them that others wrote, such as pages and messages."""
    init: "Callable[[Tool, AgentLike], Awaitable[Tool]] | None" = None
    """Makes the form of the tool that one agent is offered, where text or schema depend on the agent."""
    offered: Callable[[Offer], bool] | None = None
    """Tells if the tool is offered to a model; None means always."""
    writes: str = ""
    """The argument that names the file it writes, or ANY for one that may write any file."""
    reads: str = ""
    """The argument that names the file it reads, or ANY for one that may look at any file."""
    unseen_changes: bool = True
    """True if it may change files and tell nobody, as a command may: language servers look again after it."""
    keep: Literal["head", "tail", "both"] = "head"
    """The end of a long output that is kept."""
    alone: str = ""
    """Why it cannot be called in a batch; empty if it can."""
    caption: str = ""
    """The argument that only tells people what a call is for: calls that differ in nothing else do the same."""
    repeatable: bool = True
    """True if a call of it comes to the same on the same files: else people, other agents or the network decide."""
    pinned: bool = False
    """True if its results stay in the conversation when old ones are cleared."""
    look: Look = Look()
    """Display of its calls for people."""
    known_as: tuple[str, ...] = ()
    """The names by which hooks of Claude Code's protocol know it; they are told the first."""
    in_a_word: tuple[str, Mapping[str, Any]] | None = None
    """Argument that one word stands for where only the rules are asked, and the values of the others."""
    timeout: float | None = None
    """Seconds that its function may take; as long as it likes, if nothing is said."""
    retries: int = 0
    """Number of times that a function that raised, or took too long, is run again before the model is told."""
    format_problems: FormatProblems | None = None
    function: Callable[..., Any] | None = None
    """The plain function behind the tool, if it was made from one."""
    signature: Signature | None = None
    """Signature by which arguments become those of the function; None for a schema from elsewhere."""

    plain: Mapping[str, type] = field(default_factory=dict[str, type], init=False, compare=False, repr=False)
    """The arguments whose schema is no more than a type: for them a look at the type is the whole check."""
    required: frozenset[str] = field(default=frozenset(), init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", _plain(self))
        object.__setattr__(self, "required", frozenset(self.parameters.get("required", ())))
        if not is_tool_name(self.id):
            raise ValueError(f"{self.id!r} is no name for a tool: {MAX_NAME} letters, digits, _ or -, a letter first")
        if not self.permission:
            object.__setattr__(self, "permission", self.id)
        if self.act not in (None, *CLASSES):
            raise ValueError(f"{self.id}: act={self.act!r:.60} is none of {', '.join(CLASSES)}")

    def __call__(self, *values: Given.args, **named: Given.kwargs) -> Returned:
        """Call the plain function behind the tool. A workspace calls the tool: with rules, checks and records."""
        if self.function is None:
            raise UsageError(f"{self.id} has no function of its own. Call it by workspace.call({self.id!r}, ...).")
        return cast("Returned", self.function(*values, **named))

    async def for_agent(self, agent: AgentLike) -> "Tool":
        return self if self.init is None else await self.init(self, agent)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> "Tool[Given, Returned]": ...
    @overload
    def __get__(self: "Tool[Concatenate[Any, P], R]", instance: object, owner: type | None = None) -> "Tool[P, R]": ...
    def __get__(self, instance: object, owner: type | None = None) -> "Tool[Any, Any]":
        """The tool of one instance, for a method that was made a tool in the body of its class."""
        if instance is None or self.function is None or self.signature is None or not self.signature.unbound:
            return self
        function, signature = MethodType(self.function, instance), replace(self.signature, unbound=False)
        return replace(
            self, function=function, signature=signature, run=_runner(function, signature, self.timeout, self.retries)
        )

    def parse(self, arguments: Any) -> Json:
        """The arguments as JSON that fits the schema; otherwise InvalidArguments with every problem at once.

        Names may be those of Python; null for what may be left out, digits for a number and JSON in a string
        are read as what they mean.
        """
        if type(arguments) is dict and self.required <= arguments.keys():
            # For most it takes no more than a look at the types to see that they fit.
            for name, value in arguments.items():
                if self.plain.get(name) is not type(value):
                    break
            else:
                return cast("Json", arguments)
        signature, known = self.signature, self.parameters.get("properties", {})
        if signature is not None and isinstance(arguments, dict) and not arguments.keys() <= known.keys():
            arguments = signature.renamed(arguments)
        problems = problems_with(arguments, self.parameters)
        if problems:
            from toolwright.functions.fitting import fitted

            arguments = fitted(arguments, self.parameters, exact=signature.exact if signature else ())
            problems = problems_with(arguments, self.parameters)
        if signature is not None and isinstance(arguments, dict):
            problems += [] if arguments.keys() <= known.keys() else signature.misspelt(arguments)
            problems += signature.values(arguments, problems)[1]
        if problems:
            raise self._refusal(problems)
        return cast("Json", arguments)

    def _refusal(self, problems: Sequence[Problem]) -> InvalidArguments:
        if self.format_problems is not None:
            return InvalidArguments(self.format_problems(problems))
        lines = "\n".join(f"- {problem}" for problem in problems[:_TOLD])
        if len(problems) > _TOLD:
            lines += f"\n- and {len(problems) - _TOLD:,} more"
        return InvalidArguments(
            f"The arguments for {self.id} do not fit its schema:\n{lines}\nCall {self.id} again with these fixed."
        )


_PLAIN = {"string": str, "integer": int, "boolean": bool}


def _plain(tool: Tool) -> dict[str, type]:
    read = {one.name for one in tool.signature.parameters if one.form.read} if tool.signature else ()
    return {
        name: _PLAIN[schema["type"]]
        for name, schema in tool.parameters.get("properties", {}).items()
        if schema.keys() <= {"type", "description", "default"}
        and str(schema.get("type")) in _PLAIN
        and name not in read
    }


class ToolFacts(TypedDict, total=False):
    """Facts that the decorator may be told of a tool: fields of Tool, which says what each means."""

    permission: str
    asks: bool
    act: ActClass | None
    acts_on: str
    reaches: Sequence[str] | None
    about: Sequence[str] | None
    untrusted: bool
    init: Callable[[Tool, AgentLike], Awaitable[Tool]] | None
    offered: Callable[[Offer], bool] | None
    writes: str
    reads: str
    unseen_changes: bool
    keep: Literal["head", "tail", "both"]
    alone: str
    caption: str
    repeatable: bool
    pinned: bool
    look: Look
    known_as: tuple[str, ...]
    in_a_word: tuple[str, Mapping[str, Any]] | None
    timeout: float | None
    retries: int
    format_problems: FormatProblems | None


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(*, id: str = "", text: str = "", **facts: Unpack[ToolFacts]) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    *,
    id: str = "",  # noqa: A002 - the word the whole program uses
    text: str = "",
    **facts: Unpack[ToolFacts],
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function: its signature is the schema, its docstring (or `text`) is for the model.

    A parameter of type ToolContext gets the context; the others are the arguments, and `file_path` here is `filePath`
    to the model. Describe each with `Annotated[str, "what it is"]` or in the docstring. What the function yields is
    shown as it comes, and the last of it, or what it returns, is the result. `timeout` is in seconds; `retries` is how
    often a function that breaks is run again. `text` names a Markdown file beside the function's own; `${LINES}` in it
    is the module's constant LINES.
    """
    _check_limits(facts)

    def make(function: Callable[..., Any]) -> Tool:
        signature = signature_of(function, ToolContext)
        return Tool(
            id=id or _name_of(function),
            description=_text_from(function, text) if text else signature.text,
            parameters=signature.schema,
            run=_runner(function, signature, facts.get("timeout"), facts.get("retries", 0)),
            function=function,
            signature=signature,
            **facts,
        )

    return make if function is None else make(function)


def _check_limits(facts: Mapping[str, Any]) -> None:
    seconds, retries = facts.get("timeout"), facts.get("retries", 0)
    if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
        raise UsageError(f"@tool(timeout={seconds!r:.60}): give seconds, more than 0, or None for no limit.")
    if not (isinstance(retries, int) and retries >= 0):
        raise UsageError(f"@tool(retries={retries!r:.60}): give a number, 0 or more.")


def as_tool(thing: Tool | Callable[..., Any]) -> Tool:
    """A tool as it is, or one made of a function as `@tool` makes it."""
    if not isinstance(thing, Tool) and not callable(thing):
        raise TypeError(f"A tool is a function or a Tool, not {type(thing).__name__}: {thing!r:.100}")
    result = thing if isinstance(thing, Tool) else tool(thing)
    if result.signature is not None and result.signature.unbound:
        raise TypeError(
            f"{result.id} is a method without its instance: use the one of an instance, as in Shop().{result.id}"
        )
    return result


def described(tool: Tool, **values: object) -> Tool:
    """The tool with `$name` in its description replaced, for an `init` that fills in what an agent may use."""
    return replace(tool, description=Template(tool.description).safe_substitute(values))


def _text_from(function: Callable[..., Any], text: str) -> str:
    source = written(function)
    template = Template((Path(inspect.getfile(source)).parent / text).read_text("utf-8").strip())
    constants = {name: value for name, value in source.__globals__.items() if name.isupper()}
    missing = {name for name in template.get_identifiers() if name.isupper()} - constants.keys()
    if missing:
        raise ValueError(f"{text} speaks of {', '.join(sorted(missing))}, which {source.__module__} does not define")
    return template.safe_substitute(constants)


def _name_of(function: Callable[..., Any]) -> str:
    named = function if hasattr(function, "__name__") or not isinstance(function, partial) else written(function)
    return str(getattr(named, "__name__", type(function).__name__))


def _runner(function: Callable[..., Any], signature: Signature, seconds: float | None, retries: int) -> Run:
    """Call the function with the values it expects, under its own names."""
    plainly_awaited = inspect.iscoroutinefunction(function) and seconds is None and not retries
    name = _name_of(function)
    known = frozenset(parameter.name for parameter in signature.parameters)
    optional = frozenset(one.name for one in signature.parameters if not one.required)
    as_it_is = {one.name: one.python_name for one in signature.parameters if one.form.read is None}
    if any(one.default is not None for one in signature.parameters):
        as_it_is.clear()

    async def run(ctx: ToolContext, arguments: Json) -> Result:
        if arguments.keys() <= as_it_is.keys():
            values = dict[str, Any]()
            for key, value in arguments.items():
                if value is not None or key not in optional:
                    values[as_it_is[key]] = value
        else:
            values, problems = signature.values(arguments)
            if problems:
                raise InvalidArguments("\n".join(map(str, problems)))
        if signature.context and not signature.positional:
            values[signature.context] = ctx
        work = partial(function, *((ctx,) if signature.positional else ()), **values)
        if plainly_awaited:
            answer = await work()
        else:
            from toolwright.functions.running import run_function

            answer = await run_function(function, work, partial(_show, ctx), name, seconds, retries)
        result = as_result(answer, name)
        return result if arguments.keys() <= known else _with_remark(result, signature.unknown(arguments))

    return run


def _show(ctx: ToolContext, piece: Any) -> None:
    """Show how far a call is by what its function has yielded."""
    update = piece if isinstance(piece, Result) else as_result(piece, "")
    ctx.metadata(update.title or None, {**update.metadata, "output": update.output})


def as_result(answer: object, name: str) -> Result:
    """A Result as it is, a string as one, files as files, and anything else that JSON can say as its text."""
    if isinstance(answer, Result):
        return answer
    if isinstance(answer, str) and not isinstance(answer, Enum):
        return Result(answer)
    pieces = answer if isinstance(answer, list | tuple) else (answer,)
    if any(isinstance(one, Attachment) for one in pieces) and all(isinstance(one, str | Attachment) for one in pieces):
        words = "\n".join(one for one in pieces if isinstance(one, str))
        return Result(words, attachments=tuple(one for one in pieces if isinstance(one, Attachment)))
    import json

    from toolwright.forms.values import jsonable

    try:
        return Result(json.dumps(jsonable(answer), ensure_ascii=False))
    except (TypeError, ValueError, RecursionError) as problem:
        kind = type(answer).__name__
        raise ToolError(f"{name} returned {kind}, which is no text, Result or JSON: {problem}.") from problem


def _with_remark(result: Result, unknown: Sequence[str]) -> Result:
    """A model that sent more than the tool takes learns that it had no effect."""
    if not unknown:
        return result
    names = ", ".join(str(name)[:MAX_NAME] for name in unknown[:_TOLD])
    return replace(result, output=f"{result.output}\n\n(Ignored, because this tool has no such argument: {names})")


_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{MAX_NAME - 1}}}")


def is_tool_name(name: str) -> bool:
    """Return whether every provider accepts this as the name of a tool."""
    return _NAME.fullmatch(name) is not None
