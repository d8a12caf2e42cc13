"""What the tests of the file tools share."""

from pathlib import Path

import pytest

from tests.files.tool_case import ToolCase, make_case


@pytest.fixture
def case(tmp_path: Path) -> ToolCase:
    return make_case(tmp_path)
