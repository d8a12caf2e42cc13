"""Requests of a command line for its commands: their texts, and what an approval of them would keep."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from toolwright.calls.acts import Act
from toolwright.calls.request import PathPattern, Request
from toolwright.shell.analysis.analysis import AnalysedCommand, Analysis
from toolwright.shell.analysis.approval import can_be_kept
from toolwright.shell.analysis.scripts import suspected_behind_aliases, suspected_in_files
from toolwright.shell.outward import acts_behind, acts_by_text, may_run_files, with_stricter
from toolwright.shell.requests.matching import is_wild
from toolwright.text.wildcard import matches

_RELATIVE = re.compile(r"(?![/~])[^\s'\"]*/")
"""A program that is another one in another folder."""


class JudgedPath(Protocol):
    """Knowledge of a path; `toolwright.files` has it."""

    @property
    def path(self) -> Path: ...
    @property
    def inside(self) -> bool: ...
    @property
    def pattern(self) -> PathPattern: ...
    @property
    def absolute_pattern(self) -> PathPattern: ...


PlaceOf = Callable[[str], JudgedPath]


def about_commands(analysis: Analysis, place: PlaceOf) -> Iterator[Request]:
    """One request for all of them; none where there are none."""
    if not analysis.commands:
        return
    texts = dict.fromkeys(command.shown for command in analysis.commands)
    implied = dict.fromkeys(text for command in analysis.commands for text in command.implied if text not in texts)
    exact = dict[str, str]()
    for command in analysis.commands:
        for text, kept in _kept(command, place).items():
            # the same words in two folders are not one thing
            exact[text] = kept if exact.get(text, kept) == kept else ""
    acts = acts_by_text(analysis)
    if may_run_files(analysis):
        acts = with_stricter(acts, acts_behind(analysis))
    offers = [_naming(_offered(command, exact), acts) for command in analysis.commands]
    always = (
        dict.fromkeys(pattern for offer in offers for pattern in offer) if all(map(all, offers)) and all(offers) else {}
    )
    understood = analysis.verdict == "understood"
    suspected = (text for command in analysis.commands for text in command.suspected)
    # A box covers the programs that are denied, under whatever name.
    held = () if analysis.confinement.complete else suspected_in_files(analysis)
    yield Request(
        permission="bash",
        patterns=tuple(texts),
        implied=tuple(implied),
        always=tuple(always),
        exact=exact,
        suspected=tuple(dict.fromkeys((*suspected, *held, *suspected_behind_aliases(analysis)))),
        must_ask=not understood,
        contained=analysis.contained and analysis.confinement.complete,
        acts=acts,
        metadata={} if understood else {"reasons": list(analysis.reasons)},
    )


def _offered(command: AnalysedCommand, exact: Mapping[str, str]) -> list[str]:
    if command.shown in exact and command.shown not in command.exact:
        return list(dict.fromkeys(exact[text] for text in (command.shown, *command.implied) if text in exact))
    return [exact.get(pattern, pattern) for pattern in command.always]


def _naming(offer: list[str], acts: Mapping[str, Act]) -> list[str]:
    """The offer with the words of what changes something spelled out, where a wildcard would stand for them."""
    return [_spelled_out(pattern, acts) for pattern in offer]


def _spelled_out(pattern: str, acts: Mapping[str, Act]) -> str:
    for text, act in acts.items():
        if act.kind == "changes" and matches(text, pattern) and not act.is_named_by(pattern):
            start = " ".join(act.words)
            return f"{start} *" if f"{text} ".startswith(f"{start} ") else text if can_be_kept(text) else ""
    return pattern


def _kept(command: AnalysedCommand, place: PlaceOf) -> dict[str, str]:
    """For each text that only the same words approve, those words with the folder they were said in."""
    where = ""
    # What the shell may reach in two ways is mostly one folder.
    places = {} if any(map(is_wild, command.folders)) else {one.path: one for one in map(place, command.folders)}
    if len(places) == 1:
        (there,) = places.values()
        where = str(there.pattern if there.inside else there.absolute_pattern)
    kept: dict[str, str] = {}
    own = [text for text in (command.shown, *command.implied) if where != "." and _RELATIVE.match(text)]
    for text in (*command.exact, *own):
        known = bool(where) and can_be_kept(text.replace("{}", "")) and not command.fed
        kept[text] = (text if where == "." else f"cd {where} && {text}") if known else ""
    return kept
