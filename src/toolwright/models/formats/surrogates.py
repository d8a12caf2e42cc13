"""Characters that a provider has cut in two: the halves of an emoji in two events become one character again."""

from dataclasses import replace

from toolwright.models.model import CallDelta, CallEnd, Event, ReasoningDelta, TextDelta


class Halves:
    """Holds half a character back until the event with its other half comes."""

    def __init__(self) -> None:
        self._held: dict[tuple[type[Event], str], str] = {}

    def whole(self, event: Event) -> Event:
        match event:
            case TextDelta(text):
                return TextDelta(self._join((TextDelta, ""), text))
            case ReasoningDelta(text):
                return ReasoningDelta(self._join((ReasoningDelta, ""), text))
            case CallDelta(call_id, text):
                return CallDelta(call_id, self._join((CallDelta, call_id), text))
            case CallEnd():
                return replace(event, arguments=merge_halves(event.arguments))
            case _:
                return event

    def _join(self, place: tuple[type[Event], str], text: str) -> str:
        if text.isascii() and not self._held:
            return text
        text = self._held.pop(place, "") + text
        if text and _FIRST_HALF[0] <= text[-1] <= _FIRST_HALF[1]:
            self._held[place] = text[-1]
            text = text[:-1]
        return merge_halves(text)


def merge_halves(text: str) -> str:
    """Two halves that stand side by side as the character they are; a half alone stays as it is."""
    if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


_FIRST_HALF = ("\ud800", "\udbff")
