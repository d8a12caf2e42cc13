"""Questions and answers: what is asked, what an answer settles, and that a deny is a floor."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from tests.waiting import patience
from toolwright.calls.request import Request
from toolwright.definition import Call
from toolwright.errors import PermissionDenied, PermissionRejected, ToolError, UsageError
from toolwright.events import Bus, PermissionAsked, PermissionReplied
from toolwright.inbox import Inbox, Question, Reply, RuleTrial, always_say
from toolwright.permission.approvals import Approvals
from toolwright.permission.gate import AskingCall, Gate
from toolwright.permission.rules import Layer, Policy, Rule
from toolwright.testing import ScriptedUser

CALL = Call(id="call_1", tool="bash", arguments={})


class Trial:
    """An inbox with a scripted user, and askers under rules of one's choice."""

    def __init__(self, folder: Path, user: Any = None) -> None:
        self.events: list[Any] = []
        self.user = user or ScriptedUser([None] * 99)
        bus = Bus()
        bus.subscribe(self.events.append)
        approvals = Approvals(file=folder / "approvals.json", project=folder)
        self.inbox = Inbox(bus, self.user)
        self.gate = Gate(self.inbox, approvals)

    def asker(self, *rules: Rule, session: str = "ses_1", parent: Policy | None = None) -> AskingCall:
        return AskingCall(session_id=session, policy=Policy("build", (Layer("user", rules),), parent), call=CALL)

    async def ask(self, asker: AskingCall, *requests: Request) -> None:
        await self.gate.ask(asker, requests)

    def start(self, asker: AskingCall, *requests: Request) -> "asyncio.Task[None]":
        return asyncio.create_task(self.ask(asker, *requests))

    async def asked(self, request: Request) -> "tuple[asyncio.Task[None], Question]":
        """A call that waits, and the question it waits for."""
        task = self.start(self.asker(ASK), request)
        await settle()
        [question] = self.inbox.pending
        return task, question


ASK = Rule("*", "*", "ask")
CHOICE = Question(id="que_1", kind="choice", session_id="ses_1")
ALLOW = Rule("*", "*", "allow")


def bash(*patterns: str, always: tuple[str, ...] | None = None, **more: Any) -> Request:
    return Request(permission="bash", patterns=patterns, always=patterns if always is None else always, **more)


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return Trial(tmp_path)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_is_allowed_passes_without_a_question(trial: Trial) -> None:
    await trial.ask(trial.asker(ALLOW), bash("echo hello", "ls -la", "pwd"))
    assert trial.events == []


async def test_what_is_denied_is_refused_without_a_question(trial: Trial) -> None:
    with pytest.raises(PermissionDenied, match=r"A rule forbids bash on 'ls': the rule `bash \*: deny`") as raised:
        await trial.ask(trial.asker(Rule("bash", "*", "deny")), bash("ls"))
    assert raised.value.kind == "denied"
    assert trial.events == []


@pytest.mark.parametrize("patterns", [("ls", "rm victim"), ("rm victim", "ls")])
async def test_a_deny_anywhere_comes_before_every_question(trial: Trial, patterns: tuple[str, ...]) -> None:
    asker = trial.asker(ASK, Rule("bash", "rm *", "deny"))
    with pytest.raises(PermissionDenied):
        await trial.ask(asker, bash(*patterns))
    with pytest.raises(PermissionDenied):
        await trial.ask(asker, bash("ls"), bash("rm victim"))
    assert trial.user.questions == []


async def test_a_deny_on_what_is_only_implied_counts_as_well(trial: Trial) -> None:
    with pytest.raises(PermissionDenied, match="rm x"):
        await trial.ask(trial.asker(ALLOW, Rule("bash", "rm *", "deny")), bash("cleanup", implied=("rm x",)))


async def test_a_request_with_nothing_in_it_is_asked_never_allowed(trial: Trial) -> None:
    task = trial.start(trial.asker(ALLOW), bash())
    await settle()
    assert len(trial.inbox.pending) == 1
    task.cancel()


async def test_once_is_for_once(tmp_path: Path) -> None:
    trial = Trial(tmp_path, ScriptedUser.saying("once", "once"))
    for _ in range(2):
        await trial.ask(trial.asker(ASK), bash("ls"))
    assert len(trial.user.questions) == 2


