"""The command line, as in its own tests."""

from tests.cli.conftest import configure, home, tw

__all__ = ["configure", "home", "tw"]
