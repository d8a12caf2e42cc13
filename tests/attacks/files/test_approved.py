"""What is written is what was approved: a diff that changes while its question is open is asked about again."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from toolwright.definition import Call, Result
from toolwright.inbox import Question, Reply
from toolwright.permission.rules import Rule
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_session


class Slow(ScriptedUser):
    """Leaves every question open until it is answered."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    def __call__(self, question: Question) -> Reply | None:
        self.questions.append(question)
        self.asked.set()
        return None


@pytest.fixture
def user() -> Slow:
    return Slow()


@pytest.fixture
def session(tmp_path: Path, user: Slow) -> Session:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("one\ntwo\n")
    return make_session(project, user=user, rules=[Rule("edit", "*", "ask")])


def edit(session: Session, name: str, old: str, new: str, **more: Any) -> "asyncio.Task[Result]":
    arguments = {"filePath": "a.txt", "oldString": old, "newString": new, **more}
    return asyncio.create_task(session.run_call(Call(id=name, tool="edit", arguments=arguments)))


def beside(session: Session) -> Session:
    """The same session seen from elsewhere, whose calls do not wait for each other as those of one turn do."""
    other = Session(session.home, id=session.id)
    other.permit(session.rules)
    return other


async def question(user: Slow, number: int, call: "asyncio.Task[Result]") -> Question:
    """The question that a call asks; the test fails if the call ends without it."""
    while len(user.questions) < number:
        user.asked.clear()
        waiting = asyncio.create_task(user.asked.wait())
        await asyncio.wait([waiting, call], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        assert user.asked.is_set(), "the call ended without asking"
    return user.questions[number - 1]


def answer(session: Session, question: Question, kind: Any = "once") -> None:
    session.gate.inbox.reply(question.id, Reply(kind=kind))


@pytest.mark.parametrize("last", ["once", "reject"])
async def test_an_edit_whose_diff_has_changed_is_asked_about_again(session: Session, user: Slow, last: str) -> None:
    await session.run_call(Call(id="c0", tool="read", arguments={"filePath": "a.txt"}))
    path = session.home.directory / "a.txt"
    first = edit(session, "c1", "one", "ONE", replaceAll=True)
    before = await question(user, 1, first)
    second = edit(beside(session), "c2", "two", "two one")
    answer(session, await question(user, 2, second))
    assert (await second).error is None
    answer(session, before)
    again = await question(user, 3, first)
    assert path.read_text() == "one\ntwo one\n"
    assert "+two ONE\n" not in before.metadata["diff"]
    assert "+two ONE\n" in again.metadata["diff"]
    answer(session, again, last)
    assert ((await first).error is None) is (last == "once")
    assert path.read_text() == ("ONE\ntwo ONE\n" if last == "once" else "one\ntwo one\n")


async def test_an_edit_whose_lines_only_moved_is_not_asked_about_twice(session: Session, user: Slow) -> None:
    await session.run_call(Call(id="c0", tool="read", arguments={"filePath": "a.txt"}))
    first = edit(session, "c1", "two", "TWO")
    before = await question(user, 1, first)
    second = edit(beside(session), "c2", "one\n", "zero\none\n")
    answer(session, await question(user, 2, second))
    assert (await second).error is None
    answer(session, before)
    assert (await first).error is None
    assert len(user.questions) == 2
    assert (session.home.directory / "a.txt").read_text() == "zero\none\nTWO\n"
