"""Where things are kept: the user's folders, by the XDG rules, and what lies in them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NAME = "toolwright"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The folders of one user. Nothing is made until something is put there."""

    home: Path
    config: Path
    reference_config: Path
    """Where the reference keeps its configuration, which is read as well."""
    data: Path
    cache: Path

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> "Folders":
        home = Path(environment.get("HOME") or Path.home())
        config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
        data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
        cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
        return cls(
            home=home,
            config=config / NAME,
            reference_config=config / "opencode",
            data=data / NAME,
            cache=cache / NAME,
        )

    @property
    def tool_output(self) -> Path:
        return self.data / "tool-output"

    @property
    def plans(self) -> Path:
        return self.data / "plans"

    @property
    def approvals(self) -> Path:
        return self.data / "approvals.json"

    @property
    def trust(self) -> Path:
        return self.data / "trust.json"

    @property
    def auth(self) -> Path:
        return self.data / "auth.json"

    @property
    def models(self) -> Path:
        """The list of models that the user has fetched."""
        return self.cache / "models.json"

    @property
    def database(self) -> Path:
        return self.data / "toolwright.db"
