"""What a tool is: its record, the decorator that makes one from a function, its call, its context, its result."""

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import Template
from typing import Any, Literal, Protocol, TypeVar, cast, overload

from toolwright.errors import InvalidArguments, ToolError
from toolwright.request import Request
from toolwright.schema import Problem, problems_with
from toolwright.signature import Parameter, parameters_of

Json = dict[str, Any]
Action = Literal["allow", "ask", "deny"]
T = TypeVar("T")

MAX_NAME = 64
"""Characters in the name of a tool; the least any provider allows."""
_TOLD = 20
"""Problems told one by one; a model that made more has made the same one many times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that goes with a result, such as an image for the model to look at."""

    mime: str
    url: str
    """A `data:` or `file:` address."""
    filename: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to."""

    output: str
    """What the model reads."""
    title: str = ""
    """What a person sees of the call in one line."""
    metadata: Json = field(default_factory=dict[str, Any])
    """What programs see of it; never sent to the model."""
    attachments: tuple[Attachment, ...] = ()
    truncated: bool | None = None
    """Whether the tool has cut its own output; None leaves the cutting to the door."""
    error: ToolError | None = None

    @classmethod
    def failed(cls, error: ToolError) -> "Result":
        return cls(str(error), error=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool and its arguments, as the model or a person asked for them."""

    id: str
    tool: str
    arguments: Any
    """An object, if all is well; whatever the model sent otherwise."""


class Abort:
    """Whether the turn is being stopped, for tools that poll. Everything else is simply cancelled."""

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


class Host(Protocol):
    """What a running session offers one call. Sessions implement it; tests fake it."""

    def check(self, requests: Sequence[Request]) -> None: ...
    async def ask(self, requests: Sequence[Request]) -> None: ...
    def decide(self, permission: str, pattern: str) -> Action: ...
    def hides(self, permission: str) -> bool: ...
    def rules_about(self, permission: str) -> "tuple[tuple[str, str, Action], ...]": ...
    def progress(self, title: str | None, metadata: Json) -> None: ...
    async def call(self, tool: str, arguments: Json) -> Result: ...
    def use(self, kind: type[T]) -> T: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The surroundings of one call: whose it is, where, and what the tool may ask its session for."""

    session_id: str
    message_id: str
    call_id: str
    agent: str
    directory: Path
    """The folder that was opened; relative paths start here."""
    host: Host
    abort: Abort = field(default_factory=Abort)
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    offered: tuple[str, ...] = ()
    """The tools this agent has, so that advice names no others."""

    def check(self, *requests: Request) -> None:
        """Raise PermissionDenied if a rule forbids any of these; ask nobody.

        For tools that must look at something before they can put the real question.
        """
        self.host.check(requests)

    async def ask(self, permission: str, *patterns: str, always: tuple[str, ...] = ("*",), **metadata: Any) -> None:
        """Return if the call may go on; raise PermissionDenied or PermissionRejected if not."""
        await self.ask_all(Request(permission=permission, patterns=patterns, always=always, metadata=metadata))

    async def ask_all(self, *requests: Request) -> None:
        """Like `ask` for several permissions at once: all are judged before the first question is put."""
        await self.host.ask(requests)

    def decide(self, permission: str, pattern: str) -> Action:
        """What the rules say about this, without asking and without leaving a trace."""
        return self.host.decide(permission, pattern)

    def hides(self, permission: str) -> bool:
        """Whether a rule denies this outright, so that tools under it are not even offered to the agent."""
        return self.host.hides(permission)

    def rules_about(self, permission: str) -> "tuple[tuple[str, str, Action], ...]":
        """Every rule about this: the permission it names, its pattern, its action. For walls, which must know all."""
        return self.host.rules_about(permission)

    def metadata(self, title: str | None = None, metadata: Json | None = None) -> None:
        """Show how the call is getting on: a new title, and metadata in place of the last ones."""
        self.host.progress(title, metadata or {})

    async def call(self, tool: str, arguments: Json) -> Result:
        """Run another tool through the same door, for the same agent."""
        return await self.host.call(tool, arguments)

    def use(self, kind: type[T]) -> T:
        """The workspace's one instance of a service, such as `Files`; made when first needed."""
        return self.host.use(kind)


class AgentLike(Protocol):
    """What a tool's `init` may know of the agent it is offered to."""

    @property
    def name(self) -> str: ...
    def decide(self, permission: str, pattern: str) -> Action: ...
    def use(self, kind: type[T]) -> T: ...