async def test_always_holds_for_what_was_offered_and_for_other_sessions(trial: Trial) -> None:
    task, question = await trial.asked(bash("git log -5", always=("git log *",)))
    trial.inbox.reply(question.id, Reply(kind="always", scope="project"))
    await task
    await trial.ask(trial.asker(ASK, session="ses_2"), bash("git log"), bash("git log --oneline"))
    assert len(trial.user.questions) == 1


async def test_always_for_a_session_ends_with_it(tmp_path: Path) -> None:
    trial = Trial(tmp_path, ScriptedUser.saying("always", "reject"))
    await trial.ask(trial.asker(ASK), bash("ls"))
    await trial.ask(trial.asker(ASK), bash("ls"))
    with pytest.raises(PermissionRejected):
        await trial.ask(trial.asker(ASK, session="ses_2"), bash("ls"))


async def test_an_approval_of_the_calling_session_holds_for_its_child(tmp_path: Path) -> None:
    trial = Trial(tmp_path, ScriptedUser.saying("always"))
    parent = trial.asker(ASK)
    await trial.ask(parent, bash("ls"))
    child = AskingCall(session_id="ses_2", policy=parent.policy, callers=("ses_1",), call=CALL)
    await trial.ask(child, bash("ls"))
    assert len(trial.user.questions) == 1


async def test_one_always_releases_every_waiting_call_it_covers_in_any_session(trial: Trial) -> None:
    tasks = [trial.start(trial.asker(ASK, session=f"ses_{n}"), bash(f"ls -{n}", always=("ls *",))) for n in range(3)]
    other = trial.start(trial.asker(ASK, session="ses_9"), bash("pwd"))
    strict = trial.start(trial.asker(ASK, Rule("bash", "ls *", "ask"), session="ses_8"), bash("ls", "whoami"))
    await settle()
    trial.inbox.reply(trial.user.questions[2].id, Reply(kind="always", scope="user"))
    async with patience():
        await asyncio.gather(*tasks)
    assert not other.done()
    assert not strict.done()
    replied = [event.reply for event in trial.events if isinstance(event, PermissionReplied)]
    assert replied == ["always"] * 3
    for task in (other, strict):
        task.cancel()


async def test_always_may_take_a_part_of_what_was_offered(trial: Trial) -> None:
    task, question = await trial.asked(bash("git status", "make", always=("git status *", "make *")))
    trial.inbox.reply(question.id, Reply(kind="always", scope="session", patterns=("git status *",)))
    await task
    await trial.ask(trial.asker(ASK), bash("git status"))
    again = trial.start(trial.asker(ASK), bash("make"))
    await settle()
    assert not again.done()
    again.cancel()


async def test_a_rule_that_does_not_answer_the_question_cannot_be_stored(trial: Trial) -> None:
    task, question = await trial.asked(bash("git status"))
    with pytest.raises(UsageError, match=r"git push \* would not answer this question; there is git status"):
        trial.inbox.reply(question.id, Reply(kind="always", patterns=("git push *",)))
    assert trial.inbox.pending == [question]
    assert not trial.gate.approvals.file.exists()
    task.cancel()


async def test_where_nothing_may_be_stored_no_rule_of_the_persons_own_is_either(trial: Trial) -> None:
    uncertain, question = await trial.asked(bash("eval $x", must_ask=True))
    assert not question.tried(["*"]).settles
    with pytest.raises(UsageError, match="this can only be allowed once"):
        trial.inbox.reply(question.id, Reply(kind="always", patterns=("*",)))
    uncertain.cancel()


async def test_a_rule_of_the_persons_own_is_tried_on_what_was_asked_before_and_stored_if_it_answers(
    trial: Trial,
) -> None:
    asked = [
        trial.start(trial.asker(ASK), bash(command, always=(f"{command} *",)))
        for command in ("git push", "git pull", "make", "git push --all")
    ]
    await settle()
    question = trial.user.questions[3]
    assert question.tried(["git push *"]).earlier == ("git push",)
    assert question.tried(["git *"]).earlier == ("git pull", "git push")
    assert question.tried(["git push --all"]) == RuleTrial(settles=True)
    assert not question.tried(["make"]).settles
    trial.inbox.reply(question.id, Reply(kind="always", scope="session", patterns=("git push --all",)))
    async with patience():
        await asked[3]
    await trial.ask(trial.asker(ASK), bash("git push --all"))
    assert len(trial.user.questions) == 4
    for task in asked[:3]:
        task.cancel()


