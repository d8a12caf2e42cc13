"""Parts of a conversation that can be copied: answers, blocks of code in them, output of commands, prompts."""

import re
from collections.abc import Iterator, Sequence

from toolwright.app.shown import view_of
from toolwright.app.words import first_line, plural
from toolwright.calls.parts import Completed, ToolPart
from toolwright.messages import Message

CODE = "code"
MOST = 200
"""Passages that are offered."""
_BLOCK = re.compile(r"^ {0,3}(`{3,}|~{3,})[ ]*([\w+#.-]*)[^\n]*\n(.*?)^ {0,3}\1[`~]*[ ]*$", re.MULTILINE | re.DOTALL)


def passages_of(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """List what can be copied, the last first: how it is shown, and the text."""
    passages = ((label, text) for one in reversed(messages) for label, text in _of_message(one) if text.strip())
    for _, passage in zip(range(MOST), passages, strict=False):
        yield passage


def _of_message(message: Message) -> Iterator[tuple[str, str]]:
    is_prompt = message.info.role == "user"
    yield f"{'prompt' if is_prompt else 'answer':<8}{first_line(message.text)}", message.text
    for block in () if is_prompt else _BLOCK.finditer(message.text):
        code = block[3].rstrip("\n")
        named = ", ".join(filter(None, (block[2], plural(code.count("\n") + 1, "line"))))
        yield f"{CODE:<8}{first_line(code)}  ({named})", code
    for part in reversed(message.calls):
        output = _output(part)
        yield f"{'output':<8}{view_of(part).subject}  ({plural(output.count(chr(10)) + 1, 'line')})", output


def _output(part: ToolPart) -> str:
    """Return what a command printed."""
    if not isinstance(part.state, Completed) or view_of(part).kind != "execute":
        return ""
    return str(part.state.metadata.get("output") or part.state.output).rstrip("\n")
