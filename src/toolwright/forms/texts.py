"""The types of the standard library that are text in JSON: dates, times, identifiers, decimal numbers.

They are known by their names, so that no module is loaded for a tool that does not use it.
"""

from collections.abc import Mapping
from typing import Any

from toolwright.forms.form import Form, NoForm
from toolwright.forms.values import name_of
from toolwright.record import record


@record(frozen=True, slots=True)
class _Text:
    schema: Mapping[str, Any]
    phrase: str
    maker: str = ""
    """The method that reads the text; the class itself if none."""


_TEXTS: Mapping[str, _Text] = {
    "datetime.datetime": _Text(
        {"type": "string", "format": "date-time"}, "a date and time such as 2026-01-31T09:30:00Z", "fromisoformat"
    ),
    "datetime.date": _Text({"type": "string", "format": "date"}, "a date such as 2026-01-31", "fromisoformat"),
    "datetime.time": _Text({"type": "string", "format": "time"}, "a time such as 09:30:00", "fromisoformat"),
    "uuid.UUID": _Text({"type": "string", "format": "uuid"}, "a UUID"),
    "decimal.Decimal": _Text({"anyOf": [{"type": "number"}, {"type": "string"}]}, "a decimal number such as 19.99"),
}
_ADVICE = {"bytes": "; use str", "bytearray": "; use str", "complex": "; use two numbers"}


def text_form(hint: Any) -> Form:
    """The form of a class of the standard library; NoForm for any class that is not known."""
    text = _TEXTS.get(f"{hint.__module__}.{hint.__qualname__}")
    if text is None:
        raise NoForm(f"{name_of(hint)} has no form in JSON{_ADVICE.get(hint.__name__, '')}")
    make = getattr(hint, text.maker) if text.maker else hint

    def read(value: Any) -> Any:
        try:
            value_read = make(str(value))
        except (ValueError, ArithmeticError):
            value_read = None
        if value_read is None or not getattr(value_read, "is_finite", lambda: True)():
            raise ValueError(f"expected {text.phrase}")
        return value_read

    return Form({**text.schema}, read)
