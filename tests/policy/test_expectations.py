"""The arguments of a line of a table of expectations."""

import re
from typing import Any

import pytest

from toolwright.errors import UsageError
from toolwright.policy.expectations import arguments_for


@pytest.mark.parametrize(
    ("tool", "argument", "arguments"),
    [
        ("read", "a.py", {"filePath": "a.py"}),
        ("read", '{"filePath": "b.py"}', {"filePath": "b.py"}),
        ("other", '{"x": 1}', {"x": 1}),
        ("other", "", {}),
        ("read", "[]", {"filePath": "[]"}),
        ("read", '"', {"filePath": '"'}),
    ],
)
def test_a_call_is_written_as_one_word_or_as_json(tool: str, argument: str, arguments: dict[str, Any]) -> None:
    made = arguments_for(tool, argument)
    assert {name: made[name] for name in arguments} == arguments


@pytest.mark.parametrize(
    ("tool", "argument", "problem"),
    [
        ("other", "a.py", "The arguments of other must be a JSON object, not 'a.py'."),
        ("read", "[1]", "The arguments must be a JSON object, not '[1]'."),
        ("read", '"a.py"', "The arguments must be a JSON object, not '\"a.py\"'."),
        ("read", "{nonsense", "The arguments must be a JSON object, but: "),
    ],
)
def test_arguments_that_are_no_object_are_refused_with_what_is_wrong(tool: str, argument: str, problem: str) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)):
        arguments_for(tool, argument)
