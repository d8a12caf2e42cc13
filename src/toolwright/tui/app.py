"""The full-screen conversation: its widgets, its prompts and its keys."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from textual import work
from textual.app import App, ComposeResult
from textual.content import Content
from textual.events import AppBlur, AppFocus, Event, Key, Paste
from textual.filter import Monochrome, NoColor
from textual.screen import ModalScreen, Screen

from toolwright.app.opened import OpenedChat
from toolwright.errors import ToolwrightError
from toolwright.terminal.background import Background
from toolwright.terminal.screen import RED
from toolwright.text.display import visible
from toolwright.tui.asking import Asking
from toolwright.tui.cached_lines import BaseScreen, CachedColumn, CachedRow
from toolwright.tui.chat_state import MODES, ChatState
from toolwright.tui.commands import ScreenCommands
from toolwright.tui.dialog import Dialog
from toolwright.tui.drawing import PANEL, Drawing
from toolwright.tui.driver import TerminalDriver
from toolwright.tui.edges import Edge
from toolwright.tui.highlight import highlighted
from toolwright.tui.key_queue import KeyQueue
from toolwright.tui.keys import ACTIONS, Chosen, bindings, chosen
from toolwright.tui.prompt import Offers, PromptField
from toolwright.tui.questions import QuestionQueue
from toolwright.tui.story import Story
from toolwright.tui.terminal import handle_signals, notification
from toolwright.tui.themes import LOOKS, USUAL, usual_look
from toolwright.tui.view import Transcript

TWICE = 2.0
"""Seconds within which a key that is pressed again means more."""

T = TypeVar("T")
Opening = Callable[[], Coroutine[Any, Any, OpenedChat]]


class ChatApp(App[int]):
    """One project, one person. `opening` is carried out once the first frame is there."""

    CSS = f"""
    #main {{ width: 1fr; min-width: 20; }}
    #heading {{ text-style: bold; color: $text; }}
    #progress {{ color: $text-warning; }}
    #footer {{ background: $panel; border-left: thick $accent; padding: 0 1; }}
    #main:inline #footer {{ padding: 0 1; }}
    #panel {{ width: {PANEL}; max-width: 40%; height: 1fr; background: $panel; display: none; }}
    #panel.shown {{ display: block; }}
    Transcript, Dialog VerticalScroll, OptionList {{
        scrollbar-color: $dim; scrollbar-color-hover: $accent; scrollbar-color-active: $accent;
        scrollbar-background: $background; scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }}
    Screen:inline {{ border: none; max-height: 100%; }}
    #all:inline, #main:inline {{ height: auto; }}
    Transcript:inline {{ height: 0; max-height: 40vh; scrollbar-size-vertical: 0; }}
    """
    BINDINGS = bindings()
    ENABLE_COMMAND_PALETTE = False
    INLINE_PADDING = 0

    def __init__(self, background: Background, opening: Opening) -> None:
        super().__init__()
        self.background = background
        self._opening = opening
        self.talk: ChatState | None = None
        self.commands: ScreenCommands | None = None
        self._early: list[str] = []
        """Prompts sent before the project was open; they come first."""
        self._is_open = False
        self.drawing: Drawing | None = None
        self.questions = QuestionQueue(self)
        self.pressed = KeyQueue(self, super().on_event)
        self.keys = Chosen(keys={})
        self._interrupts = self._escapes = 0.0
        self._away = False
        for look in LOOKS.values():
            self.register_theme(look.theme)
        if self.no_color:
            # Not in shades of grey, but in the colours that the terminal has for letters and what is behind them.
            self._filters = [NoColor() if isinstance(one, Monochrome) else one for one in self._filters]
        self.theme = usual_look(self.console.color_system, is_plain=self.no_color)

    def get_driver_class(self) -> type[TerminalDriver]:
        return TerminalDriver

    def get_default_screen(self) -> Screen[Any]:
        return BaseScreen(id="_default")

    def compose(self) -> ComposeResult:
        offers = Offers(markup=False)
        with CachedRow(id="all"):
            with CachedColumn(id="main"):
                yield Edge(id="heading", markup=False)
                yield Transcript(LOOKS[USUAL].palette)
                yield Edge(id="progress", markup=False)
                yield Edge(id="waiting", markup=False)
                yield offers
                yield PromptField(offers, self._completed, self._directory)
                yield Edge(id="footer", markup=False)
            yield Edge(id="panel", markup=False)

    # Beginning and end.

    def on_mount(self) -> None:
        self.edge("heading", "" if self.is_inline else "toolwright")
        self.edge("footer", "opening the project …")
        self.prompt.focus()
        handle_signals(self.exit)
        # The terminal is empty when the shell has given it back; what was drawn before stands there no longer.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh())
        self.call_after_refresh(lambda: self.run_worker(self._open(), exit_on_error=False))

    async def _open(self) -> None:
        try:
            opened = await asyncio.wrap_future(self.background.submit(self._opening()))
        except ToolwrightError as error:
            self.exit(1, message=visible(f"tw: {error}"))
            return
        self.talk = talk = ChatState(self.background, opened, self.refresh_edges)
        self.commands = ScreenCommands(self, talk)
        self.drawing = Drawing(self, talk)
        try:
            await self._show(opened, talk, self.commands)
        except ToolwrightError as error:
            self.note(f"! {error}", RED)
        await self._send_early(opened.prompt)

    async def _show(self, opened: OpenedChat, talk: ChatState, commands: ScreenCommands) -> None:
        self.keys = self.prompt.keys = chosen(opened.keybinds)
        self.set_keymap(dict(self.keys.keys))
        self.choose_theme(opened.theme or self.theme)
        self.prompt.past.load(opened.history)
        await talk.show()
        for note in (*opened.warnings, *opened.notes):
            talk.story.note(note)
        self.transcript.show(talk.story)
        await commands.load()
        await talk.refresh()
        if not talk.next_model:
            talk.usable = await talk.call(talk.project.usable_models())
            self.refresh_edges()
            if self.is_inline:
                await commands.tell_no_model()
            # What comes with the start is a prompt like any other: it asks for a model by itself.
            if not opened.prompt and not self._early:
                self.run_worker(self._carry_out("/connect"), exit_on_error=False)
        self.run_worker(asyncio.to_thread(highlighted, "pass", "python"), exit_on_error=False)
        await self.questions.find()

    async def _send_early(self, first: str) -> None:
        self._early = [*filter(None, [first]), *self._early]
        while self._early:
            text = self._early.pop(0)
            if text.startswith("/"):
                # What it chooses holds for the prompts behind it.
                await self._carry_out(text)
            else:
                self.run_worker(self._carry_out(text), exit_on_error=False)
        self._is_open = True

    def on_unmount(self) -> None:
        if self.drawing is not None:
            self.drawing.close()

    # What is there.

    @property
    def is_up(self) -> bool:
        """Tell whether there is anything to draw on; at the end there no longer is."""
        # At the end the widgets go one after the other.
        parts = ("#main", "#panel", Transcript, PromptField)
        return bool(self.screen_stack) and all(self.screen_stack[0].query(part) for part in parts)

    @property
    def transcript(self) -> Transcript:
        return self.screen_stack[0].query_one(Transcript)

    @property
    def prompt(self) -> PromptField:
        return self.screen_stack[0].query_one(PromptField)

    def edge(self, name: str, text: str | Content) -> None:
        for edge in self.screen_stack[0].query(f"#{name}").results(Edge):
            edge.tell(text)

    def _directory(self) -> Path:
        return self.talk.project.directory if self.talk else Path.cwd()

    def _completed(self, word: str, first: bool) -> list[tuple[str, str]]:
        return self.commands.completions(word, first=first) if self.commands else []

    def note(self, text: str, code: str = "2") -> None:
        """A line of ours in the transcript."""
        if self.talk is not None and self.is_up:
            self.talk.story.note(text, code)
            self.transcript.look()

    # Drawing.

    def refresh_edges(self) -> None:
        if self.drawing is not None:
            self.drawing.edges()
        if self.talk is not None and self.talk.returned and self.is_up:
            self.prompt.give_back(self.talk.returned)
            self.talk.returned.clear()

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_edges)

    def choose_theme(self, name: str) -> None:
        self.theme = name if name in LOOKS else USUAL
        self.transcript.set_palette(LOOKS[self.theme].palette)

    def name_window(self, title: str) -> None:
        """Tell the terminal what to call its window."""
        if title != self.title and self._driver is not None and not self.is_headless:
            self.title = title
            self._driver.write(f"\x1b]0;{title}\x07")

    def call_for_attention(self, why: str) -> None:
        """Ring, and have the terminal show a notification where it can, for somebody who looks elsewhere."""
        if self._away:
            self.bell()
            if self._driver is not None and not self.is_headless:
                self._driver.write(notification(f"{why}: {self.title}"))

    def on_app_blur(self, _: AppBlur) -> None:
        self._away = True

    def on_app_focus(self, _: AppFocus) -> None:
        self._away = False

    # Prompts.

    def on_prompt_field_sent(self, message: PromptField.Sent) -> None:
        text = message.text.strip()
        if text == "?":
            self.action_command("keys")
        elif text:
            self.prompt.past.remember(text)
            self.send(text)

    @work(exclusive=True, group="completions", exit_on_error=False)
    async def _search(self, word: str) -> None:
        if self.commands is not None:
            self.prompt.offer_more(word, await self.commands.found_files(word))

    def on_prompt_field_searched(self, message: PromptField.Searched) -> None:
        self._search(message.word)

    def send(self, text: str) -> None:
        """Carry out what was typed: a command, or a prompt."""
        if not self._is_open:
            self._early.append(text)
            return
        self.transcript.follows = True
        if text.startswith("/"):
            self.pressed.hold()
        self.run_worker(self._carry_out(text), exit_on_error=False)

    async def _carry_out(self, text: str) -> None:
        assert self.talk is not None
        assert self.commands is not None
        try:
            if not await self.commands.run(text):
                self.pressed.release()
                if not await self._has_model(text):
                    return
                await self.talk.say(text)
                if self.is_up:
                    self.transcript.settle()
                self.call_for_attention("The answer is there")
        except ToolwrightError as error:
            self.note(f"! {error}", RED)
        finally:
            self.pressed.release()
        self.refresh_edges()

    async def _has_model(self, text: str) -> bool:
        """Tell whether there is a model; without one ask for it, and put the prompt back in its place."""
        assert self.talk is not None
        assert self.commands is not None
        talk, prompt = self.talk, self.prompt
        if not talk.next_model:
            prompt.put(text)
            await self.commands.do("connect")
            if talk.has_model and prompt.text == text:
                prompt.take()
        return talk.has_model

    async def ask(self, dialog: Dialog[T]) -> T | None:
        """Return what a dialog comes to. The keys that are on their way are for it."""
        answer = self.push_screen(dialog, wait_for_dismiss=True)
        self.pressed.release()
        return await asyncio.shield(answer)

    # Keys.

    async def on_event(self, event: Event) -> None:
        if isinstance(event, Key | Paste) and not event.is_forwarded:
            await self.pressed.take(event)
        else:
            await super().on_event(event)

    def on_asking_early(self, message: Asking.Early) -> None:
        if self.prompt.text:
            self.prompt.insert(message.letter)

    def on_asking_room_taken(self, message: Asking.RoomTaken) -> None:
        if self.is_up:
            self.transcript.keep_above(message.rows)

    def on_asking_talk_scrolled(self, message: Asking.TalkScrolled) -> None:
        self.transcript.scroll_lines(message.step * (self.transcript.page if message.pages else 1))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of the conversation mean nothing in a dialog."""
        return not (action in ACTIONS and isinstance(self.screen, ModalScreen))

    def action_interrupt(self) -> None:
        """Ctrl-C: stop the turn, or clear the prompt, or leave."""
        now = time.monotonic()
        again, self._interrupts = now - self._interrupts < TWICE, 0.0
        if self.talk is not None and self.talk.busy and not self.talk.stopping:
            self.run_worker(self.talk.stop(), exit_on_error=False)
        elif self.prompt.text and not (self.talk is not None and self.talk.busy):
            self.prompt.take()
        elif again:
            self.exit(0)
        else:
            self._interrupts = now
            self.note("Ctrl-C again, Ctrl-D or /quit leaves")

    def action_leave(self) -> None:
        if self.prompt.text:
            self.prompt.action_delete_right()
        else:
            self.exit(0)

    def action_go_back(self) -> None:
        """Escape: close what is open, leave a subagent, and twice stop the turn."""
        now = time.monotonic()
        again, self._escapes = now - self._escapes < TWICE, now
        if self.prompt.offers.has_class("shown"):
            self.prompt.offer_none()
        elif self.drawing is not None and self.drawing.inside is not None:
            self.look_at(None)
        elif again and self.talk is not None and self.talk.busy:
            self.run_worker(self.talk.stop(), exit_on_error=False)

    def action_lead(self) -> None:
        """The leader: the next key means what it means behind it."""
        self.prompt.leader_until = time.monotonic() + TWICE

    async def on_prompt_field_leader_key(self, message: PromptField.LeaderKey) -> None:
        action = self.keys.after_leader.get(message.key)
        if action is not None:
            await self.run_action(action)

    def action_next_agent(self) -> None:
        if not self.prompt.accept() and self.commands is not None:
            self.run_worker(self.commands.next_agent(), exit_on_error=False)

    def action_next_mode(self) -> None:
        if self.talk is not None:
            names = list(MODES)
            self.talk.mode = names[(names.index(self.talk.mode) + 1) % len(names)]
            self.refresh_edges()

    def action_page(self, step: int) -> None:
        self.transcript.scroll_lines(step * self.transcript.page)

    def action_line(self, step: int) -> None:
        self.transcript.scroll_lines(step)

    def action_edge(self, side: int) -> None:
        self.transcript.scroll_lines(side * 1_000_000_000)

    def action_steer(self) -> None:
        text = self.prompt.take()
        if text.strip() and self.talk is not None:
            self.run_worker(self.talk.steer(text), exit_on_error=False)

    def action_unqueue(self) -> None:
        if self.talk is not None and self.talk.queue:
            self.prompt.put(self.talk.queue.pop())
            self.refresh_edges()

    def action_whole(self) -> None:
        self.transcript.set_whole(not self.transcript.whole)

    def action_sidebar(self) -> None:
        if self.drawing is not None:
            self.drawing.toggle_panel()

    def action_command(self, name: str) -> None:
        self.send(f"/{name}")

    def action_step_in(self) -> None:
        self.send("/subagents")

    def action_step_out(self) -> None:
        self.look_at(None)

    # Subagents.

    def on_transcript_stepped_into(self, message: Transcript.SteppedInto) -> None:
        self.run_worker(self.step_into(message.session_id), exit_on_error=False)

    async def step_into(self, session_id: str) -> None:
        if self.talk is not None:
            self.look_at(await self.talk.step_into(session_id))

    def look_at(self, story: Story | None) -> None:
        """Show the story of a subagent, or that of the session again."""
        if self.drawing is not None:
            self.drawing.look_at(story)
