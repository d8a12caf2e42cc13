"""The questions that wait for the person, put one after the other, and withdrawn when they are settled elsewhere."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolwright.errors import ToolwrightError
from toolwright.inbox import Question, Reply, RuleTrial
from toolwright.terminal.screen import YELLOW
from toolwright.tui.asking import ChoiceDialog
from toolwright.tui.permission import PermissionDialog

if TYPE_CHECKING:
    from toolwright.tui.app import ChatApp


class QuestionQueue:
    """Open questions, the oldest first."""

    def __init__(self, app: "ChatApp") -> None:
        self.app = app
        self.waiting: list[str] = []
        self.current: Question | None = None
        self.dialog: PermissionDialog | ChoiceDialog | None = None
        self._asking = False

    async def find(self) -> None:
        """Put what waits in the session already, such as what a program asked that has ended."""
        talk = self.app.talk
        assert talk is not None
        if talk.session is not None:
            ours = {talk.session.id, *(one.child for one in talk.story.children())}
            for question in await talk.call(talk.project.questions()):
                if ours & {question.session_id, *question.callers}:
                    self.asked(question.id)

    def asked(self, question_id: str) -> None:
        if question_id in self.waiting or (self.current is not None and self.current.id == question_id):
            return
        self.waiting.append(question_id)
        if not self._asking:
            self._asking = True
            self.app.run_worker(self._ask(), exit_on_error=False)

    def withdrawn(self, question_id: str) -> None:
        """A question was answered, or its turn stopped."""
        self.waiting = [one for one in self.waiting if one != question_id]
        if self.current is not None and self.current.id == question_id:
            self.current = None
            if self.dialog is not None:
                self.dialog.withdraw()

    async def _ask(self) -> None:
        try:
            while self.waiting:
                await self._put(self.waiting.pop(0))
        finally:
            self._asking = False

    async def _put(self, question_id: str) -> None:
        talk = self.app.talk
        assert talk is not None
        matches = [one for one in await talk.call(talk.project.questions()) if one.id == question_id]
        if not matches:
            return
        self.current = question = matches[0]
        try:
            reply = await self._answer(question)
            if self.current is question:
                self.current = None
                await (talk.call(talk.project.reply(question.id, reply)) if reply else self._stop(question))
        except ToolwrightError as error:
            # It was withdrawn while it was read.
            self.app.note(f"! {error}", YELLOW)

    async def _answer(self, question: Question) -> Reply | None:
        talk = self.app.talk
        assert talk is not None
        if question.kind == "permission":
            if talk.mode == "all" or (talk.mode == "edits" and question.permission == "edit"):
                return Reply(kind="once")
            self.app.call_for_attention("A question waits")
            writing = bool(self.app.prompt.text)
            folder = talk.project.directory
            self.dialog = PermissionDialog(question, folder, self._explain, self._tried, chosen=not writing)
            return await self.app.ask(self.dialog)
        self.app.call_for_attention("A question waits")
        answers: list[tuple[str, ...]] = []
        for number, choice in enumerate(question.choices, 1):
            if self.current is question:
                self.dialog = ChoiceDialog(choice, number, len(question.choices))
                chosen = await self.app.ask(self.dialog)
                if chosen is None:
                    return None
                answers.append(chosen)
        return Reply(kind="once", answers=tuple(answers)) if any(answers) else Reply(kind="reject")

    async def _tried(self, question: Question, patterns: Sequence[str]) -> RuleTrial:
        talk = self.app.talk
        assert talk is not None
        try:
            return await talk.call(talk.project.tried(question, patterns))
        except ToolwrightError as error:
            return RuleTrial(settles=False, reason=str(error))

    async def _stop(self, question: Question) -> None:
        talk = self.app.talk
        assert talk is not None
        if talk.busy:
            await talk.stop()
        else:
            # The turn was begun by another program.
            await talk.call(talk.project.abort((question.session_id, *question.callers)[-1]))

    def _explain(self, question: Question) -> None:
        async def look_up() -> None:
            talk = self.app.talk
            assert talk is not None
            lines = await talk.call(talk.project.explained(question))
            if isinstance(self.app.screen, PermissionDialog) and self.app.screen.question is question:
                self.app.screen.explained(lines)

        self.app.run_worker(look_up(), exit_on_error=False)
