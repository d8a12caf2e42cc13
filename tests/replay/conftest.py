"""The command line, as its own tests have it, and the fixture for replays."""

from tests.cli.conftest import home, tw
from toolwright.testing import replay

__all__ = ["home", "replay", "tw"]
