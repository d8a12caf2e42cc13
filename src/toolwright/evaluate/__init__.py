"""Tasks given to an agent, each in a copy of its own: `from toolwright.evaluate import Task, run`."""

from toolwright.evaluate.results import TaskResult
from toolwright.evaluate.running import run
from toolwright.evaluate.tasks import Task, read_tasks

__all__ = ["Task", "TaskResult", "read_tasks", "run"]
