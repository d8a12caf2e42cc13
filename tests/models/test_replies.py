"""What comes out of a reply, the same from all four formats, over real HTTP."""

import json

import pytest

from tests.models.conftest import (
    ANTHROPIC,
    CHAT,
    GEMINI,
    HELLO,
    RESPONSES,
    Format,
    calls_of,
    events_of,
    finish_of,
    seals_of,
    text_of,
    thoughts_of,
    usage_of,
)
from tests.models.replies import Reply, sse
from tests.models.server import Server
from toolwright.models.info import Usage
from toolwright.models.model import (
    AssistantMessage,
    CallDelta,
    CallStart,
    Finish,
    FinishReason,
    ModelCall,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReplySettings,
    TextDelta,
)


async def test_text_comes_as_it_was_sent(server: Server, form: Format) -> None:
    server.stream(*form.write(Reply(text="Hello, how are you?")))
    events = await events_of(form.model(server))
    deltas = [event.text for event in events if isinstance(event, TextDelta)]
    assert deltas == ["Hello, ", "how are", " you?"]
    assert finish_of(events).reason == "stop"


async def test_reasoning_comes_before_text_and_ends_with_its_seal(server: Server, form: Format) -> None:
    reply = Reply(reasoning="Let me think.", seal="SEAL", text="Four.")
    server.stream(*form.write(reply))
    events = await events_of(form.model(server))
    assert thoughts_of(events) == "Let me think."
    assert text_of(events) == "Four."
    kinds = [type(event) for event in events if isinstance(event, ReasoningDelta | ReasoningEnd | TextDelta)]
    assert list(dict.fromkeys(kinds)) == [ReasoningDelta, ReasoningEnd, TextDelta]
    seal = {
        "anthropic": {"signature": "SEAL"},
        "openai-responses": {"id": "rs_1", "encrypted_content": "SEAL"},
        "openai-chat": {"field": "reasoning_content"},
    }
    assert seals_of(events) == [seal.get(form.api, {})]


async def test_usage_does_not_count_a_token_twice(server: Server, form: Format) -> None:
    server.stream(*form.write(Reply(text="x")))
    usage = usage_of(await events_of(form.model(server)))
    apart = form is not ANTHROPIC
    assert usage == Usage(input=60, output=15 if apart else 20, reasoning=5 if apart else 0, cache_read=40)
    assert usage.total == 120


async def test_ten_parallel_calls_stay_apart(server: Server, form: Format) -> None:
    calls = [(f"call_{number}", "read", json.dumps({"filePath": f"file {number}.txt"})) for number in range(10)]
    server.stream(*form.write(Reply(text="Reading.", calls=calls)))
    events = await events_of(form.model(server))
    ended = calls_of(events)
    assert [json.loads(call.arguments)["filePath"] for call in ended] == [f"file {number}.txt" for number in range(10)]
    assert len({call.id for call in ended}) == 10
    if form.has_call_ids:
        assert [call.id for call in ended] == [call_id for call_id, _, _ in calls]
    assert [event.id for event in events if isinstance(event, CallStart)] == [call.id for call in ended]
    assert finish_of(events).reason == "tool_calls"


@pytest.mark.parametrize("form", [CHAT, RESPONSES, ANTHROPIC], ids=lambda form: form.api)
async def test_arguments_in_one_byte_pieces_come_out_whole(server: Server, form: Format) -> None:
    arguments = json.dumps({"path": "a.txt", "text": "line\n" * 50})
    server.stream(*form.write(Reply(calls=[("c1", "write", arguments)], size=1)))
    events = await events_of(form.model(server))
    assert [call.arguments for call in calls_of(events)] == [arguments]
    assert "".join(event.text for event in events if isinstance(event, CallDelta)) == arguments


async def test_the_network_may_cut_anywhere(server: Server, form: Format) -> None:
    """Every byte on its own, characters of two to four bytes among them."""
    reply = Reply(reasoning="denke über ß", text="naïve 日本語 🎉", calls=[("c1", "say", '{"text": "čtyři 🎈"}')])
    whole = b"".join(form.write(reply))
    server.stream(*(whole[place : place + 1] for place in range(len(whole))))
    events = await events_of(form.model(server))
    assert thoughts_of(events) == "denke über ß"
    assert text_of(events) == "naïve 日本語 🎉"
    assert json.loads(calls_of(events)[0].arguments) == {"text": "čtyři 🎈"}


