"""Earlier messages shown again, for a session that goes on."""

from collections.abc import Sequence

from toolwright.app.words import end_line
from toolwright.calls.parts import Failed, ToolPart
from toolwright.messages import Message, TextPart, User
from toolwright.terminal.calls import details, ending, headline
from toolwright.terminal.columns import clipped
from toolwright.terminal.flow import Flow
from toolwright.terminal.screen import BOLD, DIM, RED, Screen
from toolwright.text.display import visible


def show_messages(screen: Screen, messages: Sequence[Message], last: int = 0) -> None:
    """The messages as they looked when they came; only the last so many if that is said."""
    latest = messages[-last:] if last else messages
    if len(latest) < len(messages):
        screen.line(f"… {len(messages) - len(latest)} earlier messages", DIM)
    for message in latest:
        _show(screen, message)


def _show(screen: Screen, message: Message) -> None:
    if isinstance(message.info, User):
        if message.text:
            screen.line()
            for line in message.text.splitlines():
                screen.wrapped(f"> {line}", BOLD)
        return
    for part in message.parts.values():
        if isinstance(part, TextPart) and part.text.strip() and not part.synthetic:
            flow = Flow(screen=screen)
            flow.add(part.text.strip())
            flow.end()
        elif isinstance(part, ToolPart):
            show_call(screen, part)
    if message.info.error is not None:
        screen.wrapped(end_line(str(message.info.error.data.get("message", message.info.error.name))), RED)


def show_call(screen: Screen, part: ToolPart) -> None:
    """One call with what it did."""
    failed = isinstance(part.state, Failed)
    screen.wrapped(f"{'✗' if failed else '•'} {headline(part)}{ending(part)}", RED if failed else DIM)
    for line, code in details(part):
        if failed:
            screen.wrapped(f"    {line}", code)
            continue
        harmless = visible(line.expandtabs(4), lines=False)
        screen.line(clipped(f"    {harmless}", screen.width), code)
