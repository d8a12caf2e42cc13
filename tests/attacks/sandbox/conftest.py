"""Sandboxes are tried out by each test, as in those of the processes."""

from tests.process.conftest import sandboxes_are_tried_out_once

__all__ = ["sandboxes_are_tried_out_once"]
