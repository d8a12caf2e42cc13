"""Drawing: events in batches, the lines around the transcript, the terminal's title."""

import time
from typing import TYPE_CHECKING

from toolwright.events import Event, EventsMissed, PartUpdated, PermissionAsked, PermissionReplied
from toolwright.messages import StepFinishPart
from toolwright.session.events import (
    QuestionAsked,
    QuestionRejected,
    QuestionReplied,
    TodoUpdated,
)
from toolwright.terminal.columns import clipped
from toolwright.text.display import visible
from toolwright.tui.chat_state import ChatState
from toolwright.tui.edges import ROOMY, WIDE, Edge, footer, greeting, has_news, panel, progress, waiting
from toolwright.tui.event_batches import EventBatches
from toolwright.tui.scrollback import Scrollback
from toolwright.tui.story import Story
from toolwright.tui.terminal import STOPPED, is_gone, title_of

if TYPE_CHECKING:
    from toolwright.tui.app import ChatApp

FRAME = 1 / 30
"""Seconds between two drawings of what comes."""
TICK = 0.25
PANEL = 34
UNTITLED = "New session - "
"""Beginning of the title of a session that has none yet."""


class Drawing:
    """Draws a talk onto the widgets of the conversation."""

    def __init__(self, app: "ChatApp", talk: ChatState) -> None:
        self.app, self.talk = app, talk
        self.inside: Story | None = None
        """The subagent that is looked at."""
        self.wants_panel: bool | None = None
        """True if the person wants the panel, False if not; None shows it where there is room."""
        self.scrollback = Scrollback(app) if app.is_inline else None
        self._drawn = 0.0
        self._due = False
        self._feed = EventBatches(app.background, talk.project.follow(), self.wake)
        app.set_interval(TICK, self._tick)

    def close(self) -> None:
        self._feed.close()

    # The transcript.

    def wake(self) -> None:
        """Something has happened: draw it, but not more often than anybody can see."""
        if self._due:
            return
        wait = FRAME - (time.perf_counter() - self._drawn)
        self._due = True
        if wait > 0:
            self.app.set_timer(wait, self._draw)
        else:
            self.app.call_later(self._draw)

    def _draw(self) -> None:
        self._due = False
        self._drawn = time.perf_counter()
        if not self.app.is_up:
            return
        for event in self._feed.take():
            self.talk.take(event)
            self._notice(event)
        self._follow_story()
        self.app.transcript.look()
        self._pour()

    def _pour(self) -> None:
        """At the foot of the terminal, what is complete is printed above."""
        if self.scrollback is None:
            return
        if self.inside is None:
            self.scrollback.pour(self.talk.story)
        lines = self.app.transcript.virtual_size.height if self.inside else self.scrollback.height(self.talk.story)
        self.app.transcript.styles.height = lines
        self.app.transcript.display = lines > 0

    def _notice(self, event: Event) -> None:
        app, talk = self.app, self.talk
        match event:
            case PermissionAsked(id=question_id) | QuestionAsked(id=question_id):
                app.questions.asked(question_id)
            case PermissionReplied() | QuestionReplied() | QuestionRejected():
                app.questions.withdrawn(event.request_id)
            case PartUpdated(part=StepFinishPart()) | TodoUpdated():
                app.run_worker(talk.refresh())
                self.edges()
            case EventsMissed():
                app.run_worker(talk.reload())
            case _:
                pass

    def look_at(self, story: Story | None) -> None:
        """Show the story of a subagent, or that of the session again."""
        self.inside = story
        self.app.transcript.show(story or self.talk.story)
        self.edges()

    def _follow_story(self) -> None:
        """The story of a new session is another one."""
        story = self.inside or self.talk.story
        if self.app.transcript.story is not story:
            self.app.transcript.show(story)

    # What stands around it.

    def edges(self) -> None:
        """Update the lines around the transcript: agent, queue, cost."""
        if not self.app.is_up:
            return
        talk, columns = self.talk, self._columns
        self._follow_story()
        self.app.transcript.look()
        self._pour()
        self.app.transcript.greet(greeting(talk, columns))
        self.app.edge("progress", progress(talk, columns))
        self.app.edge("waiting", waiting(talk, columns))
        self.app.edge("footer", footer(talk, columns))
        heading = clipped(self._heading(), columns) if self.inside or self.scrollback is None else ""
        self.app.edge("heading", heading)
        side = self.app.screen_stack[0].query_one("#panel", Edge)
        side.set_class(self._has_panel, "shown")
        side.tell(panel(talk, PANEL - 4))
        side.display = self._has_panel

    def toggle_panel(self) -> None:
        self.wants_panel = not self._has_panel
        self.edges()

    def _heading(self) -> str:
        talk, inside = self.talk, self.inside
        title = talk.session.title if talk.session else ""
        if title.startswith(UNTITLED):
            title = talk.story.first_words() or title
        heading = f"subagent {inside.session_id[-6:]} of {title}   (Esc goes back)" if inside else title
        return visible(heading, lines=False)

    @property
    def _has_panel(self) -> bool:
        width = self.app.size.width
        wide = width >= ROOMY or (width >= WIDE and has_news(self.talk))
        return wide and not self.app.is_inline if self.wants_panel is None else self.wants_panel

    @property
    def _columns(self) -> int:
        """By the size of the terminal: what stands beside the panel may not have been given its size yet."""
        width = self.app.size.width
        return max(20, width - (min(PANEL, 2 * width // 5) if self._has_panel else 0) - 4)

    def _tick(self) -> None:
        if not self.app.is_headless and is_gone():
            self.app.exit(STOPPED)
        elif self.app.is_up:
            self.app.edge("progress", progress(self.talk, self._columns))
            self.app.name_window(title_of(self.talk))