async def test_arguments_of_200_kilobytes(server: Server, form: Format) -> None:
    content = "0123456789abcdef\n" * 12_000
    arguments = json.dumps({"content": content})
    server.stream(*form.write(Reply(calls=[("c1", "write", arguments)], size=64)))
    events = await events_of(form.model(server))
    assert json.loads(calls_of(events)[0].arguments) == {"content": content}


async def test_a_call_without_arguments_has_an_empty_object(server: Server, form: Format) -> None:
    arguments = "{}" if form is GEMINI else ""
    server.stream(*form.write(Reply(calls=[("c1", "todoread", arguments)])))
    assert [call.arguments for call in calls_of(await events_of(form.model(server)))] == ["{}"]


@pytest.mark.parametrize(
    ("form", "word", "reason"),
    [
        (CHAT, "length", "length"),
        (CHAT, "content_filter", "content_filter"),
        (CHAT, "weird", "other"),
        (RESPONSES, "max_output_tokens", "length"),
        (RESPONSES, "content_filter", "content_filter"),
        (ANTHROPIC, "max_tokens", "length"),
        (ANTHROPIC, "stop_sequence", "stop"),
        (ANTHROPIC, "refusal", "content_filter"),
        (ANTHROPIC, "pause_turn", "other"),
        (GEMINI, "MAX_TOKENS", "length"),
        (GEMINI, "SAFETY", "content_filter"),
    ],
)
async def test_finish_reasons_are_translated(server: Server, form: Format, word: str, reason: FinishReason) -> None:
    server.stream(*form.write(Reply(text="x", finish=word)))
    assert finish_of(await events_of(form.model(server))) == Finish(reason, word)


@pytest.mark.parametrize(("form", "word"), [(CHAT, "stop"), (CHAT, "weird"), (ANTHROPIC, "end_turn")])
async def test_calls_decide_over_the_word_stop(server: Server, form: Format, word: str) -> None:
    server.stream(*form.write(Reply(calls=[("c1", "read", "{}")], finish=word)))
    assert finish_of(await events_of(form.model(server))).reason == "tool_calls"


async def test_calls_cut_by_the_token_limit_still_say_length(server: Server) -> None:
    server.stream(*CHAT.write(Reply(calls=[("c1", "write", '{"content": "half')], finish="length")))
    events = await events_of(CHAT.model(server))
    assert finish_of(events).reason == "length"
    assert calls_of(events)[0].arguments == '{"content": "half'


async def test_connections_are_used_again(server: Server, form: Format) -> None:
    server.stream(*form.write(Reply(text="x")))
    model = form.model(server)
    for _ in range(3):
        async for _ in model.stream(HELLO, (), ReplySettings()):
            pass
    assert len(server.seen) == 3
    assert server.connections == 1
    await model.close()


async def test_a_closed_model_can_be_used_again(server: Server) -> None:
    server.stream(*CHAT.write(Reply(text="x")))
    model = CHAT.model(server)
    await events_of(model)
    assert text_of(await events_of(model)) == "x"


async def test_signatures_beside_text_and_calls_are_kept_apart(server: Server) -> None:
    """Gemini signs whatever part it likes, an empty one at the end among them; the seals go back in order."""
    call = {"functionCall": {"id": "fc1", "name": "read", "args": {}}, "thoughtSignature": "CALL"}
    parts = [{"text": "Hi"}, {"text": "", "thoughtSignature": "TEXT"}, call]
    server.stream(sse({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}))
    events = await events_of(GEMINI.model(server))
    assert seals_of(events) == [{"thoughtSignature": "TEXT"}]
    (made,) = calls_of(events)
    assert (made.id, made.signature) == ("fc1", {"thoughtSignature": "CALL"})
    server.answers.clear()
    server.stream(*GEMINI.write(Reply(text="x")))
    content = (
        "Hi",
        Reasoning(text="", signature=seals_of(events)[0]),
        ModelCall(id=made.id, name=made.name, arguments={}, signature=made.signature),
    )
    await events_of(GEMINI.model(server), [*HELLO, AssistantMessage(content=content)])
    assert server.seen[-1].body["contents"][1]["parts"] == parts


async def test_several_summaries_are_paragraphs(server: Server) -> None:
    def part(number: int, text: str) -> list[bytes]:
        return [
            sse({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": number}),
            sse({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": text}),
        ]

    last = sse({"type": "response.completed", "response": {}})
    server.stream(*part(0, "First."), *part(1, "Second."), last)
    assert thoughts_of(await events_of(RESPONSES.model(server))) == "First.\n\nSecond."
