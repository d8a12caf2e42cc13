"""Bytes that are made once."""

import gc
import json
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwright.definition import Attachment
from toolwright.models.connect import connect
from toolwright.models.encode import Growing, Once, dump, join_body, merge, place
from toolwright.models.formats.call_ids import new_call_id, nine_id, plain_id
from toolwright.models.formats.openai_chat import ChatWire
from toolwright.models.formats.short_tools import short_spec
from toolwright.models.known.profiles import profile_of
from toolwright.models.model import (
    AssistantMessage,
    ModelMessage,
    ReplySettings,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    UserMessage,
)


def test_each_object_is_worked_out_once_and_forgotten_with_it() -> None:
    worked: list[str] = []

    def work_out(message: UserMessage) -> str:
        worked.append(str(message.content[0]))
        return str(message.content[0]).upper()

    once = Once(work_out)
    first, twin = UserMessage(content=("a",)), UserMessage(content=("a",))
    assert [once(first), once(first), once(twin)] == ["A", "A", "A"]
    assert worked == ["a", "a"]
    del first, twin
    gc.collect()
    assert len(once) == 0


def test_an_object_in_the_place_of_a_dead_one_is_not_taken_for_it() -> None:
    once: Once[UserMessage, object] = Once(lambda message: message.content)
    for number in range(1000):
        message = UserMessage(content=(str(number),))
        assert once(message) == (str(number),)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abc"), json_values), st.lists(json_values))
def test_a_joined_body_is_the_same_as_one_encoded_whole(fields: dict[str, object], entries: list[object]) -> None:
    body = join_body(fields, messages=map(dump, entries), tools=[])
    assert json.loads(body) == {**fields, "messages": entries, "tools": []}


def test_half_a_surrogate_pair_can_be_sent() -> None:
    assert dump("a\ud83d") == b'"a?"'


def test_later_layers_win_key_by_key() -> None:
    assert merge({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}, "d": {"e": 5}}) == {
        "a": {"b": 1, "c": 4},
        "d": {"e": 5},
    }


def test_options_nest_under_their_wire_names() -> None:
    names = {"effort": "reasoning.effort", "summary": "reasoning.summary"}
    assert place({"effort": "low", "summary": "auto", "x": 1}, names) == {
        "reasoning": {"effort": "low", "summary": "auto"},
        "x": 1,
    }


@given(st.text())
def test_ids_fit_what_providers_demand(call_id: str) -> None:
    assert len(nine_id(call_id)) == 9
    assert nine_id(call_id) == nine_id(call_id)
    plain = plain_id(call_id, longest=40)
    assert 0 < len(plain) <= 40
    assert all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in plain)
    assert plain_id(plain, longest=40) == plain


def test_good_ids_stay_as_they_are_and_new_ones_differ() -> None:
    assert plain_id("toolu_01AbC-x", longest=40) == "toolu_01AbC-x"
    assert nine_id("D681PevKs") == "D681PevKs"
    assert plain_id("x" * 80 + "1", longest=40) != plain_id("x" * 80 + "2", longest=40)
    assert new_call_id() != new_call_id()


def test_messages_are_values() -> None:
    image = Attachment(mime="image/png", url="data:,")
    assert UserMessage(content=("a", image)) == UserMessage(content=("a", image))


def test_a_tool_in_few_words_keeps_its_first_sentences_and_its_lists() -> None:
    names = "- general: Carries out. More.\n- explore: Looks."
    text = f"Does one thing. And {'x' * 150}.\n\nMore of it. Agents:\n{names}\n- Be quick."
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": f"One. {'y' * 90}"}}}
    short = short_spec(ToolSpec(name="t", description=text, schema=schema))
    assert short.description == "Does one thing.\n- general: Carries out. More.\n- explore: Looks."
    assert short.schema["properties"]["a"] == {"type": "string", "description": "One."}


def test_what_grows_is_worked_on_at_its_end_only_and_forgotten_with_its_beginning() -> None:
    worked: list[str] = []

    def add(total: list[str], message: UserMessage) -> None:
        worked.append(str(message.content[0]))
        total.append(worked[-1])

    growing = Growing(list[str], add)
    messages = [UserMessage(content=(letter,)) for letter in "abc"]
    for length in (1, 2, 3, 3, 2, 3):
        assert growing.through(messages[:length]) == list("abc"[:length])
    assert worked == [*"abc", *"ab", *"c"]
    gone = weakref.ref(messages[2])
    messages.clear()
    gc.collect()
    assert gone() is None
    assert growing.through([]) == []


texts = st.text("ab", max_size=3)
files = st.just(Attachment(mime="image/png", url="data:image/png;base64,aGk=", filename="a.png"))
said = st.one_of(
    st.builds(SystemMessage, text=texts),
    st.builds(UserMessage, content=st.tuples(texts) | st.tuples(texts, files)),
    st.builds(AssistantMessage, content=st.tuples(texts)),
    st.builds(ToolMessage, call_id=texts, name=texts, output=texts, attachments=st.just(()) | st.tuples(files)),
)


@pytest.mark.parametrize(
    "model", ["openai/gpt-4o", "mistral/mistral-small", "openrouter/anthropic/claude-sonnet-4", "llamacpp/m"]
)
@given(st.lists(said, max_size=8), st.lists(st.integers(0, 8), max_size=5), st.integers(0, 8))
def test_a_conversation_is_sent_the_same_whatever_was_sent_before(
    model: str, messages: list[ModelMessage], lengths: list[int], other: int
) -> None:
    provider, _, name = model.partition("/")
    info = connect(provider, name, {"options": {"baseURL": "http://localhost:1/v1", "apiKey": "k"}}).info
    wire, profile = ChatWire(info, profile_of(info)), profile_of(info)
    sequences = [messages[:length] for length in lengths]
    for sequence in (*sequences, messages[other:], messages):
        fresh = ChatWire(info, profile).request(sequence, (), ReplySettings()).body
        assert wire.request(sequence, (), ReplySettings()).body == fresh
