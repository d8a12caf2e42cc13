"""Forms of which a value is one: the property that says which, and the choice by it."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolwright.protocols.json_types import JsonView
from toolwright.record import record


@record(frozen=True, slots=True)
class Tag:
    """A property that every form has and that has other words in each of them, such as `kind`."""

    name: str
    words: Sequence[Sequence[str]]
    """Of each form, in order: what the property may be in it."""

    @property
    def all_words(self) -> list[str]:
        return [word for words in self.words for word in words]

    def chosen(self, forms: Sequence[JsonView], word: Any) -> list[JsonView]:
        """The forms in which the property may have this value: one, or none."""
        return [form for form, words in zip(forms, self.words, strict=True) if word in words]


def tag_of(forms: Sequence[JsonView]) -> Tag | None:
    """The property that tells objects of these forms apart; None where there is none."""
    if len(forms) < 2:
        return None
    for name in _properties(forms[0]):
        words = [_words(_properties(form).get(name)) for form in forms]
        listed = [word for ones in words for word in ones]
        if all(words) and len(set(listed)) == len(listed):
            return Tag(name, words)
    return None


def known_keys(value: Any, form: JsonView) -> int:
    """Return the number of keys of a value that a form has a property for."""
    return len(_properties(form).keys() & value.keys()) if isinstance(value, dict) else 0


def _properties(form: JsonView) -> Mapping[str, Any]:
    properties = form.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _words(schema: Any) -> list[str]:
    """The only words that a schema takes; none if it takes others, or what is no word."""
    if not isinstance(schema, Mapping):
        return []
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    words = [word for word in listed if isinstance(word, str)] if isinstance(listed, list) else []
    return words if isinstance(listed, list) and len(words) == len(listed) else []
