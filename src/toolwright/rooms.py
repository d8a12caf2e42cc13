"""How the services below a conversation are put together for a workspace: files, skills, limits."""

from pathlib import Path

from toolwright.app import Workspace
from toolwright.events import FileEdited, FileWatcherUpdated
from toolwright.files.paths import Tree
from toolwright.files.store import Event, Files
from toolwright.skills import Skills, skill_folders
from toolwright.tools.batch import BatchLimits


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


def skills(workspace: Workspace) -> Skills:
    config = workspace.config
    return Skills(
        skill_folders(
            home=workspace.folders.home,
            root=config.root,
            directory=config.directory,
            config_folders=[folder.path for folder in config.folders],
        )
    )


def batch_limits(workspace: Workspace) -> BatchLimits:
    return BatchLimits(max_calls=workspace.config.get("batch", "max_calls", default=BatchLimits().max_calls))
