"""A function's signature: what the model is told of its arguments, and how they are handed to the function."""

import functools
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from toolwright.forms.form import Field, Form, Misfit, NoForm, read_at
from toolwright.forms.kinds import bare, form_of, form_with_default, hints_of, notes_of
from toolwright.forms.values import name_of
from toolwright.record import record
from toolwright.schema.basics import Problem

__all__ = ["Field", "Parameter", "Signature", "camel", "schema_of", "signature_of", "written"]

_CONTEXT_NAMES = ("ctx", "context")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""What every provider takes as the name of an argument."""


@record(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of a tool: its name for the model, its name in Python, its form in JSON."""

    name: str
    python_name: str
    form: Form
    required: bool
    exact: bool = False
    default: Callable[[], Any] | None = None
    """Makes the default that the function itself does not have, because another package's mark stands in its place."""

    @property
    def schema(self) -> dict[str, Any]:
        return self.form.schema


@record(frozen=True, slots=True, kw_only=True)
class Signature:
    """The parameters of a function that a model gives, and the one that it does not: the context."""

    parameters: tuple[Parameter, ...]
    text: str = ""
    """The function's docstring, without what it says of single parameters."""
    context: str = ""
    """The parameter that gets the context; none if empty."""
    positional: bool = False
    """Whether the context can only be given by its place, which is the first."""
    deps: Any = None
    """The type that the context is to have as its `deps`, if it says one."""
    unbound: bool = False
    """Whether this is a method that still lacks its instance."""

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": {parameter.name: parameter.schema for parameter in self.parameters},
            "required": [parameter.name for parameter in self.parameters if parameter.required],
            "additionalProperties": False,
        }

    @property
    def exact(self) -> frozenset[str]:
        return frozenset(parameter.name for parameter in self.parameters if parameter.exact)

    def renamed(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments under the names the model sees, where they came under those of Python."""
        names = {one.name for one in self.parameters}
        ours = {one.python_name: one.name for one in self.parameters if one.python_name not in names}
        return {
            ours[name] if name in ours and ours[name] not in arguments else name: value
            for name, value in arguments.items()
        }

    def values(
        self, arguments: Mapping[str, Any], problems: Sequence[Problem] = ()
    ) -> tuple[dict[str, Any], list[Problem]]:
        """The function's own arguments, by its own names, and what is wrong with those that cannot be made.

        Arguments that already have problems are passed over.
        """
        wrong = {problem.path[0] for problem in problems if problem.path} if problems else ()
        values: dict[str, Any] = {}
        faults: list[Problem] = []
        for one in self.parameters:
            if one.name in wrong:
                continue
            value = arguments.get(one.name)
            if value is None and not (one.required and one.name in arguments):
                if one.default is not None:
                    values[one.python_name] = one.default()
                continue
            if one.form.read is None:
                values[one.python_name] = value
                continue
            try:
                values[one.python_name] = read_at(one.form, value, one.name)
            except Misfit as misfit:
                faults.extend(misfit.problems)
        return values, faults

    def unknown(self, arguments: Mapping[str, Any]) -> list[str]:
        """The names of arguments that no parameter has, apart from those that say nothing."""
        names = [one.name for one in self.parameters]
        return [name for name, value in arguments.items() if name not in names and value is not None]

    def misspelt(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """Unknown arguments that are nearly the name of an optional one, which would else be left out unnoticed."""
        unknown = self.unknown(arguments)
        if not unknown:
            return []
        from difflib import get_close_matches

        left = {_loose(one.name): one.name for one in self.parameters if not one.required and one.name not in arguments}
        near = {name: get_close_matches(_loose(name), left, n=1, cutoff=0.75) for name in unknown}
        return [
            Problem((name,), f"is no argument of this tool; did you mean {left[match[0]]}?")
            for name, match in near.items()
            if match
        ]


def _loose(name: str) -> str:
    return str(name).replace("_", "").replace("-", "").lower()


def signature_of(function: Callable[..., Any], context: type) -> Signature:
    """Return the parameters that a model gives to a function; the one of type `context` is the program's.

    Without an annotation, or with `Any`, a first parameter called `ctx` or `context` is the context as well.
    """
    parameters = _parameters(function)
    hints = hints_of(_annotated(function), lambda: {**_surroundings(), context.__name__: context})
    unbound = _lacks_instance(function, parameters)
    parameters = [one for one in parameters[unbound:] if one.name not in _bound(function)]
    given = next((one for one in parameters if _is_context(one, hints, context, parameters)), None)
    text, described = _docstring(function, [one.name for one in parameters])
    made = [_parameter(one, hints.get(one.name, Any), function, described) for one in parameters if one is not given]
    _refuse_doubles(made, function)
    return Signature(
        parameters=tuple(made),
        text=text,
        context=given.name if given else "",
        positional=given is not None and given.kind is inspect.Parameter.POSITIONAL_ONLY,
        deps=_deps_of(hints.get(given.name)) if given else None,
        unbound=unbound,
    )


def schema_of(hint: object) -> dict[str, Any]:
    """The JSON Schema of a type, without titles and references."""
    return form_of(hint).schema


def camel(name: str) -> str:
    """`file_path` → `filePath`."""
    first, *rest = name.strip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


def written(function: Any) -> Any:
    """The function as it was written: behind a partial, a decorator, a method or an object that can be called."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function) and not isinstance(function, type):
        function = function.__call__
    return inspect.unwrap(getattr(function, "__func__", function))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError as error:
        raise TypeError(f"{_name(function)} cannot be a tool: Python does not know its parameters.") from error


def _annotated(function: Any) -> Any:
    source = written(function)
    return getattr(source, "__init__", source) if isinstance(source, type) else source


def _surroundings() -> Mapping[str, Any]:
    """The names where the tool is made, for annotations that are still text and speak of a function's own classes."""
    frame = inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "toolwright":
        frame = frame.f_back
    return dict(frame.f_locals) if frame is not None else {}


def _bound(function: Any) -> set[str]:
    """Return the names that a partial has fixed: no business of the model's, and maybe keys."""
    fixed: set[str] = set()
    while isinstance(function, functools.partial):
        fixed |= function.keywords.keys()
        function = function.func
    return fixed


def _lacks_instance(function: Any, parameters: Sequence[inspect.Parameter]) -> bool:
    """Return whether this is a function in the body of a class, which gets its instance later."""
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    in_class = inspect.isfunction(function) and bool(owner) and not owner.endswith("<locals>")
    first = parameters[0] if parameters else None
    return in_class and first is not None and first.name == "self" and first.annotation is first.empty


def _is_context(
    parameter: inspect.Parameter, hints: Mapping[str, Any], context: type, parameters: Sequence[inspect.Parameter]
) -> bool:
    hint = bare(hints.get(parameter.name, Any))
    if hint is Any:
        return parameter is parameters[0] and parameter.name in _CONTEXT_NAMES
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    classes = (get_origin(kind) or kind for kind in kinds)
    return any(isinstance(kind, type) and issubclass(kind, context) for kind in classes)


def _deps_of(hint: Any) -> Any:
    """Return the type of a context's `deps`, as in `ToolContext[Shop]`; None where nothing is said."""
    hint = bare(hint)
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return next((get_args(kind)[0] for kind in kinds if get_args(kind)), None)


def _docstring(function: Any, names: Sequence[str]) -> tuple[str, Mapping[str, str]]:
    text = inspect.cleandoc(written(function).__doc__ or _text_of_object(function))
    if not any(mark in f"\n{text}" for mark in (":\n", "\n:", "---")):
        return text, {}
    from toolwright.functions.docstrings import read_docstring

    described = read_docstring(text, names)
    return described.text, described.parameters


def _text_of_object(function: Any) -> str:
    """The docstring of the class, for an object that can be called and says nothing more about it."""
    is_routine = isinstance(function, functools.partial) or inspect.isroutine(function)
    return "" if is_routine else type(function).__doc__ or ""


def _parameter(
    parameter: inspect.Parameter, hint: Any, function: Callable[..., Any], described: Mapping[str, str]
) -> Parameter:
    _refuse_unnamed(parameter, function)
    default, factory = parameter.default, None
    if "pydantic" in sys.modules:
        hint, default, factory = _pydantic_default(hint, default)
    required = default is inspect.Parameter.empty
    try:
        form = form_of(hint) if required else form_with_default(hint, default)
    except NoForm as problem:
        raise TypeError(
            f"The parameter {parameter.name!r} of {_name(function)} cannot be of type {name_of(bare(hint))}: {problem}."
        ) from problem
    if parameter.name in described:
        form.schema.setdefault("description", described[parameter.name])
    fields = [note for note in notes_of(hint) if isinstance(note, Field)]
    name = next((note.name for note in fields if note.name), "") or _alias(hint) or camel(parameter.name)
    if not _NAME.fullmatch(name):
        raise TypeError(
            f"The parameter {parameter.name!r} of {_name(function)} has a name that not every provider takes: "
            'give it another with Annotated[..., Field(name="...")].'
        )
    return Parameter(
        name=name,
        python_name=parameter.name,
        form=form,
        required=required,
        exact=any(note.exact for note in fields),
        default=factory,
    )


def _alias(hint: Any) -> str:
    aliases = (getattr(note, "validation_alias", None) or getattr(note, "alias", None) for note in notes_of(hint))
    return next((alias for alias in aliases if isinstance(alias, str)), "")


def _pydantic_default(hint: Any, default: Any) -> tuple[Any, Any, Callable[[], Any] | None]:
    """A `pydantic.Field` as default, or one in `Annotated` that has a default, is taken at its word."""
    from toolwright.forms.pydantic import default_in, is_field

    if is_field(default):
        hint, default = Annotated[hint, default], inspect.Parameter.empty
    if default is not inspect.Parameter.empty:
        return hint, default, None
    for note in notes_of(hint):
        has_default, factory = default_in(note)
        if has_default:
            return hint, factory() if note.default_factory is None else None, factory
    return hint, default, None


def _refuse_unnamed(parameter: inspect.Parameter, function: Callable[..., Any]) -> None:
    unnamed: Mapping[object, tuple[str, str, str]] = {
        inspect.Parameter.VAR_POSITIONAL: ("*", "any number of values", "use a list"),
        inspect.Parameter.VAR_KEYWORD: ("**", "any names", "use a dict"),
        inspect.Parameter.POSITIONAL_ONLY: ("", "only by position", "leave out the / after it"),
    }
    if parameter.kind not in unnamed:
        return
    mark, what, instead = unnamed[parameter.kind]
    hint = "" if parameter.annotation is parameter.empty else f" ({inspect.formatannotation(parameter.annotation)})"
    raise TypeError(
        f"The parameter '{mark}{parameter.name}'{hint} of {_name(function)} takes {what}, "
        f"and a model gives each argument by its name: {instead}."
    )


def _refuse_doubles(parameters: Sequence[Parameter], function: Callable[..., Any]) -> None:
    seen: dict[str, str] = {}
    for one in parameters:
        if other := seen.get(one.name):
            raise TypeError(
                f"The parameters {other!r} and {one.python_name!r} of {_name(function)} are both {one.name!r} to the "
                'model: give one another name with Annotated[..., Field(name="...")].'
            )
        seen[one.name] = one.python_name


def _name(function: Any) -> str:
    return str(getattr(written(function), "__name__", function))
