"""Constraints of the package annotated-types: told to the model where JSON Schema has a word, checked in any case."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolwright.forms.form import Form, NoForm

_NUMBERS: Mapping[str, tuple[str, str, Callable[[Any, Any], bool]]] = {
    "ge": ("minimum", "{} or more", lambda value, limit: value >= limit),
    "gt": ("exclusiveMinimum", "more than {}", lambda value, limit: value > limit),
    "le": ("maximum", "{} or less", lambda value, limit: value <= limit),
    "lt": ("exclusiveMaximum", "less than {}", lambda value, limit: value < limit),
    "multiple_of": ("multipleOf", "a multiple of {}", lambda value, limit: value % limit == 0),
}
_LENGTHS: Mapping[str, tuple[str, str]] = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}


def constrained(form: Form, note: Any) -> Form:
    """The form with one more constraint; NoForm for one that cannot be checked."""
    if isinstance(note, Iterable) and hasattr(note, "__is_annotated_types_grouped_metadata__"):
        for part in note:
            form = constrained(form, part)
        return form
    for name, (keyword, phrase, holds) in _NUMBERS.items():
        if hasattr(note, name):
            return _bounded(form, keyword, phrase, holds, getattr(note, name))
    if hasattr(note, "min_length"):
        return _sized(form, 0, note.min_length, "at least", lambda size: size >= note.min_length)
    if hasattr(note, "max_length"):
        return _sized(form, 1, note.max_length, "at most", lambda size: size <= note.max_length)
    if callable(check := getattr(note, "func", None)):
        return _checked(form, lambda value: f"does not satisfy {check.__name__}" if not check(value) else "")
    raise NoForm(f"the constraint {note!r} is not known here")


def _bounded(form: Form, keyword: str, phrase: str, holds: Callable[[Any, Any], bool], limit: Any) -> Form:
    if isinstance(limit, int | float) and form.schema.get("type") in ("integer", "number"):
        form.schema[keyword] = limit
        return form
    return _checked(form, lambda value: "" if holds(value, limit) else f"expected {phrase.format(limit)}")


def _sized(form: Form, end: int, limit: int, phrase: str, holds: Callable[[int], bool]) -> Form:
    keywords = _LENGTHS.get(str(form.schema.get("type")), ("minProperties", "maxProperties"))
    form.schema[keywords[end]] = limit
    return _checked(form, lambda value: "" if holds(len(value)) else f"expected {phrase} {limit}, got {len(value)}")


def _checked(form: Form, problem: Callable[[Any], str]) -> Form:
    def read(value: Any) -> Any:
        checked = value if form.read is None else form.read(value)
        if words := problem(checked):
            raise ValueError(words)
        return checked

    return Form(form.schema, read, form.hashable)
