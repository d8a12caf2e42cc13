"""What rules and the user's own clients make of a destination, before anybody is asked."""

import struct
from collections.abc import Mapping
from ipaddress import IPv4Address

import pytest

from toolwright.agents import Agent, RuledAgent
from toolwright.network.destination import EVERY_DESTINATION, Destination
from toolwright.network.known import KnownDestination, Level
from toolwright.network.names import MOST, GivenAddresses, NameQuestion
from toolwright.network.proxying import Malformed, _authority
from toolwright.network.verdict import (
    MOST_PORTS,
    Action,
    NetworkVerdict,
    is_by_destination,
    local_ports,
    local_verdict,
    names_destinations,
    verdict_on,
)
from toolwright.permission.rules import Layer, Policy, Rule


def ruled(rules: Mapping[str, Action]) -> RuledAgent:
    """An agent with rules about the network."""
    own = tuple(Rule("network", pattern, action) for pattern, action in rules.items())
    return RuledAgent(Agent(name="build"), Policy("build", (Layer("user", own),)))


def known(destination: Destination, level: Level = "user") -> list[KnownDestination]:
    return [KnownDestination(destination=destination, client="git", setting="remote", level=level)]


HOST = Destination("shop.test", 443)
ODD = Destination("shop.test", 8080)


@pytest.mark.parametrize(
    ("rules", "destination", "level", "verdict"),
    [
        ({"*": "ask"}, HOST, None, NetworkVerdict(action="ask")),
        ({"*": "deny"}, HOST, "user", NetworkVerdict(action="deny")),
        ({"*": "ask"}, HOST, "user", NetworkVerdict(action="allow", named=True, source="git")),
        ({"*": "ask"}, HOST, "project", NetworkVerdict(action="allow", named=False, source="git")),
        ({"*": "allow"}, HOST, None, NetworkVerdict(action="allow", named=False)),
        ({"*": "allow"}, HOST, "user", NetworkVerdict(action="allow", named=True)),
        ({"*": "allow"}, HOST, "project", NetworkVerdict(action="allow", named=False)),
        ({"*": "ask", "shop.test": "allow"}, HOST, None, NetworkVerdict(action="allow", named=True)),
        ({"*": "ask", "*.test": "allow"}, HOST, None, NetworkVerdict(action="allow", named=False)),
        (
            {"*": "ask", "other.test": "allow", "*.test": "allow"},
            HOST,
            None,
            NetworkVerdict(action="allow", named=False),
        ),
        ({"*": "allow", "shop.test": "ask"}, HOST, "user", NetworkVerdict(action="ask")),
        ({"*": "allow", "shop.test": "ask"}, HOST, "project", NetworkVerdict(action="ask")),
        ({"*": "ask", "shop.test": "allow"}, ODD, None, NetworkVerdict(action="ask")),
        ({"*": "ask", "shop.test:8080": "allow"}, ODD, None, NetworkVerdict(action="allow", named=True)),
        ({"*": "ask", "shop.test:80*": "allow"}, ODD, None, NetworkVerdict(action="allow", named=True)),
        ({"*": "allow", "shop.test:9": "allow"}, ODD, None, NetworkVerdict(action="allow", named=False)),
    ],
)
def test_the_last_rule_decides_and_only_the_users_word_opens_private_addresses(
    rules: dict[str, Action], destination: Destination, level: Level | None, verdict: NetworkVerdict
) -> None:
    assert verdict_on(destination, ruled(rules), known(destination, level) if level else ()) == verdict


def test_a_client_that_is_set_up_with_another_port_says_nothing_of_this_one() -> None:
    assert verdict_on(HOST, ruled({"*": "ask"}), known(ODD)).action == "ask"


def test_only_rules_that_are_more_than_yes_or_no_hold_commands_to_destinations() -> None:
    assert not is_by_destination(ruled({"*": "allow"}))
    assert not is_by_destination(ruled({"*": "deny"}))
    assert is_by_destination(ruled({"*": "ask"}))
    assert is_by_destination(ruled({"*": "allow", "shop.test": "deny"}))


def test_what_holds_before_anybody_has_said_anything_holds_commands_and_one_allow_ends_it() -> None:
    unsaid: dict[str, Action] = {EVERY_DESTINATION: "ask"}
    assert is_by_destination(ruled({"*": "allow", **unsaid}))
    assert not names_destinations(ruled(unsaid))
    assert not is_by_destination(ruled({**unsaid, "*": "allow"}))
    assert not is_by_destination(ruled({**unsaid, "*": "deny"}))
    assert is_by_destination(ruled({"*": "ask", EVERY_DESTINATION: "allow"}))


