"""Gemini CLI's policies (`policies/*.toml`) as rules of ours: there the highest priority wins, here the last rule."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolwright.config.foreign.converted import Converted, RuleNote, asking, rule
from toolwright.config.foreign.found import NotUnderstood
from toolwright.protocols.json_types import Json

_EFFECTS = {"allow": "allow", "ask_user": "ask", "deny": "deny"}
_TOOLS: Mapping[str, tuple[str, ...]] = {
    "run_shell_command": ("bash",),
    "read_file": ("read",),
    "read_many_files": ("read",),
    "write_file": ("edit",),
    "replace": ("edit",),
    "list_directory": ("list",),
    "glob": ("glob",),
    "grep_search": ("grep",),
    "search_file_content": ("grep",),
    "web_fetch": ("webfetch",),
    "google_web_search": ("websearch", "codesearch"),
    "write_todos": ("todowrite",),
    "activate_skill": ("skill",),
    "ask_user": ("question",),
    "exit_plan_mode": ("plan_exit",),
    "enter_plan_mode": ("plan_enter",),
    "*": ("*",),
}
_ASKED = ("bash", "edit", "webfetch", "skill")
"""Permissions that Gemini CLI asks about where no rule fits."""
_KNOWN = (
    *("toolName", "mcpName", "commandPrefix", "commandRegex", "argsPattern", "decision", "priority", "modes"),
    *("denyMessage", "deny_message", "interactive", "allowRedirection", "allow_redirection", "name", "description"),
)
_SHOWN = ("toolName", "mcpName", "commandPrefix", "commandRegex")
_PLAIN = re.compile(r"(?:[A-Za-z0-9_ /:=@,-]|\\[.+()\[\]{}|/-])*")


def gemini_rules(tiers: Sequence[Sequence[Json]], servers: Sequence[str] = (), *, base: bool = True) -> Converted:
    """Return the rules of several tiers of files, the weakest tier first."""
    notes: list[RuleNote] = []
    rules: list[Json] = asking(_ASKED, servers) if base else []
    for files in tiers:
        entries = [one for said in files for one in _entries(said.get("rule"))]
        by_priority = sorted(entries, key=_priority, reverse=True)
        # The first that fits wins there, also of two with one priority; here the last.
        for entry in by_priority[::-1]:
            rules += _rules(entry, notes)
    return Converted(rules=tuple(rules), notes=tuple(dict.fromkeys(notes)))


def _entries(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _priority(entry: Json) -> float:
    value = entry.get("priority", 0)
    return value if isinstance(value, int | float) else 0


def _rules(entry: Json, notes: list[RuleNote]) -> list[Json]:
    effect = _EFFECTS.get(str(entry.get("decision")), "")
    names = ", ".join(
        f"{key} {entry[key]}" for key in ("toolName", "mcpName", "commandPrefix", "commandRegex") if key in entry
    )
    piece = f"{entry.get('decision')} {names}"
    try:
        if not effect:
            raise NotUnderstood("its decision is not known")
        modes = entry.get("modes")
        if modes and "default" not in modes:
            raise NotUnderstood(f"it is for the modes {', '.join(map(str, modes))} alone")
        if entry.get("interactive") is False:
            raise NotUnderstood("it is for runs without a person alone")
        if unknown := [key for key in entry if key not in _KNOWN]:
            raise NotUnderstood(f"its {unknown[0]!r} is not understood")
        return [rule(permission, pattern, effect) for permission, pattern in _meant(entry)]
    except NotUnderstood as error:
        return _instead(entry, effect, piece, str(error), notes)


def _instead(entry: Json, effect: str, piece: str, reason: str, notes: list[RuleNote]) -> list[Json]:
    """An allowance is left out; a restriction that could not be read restricts the whole tool to questions."""
    known = [permission for name in _names(entry) for permission in _TOOLS.get(name, ()) if permission != "*"]
    alone = reason.startswith("it is for")
    if effect in ("ask", "deny") and known and not alone:
        notes.append(RuleNote(piece, "stricter", f"{reason}; all of {', '.join(known)} is asked"))
        return [rule(permission, "*", "ask") for permission in known]
    notes.append(RuleNote(piece, "left out", reason))
    return []


def _names(entry: Json) -> list[str]:
    tool = entry.get("toolName", "run_shell_command" if "commandPrefix" in entry or "commandRegex" in entry else "*")
    return [tool] if isinstance(tool, str) else [str(one) for one in tool]


def _meant(entry: Json) -> Iterator[tuple[str, str]]:
    server = entry.get("mcpName")
    for name in _names(entry):
        if server:
            tool = re.sub(r"[^a-zA-Z0-9_*-]", "_", f"{server}_{name}")
            yield tool, "*"
        elif name.startswith("mcp_"):
            yield name.removeprefix("mcp_"), "*"
        elif "__" in name:
            yield name.replace("__", "_"), "*"
        elif name not in _TOOLS:
            raise NotUnderstood(f"there is no tool {name!r} here")
        else:
            yield from ((permission, pattern) for permission in _TOOLS[name] for pattern in _patterns(entry))


def _patterns(entry: Json) -> list[str]:
    if "argsPattern" in entry:
        raise NotUnderstood("patterns of all arguments cannot be said here")
    prefixes, regex = entry.get("commandPrefix"), entry.get("commandRegex")
    if prefixes is not None:
        each = [prefixes] if isinstance(prefixes, str) else [str(one) for one in prefixes]
        if any(set("*?") & set(one) for one in each):
            raise NotUnderstood("a star in a command is any text here")
        return [f"{one.rstrip()} *" for one in each]
    return _of_regex(str(regex)) if regex is not None else ["*"]


def _of_regex(regex: str) -> list[str]:
    """Plain words, `.*`, one group of alternatives: what a regular expression of commands mostly is."""
    group = re.fullmatch(r"([^()]*)\((?:\?:)?([^()]*)\)([^()]*)", regex)
    forms = [f"{group[1]}{one}{group[3]}" for one in group[2].split("|")] if group else [regex]
    rules = []
    for form in forms:
        pieces = form.replace(r"\s+", " ").split(".*")
        if not all(map(_PLAIN.fullmatch, pieces)):
            raise NotUnderstood("its regular expression is more than words and `.*`")
        text = "*".join(re.sub(r"\\(.)", r"\1", piece) for piece in pieces)
        rules.append(text if text.endswith("*") else f"{text}*")
    return rules
