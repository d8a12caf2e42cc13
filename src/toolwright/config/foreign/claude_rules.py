"""The permissions of Claude Code's settings as rules of ours: there a deny wins over an ask, an ask over an allow."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from toolwright.config.foreign.converted import READ_ONLY, Converted, RuleNote, asking, rule
from toolwright.config.foreign.found import NotUnderstood
from toolwright.config.foreign.paths import ForeignPaths, ignore_paths
from toolwright.config.foreign.tools import PERMISSIONS, permissions_named
from toolwright.protocols.json_types import Json
from toolwright.record import record

_ASKED = ("bash", "edit", "webfetch", "websearch", "codesearch", "skill")
"""Permissions that Claude Code asks about where no rule fits."""
_GIT = ("status", "log", "diff", "show")
_PATHS = ("Read", "Edit", "MultiEdit", "Write", "NotebookEdit")
_LISTS = ("allow", "ask", "deny")
_ENTRY = re.compile(r"\s*([^,()\s]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_NO_MODE = {
    "bypassPermissions": "everything runs there unasked; here our own defaults hold",
    "auto": "a model judges there; here our own defaults hold",
    "dontAsk": "what no rule allows is refused there, and asked here",
}
_KNOWN = (*_LISTS, "defaultMode", "additionalDirectories", "disableBypassPermissionsMode", "disableAutoMode")


def claude_rules(files: Sequence[Json], servers: Sequence[str] = (), *, base: bool = True) -> Converted:
    """Return the rules of several files of settings, all of which hold together; the last that says a mode sets it.

    `base` is what Claude Code does where no rule fits.
    """
    reading = _Reading()
    lists = [entry for file in files if isinstance(entry := file.get("permissions"), Mapping)]
    for permissions in lists:
        reading.read(permissions)
    mode = next((str(one["defaultMode"]) for one in reversed(lists) if one.get("defaultMode")), "default")
    first = _base(mode, servers, reading) if base else []
    narrow = [one for one in reading.narrow if mode != "acceptEdits" or one["effect"] == "allow"]
    return Converted(
        rules=(*first, *reading.folders, *narrow, *reading.allow, *reading.ask, *reading.deny),
        notes=tuple(dict.fromkeys(reading.notes)),
    )


@record(slots=True)
class _Reading:
    """The rules read so far, by what they come to."""

    allow: list[Json] = field(default_factory=list[Json])
    narrow: list[Json] = field(default_factory=list[Json])
    """Allowances of files in one folder, each with a question about the folders below it."""
    ask: list[Json] = field(default_factory=list[Json])
    deny: list[Json] = field(default_factory=list[Json])
    folders: list[Json] = field(default_factory=list[Json])
    notes: list[RuleNote] = field(default_factory=list[RuleNote])

    def read(self, permissions: Mapping[str, Any]) -> None:
        for effect in _LISTS:
            for text in _texts(permissions.get(effect)):
                self._entry(text, effect)
        for folder in _texts(permissions.get("additionalDirectories")):
            top = folder.rstrip("/")
            self.folders += (rule("external_directory", one, "allow") for one in (top, f"{top}/*"))
        for key in permissions:
            if key not in _KNOWN:
                self.notes.append(RuleNote(str(key), "left out", "it is not understood here"))

    def _entry(self, text: str, effect: str) -> None:
        try:
            match = _ENTRY.fullmatch(text)
            if match is None:
                raise NotUnderstood("it is no name of a tool")
            rules = list(self._rules(match[1], match[2], effect))
        except NotUnderstood as error:
            self._not_understood(text, effect, str(error))
            return
        if any(one["effect"] != effect for one in rules):
            self.narrow += rules
        else:
            {"allow": self.allow, "ask": self.ask, "deny": self.deny}[effect].extend(rules)

    def _not_understood(self, text: str, effect: str, reason: str) -> None:
        """An allowance is left out, and so asks; a restriction of something we know restricts all of it."""
        permissions = () if effect == "allow" else PERMISSIONS.get(text.partition("(")[0], ())
        if permissions:
            self.notes.append(
                RuleNote(f"{effect} {text}", "stricter", f"{reason}; all of {', '.join(permissions)} is asked")
            )
            self.ask += (rule(one, "*", "ask") for one in permissions)
        else:
            self.notes.append(RuleNote(f"{effect} {text}", "left out", reason))

    def _rules(self, name: str, inner: str | None, effect: str) -> Iterator[Json]:
        permissions = permissions_named(name)
        if permissions is None:
            if effect == "allow":
                raise NotUnderstood("there is no such tool here")
            permissions = (name,)
        for permission in permissions:
            if permission == "read" and effect == "allow" and not (inner and ignore_paths(inner).outside):
                continue  # what a project holds is read unasked, but for files with secrets, which stay closed
            if not inner or inner in ("*", "**"):
                yield rule(permission, "*", effect)
            elif name in _PATHS:
                yield from self._files(permission, ignore_paths(inner), effect, f"{effect} {name}({inner})")
            else:
                yield from (rule(permission, one, effect) for one in self._patterns(name, inner, effect))

    def _files(self, permission: str, paths: ForeignPaths, effect: str, piece: str) -> Iterator[Json]:
        """A star of ours crosses folders: a restriction reaches further, an allowance is kept from it by questions."""
        if paths.beyond and effect != "allow":
            self.notes.append(RuleNote(piece, "stricter", "a star reaches into folders here"))
        if effect == "allow" and paths.outside and not paths.patterns[0].endswith("*"):
            self.notes.append(RuleNote(piece, "stricter", "outside of the project, its folder is asked about here"))
        for pattern in paths.patterns:
            yield rule(permission, pattern, effect)
            if effect == "allow" and paths.outside and pattern.endswith("*"):
                yield rule("external_directory", pattern, effect)
        if effect == "allow":
            yield from (rule(permission, pattern, "ask") for pattern in paths.beyond)

    def _patterns(self, name: str, inner: str, effect: str) -> Iterator[str]:
        match name:
            case "Bash":
                if "?" in inner:
                    self.notes.append(RuleNote(f"{effect} Bash({inner})", "looser", "`?` is any one character here"))
                yield f"{inner.removesuffix(':*')} *" if inner.endswith(":*") else inner
            case "WebFetch" if inner.startswith("domain:"):
                host = inner.removeprefix("domain:").strip()
                # An allowance ends where the host does: `:` may stand before somebody's password, and `?` is any sign.
                ends = ("", "/*") if effect == "allow" else ("", "/*", ":*", "?*")
                yield from (f"{scheme}://{host}{end}" for scheme in ("http", "https") for end in ends)
            case "Task" | "Agent" | "Skill":
                yield inner.removesuffix(":*") + " *" if inner.endswith(":*") else inner
            case _:
                raise NotUnderstood(f"what it says in brackets of {name} cannot be said here")


def _base(mode: str, servers: Sequence[str], reading: _Reading) -> list[Json]:
    if mode in _NO_MODE and mode != "dontAsk":
        reading.notes.append(RuleNote(f"defaultMode {mode}", "stricter", _NO_MODE[mode]))
        return []
    if mode not in ("default", "acceptEdits", "plan", "manual"):
        reason = _NO_MODE.get(mode, "the mode is not known; what no rule allows is asked")
        reading.notes.append(RuleNote(f"defaultMode {mode}", "looser" if mode == "dontAsk" else "left out", reason))
    rules = asking(_ASKED, servers)
    rules += (rule("bash", f"{name} *", "allow") for name in READ_ONLY)
    rules += (rule("bash", f"git {name} *", "allow") for name in _GIT)
    rules.append(rule("bash", "git * --output*", "ask"))
    if mode == "acceptEdits":
        rules.append(rule("edit", "*", "allow"))
    if mode == "plan":
        rules.append(rule("edit", "*", "deny"))
    return rules


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
