"""The names that a tool may show: not those in a folder that a rule keeps from being read as a whole."""

import os
from pathlib import Path

from toolwright.definition import ToolContext
from toolwright.files.paths import Tree
from toolwright.process.paths.safe_stat import ANY_NAME


class ShownNames:
    """Asked about each path. A file that is denied by its own name, such as `.env`, may be known to be there."""

    note = "Names in folders that may not be read were left out."

    def __init__(self, ctx: ToolContext, tree: Tree) -> None:
        self._ctx, self._tree = ctx, tree
        self._closed = dict[str, bool]()
        # Who may read nothing at all, and may search all the same, is to see names.
        self._any = ctx.hides("read")
        self.withheld = False
        """True once any was left out."""

    def __call__(self, path: str) -> bool:
        """Tell whether an absolute path may be shown."""
        folder = os.path.dirname(path)  # noqa: PTH120 - on text, for every file
        if self._any or not self._is_closed(folder) or not self._is_denied(path):
            return True
        self.withheld = True
        return False

    def _is_closed(self, folder: str) -> bool:
        if folder not in self._closed:
            self._closed[folder] = folder != str(self._tree.root) and self._is_denied(f"{folder}/{ANY_NAME}")
        return self._closed[folder]

    def _is_denied(self, path: str) -> bool:
        return self._ctx.decide("read", self._tree.exactly(Path(path)).pattern) == "deny"
