"""Replies in the four wire formats, as the providers document them, from one description."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model says: reasoning, then text, then calls."""

    reasoning: str = ""
    seal: str = ""
    """The signature that comes with the reasoning."""
    text: str = ""
    calls: Sequence[tuple[str, str, str]] = ()
    """Id, name, arguments as JSON text."""
    finish: str = ""
    """The provider's own word, where it is not the usual one."""
    size: int = 7
    """Characters in one delta."""
    usage: dict[str, int] = field(default_factory=lambda: {"input": 100, "output": 20, "reasoning": 5, "cached": 40})


def sse(data: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"{head}data: {text}\n\n".encode()


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def chat(reply: Reply) -> Iterator[bytes]:
    def chunk(delta: Any, finish: str | None = None) -> bytes:
        return sse({"id": "c1", "object": "chat.completion.chunk", "model": "m",
                    "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})  # fmt: skip

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(reply.reasoning, reply.size):
        yield chunk({"reasoning_content": piece})
    for piece in pieces(reply.text, reply.size):
        yield chunk({"content": piece})
    for index, (call_id, name, arguments) in enumerate(reply.calls):
        start = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [start]})
        for piece in pieces(arguments, reply.size):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, reply.finish or ("tool_calls" if reply.calls else "stop"))
    usage = reply.usage
    yield sse({"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": {
        "prompt_tokens": usage["input"], "completion_tokens": usage["output"],
        "total_tokens": usage["input"] + usage["output"],
        "prompt_tokens_details": {"cached_tokens": usage["cached"]},
        "completion_tokens_details": {"reasoning_tokens": usage["reasoning"]}}})  # fmt: skip
    yield sse("[DONE]")


def responses(reply: Reply) -> Iterator[bytes]:
    number = 0

    def event(kind: str, **fields: Any) -> bytes:
        nonlocal number
        number += 1
        return sse({"type": kind, "sequence_number": number, **fields}, kind)

    shell: dict[str, Any] = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [],
                             "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}  # fmt: skip
    place = 0
    yield event("response.created", response={**shell, "status": "in_progress"})
    if reply.reasoning:
        item: dict[str, Any] = {"id": "rs_1", "type": "reasoning", "summary": []}
        yield event("response.output_item.added", output_index=place, item=item)
        yield event("response.reasoning_summary_part.added", item_id="rs_1", output_index=place, summary_index=0,
                    part={"type": "summary_text", "text": ""})  # fmt: skip
        for piece in pieces(reply.reasoning, reply.size):
            yield event("response.reasoning_summary_text.delta", item_id="rs_1", output_index=place,
                        summary_index=0, delta=piece)  # fmt: skip
        done = {**item, "summary": [{"type": "summary_text", "text": reply.reasoning}],
                "encrypted_content": reply.seal or None}  # fmt: skip
        yield event("response.output_item.done", output_index=place, item=done)
        place += 1
    if reply.text:
        item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        yield event("response.output_item.added", output_index=place, item=item)
        yield event("response.content_part.added", item_id="msg_1", output_index=place, content_index=0,
                    part={"type": "output_text", "text": "", "annotations": []})  # fmt: skip
        for piece in pieces(reply.text, reply.size):
            yield event("response.output_text.delta", item_id="msg_1", output_index=place, content_index=0,
                        delta=piece, logprobs=[])  # fmt: skip
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        yield event("response.output_item.done", output_index=place,
                    item={**item, "status": "completed", "content": content})  # fmt: skip
        place += 1
    for call_id, name, arguments in reply.calls:
        item = {"id": f"fc_{place}", "type": "function_call", "call_id": call_id, "name": name, "arguments": "",
                "status": "in_progress"}  # fmt: skip
        yield event("response.output_item.added", output_index=place, item=item)
        for piece in pieces(arguments, reply.size):
            yield event("response.function_call_arguments.delta", item_id=item["id"], output_index=place, delta=piece)
        yield event("response.function_call_arguments.done", item_id=item["id"], name=name, output_index=place,
                    arguments=arguments)  # fmt: skip
        yield event("response.output_item.done", output_index=place,
                    item={**item, "arguments": arguments, "status": "completed"})  # fmt: skip
        place += 1
    usage = reply.usage
    counted = {"input_tokens": usage["input"], "input_tokens_details": {"cached_tokens": usage["cached"]},
               "output_tokens": usage["output"], "output_tokens_details": {"reasoning_tokens": usage["reasoning"]},
               "total_tokens": usage["input"] + usage["output"]}  # fmt: skip
    if reply.finish:
        yield event("response.incomplete", response={
            **shell, "status": "incomplete", "usage": counted, "incomplete_details": {"reason": reply.finish}
        })  # fmt: skip
    else:
        yield event("response.completed", response={**shell, "status": "completed", "usage": counted})


def anthropic(reply: Reply) -> Iterator[bytes]:
    def event(kind: str, **fields: Any) -> bytes:
        return sse({"type": kind, **fields}, kind)

    usage = reply.usage
    yield event("message_start", message={
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {
            "input_tokens": usage["input"] - usage["cached"], "cache_read_input_tokens": usage["cached"],
            "cache_creation_input_tokens": usage.get("written", 0), "output_tokens": 1}})  # fmt: skip
    yield event("ping")
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.reasoning:
        deltas: list[dict[str, Any]] = [
            {"type": "thinking_delta", "thinking": piece} for piece in pieces(reply.reasoning, reply.size)
        ]
        if reply.seal:
            deltas.append({"type": "signature_delta", "signature": reply.seal})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if reply.text:
        texts = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text, reply.size)]
        blocks.append(({"type": "text", "text": ""}, texts))
    for call_id, name, arguments in reply.calls:
        parts = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(arguments, reply.size)]
        blocks.append(({"type": "tool_use", "id": call_id, "name": name, "input": {}}, parts))
    for index, (block, deltas) in enumerate(blocks):
        yield event("content_block_start", index=index, content_block=block)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    reason = reply.finish or ("tool_use" if reply.calls else "end_turn")
    yield event("message_delta", delta={"stop_reason": reason, "stop_sequence": None},
                usage={"output_tokens": usage["output"]})  # fmt: skip
    yield event("message_stop")


def gemini(reply: Reply) -> Iterator[bytes]:
    def chunk(*parts: Any, **more: Any) -> bytes:
        return sse({"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}],
                    "modelVersion": "m", "responseId": "r1"})  # fmt: skip

    for piece in pieces(reply.reasoning, reply.size):
        yield chunk({"text": piece, "thought": True})
    for piece in pieces(reply.text, reply.size):
        yield chunk({"text": piece})
    for index, (_, name, arguments) in enumerate(reply.calls):
        part: dict[str, Any] = {"functionCall": {"name": name, "args": json.loads(arguments)}}
        if reply.seal and index == 0:
            part["thoughtSignature"] = reply.seal
        yield chunk(part)
    usage = reply.usage
    yield sse({
        "candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "index": 0,
                        "finishReason": reply.finish or "STOP"}],
        "usageMetadata": {
            "promptTokenCount": usage["input"], "candidatesTokenCount": usage["output"] - usage["reasoning"],
            "thoughtsTokenCount": usage["reasoning"], "cachedContentTokenCount": usage["cached"],
            "totalTokenCount": usage["input"] + usage["output"]},
        "modelVersion": "m", "responseId": "r1"})  # fmt: skip
