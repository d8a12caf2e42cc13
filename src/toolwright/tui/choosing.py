"""The commands that choose: a session, a model, an agent, a place in the conversation, a look, what to undo."""

import time
from typing import TYPE_CHECKING

from toolwright.chat.naming import fitting
from toolwright.errors import UsageError
from toolwright.messages import SessionInfo
from toolwright.tui.blocks import Said
from toolwright.tui.dialog import LineDialog, Picker
from toolwright.tui.talk import Talk
from toolwright.tui.themes import LOOKS

if TYPE_CHECKING:
    from toolwright.backend import Backend
    from toolwright.tui.app import Conversation

LISTED = 500


class Choosing:
    """Pickers, and what comes of what was picked."""

    def __init__(self, app: "Conversation", talk: Talk) -> None:
        self.app = app
        self.talk = talk

    @property
    def backend(self) -> "Backend":
        return self.talk.backend

    def session(self) -> SessionInfo:
        raise NotImplementedError

    # Sessions.

    async def sessions(self, name: str) -> None:
        found = await self.talk.call(self.backend.sessions(LISTED))
        by_id = {one.id: one for one in found}
        wanted = fitting(found, name).id if name else ""
        while not wanted:
            said = await self.app.ask(
                Picker(
                    "Sessions",
                    [(one.id, _session_line(one)) for one in by_id.values()],
                    chosen=self.talk.session.id if self.talk.session else "",
                    keys="dr",
                    foot="Enter goes on with it, Ctrl-R renames, Ctrl-D deletes, Esc gives up; type to search",
                )
            )
            if said is None:
                return
            key, colon, session_id = said.rpartition(":")
            if not colon:
                wanted = said
            elif key == "r":
                await self._rename(by_id, session_id)
            else:
                await self._delete(by_id, session_id)
        await self.open_session(by_id[wanted])

    async def open_session(self, info: SessionInfo) -> None:
        if self.talk.busy:
            raise UsageError("The agent is at work; stop it first (Esc twice).")
        await self.talk.open(info)
        self.app.look_at(None)
        await self.app.questions.find()

    async def _rename(self, by_id: dict[str, SessionInfo], session_id: str) -> None:
        title = await self.app.ask(LineDialog("Another title", by_id[session_id].title))
        if title and title.strip():
            by_id[session_id] = await self.talk.call(self.backend.rename(session_id, title.strip()))

    async def _delete(self, by_id: dict[str, SessionInfo], session_id: str) -> None:
        sure = await self.app.ask(
            Picker(f"Delete {by_id[session_id].title!r} for good?", [("no", "no, keep it"), ("yes", "yes, delete it")])
        )
        if sure == "yes":
            await self.talk.call(self.backend.delete(session_id))
            del by_id[session_id]
            if self.talk.session is not None and self.talk.session.id == session_id:
                await self.talk.new()
                self.app.look_at(None)

    async def timeline(self, _: str) -> None:
        """The prompts of the session: jump to one, fork before it, undo from it on."""
        story = self.talk.story
        said = [block for block in story.blocks if isinstance(block, Said)]
        picked = await self.app.ask(
            Picker(
                "Prompts",
                [(block.id, " ".join(block.words.split())[:200]) for block in said],
                chosen=said[-1].id if said else "",
                keys="fu",
                foot="Enter jumps there, Ctrl-F forks before it, Ctrl-U undoes from there on, Esc gives up",
            )
        )
        key, _, block_id = (picked or "").rpartition(":")
        block = next((one for one in said if one.id == block_id), None)
        if block is None:
            return
        if not key:
            self.app.transcript.jump(block)
        elif key == "f":
            fork = await self.talk.call(self.backend.fork(self.session().id, story.message_of(block)))
            await self.open_session(fork)
            self.app.prompt.put(block.words)
        else:
            from toolwright.session.undo import Selection

            await self.undo_now(Selection(turn=story.message_of(block)))

    # Who answers.

    async def model(self, name: str) -> None:
        if "/" not in name:
            known = await self.talk.call(self.backend.models())
            current = [one for one in (self.talk.next_model,) if one and one not in known]
            entries = [(one, one) for one in (*current, *known) if name in one]
            said = await self.app.ask(Picker("Models", entries, chosen=self.talk.next_model))
            name = said or ""
        if name:
            self.talk.model, self.talk.variant = name, ""
            await self.talk.refresh()

    async def variant(self, name: str) -> None:
        known = await self.talk.call(self.backend.variants(self.talk.next_model))
        if not known:
            raise UsageError(f"{self.talk.next_model or 'No model'} cannot be told how hard to think.")
        if not name:
            entries = [("", "as usual"), *((one, one) for one in known)]
            said = await self.app.ask(Picker("How hard it thinks", entries, chosen=self.talk.variant))
            if said is None:
                return
            name = said
        if name and name not in known:
            raise UsageError(f"There is no variant {name!r}. There are: {', '.join(known)}.")
        self.talk.variant = name
        self.app.refresh_edges()

    async def agent(self, name: str) -> None:
        agents = await self.talk.call(self.backend.agents())
        if not name:
            entries = [(one.name, f"{one.name:<12} {one.description}") for one in agents]
            said = await self.app.ask(Picker("Agents", entries, chosen=self.talk.agent))
            name = said or self.talk.agent
        if name not in [one.name for one in agents]:
            raise UsageError(f"There is no agent {name!r}. There are: {', '.join(one.name for one in agents)}.")
        self.talk.agent = name
        await self.talk.refresh()

    async def next_agent(self) -> None:
        names = [one.name for one in await self.talk.call(self.backend.agents())]
        at = names.index(self.talk.agent) if self.talk.agent in names else -1
        self.talk.agent = names[(at + 1) % len(names)]
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
            said = await self.app.ask(Picker("Themes", entries, chosen=self.app.theme))
            name = said or self.app.theme
        if name not in LOOKS:
            raise UsageError(f"There is no theme {name!r}. There are: {', '.join(LOOKS)}.")
        self.app.choose_theme(name)

    # Changes.

    async def undo(self, what: str) -> None:
        from toolwright.tui.undoing import UndoDialog, changes_of, selection_of

        if what:
            await self.undo_now(selection_of(what))
            return
        changes = await changes_of(self.talk, self.session().id)
        said = await self.app.ask(UndoDialog(changes, self.talk, self.session().id))
        if said == "redo":
            await self.redo("")
        elif said is not None:
            await self.undo_now(said)

    async def undo_now(self, selection: "object") -> None:
        from toolwright.session.undo import Selection

        assert isinstance(selection, Selection)
        plans = await self.talk.call(self.backend.undo(self.session().id, selection))
        await self.talk.reload()
        for plan in plans:
            additions, deletions = plan.counts()
            self.app.note(f"  {plan.kind:<9} +{additions} -{deletions}  {plan.path}")
        self.app.note(
            "undone; /redo makes it again" if plans else "the turn changed no file that is known; it no longer counts"
        )

    async def redo(self, _: str) -> None:
        plans = await self.talk.call(self.backend.redo(self.session().id))
        await self.talk.reload()
        for plan in plans:
            additions, deletions = plan.counts()
            self.app.note(f"  {plan.kind:<9} +{additions} -{deletions}  {plan.path}")
        self.app.note("made again")

    async def diff(self, _: str) -> None:
        from toolwright.tui.dialog import TextDialog
        from toolwright.tui.undoing import diff_of_session

        columns = self.app.size.width - 4
        lines = await diff_of_session(self.talk, self.session().id, columns)
        await self.app.ask(TextDialog("What the session has changed", lines))


def _session_line(info: SessionInfo) -> str:
    when = time.strftime("%d %b %H:%M", time.localtime((info.time.updated or info.time.created) / 1000))
    return f"{when}  {info.title}  ({info.slug or info.id[-6:]})"