async def test_one_of_two_rules_may_be_replaced_and_the_other_left_out(trial: Trial) -> None:
    task, question = await trial.asked(bash("git status", "make", always=("git status *", "make *")))
    trial.inbox.reply(question.id, Reply(kind="always", scope="session", patterns=("git status",)))
    await task
    await trial.ask(trial.asker(ASK), bash("git status"))


async def test_a_rule_is_offered_only_if_it_would_settle_this_very_question(trial: Trial) -> None:
    """A saved rule that cannot satisfy the gate which asked would ask for ever."""
    useless = trial.start(trial.asker(ASK), bash("git push", always=("git status *",)))
    uncertain = trial.start(trial.asker(ASK), bash("eval $x", must_ask=True))
    good = trial.start(trial.asker(ASK), bash("git push", always=("git push *",)))
    await settle()
    assert [question.always for question in trial.user.questions] == [(), (), ("git push *",)]
    asked = [event for event in trial.events if isinstance(event, PermissionAsked)]
    assert [event.always for event in asked] == [(), (), ("git push *",)]
    for task in (useless, uncertain, good):
        task.cancel()


async def test_always_where_nothing_is_offered_is_for_once(tmp_path: Path) -> None:
    trial = Trial(tmp_path, ScriptedUser.saying("always", "reject"))
    await trial.ask(trial.asker(ASK), bash("eval $x", must_ask=True))
    with pytest.raises(PermissionRejected):
        await trial.ask(trial.asker(ASK), bash("eval $x", must_ask=True))


async def test_a_command_that_must_be_asked_is_asked_even_if_a_rule_allows_it(trial: Trial) -> None:
    task = trial.start(trial.asker(ALLOW), bash("eval $x", must_ask=True))
    await settle()
    assert len(trial.inbox.pending) == 1
    task.cancel()


async def test_a_rejection_takes_the_other_questions_of_the_session_with_it(trial: Trial) -> None:
    tasks = [trial.start(trial.asker(ASK), bash(command)) for command in ("pwd", "whoami")]
    stranger = trial.start(trial.asker(ASK, session="ses_2"), bash("ls"))
    await settle()
    trial.inbox.reply(trial.user.questions[0].id, Reply(kind="reject", message="use make instead"))
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [PermissionRejected, PermissionRejected]
    assert str(outcomes[0]) == "The user refused bash on 'pwd' and says: use make instead"
    assert isinstance(outcomes[0], PermissionRejected)
    assert isinstance(outcomes[1], PermissionRejected)
    assert (outcomes[0].advice, outcomes[1].advice) == ("use make instead", "")
    assert not stranger.done()
    stranger.cancel()


async def test_a_rejection_declines_no_choice_that_is_open_beside_it(trial: Trial) -> None:
    asked = PermissionReplied(session_id="ses_1", request_id="que_1", reply="once")
    choice = asyncio.create_task(trial.inbox.ask(CHOICE, asked, lambda kind, reply: asked))
    await settle()
    task = trial.start(trial.asker(ASK), bash("ls"))
    await settle()
    [permission] = [one for one in trial.inbox.pending if one.kind == "permission"]
    trial.inbox.reply(permission.id, Reply(kind="reject"))
    with pytest.raises(PermissionRejected):
        await task
    assert [one.id for one in trial.inbox.pending] == ["que_1"]
    choice.cancel()


async def test_an_answer_to_a_question_that_is_not_there_is_an_error(trial: Trial) -> None:
    with pytest.raises(UsageError, match="No question 'per_1' is waiting"):
        trial.inbox.reply("per_1", Reply(kind="once"))


async def test_a_question_cannot_be_answered_twice(trial: Trial) -> None:
    task, question = await trial.asked(bash("ls"))
    trial.inbox.reply(question.id, Reply(kind="once"))
    with pytest.raises(UsageError):
        trial.inbox.reply(question.id, Reply(kind="reject"))
    await task


async def test_stopping_a_session_settles_every_question_of_it(trial: Trial) -> None:
    task = trial.start(trial.asker(ASK), bash("ls"))
    stranger = trial.start(trial.asker(ASK, session="ses_2"), bash("ls"))
    await settle()
    trial.inbox.cancel("ses_1", "you pressed escape")
    with pytest.raises(ToolError, match="you pressed escape") as raised:
        await task
    assert raised.value.kind == "aborted"
    assert [question.session_id for question in trial.inbox.pending] == ["ses_2"]
    assert [event.reply for event in trial.events if isinstance(event, PermissionReplied)] == ["reject"]
    stranger.cancel()


