"""Rules that name a place by a link hold for the place itself: each gets a twin with the real name."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path

from toolwright.permission.rules import Layer, Rule
from toolwright.record import record
from toolwright.text.wildcard import matches

_ABOUT_PATHS = ("read", "edit", "list", "external_directory")
_WILD = re.compile(r"[*?]")


def with_real_names(layer: Layer, bases: Sequence[Path]) -> Layer:
    """Return the layer with its twins, as links lead now; `bases` are the folders that a relative pattern starts in.

    Only rules that restrict get one: by a link that somebody makes nothing may be allowed.
    """
    real = _RealNames(tuple(map(str, bases)))
    rules = tuple(one for rule in layer.rules for one in (rule, *_twins(rule, real)))
    return layer if len(rules) == len(layer.rules) else replace(layer, rules=rules)


def _twins(rule: Rule, real: "_RealNames") -> Iterator[Rule]:
    """The same rule for the real names of the folder that its pattern begins with."""
    if rule.action == "allow" or not _is_about_paths(rule.permission):
        return
    fixed = _WILD.split(rule.pattern, maxsplit=1)[0]
    named = fixed if fixed == rule.pattern else fixed.rpartition("/")[0]
    if named.strip("/") and "\0" not in named:
        for name in real.of(named):
            yield replace(rule, pattern=name + rule.pattern[len(named) :])


@lru_cache(maxsize=256)
def _is_about_paths(permission: str) -> bool:
    return any(matches(name, permission) for name in _ABOUT_PATHS)


@record(frozen=True, slots=True)
class _RealNames:
    """Looks each name up once: most rules of a layer speak of the same few."""

    bases: tuple[str, ...]
    _known: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def of(self, named: str) -> tuple[str, ...]:
        """Return what a place is really called, where that is something else."""
        if named not in self._known:
            starts = ("/",) if named.startswith("/") else self.bases
            places = dict.fromkeys(os.path.normpath(f"{start}/{named}") for start in starts)
            resolved = ((place, os.path.realpath(place)) for place in places if _may_lead_elsewhere(place, starts))
            self._known[named] = tuple(real for place, real in resolved if real != place)
        return self._known[named]


def _may_lead_elsewhere(place: str, starts: Sequence[str]) -> bool:
    """Tell whether a link is on the way to a place, from a folder on that has its real name; most are not there."""
    start = next((one for one in starts if one != "/" and place.startswith(f"{one}/")), "")
    if not start:
        return True
    at = start
    for part in place[len(start) + 1 :].split("/"):
        at = f"{at}/{part}"
        try:
            if stat.S_ISLNK(os.lstat(at).st_mode):
                return True
        except OSError:
            return False
    return False
