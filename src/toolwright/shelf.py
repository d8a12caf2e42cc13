"""The shelf a workspace keeps its services on: each is made when somebody first reaches for it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from toolwright.errors import UsageError

T = TypeVar("T")


@dataclass(slots=True)
class Services:
    """What tools may use of the workspace, each made when first asked for.

    Known by name, `module.Class`, so that offering a service does not import it.
    """

    makers: dict[str, Callable[[], Any]] = field(default_factory=dict[str, Callable[[], Any]])
    made: dict[str, Any] = field(default_factory=dict[str, Any])

    def use(self, kind: type[T]) -> T:
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name not in self.made:
            if name not in self.makers:
                raise UsageError(f"This workspace offers no {name}.")
            self.made[name] = self.makers[name]()
        return cast("T", self.made[name])