async def test_a_cancelled_call_takes_its_question_back_and_says_so(trial: Trial) -> None:
    task = trial.start(trial.asker(ASK), bash("ls"))
    await settle()
    task.cancel()
    await settle()
    assert trial.inbox.pending == []
    [replied] = [event for event in trial.events if isinstance(event, PermissionReplied)]
    assert replied.request_id == trial.user.questions[0].id


async def test_an_answerer_that_breaks_leaves_no_question_behind(tmp_path: Path) -> None:
    def broken(question: Question) -> Reply:
        raise RuntimeError("no terminal")

    trial = Trial(tmp_path, broken)
    with pytest.raises(UsageError, match="so nothing was done: RuntimeError: no terminal"):
        await trial.ask(trial.asker(ASK), bash("ls"))
    assert trial.inbox.pending == []


async def test_without_a_person_every_question_gets_the_declared_answer_at_once(tmp_path: Path) -> None:
    refusing = Trial(tmp_path, always_say(Reply(kind="reject")))
    async with patience():
        with pytest.raises(PermissionRejected):
            await refusing.ask(refusing.asker(ASK), bash("ls"))
    granting = Trial(tmp_path, always_say(Reply(kind="once")))
    await granting.ask(granting.asker(ASK), bash("ls"))
    with pytest.raises(PermissionDenied):
        await granting.ask(granting.asker(Rule("*", "*", "deny")), bash("ls"))


async def test_what_was_asked_is_told_in_full(trial: Trial) -> None:
    task = trial.start(trial.asker(ASK), bash("git log", always=("git log *",), metadata={"why": "history"}))
    await settle()
    [event] = trial.events
    told = event.to_json()
    assert told["properties"].pop("id") == trial.user.questions[0].id
    assert told == {
        "type": "permission.asked",
        "properties": {
            "sessionID": "ses_1",
            "permission": "bash",
            "patterns": ["git log"],
            "always": ["git log *"],
            "metadata": {"why": "history"},
            "tool": {"messageID": "", "callID": "call_1"},
            "call": {"tool": "bash", "arguments": {}, "title": "bash git log", "agent": "build"},
        },
    }
    task.cancel()


async def test_what_words_come_down_to_is_approved_with_them_and_only_if_it_was_offered(tmp_path: Path) -> None:
    trial = Trial(tmp_path, ScriptedUser.saying("always"))
    request = bash("./deploy.sh", implied=("sh ./deploy.sh",), always=("./deploy.sh", "sh ./deploy.sh"))
    await trial.ask(trial.asker(ASK), request)
    await trial.ask(trial.asker(ASK), request)
    assert len(trial.user.questions) == 1
    with pytest.raises(PermissionDenied):
        await trial.ask(trial.asker(ASK, Rule("bash", "sh *", "deny")), request)


COMMANDS = ["ls", "ls -a", "rm x", "rm -r y", "git push"]
REPLIES = st.lists(
    st.sampled_from(
        [
            Reply(kind="once"),
            Reply(kind="reject"),
            Reply(kind="always", scope="session"),
            Reply(kind="always", scope="project"),
            Reply(kind="always", scope="user"),
        ]
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=rounds(50, 150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    replies=REPLIES,
    calls=st.lists(
        st.tuples(st.sampled_from(COMMANDS), st.sampled_from([("*",), ("rm *",), ("ls *",), ()])), max_size=8
    ),
    denied=st.sampled_from(["rm *", "* -a", "*", "git push"]),
    as_child=st.booleans(),
)
async def test_no_sequence_of_answers_makes_a_denied_call_run(
    tmp_path: Path, replies: list[Reply], calls: list[tuple[str, tuple[str, ...]]], denied: str, as_child: bool
) -> None:
    trial = Trial(tmp_path, ScriptedUser([*replies]))
    trial.gate.approvals.file.unlink(missing_ok=True)
    forbidding = Rule("bash", denied, "deny")
    parent = Policy("parent", (Layer("user", (ASK, forbidding)),)) if as_child else None
    rules = (ASK,) if as_child else (ASK, forbidding)
    for number, (command, always) in enumerate(calls):
        asker = trial.asker(*rules, session=f"ses_{number % 2}", parent=parent)
        try:
            await trial.ask(asker, bash(command, always=always))
        except PermissionDenied:
            continue
        assert not forbidding.fits(command)
