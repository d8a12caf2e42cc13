"""The files of a workspace."""

from pathlib import Path

from toolwright.app import Workspace
from toolwright.events import FileEdited, FileWatcherUpdated
from toolwright.files.paths import Tree
from toolwright.files.store import Event, Files


def files(workspace: Workspace) -> Files:
    """The files of the project; every change of them is told to the bus."""
    config = workspace.config
    made = Files(
        Tree(config.directory),
        workspace.folders.data,
        drift=config.get("edit", "drift", default="merge"),
        encoding=config.get("encoding", default=""),
    )

    def tell(path: Path, event: Event) -> None:
        if event != "unlink":
            workspace.bus.publish(FileEdited(file=str(path)))
        workspace.bus.publish(FileWatcherUpdated(file=str(path), event=event))

    made.on_edited.append(tell)
    return made
