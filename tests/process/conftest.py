"""Here the sandboxes of the machine are themselves what is tested: each test tries them out."""

import pytest


@pytest.fixture
def sandboxes_are_tried_out_once() -> None:
    """They are not."""
