"""How much a batch may hold in a workspace."""

from toolwright.app import Workspace
from toolwright.tools.batch import BatchLimits


def batch_limits(workspace: Workspace) -> BatchLimits:
    return BatchLimits(max_calls=workspace.config.get("batch", "max_calls", default=BatchLimits().max_calls))
