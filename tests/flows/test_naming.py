"""Whom a call reaches and what it changes, and whether the person has named it: argument by argument."""

from typing import Any

import pytest

from toolwright.calls.acts import Act, spells
from toolwright.definition import tool
from toolwright.flows.naming import NamedThings, OwnRecords, act_of_call, host_of, ids_in, says, strings


@tool
def plain(x: str) -> str:
    return x


@tool(act="changes")
def change(x: str) -> str:
    return x


@tool(act="changes", reaches=("whom",), about=("what",))
def told(x: str) -> str:
    return x


@pytest.mark.parametrize(
    ("used", "arguments", "to", "things"),
    [
        (plain, {"to": "ada", "note_id": "7"}, ("ada",), ()),
        (plain, {"x": "ada"}, (), ()),
        (change, {"to": "ada", "body": "x"}, ("ada",), ()),
        (change, {"to": ["ada", "bob", "ada"], "note_id": "7"}, ("ada", "bob"), (("note_id", "7"),)),
        (change, {"userEmails": ["ada"]}, ("ada",), ()),
        (change, {"url": "https://me@a.example:80/b"}, ("a.example",), ()),
        (change, {"channelId": "c1", "id": 7}, ("c1",), (("id", "7"),)),
        (change, {"noteId": "7", "body": "x"}, (), (("noteId", "7"),)),
        (change, {"body": "x", "size": 3}, (), (("body", "x"), ("size", "3"))),
        (told, {"whom": "ada", "to": "bob", "what": "w", "id": "7"}, ("ada",), (("what", "w"),)),
    ],
)
def test_a_call_reaches_and_changes_what_its_arguments_or_its_tool_say(
    used: Any, arguments: dict[str, Any], to: tuple[str, ...], things: tuple[tuple[str, str], ...]
) -> None:
    act = act_of_call(used, arguments)
    assert (act.kind, act.to, act.things) == (used.act or "nothing", to, things)


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a", ["a"]),
        (" ", []),
        (3, ["3"]),
        (0.5, ["0.5"]),
        (True, []),
        (None, []),
        ({"a": ["b", {"c": 4}], "d": ("e",)}, ["b", "4", "e"]),
    ],
)
def test_every_text_and_number_of_a_value_counts(value: object, texts: list[str]) -> None:
    assert list(strings(value)) == texts


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("https://a.example/b", "a.example"),
        ("git+ssh://me:key@a.example:22/b", "a.example"),
        ("http://[::1]:80/", "[::1]"),
        ("www.a.example/b", "www.a.example"),
        ("ada@a.example", "ada@a.example"),
        ("a.example", "a.example"),
    ],
)
def test_the_host_of_an_address_is_who_is_reached(text: str, host: str) -> None:
    assert host_of(text) == host


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("Write to Ada.", "ada", True),
        ("Write to Adam.", "ada", False),
        ("xada", "ada", False),
        ("ada@b.example", "ada", False),
        ("a.ada", "ada", False),
        ("see a.example.", "a.example", True),
        ("see b.a.example", "a.example", False),
        ("anything", "", False),
    ],
)
def test_a_name_is_said_as_a_whole_word(text: str, name: str, said: bool) -> None:
    assert says(text, name) is said


def act(**more: Any) -> Act:
    return Act(**{"kind": "changes", "program": "p", **more})


@pytest.mark.parametrize(
    ("one", "named", "missing"),
    [
        (act(to=("ada", "bob")), {"prompts": "To bob."}, ("ada",)),
        (act(to=("www.a.example",)), {"prompts": "See a.example."}, ()),
        (act(to=("a.example",)), {"trusted": "https://a.example/"}, ()),
        (act(to=("a.example",)), {"allowed": ("a.example",)}, ()),
        (act(to=("a.example",)), {"allowed": ("b.example",)}, ("a.example",)),
        (act(things=(("body", "x"),)), {"prompts": "Say x."}, ()),
        (act(things=(("body", "x"),)), {"made": frozenset(("x",))}, ("x",)),
        (act(things=(("id", "12345"),)), {"prompts": "Drop 12345."}, ("12345",)),
        (act(things=(("id", "123456"),)), {"prompts": "Drop 123456."}, ()),
        (act(things=(("id", "123456"),)), {"prompts": "Drop it."}, ("123456",)),
        (act(things=(("id", "7"),)), {"made": frozenset(("7",))}, ()),
        (act(words=("git", "push", "--force")), {"prompts": "Push with force."}, ()),
        (act(words=("git", "push", "--force")), {"prompts": "Push."}, ("`git push --force`",)),
        (act(words=("deploy",)), {"prompts": "Deploy."}, ()),
        (act(words=("deploy",)), {}, ("`deploy`",)),
        (act(kind="reads", words=("git", "fetch")), {}, ()),
        (act(words=("git", "push"), to=("a.example",)), {"prompts": "a.example"}, ()),
        (act(), {}, ()),
    ],
)
def test_what_nobody_has_named_is_missing(one: Act, named: dict[str, Any], missing: tuple[str, ...]) -> None:
    assert NamedThings(**named).missing(one) == missing


def test_the_users_own_records_say_what_a_thing_or_an_address_is_called() -> None:
    records = OwnRecords()
    records.add("Ada@a.example", "Ada", "")
    records.add("file_id:7", "notes.txt")
    named = NamedThings(prompts="Send notes.txt to ada.", records=records)
    assert named.missing(act(to=("ada@A.example",), things=(("file_id", "7"),))) == ()
    assert named.missing(act(to=("bob@a.example",), things=(("file_id", "8"),))) == ("bob@a.example", "8")


@pytest.mark.parametrize(
    ("output", "ids"),
    [
        ("id: 26", ["26"]),
        ("{'id_': 'a-b', \"id\": \"c\"}", ["a-b", "c"]),
        ("note_id=7", ["7"]),
        ("paid: 7", []),
        ("26", []),
    ],
)
def test_the_ids_in_a_result_are_those_that_are_called_so(output: str, ids: list[str]) -> None:
    assert ids_in(output) == ids


@pytest.mark.parametrize(
    ("pattern", "name", "spelled"),
    [
        ("https://a.example/*", "a.example", True),
        ("curl A.example *", "a.example", True),
        ("xa.example", "a.example", False),
        ("b.a.example", "a.example", False),
        ("a.example.org", "a.example", False),
        ("a.example-x", "a.example", False),
        ("*.a.example", "b.a.example", True),
        ("*.a.example", "ba.example", False),
        ("*.example", "a.example", False),
        ("*", "a.example", False),
    ],
)
def test_a_pattern_spells_a_host_by_its_whole_name_or_by_one_that_it_is_below(
    pattern: str, name: str, spelled: bool
) -> None:
    assert spells(pattern, name) is spelled
    asked = act(to=(name,), unnamed="nobody has named it")
    assert asked.is_meant_by(pattern) is spelled
    assert act(to=(name,)).is_meant_by(pattern)
