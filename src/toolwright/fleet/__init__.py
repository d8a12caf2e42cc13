"""Tasks on many machines, by Ray: `from toolwright.fleet import run`, as from `toolwright.evaluate`."""

from toolwright.fleet.driver import run
from toolwright.fleet.limits import Limit

__all__ = ["Limit", "run"]
