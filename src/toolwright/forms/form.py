"""A form: the schema of a type's values in JSON, and how one of them becomes the Python value."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from toolwright.forms.values import name_of
from toolwright.record import record
from toolwright.schema.basics import Problem, shown_value
from toolwright.schema.check import problems_with

Read = Callable[[Any], Any]


class Form(NamedTuple):
    """The JSON of one type."""

    schema: dict[str, Any]
    read: Read | None = None
    """Makes the Python value of a JSON value that fits the schema; none where they are the same."""
    hashable: bool = True


@record(frozen=True, slots=True)
class Field:
    """More about a parameter than a sentence: another name for the model, or further JSON Schema keywords."""

    description: str = ""
    name: str = ""
    schema: Mapping[str, Any] | None = None
    exact: bool = False
    """Whether a string is refused where a number, list or object is wanted, even if it plainly holds one."""


class NoForm(TypeError):
    """A type whose values JSON cannot say."""


class Misfit(ValueError):
    """A value that fits the schema and still cannot be made into the Python value."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def read_at(form: Form, value: Any, *path: str | int) -> Any:
    """The Python value, or a Misfit whose problems say where in the whole they are."""
    if form.read is None:
        return value
    try:
        return form.read(value)
    except Misfit as misfit:
        raise Misfit([Problem((*path, *one.path), one.message) for one in misfit.problems]) from None
    except (ValueError, TypeError, ArithmeticError, AssertionError) as error:
        raise Misfit([Problem(path, f"{str(error) or 'not accepted'}, got {shown_value(value)}")]) from error


def read_whole(form: Form, value: Any) -> Any:
    """The Python value of what no schema has checked yet."""
    if problems := problems_with(value, form.schema):
        raise Misfit(problems)
    return value if form.read is None else form.read(value)


def read_union(forms: Sequence[Form], value: Any) -> Any:
    """The first of the forms, in the order they are written, that the value fits and can be read as."""
    failure: Misfit | None = None
    for form in forms:
        if problems_with(value, form.schema):
            continue
        try:
            return read_at(form, value)
        except Misfit as misfit:
            failure = failure or misfit
    raise failure or Misfit([Problem((), f"fits no form, got {shown_value(value)}")])


def read_entries(entry: Form, value: Sequence[Any]) -> list[Any]:
    if entry.read is None:
        return list(value)
    return [read_at(entry, one, index) for index, one in enumerate(value)]


def read_places(forms: Sequence[Form], value: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(read_at(form, one, index) for index, (form, one) in enumerate(zip(forms, value, strict=True)))


def read_mapping(key: Form, entry: Form, value: Mapping[str, Any]) -> dict[Any, Any]:
    whole = key.schema.get("type") == "integer"
    entries = {}
    for name, one in value.items():
        entry_key: Any = int(name) if whole and name.lstrip("-").isdecimal() else name
        if wrong := problems_with(entry_key, key.schema):
            raise Misfit([Problem((name,), f"as a key: {wrong[0].message}")])
        entries[read_at(key, entry_key, name)] = read_at(entry, one, name)
    return entries


def read_typed_dict(forms: Mapping[str, Form], value: Mapping[str, Any]) -> dict[str, Any]:
    """Keys that the type does not name are kept: to leave them out would lose them silently."""
    return {name: read_at(forms[name], one, name) if name in forms else one for name, one in value.items()}


def read_record(make: Any, forms: Mapping[str, Form], required: Sequence[str], value: Mapping[str, Any]) -> Any:
    if unknown := [name for name in value if name not in forms]:
        known = ", ".join(forms) or "none"
        raise Misfit([Problem((name,), f"is unknown; {name_of(make)} has {known}") for name in unknown])
    given = {name: one for name, one in value.items() if one is not None or name in required}
    return make(**{name: read_at(forms[name], one, name) for name, one in given.items()})
