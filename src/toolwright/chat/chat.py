"""The conversation: prompts typed and answered one after the other, until the person leaves."""

import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import field
from typing import Any, TypeVar

from toolwright.app.desk import Desk
from toolwright.app.project import Project
from toolwright.app.words import money
from toolwright.chat.keyboard import InputEnded, Keyboard
from toolwright.chat.questions import QuestionPrompt
from toolwright.errors import ToolwrightError, UsageError
from toolwright.events import PermissionAsked
from toolwright.messages import SessionInfo
from toolwright.record import record
from toolwright.session.events import QuestionAsked, SessionIdle
from toolwright.terminal.background import Background, Events
from toolwright.terminal.renderer import Renderer
from toolwright.terminal.screen import BOLD, DIM, RED, YELLOW, Screen

HOP = 0.02
"""Seconds that an event which has come already may take to get here."""
TICK = 0.1
"""Seconds between two looks at the clock and at the keys that were pressed."""

T = TypeVar("T")


@record(slots=True, kw_only=True)
class Chat:
    """One person, one session at a time."""

    desk: Desk
    background: Background
    screen: Screen
    keyboard: Keyboard
    interrupts: int = 0
    """Number of times that Ctrl-C was pressed since the last prompt."""
    typing: bool = False
    """True while a line is being typed, including between two reads."""
    _events: Events = field(init=False)

    def __post_init__(self) -> None:
        self._events = Events(self.background, self.project.follow())

    @property
    def project(self) -> Project:
        return self.desk.project

    @property
    def session(self) -> SessionInfo | None:
        return self.desk.session

    def talk(self, first: str, do: Callable[[str], bool]) -> None:
        """Until the person leaves. `do` carries out a line that is no prompt, and says whether it was one."""
        text = first
        self._answer_waiting()
        while True:
            try:
                self._catch_up()
                text = text or self._typed()
                if text.strip() and not do(text):
                    self.prompt(text)
            except InputEnded:
                return
            except ToolwrightError as error:
                self.screen.wrapped(f"! {error}", RED)
            text = ""

    def prompt(self, text: str) -> None:
        """Send a prompt, and show what happens until it is answered."""
        session = self.wait(self.desk.begin())
        renderer = Renderer(session_id=session.id, screen=self.screen)
        began = time.monotonic()
        result = self.followed(renderer, self.background.submit(self.desk.say(text)))
        renderer.finish(result, time.monotonic() - began)

    def followed(self, renderer: Renderer, task: "Future[T]") -> T:
        """Show a task of a session until its result; its questions are put, Ctrl-C stops it."""
        self.interrupts = 0
        while question_id := self._until_question(renderer, task):
            self._answer(question_id)
        renderer.pause()
        return task.result()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self.background.wait(work)

    def interrupted(self) -> None:
        """Ctrl-C was pressed: once stops the turn, twice leaves. While a line is read it ends the reading."""
        if self.keyboard.reading or self.typing:
            raise KeyboardInterrupt
        self.interrupts += 1

    def _until_question(self, renderer: Renderer, task: "Future[T] | None") -> str:
        """Show events until a question comes, and return its id; empty when the task is over, or the session at rest.

        What works in the background may have begun a turn before the task's own.
        """
        session_id = renderer.session_id
        stopping = False
        with self.keyboard.quiet():
            while True:
                if self.interrupts and not stopping:
                    stopping = True
                    renderer.pause()
                    self.screen.line("stopping; Ctrl-C again leaves", YELLOW)
                    self.background.submit(self.project.abort(session_id))
                if self.interrupts > 1:
                    raise KeyboardInterrupt
                event = self._events.next(TICK)
                if event is not None:
                    self.desk.take(event)
                match event:
                    case None if task is not None and task.done():
                        return ""
                    case None:
                        renderer.tick()
                    case PermissionAsked(id=question_id) | QuestionAsked(id=question_id):
                        renderer.pause()
                        return question_id
                    case SessionIdle(session_id=idle) if idle == session_id and (task is None or task.done()):
                        return ""
                    case _:
                        renderer(event)

    def _answer(self, question_id: str) -> None:
        question = next((one for one in self.wait(self.project.questions()) if one.id == question_id), None)
        if question is None:
            return
        asker = QuestionPrompt(
            screen=self.screen,
            keyboard=self.keyboard,
            directory=self.project.directory,
            explained=lambda question: self.wait(self.project.explained(question)),
            tried=lambda question, patterns: self.wait(self.project.tried(question, patterns)),
        )
        try:
            self.wait(self.project.reply(question_id, asker.ask(question)))
        except (KeyboardInterrupt, InputEnded):
            self.screen.line()
            self.interrupts = 1
        except UsageError as error:
            # The question was withdrawn while it was read.
            self.screen.wrapped(f"! {error}", YELLOW)

    def _answer_waiting(self) -> None:
        """Put what waits in the session already, as where the program that asked is gone, and see the turn through."""
        session = self.session
        if session is None:
            return
        waiting = self.wait(self.project.questions())
        ours = [one.id for one in waiting if session.id in (one.session_id, *one.callers)]
        if not ours:
            return
        self.interrupts = 0
        for question_id in ours:
            self._answer(question_id)
        renderer = Renderer(session_id=session.id, screen=self.screen)
        while question_id := self._until_question(renderer, None):
            self._answer(question_id)
        renderer.pause()

    def _catch_up(self) -> None:
        """Show what has come from the background since the last prompt, and put the questions of it."""
        if self.session is None:
            return
        renderer = Renderer(session_id=self.session.id, screen=self.screen)
        while (event := self._events.next(HOP)) is not None:
            self.desk.take(event)
            if isinstance(event, PermissionAsked | QuestionAsked):
                renderer.pause()
                self._answer(event.id)
            else:
                renderer(event)
        renderer.pause()

    def _typed(self) -> str:
        self.screen.line()
        self.screen.line(self._where(), DIM)
        self.typing = True
        try:
            try:
                return self.keyboard.line("> ", BOLD, remember=True)
            except KeyboardInterrupt:
                self.screen.line()
                self.screen.line("Ctrl-C again, Ctrl-D or /quit leaves", DIM)
            return self.keyboard.line("> ", BOLD, remember=True)
        except KeyboardInterrupt:
            self.screen.line()
            raise InputEnded from None
        finally:
            self.typing = False

    def _where(self) -> str:
        """Return the agent and what it has taken so far, or why that is not known."""
        try:
            return self._status_parts()
        except ToolwrightError as error:
            return f"! {error}"

    def _status_parts(self) -> str:
        parts = [self.desk.agent, self.wait(self.desk.next_model()) or "no model"]
        if self.session is not None:
            use = self.wait(self.project.use_of(self.session.id))
            if use.limit:
                parts.append(f"context {100 * use.context // use.limit} %")
            if use.cost:
                parts.append(money(use.cost))
            parts.append(self.session.slug or self.session.id)
        return " · ".join(parts)
