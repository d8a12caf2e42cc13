"""A project with a home beside it, in which `tw acp` is started as an editor would."""

import json
import os
import sys
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-m", "toolwright", "acp")


class Place:
    """Where the program runs, and what its model says."""

    def __init__(self, tmp_path: Path, *turns: Any, **settings: Any) -> None:
        self.home, self.folder = tmp_path / "home", tmp_path / "proj ü"
        where = self.home / ".config" / "toolwright"
        where.mkdir(parents=True)
        self.folder.mkdir()
        (self.folder / "a.py").write_text('print("hi")\n')
        self.script = tmp_path / "turns.json"
        self.say(*turns)
        said = {"model": f"scripted/{self.script}", "sandbox": "off", **settings}
        (where / "toolwright.json").write_text(json.dumps(said))
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}

    def say(self, *turns: Any) -> None:
        """What the model says from the next start on."""
        self.script.write_text(json.dumps({"turns": list(turns)}))