Run = Callable[[ToolContext, Json], Awaitable[Result]]
FormatProblems = Callable[[Sequence[Problem]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as the registry, the door and the model know it."""

    id: str
    description: str
    parameters: Json
    """JSON Schema of the arguments."""
    run: Run
    permission: str = ""
    """The permission that decides whether an agent is offered the tool; its own id unless said otherwise."""
    asks: bool = False
    """Whether the body asks for its own permissions. If not, the door asks for the tool by its id."""
    init: "Callable[[Tool, AgentLike], Awaitable[Tool]] | None" = None
    """Makes the form of the tool that one agent is offered, where text or schema depend on the agent."""
    format_problems: FormatProblems | None = None
    function: Callable[..., Any] | None = None
    """The plain function behind the tool, if it was made from one."""

    def __post_init__(self) -> None:
        if not is_tool_name(self.id):
            raise ValueError(f"{self.id!r} is no name for a tool: {MAX_NAME} letters, digits, _ or -, a letter first")
        if not self.permission:
            object.__setattr__(self, "permission", self.id)

    async def for_agent(self, agent: AgentLike) -> "Tool":
        return self if self.init is None else await self.init(self, agent)

    def parse(self, arguments: Any) -> Json:
        """The arguments, once they fit the schema; otherwise InvalidArguments with every problem at once."""
        problems = problems_with(arguments, self.parameters)
        if not problems:
            return cast("Json", arguments)
        if self.format_problems is not None:
            raise InvalidArguments(self.format_problems(problems))
        lines = "\n".join(f"- {problem}" for problem in problems[:_TOLD])
        if len(problems) > _TOLD:
            lines += f"\n- and {len(problems) - _TOLD:,} more"
        raise InvalidArguments(
            f"The arguments for {self.id} do not fit its schema:\n{lines}\nCall {self.id} again with these put right."
        )


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    id: str = "",
    text: str = "",
    permission: str = "",
    asks: bool = False,
    init: Callable[[Tool, AgentLike], Awaitable[Tool]] | None = None,
    format_problems: FormatProblems | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    *,
    id: str = "",  # noqa: A002 - the word the whole program uses
    text: str = "",
    permission: str = "",
    asks: bool = False,
    init: Callable[[Tool, AgentLike], Awaitable[Tool]] | None = None,
    format_problems: FormatProblems | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function: its signature is the schema, its docstring (or `text`) is for the model.

    The first parameter is the ToolContext, the others are the arguments; `file_path` here is `filePath` to
    the model. Describe each with `Annotated[str, "what it is"]`. `text` names a Markdown file beside the
    function's own; `${LINES}` in it is the module's constant LINES.
    """

    def make(function: Callable[..., Any]) -> Tool:
        parameters = parameters_of(function)
        return Tool(
            id=id or function.__name__,
            description=_text_of(function, text),
            parameters=_schema_of(parameters),
            run=_runner(function, parameters),
            permission=permission,
            asks=asks,
            init=init,
            format_problems=format_problems,
            function=function,
        )

    return make if function is None else make(function)


def described(tool: Tool, **values: object) -> Tool:
    """The tool with `$name` in its description replaced, for an `init` that fills in what an agent may use."""
    return replace(tool, description=Template(tool.description).safe_substitute(values))


def _text_of(function: Callable[..., Any], text: str) -> str:
    if not text:
        return inspect.getdoc(function) or ""
    template = Template((Path(inspect.getfile(function)).parent / text).read_text("utf-8").strip())
    constants = {name: value for name, value in function.__globals__.items() if name.isupper()}
    missing = {name for name in template.get_identifiers() if name.isupper()} - constants.keys()
    if missing:
        raise ValueError(f"{text} speaks of {', '.join(sorted(missing))}, which {function.__module__} does not define")
    return template.safe_substitute(constants)


def _schema_of(parameters: Sequence[Parameter]) -> Json:
    schema: Json = {
        "type": "object",
        "properties": {parameter.name: parameter.schema for parameter in parameters},
        "required": [parameter.name for parameter in parameters if parameter.required],
        "additionalProperties": False,
    }
    return schema


def _runner(function: Callable[..., Any], parameters: Sequence[Parameter]) -> Run:
    """Call the function with the model's names turned into its own; leave out what it does not know."""
    names = {parameter.name: parameter.python_name for parameter in parameters}

    async def run(ctx: ToolContext, arguments: Json) -> Result:
        values = {names[name]: value for name, value in arguments.items() if name in names}
        if inspect.iscoroutinefunction(function):
            answer = await function(ctx, **values)
        else:
            answer = await asyncio.to_thread(function, ctx, **values)
        return as_result(answer, function.__name__)

    return run


def as_result(answer: object, name: str) -> Result:
    """A Result, or a plain string as one."""
    if isinstance(answer, Result):
        return answer
    if isinstance(answer, str):
        return Result(answer)
    raise ToolError(f"{name} returned {type(answer).__name__}; a tool returns a string or a Result.")


_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{MAX_NAME - 1}}}")


def is_tool_name(name: str) -> bool:
    """Whether every provider accepts this as the name of a tool."""
    return _NAME.fullmatch(name) is not None
