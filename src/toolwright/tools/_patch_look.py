"""How a patch is shown: by the files it touches, which its arguments say before it is read."""

import re

from toolwright.look import Arguments, Kind, Look

_SECTION = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|(Move) to): *(.+?) *$", re.MULTILINE)


def _sections(arguments: Arguments) -> list[tuple[str, str]]:
    """What a patch does, each with the file it does it to."""
    patch = arguments.get("patchText")
    found = _SECTION.finditer(patch) if isinstance(patch, str) else ()
    return [(one[1] or one[2], one[3]) for one in found if "\0" not in one[3]]


def _kind(arguments: Arguments) -> Kind:
    words = {word for word, _ in _sections(arguments)}
    return "delete" if words == {"Delete"} else "move" if words == {"Update", "Move"} else "edit"


def _subject(arguments: Arguments) -> str:
    return ", ".join(path for _, path in _sections(arguments))


def _places(arguments: Arguments) -> list[str]:
    """The files that are there after it."""
    return list(dict.fromkeys(path for word, path in _sections(arguments) if word != "Delete"))


LOOK = Look(verb="Patch", kind=_kind, subject=_subject, place=_places, act="change files")
