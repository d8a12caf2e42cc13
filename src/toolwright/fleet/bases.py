"""Beginnings of tasks, packed once for all runs that begin from the same."""

import asyncio
import hashlib
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolwright.errors import UsageError
from toolwright.evaluate.copies import copy_in, fill, revision_of
from toolwright.evaluate.tasks import Task
from toolwright.fleet.folders import pack
from toolwright.record import record

KEPT = 8
"""Packed folders that are kept for the runs to come."""


@record(frozen=True, slots=True, kw_only=True)
class Base:
    """One beginning."""

    id: str
    """The id that sets it apart from others, and from what stood at the same place before."""
    name: str
    packed: Any
    """The folder, as something that Ray brings to every machine; None where the worker fetches it itself."""


class Bases:
    """The newest beginnings."""

    def __init__(self, put: Callable[[bytes], Any]) -> None:
        self._put = put
        self._kept: OrderedDict[tuple[str, str, str], asyncio.Task[Base]] = OrderedDict()

    async def of(self, task: Task) -> Base:
        """The beginning of a task; UsageError if there is none."""
        key = (str(task.folder), str(task.repo), task.ref)
        if key not in self._kept:
            self._kept[key] = asyncio.create_task(self._pack_base(task))
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return await asyncio.shield(self._kept[key])

    async def _pack_base(self, task: Task) -> Base:
        name = copy_in(Path(), task).folder.name
        if task.repo:
            if not Path(task.repo).is_dir():
                return Base(id=f"{task.repo} {task.ref}", name=name, packed=None)
            revision = await revision_of(task)
            with tempfile.TemporaryDirectory(prefix="toolwright-fleet-") as scratch:
                clone = Path(scratch) / name
                await fill(task, clone, alone=True)
                packed = await asyncio.to_thread(pack, clone)
            return Base(id=revision, name=name, packed=await asyncio.to_thread(self._put, packed))
        if not task.folder:
            return Base(id="", name=name, packed=None)
        folder = Path(task.folder).resolve()
        if not folder.is_dir():
            raise UsageError(f"{task.folder} is not a folder.")
        packed = await asyncio.to_thread(pack, folder)
        digest = hashlib.sha256(packed).hexdigest()
        return Base(id=digest, name=name, packed=await asyncio.to_thread(self._put, packed))
