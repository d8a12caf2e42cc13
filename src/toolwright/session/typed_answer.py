"""Answers as values: asked for, read, checked, and asked for again where they do not fit."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolwright.errors import UsageError
from toolwright.schema.basics import Problem
from toolwright.session.result import TurnError, TurnResult, joined
from toolwright.structured import Output, output_of

RETRIES = 1
"""Times that an answer that does not fit is asked for again, where nobody has said."""
Ask = Callable[[str], Awaitable[TurnResult[Any]]]
"""Gives the model a message that takes no tools."""


class StructuredOutputError(TurnError):
    """The answer has not the form that was asked for, nor had any of those before it."""

    def __init__(self, answers: Sequence[str], problems: Sequence[Problem]) -> None:
        listed = "; ".join(map(str, problems[:5]))
        super().__init__(f"The answer has not the form that was asked for: {listed}.", "OutputError")
        self.answers = tuple(answers)
        """What the model has answered, the last at the end."""
        self.problems = tuple(map(str, problems))
        """What is wrong with the last one."""


def wanted_output(kind: object, options: Mapping[str, Any]) -> Output:
    """The output that a program asks for. UsageError for what can be none."""
    retries, validate = options.get("retries"), options.get("validate")
    if kind is None:
        raise UsageError("retries= and validate= are about the answer as a value: say its type, output=.")
    if retries is not None and (not isinstance(retries, int) or isinstance(retries, bool) or retries < 0):
        raise UsageError(f"retries={retries!r:.60} is no number of times: give 0, 1, 2, ....")
    if validate is not None and not callable(validate):
        raise UsageError(f"validate={validate!r:.60} cannot be called: give a function of the answer.")
    try:
        output = output_of(kind)
    except TypeError as error:
        raise UsageError(
            f"output={kind!r:.60} is no form for an answer: {error}. Give a TypedDict, a dataclass, a pydantic"
            " model or a JSON Schema."
        ) from error
    return replace(output, retries=RETRIES if retries is None else retries, validate=validate)


async def answered_in_form(output: Output, result: TurnResult[Any], ask: Ask) -> TurnResult[Any]:
    """The result with its answer as a value; the model is told what does not fit, and tries again."""
    answers = list[str]()
    while result.error is None:
        answers.append(result.text)
        parsed = output.parse(result.text)
        problems = parsed.problems or await _refused(output, parsed.value)
        if not problems:
            return replace(result, output=parsed.value)
        if len(answers) > output.retries:
            return replace(result, text="", error=StructuredOutputError(answers, problems))
        result = joined(result, await ask(output.repair(problems)))
    return result


async def _refused(output: Output, value: Any) -> Sequence[Problem]:
    """Return what the program's own check has to say against a value. A ValueError is told to the model."""
    if output.validate is None:
        return ()
    try:
        checking = output.validate(value)
        if inspect.isawaitable(checking):
            await checking
    except ValueError as error:
        return (Problem((), str(error) or "The value is refused."),)
    return ()
