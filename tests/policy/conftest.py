"""The command line, as its own tests have it."""

from tests.cli.conftest import home, tw

__all__ = ["home", "tw"]
