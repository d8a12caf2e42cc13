"""The question tool: asks the user, and waits for the answers."""

from collections.abc import Sequence
from typing import Annotated, NotRequired, TypedDict

from toolwright.calls.look import Arguments, Look
from toolwright.calls.request import Option
from toolwright.definition import Result, ToolContext, tool
from toolwright.functions.signature import Field
from toolwright.inbox import Choice
from toolwright.services import Questions

LONGEST_LABEL = 30


class OfferedAnswer(TypedDict):
    """An answer to choose."""

    label: Annotated[str, Field(schema={"maxLength": LONGEST_LABEL})]
    description: str


class AskedQuestion(TypedDict):
    """A question as the model writes it."""

    question: str
    header: Annotated[str, Field(schema={"maxLength": LONGEST_LABEL})]
    options: list[OfferedAnswer]
    multiple: NotRequired[bool]
    custom: NotRequired[bool]


def _subject(arguments: Arguments) -> str:
    asked = arguments.get("questions")
    first = asked[0] if isinstance(asked, list) and asked else {}
    return str(first.get("question", "")) if isinstance(first, dict) else ""


@tool(
    text="question.md",
    repeatable=False,
    unseen_changes=False,
    look=Look(verb="Ask", kind="other", subject=_subject, quiet=True),
    offered=lambda offer: offer.attended and offer.client in ("cli", "app", "desktop", "acp"),
)
async def question(
    ctx: ToolContext,
    questions: Annotated[list[AskedQuestion], Field(schema={"minItems": 1})],
) -> Result:
    """Ask, wait, and tell the answers. A user who declines to answer ends the turn."""
    answers = await ctx.use(Questions).ask(ctx, [_asked(one) for one in questions])
    answers = [*answers, *([] for _ in questions[len(answers) :])]
    pairs = ", ".join(_pair(one, chosen) for one, chosen in zip(questions, answers, strict=False))
    return Result(
        f"The user answered: {pairs}. Go on with this in mind.",
        title=f"Asked {len(questions)} question{'' if len(questions) == 1 else 's'}",
        metadata={"answers": answers},
    )


def _asked(question: AskedQuestion) -> Choice:
    return Choice(
        question=question["question"],
        header=question["header"],
        options=tuple(
            Option(label=choice["label"], description=choice["description"]) for choice in question["options"]
        ),
        multiple=question.get("multiple", False),
        custom=question.get("custom", True),
    )


def _pair(question: AskedQuestion, chosen: Sequence[str]) -> str:
    return f'"{question["question"]}"="{", ".join(chosen) or "Unanswered"}"'
