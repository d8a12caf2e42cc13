"""The permission rules that sources of settings hold, as layers, and which files those let be read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolwright.calls.request import PathPattern
from toolwright.config.jsonc import KeyPath
from toolwright.config.source import SettingsSource
from toolwright.errors import ConfigError
from toolwright.machine.folders import Folders
from toolwright.permission.defaults import default_rules, protected_rules
from toolwright.permission.forms import rules_from, with_legacy_tools
from toolwright.permission.links import with_real_names
from toolwright.permission.rules import Layer, Policy, Rule

MOST_RULES = 5000
"""Of one source. Every call looks at all of them."""


def rules_of(value: Mapping[str, Any], source: SettingsSource, path: KeyPath, home: Path) -> tuple[Rule, ...]:
    """The rules of a file, or of one agent in it, each with its line."""
    permission = with_legacy_tools(value.get("permission"), value.get("tools"))
    key = "permission" if "permission" in value else "tools"
    rules = rules_from(permission, home, lambda below: source.where((*path, key, *below)))
    if len(rules) > MOST_RULES:
        raise ConfigError(f"{source.name}: {len(rules)} permission rules are more than the {MOST_RULES} allowed.")
    return rules


def layers_of(sources: Sequence[SettingsSource], home: Path, *, trusted: bool) -> tuple[Layer, ...]:
    """Return the configuration's permissions for every agent; the administrator's last, each file for itself."""
    managed = (source for source in sources if source.level == "managed")
    return (
        Layer("user", _rules_at("user", sources, home)),
        Layer("project", _rules_at("project", sources, home), tightens_only=not trusted),
        Layer("override", _rules_at("override", sources, home)),
        *(Layer("managed", rules_of(one.value, one, (), home), tightens_only=True) for one in managed),
    )


def reading_rules(layers: Iterable[Layer], folders: Folders, root: Path) -> Callable[[Path], bool]:
    """Return whether a file that a project names may be read: allowed from the start, not asked about or denied since.

    A general allow of the user's is meant for what they see an agent do, not for what a project has filled in.
    """
    tightening = (replace(layer, tightens_only=True) for layer in layers)
    protected = Layer("protected", protected_rules(folders, root), tightens_only=True)
    weighed = (Layer("defaults", default_rules(folders)), *tightening, protected)
    policy = Policy("", tuple(with_real_names(layer, (root.resolve(),)) for layer in weighed))

    def may_read(file: Path) -> bool:
        inside = (str(file.relative_to(root)),) if file.is_relative_to(root) else ()
        return policy.decide("read", PathPattern(str(file), inside)).action == "allow"

    return may_read


def _rules_at(level: str, sources: Sequence[SettingsSource], home: Path) -> tuple[Rule, ...]:
    return tuple(
        rule for source in sources if source.level == level for rule in rules_of(source.value, source, (), home)
    )
