"""Verdicts of rules, approvals and the user's own clients on a destination. Pure: nobody is asked."""

import re
from collections.abc import Iterable
from typing import Literal, Protocol

from toolwright.network.destination import EVERY_DESTINATION, WEB_PORTS, Destination
from toolwright.network.known import KnownDestination
from toolwright.record import record
from toolwright.text.wildcard import matches

Action = Literal["allow", "ask", "deny"]
PERMISSION = "network"
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]", "::1")
_HERE = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})")
MOST_PORTS = 32
"""Services of the user's that one session is led to."""

RuleLine = tuple[str, str, Action]
"""A rule as the agent's surroundings tell it: the permission it names, its pattern, its action."""


class RuleSource(Protocol):
    """Whose rules count."""

    def decide(self, permission: str, pattern: str) -> Action: ...
    def rules_about(self, permission: str) -> tuple[RuleLine, ...]: ...


@record(frozen=True, slots=True, kw_only=True)
class NetworkVerdict:
    """A decision about a connection before anybody is asked."""

    action: Action
    named: bool = False
    """True if the user has named the host, so that it may lie in a private network."""
    source: str = ""
    """The client that is set up with it, if that is why it is allowed."""


def verdict_on(destination: Destination, ruled: RuleSource, known: Iterable[KnownDestination]) -> NetworkVerdict:
    """Weigh the last rule that fits; what a client of the user's is set up with is not asked about in general."""
    action = ruled.decide(PERMISSION, destination.pattern)
    spelled = [rule for rule in ruled.rules_about(PERMISSION) if _spells(rule, destination)]
    named = any(allowed == "allow" for _, _, allowed in spelled)
    client = next((one for one in known if one.destination == destination), None)
    if action == "allow":
        return NetworkVerdict(action="allow", named=named or (client is not None and client.level == "user"))
    if action == "ask" and client is not None and not any(asked == "ask" for _, _, asked in spelled):
        return NetworkVerdict(action="allow", named=client.level == "user", source=client.client)
    return NetworkVerdict(action=action)


def _spells(rule: RuleLine, destination: Destination) -> bool:
    """Tell whether a rule has the whole host in it, and is about this port."""
    permission, pattern, _ = rule
    host, separator, port = pattern.rpartition(":") if _has_port(pattern) else (pattern, "", "")
    if permission != PERMISSION or host.strip("[]").lower() != destination.host:
        return False
    return matches(str(destination.port), port) if separator else destination.port in WEB_PORTS


def _has_port(pattern: str) -> bool:
    return pattern.count(":") == 1 or "]:" in pattern


_UNNAMED = Destination("host.invalid", 443).pattern
"""A destination that no rule names."""


def is_by_destination(ruled: RuleSource) -> bool:
    """Tell whether rules leave some destinations and not others, or ask: not where all are open, or all closed."""
    if any(_is_of_one(rule) for rule in ruled.rules_about(PERMISSION)):
        return True
    return ruled.decide(PERMISSION, _UNNAMED) == "ask"


def names_destinations(ruled: RuleSource) -> bool:
    """Tell whether anybody has said anything about the network, besides what holds before."""
    return any(permission == PERMISSION and rest != _UNSAID for permission, *rest in ruled.rules_about(PERMISSION))


_UNSAID = [EVERY_DESTINATION, "ask"]


def _is_of_one(rule: RuleLine) -> bool:
    permission, *rest = rule
    return permission == PERMISSION and rest[0] != "*" and rest != _UNSAID


def local_ports(ruled: RuleSource) -> list[int]:
    """List the services of this machine that a rule names by their port, and that are not denied."""
    ports = dict[int, None]()
    for permission, pattern, _ in ruled.rules_about(PERMISSION):
        named = _HERE.fullmatch(pattern) if permission == PERMISSION else None
        if named and 0 < int(named[1]) < 65_536 and _local(ruled, int(named[1])).action != "deny":
            ports[int(named[1])] = None
    return list(ports)[:MOST_PORTS]


def local_verdict(port: int, ruled: RuleSource) -> NetworkVerdict:
    """Weigh a service of this machine: only a rule with its very port opens it."""
    return _local(ruled, port) if port in local_ports(ruled) else NetworkVerdict(action="deny")


def _local(ruled: RuleSource, port: int) -> NetworkVerdict:
    return NetworkVerdict(action=ruled.decide(PERMISSION, Destination("localhost", port).pattern), named=True)
