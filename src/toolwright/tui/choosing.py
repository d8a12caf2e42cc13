"""The commands that choose: a session, a model, an agent, a place in the conversation, a look, what to undo."""

import time
from typing import TYPE_CHECKING

from toolwright.app.own import found_entries, undone
from toolwright.errors import UsageError
from toolwright.messages import SessionInfo
from toolwright.tui.blocks import Said
from toolwright.tui.chat_state import ChatState
from toolwright.tui.dialog import LineDialog, Picker
from toolwright.tui.themes import LOOKS

if TYPE_CHECKING:
    from toolwright.app.outcome import Outcome
    from toolwright.app.project import Project
    from toolwright.session.undo.file_back import Selection
    from toolwright.tui.app import ChatApp

LISTED = 500


class Choosing:
    """Pickers, and what comes of what was picked."""

    def __init__(self, app: "ChatApp", talk: ChatState) -> None:
        self.app = app
        self.talk = talk

    @property
    def project(self) -> "Project":
        return self.talk.project

    async def do(self, name: str, rest: str = "") -> None:
        """Carry out a command of ours."""
        raise NotImplementedError

    async def show(self, outcome: "Outcome", again: str = "") -> None:
        """Show what a command came to; `again` is called with what is picked."""
        raise NotImplementedError

    # Sessions.

    async def sessions(self) -> None:
        by_id = {one.id: one for one in await self.talk.call(self.project.sessions(LISTED))}
        wanted = ""
        while not wanted:
            picked = await self.app.ask(
                Picker(
                    "Sessions",
                    [(one.id, _session_line(one)) for one in by_id.values()],
                    chosen=self.talk.session.id if self.talk.session else "",
                    keys="dr",
                    more=lambda words: self.talk.call(found_entries(self.talk.desk, words)),
                    foot="Enter open · Ctrl-R rename · Ctrl-D delete · Esc close · type to search titles and words",
                )
            )
            if picked is None:
                return
            key, colon, session_id = picked.rpartition(":")
            if not colon:
                wanted = picked
            elif session_id not in by_id:
                by_id[session_id] = await self.talk.call(self.project.session(session_id))
            elif key == "r":
                await self._rename(by_id, session_id)
            else:
                await self._delete(by_id, session_id)
        await self.open_session(wanted)

    async def open_session(self, session_id: str) -> None:
        await self.talk.call(self.talk.desk.open(session_id))
        await self.show_session()

    async def show_session(self) -> None:
        """Show the session that is gone on with, or that there is none yet."""
        await self.talk.show()
        await self.talk.refresh()
        self.app.look_at(None)
        await self.app.questions.find()

    async def rename(self) -> None:
        session = self.talk.desk.require_session()
        title = await self.app.ask(LineDialog("Another title", session.title))
        if title and title.strip():
            self.talk.desk.session = await self.talk.call(self.project.rename(session.id, title.strip()))
            self.app.refresh_edges()

    async def _rename(self, by_id: dict[str, SessionInfo], session_id: str) -> None:
        title = await self.app.ask(LineDialog("Another title", by_id[session_id].title))
        if title and title.strip():
            by_id[session_id] = await self.talk.call(self.project.rename(session_id, title.strip()))

    async def _delete(self, by_id: dict[str, SessionInfo], session_id: str) -> None:
        sure = await self.app.ask(
            Picker(f"Delete {by_id[session_id].title!r} for good?", [("no", "no, keep it"), ("yes", "yes, delete it")])
        )
        if sure == "yes":
            await self.talk.call(self.project.delete(session_id))
            del by_id[session_id]
            if self.talk.session is not None and self.talk.session.id == session_id:
                self.talk.desk.leave()
                await self.show_session()

    async def timeline(self, _: str) -> None:
        """The prompts of the session: jump to one, fork before it, undo from it on."""
        story = self.talk.story
        prompts = [block for block in story.blocks if isinstance(block, Said)]
        picked = await self.app.ask(
            Picker(
                "Prompts",
                [(block.id, " ".join(block.words.split())[:200]) for block in prompts],
                chosen=prompts[-1].id if prompts else "",
                keys="fu",
                foot="Enter jump there · Ctrl-F fork before it · Ctrl-U undo from there on · Esc close",
            )
        )
        key, _, block_id = (picked or "").rpartition(":")
        block = next((one for one in prompts if one.id == block_id), None)
        if block is None:
            return
        if not key:
            self.app.transcript.jump(block)
        elif key == "f":
            fork = await self.talk.call(self.project.fork(self.talk.desk.require_session().id, story.message_of(block)))
            await self.open_session(fork.id)
            self.app.prompt.put(block.words)
        else:
            from toolwright.session.undo.file_back import Selection

            await self.undo_now(Selection(turn=story.message_of(block)))

    # Who answers.

    async def next_agent(self) -> None:
        names = [one.name for one in await self.talk.call(self.project.agents())]
        at = names.index(self.talk.desk.agent) if self.talk.desk.agent in names else -1
        self.talk.desk.agent = names[(at + 1) % len(names)]
        await self.talk.refresh()

    async def subagents(self, _: str) -> None:
        children = self.talk.story.children()
        if not children:
            raise UsageError("No subagent has worked in this session.")
        entries = [(one.child, f"{one.part.state.status:<10} {one.title}") for one in reversed(children)]
        wanted = entries[0][0] if len(entries) == 1 else await self.app.ask(Picker("Subagents", entries))
        if wanted:
            await self.app.step_into(wanted)

    # Looks.

    async def theme(self, name: str) -> None:
        if not name:
            entries = [(one, one) for one in LOOKS]
            picked = await self.app.ask(Picker("Themes", entries, chosen=self.app.theme))
            name = picked or self.app.theme
        if name not in LOOKS:
            raise UsageError(f"There is no theme {name!r}. There are: {', '.join(LOOKS)}.")
        self.app.choose_theme(name)

    # Changes.

    async def export(self) -> None:
        """Ask for the file's name first."""
        session = self.talk.desk.require_session()
        name = f"{session.slug or session.id}.md"
        path = await self.app.ask(LineDialog("Write the session to (.md to read, .json to import again)", name))
        if path and path.strip():
            await self.do("export", path.strip())

    async def undo(self) -> None:
        from toolwright.tui.undoing import UndoDialog, changes_of

        session = self.talk.desk.require_session()
        changes = await changes_of(self.talk, session.id)
        choice = await self.app.ask(UndoDialog(changes, self.talk, session.id))
        if isinstance(choice, str):
            await self.do(choice)
        elif choice is not None:
            await self.undo_now(choice)

    async def undo_now(self, selection: "Selection") -> None:
        plans = await self.talk.call(self.project.undo(self.talk.desk.require_session().id, selection))
        await self.talk.reload()
        await self.show(undone(plans))


def _session_line(info: SessionInfo) -> str:
    when = time.strftime("%d %b %H:%M", time.localtime((info.time.updated or info.time.created) / 1000))
    return f"{info.title:<40}  {when}  {info.slug or info.id[-6:]}"
