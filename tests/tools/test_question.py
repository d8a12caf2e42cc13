"""The question tool and the two tools that change mode by asking, through the door."""

from pathlib import Path

import pytest

from tests.tools.doubles import Doubles, make_doubles
from toolwright.calls.request import Option
from toolwright.inbox import Choice
from toolwright.protocols.json_types import Json
from toolwright.tools.plan_enter import plan_enter
from toolwright.tools.plan_exit import plan_exit
from toolwright.tools.question import question

COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cool"}],
}


@pytest.fixture
def doubles(project: Path) -> Doubles:
    return make_doubles(project, question, plan_enter, plan_exit)


@pytest.fixture
def planner(project: Path) -> Doubles:
    return make_doubles(project, question, plan_enter, plan_exit, agent="plan")


async def test_chosen_and_own_answers_come_back_with_their_question(doubles: Doubles) -> None:
    doubles.user.answers = [["Blue", "but dark"], []]
    size = COLOUR | {"question": "Which size?", "multiple": True, "custom": False}
    result = await doubles.run("question", questions=[COLOUR, size])
    assert result.output == (
        'The user answered: "Which colour?"="Blue, but dark", "Which size?"="Unanswered". Go on with this in mind.'
    )
    assert result.title == "Asked 2 questions"
    assert result.metadata["answers"] == [["Blue", "but dark"], []]


async def test_the_user_sees_the_question_as_it_was_written(doubles: Doubles) -> None:
    doubles.user.answers = [["Red"]]
    result = await doubles.run("question", questions=[COLOUR, COLOUR | {"multiple": True, "custom": False}])
    options = (Option(label="Red", description="warm"), Option(label="Blue", description="cool"))
    assert doubles.user.asked == [
        Choice(question="Which colour?", header="Colour", options=options),
        Choice(question="Which colour?", header="Colour", options=options, multiple=True, custom=False),
    ]
    assert result.metadata["answers"] == [["Red"], []]


async def test_a_declined_question_is_a_rejection(doubles: Doubles) -> None:
    result = await doubles.run("question", questions=[COLOUR])
    assert result.error is not None
    assert result.error.kind == "rejected"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "questions: is missing"),
        ({"questions": []}, "questions: expected at least 1 entries"),
        ({"questions": [COLOUR | {"header": "h" * 31}]}, "questions[0].header: expected at most 30 characters"),
        ({"questions": [{"question": "?"}]}, "questions[0].options: is missing"),
    ],
)
async def test_a_question_nobody_could_show_is_refused(doubles: Doubles, arguments: Json, problem: str) -> None:
    result = await doubles.run("question", **arguments)
    assert problem in result.output
    assert doubles.user.asked == []


async def test_yes_hands_the_session_to_the_plan_agent(doubles: Doubles) -> None:
    doubles.user.answers = [["Yes"]]
    result = await doubles.run("plan_enter")
    assert result.error is None
    [(agent, text)] = doubles.modes.switched
    assert agent == "plan"
    assert ".toolwright/plans/one.md" in text
    [asked] = doubles.user.asked
    assert [option.label for option in asked.options] == ["Yes", "No"]
    assert (asked.custom, asked.multiple) == (False, False)


async def test_yes_hands_the_session_back_to_the_build_agent(planner: Doubles) -> None:
    planner.user.answers = [["Yes"]]
    result = await planner.run("plan_exit")
    assert result.error is None
    [(agent, text)] = planner.modes.switched
    assert agent == "build"
    assert ".toolwright/plans/one.md" in text


@pytest.mark.parametrize("answers", [[["No"]], [[]], [["Yes", "No"]], [], None])
async def test_anything_but_yes_leaves_the_agent_as_it_is(planner: Doubles, answers: list[list[str]] | None) -> None:
    planner.user.answers = answers
    result = await planner.run("plan_exit")
    assert result.error is not None
    assert result.error.kind == "rejected"
    assert planner.modes.switched == []


async def test_the_plan_agent_has_no_way_into_planning(planner: Doubles) -> None:
    result = await planner.run("plan_enter")
    assert result.error is not None
    assert result.error.kind == "denied"
    assert planner.user.asked == []