def test_a_service_of_this_machine_is_opened_by_its_very_port_alone() -> None:
    agent = ruled({"*": "allow", "localhost": "allow", "localhost:54*": "allow", "127.0.0.1:5432": "allow"})
    assert local_ports(agent) == [5432]
    assert local_verdict(5432, agent) == NetworkVerdict(action="allow", named=True)
    assert local_verdict(5433, agent).action == "deny"
    closed = ruled({"localhost:5432": "allow", "*": "deny", "localhost:0": "allow", "localhost:65536": "allow"})
    assert local_ports(closed) == []
    assert local_verdict(5432, closed).action == "deny"
    many = ruled({f"localhost:{port}": "allow" for port in range(9000, 9000 + 2 * MOST_PORTS)})
    assert local_ports(many) == list(range(9000, 9000 + MOST_PORTS))
    assert local_ports(ruled({"localhost:1": "ask", "localhost:65535": "ask"})) == [1, 65535]


def test_a_name_keeps_its_address_while_it_is_among_those_that_were_given_one() -> None:
    given = GivenAddresses()
    first = given.address_of("shop.test")
    assert given.address_of("other.test") != first
    assert given.address_of("shop.test") == first
    assert given.name_at(str(first)) == "shop.test"
    for number in range(MOST - 2):
        given.address_of(f"n{number}.test")
    assert given.address_of("shop.test") == first
    given.address_of("one-more.test")
    assert given.name_at(str(first)) == ""
    assert given.address_of("shop.test") != first


def asked(*labels: str, flags: int = 0x0100, count: int = 1, family: int = 1, kind: int = 1) -> bytes:
    """The datagram of a program that asks for a name."""
    name = b"".join(len(label).to_bytes(1, "big") + label.encode() for label in labels)
    return struct.pack(">HHHHHH", 7, flags, count, 0, 0, 0) + name + b"\0" + struct.pack(">HH", kind, family)


LONG = ("a" * 63, "b" * 63, "c" * 63)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (asked("Shop", "Test"), "shop.test"),
        (asked("_srv", "a-b", "test"), "_srv.a-b.test"),
        (asked(*LONG, "d" * 61), ".".join([*LONG, "d" * 61])),
        (asked(*LONG, "d" * 62), None),
        (asked(), None),
        (asked("-a", "test"), None),
        (asked("a", flags=0x8180), None),
        (asked("a", count=2), None),
        (asked("a", family=3), None),
        (asked("a")[:-1], None),
        (asked("a")[:13], None),
        (b"", None),
    ],
)
def test_one_question_about_a_name_that_a_host_can_have_is_understood(data: bytes, name: str | None) -> None:
    question = NameQuestion.read(data)
    assert (question and question.name) == name


def test_a_question_is_answered_by_an_address_by_none_or_by_there_being_no_such_name() -> None:
    question = NameQuestion.read(asked("shop", "test"))
    other = NameQuestion.read(asked("shop", "test", kind=28))
    assert question is not None
    assert other is not None
    assert (question.wants_address, other.wants_address) == (True, False)
    told = question.answer(IPv4Address("198.18.0.1"))
    assert struct.unpack(">HHHH", told[:8]) == (7, 0x8180, 1, 1)
    assert told.endswith(bytes([0, 4, 198, 18, 0, 1]))
    assert struct.unpack(">HHHH", question.answer(None)[:8]) == (7, 0x8180, 1, 0)
    assert struct.unpack(">HHHH", question.answer(None, exists=False)[:8]) == (7, 0x8183, 1, 0)


@pytest.mark.parametrize(
    "text", ["shop.test:0", "shop.test:65536", ":80", "[]:80", f"{'a' * 254}:80", "ü.test:80", "a b:80"]
)
def test_what_is_no_host_with_a_port_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        _authority(text)


@pytest.mark.parametrize(("text", "port"), [("shop.test:1", 1), ("shop.test:65535", 65535), (f"{'a' * 253}:80", 80)])
def test_the_longest_name_and_the_last_port_are_taken(text: str, port: int) -> None:
    assert _authority(text).port == port


@pytest.mark.parametrize("url", ["shop.test", "user@shop.test", "/srv/x@y:z", "@:x", ":x"])
def test_a_path_on_this_machine_is_no_destination(url: str) -> None:
    assert Destination.of_url(url) is None
