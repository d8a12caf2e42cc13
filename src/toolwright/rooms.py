"""How the services below a conversation are put together for a workspace: files, commands, skills, limits."""

from pathlib import Path

from toolwright.app import Workspace
from toolwright.events import FileEdited, FileWatcherUpdated
from toolwright.files.paths import Tree
from toolwright.files.store import Event, Files
from toolwright.process.environment import SECRETS, Withholding
from toolwright.process.jobs import Jobs, ShellSettings
from toolwright.process.sandbox import Sandbox, SandboxSettings
from toolwright.process.scope import Scopes
from toolwright.skills import Skills, skill_folders
from toolwright.tools.batch import BatchLimits
from toolwright.wire import from_json


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


def scopes(_: Workspace) -> Scopes:
    return Scopes()


def sandbox(workspace: Workspace) -> Sandbox:
    given = workspace.config.get("sandbox", default={})
    said = {"mode": given} if isinstance(given, str) else given
    tree = workspace.services.use(Files).tree
    return Sandbox(
        from_json(SandboxSettings, said),
        directory=tree.directory,
        root=tree.root,
        data=workspace.folders.data,
        scopes=workspace.services.use(Scopes),
        home=workspace.folders.home,
    )


def jobs(workspace: Workspace) -> Jobs:
    """Commands of the shell, in the box of this project, without the secrets of our environment."""
    config = workspace.config
    withheld = Withholding(
        names=(*SECRETS, *config.get("environment", "deny", default=())),
        except_for=tuple(config.get("environment", "allow", default=())),
    )
    return Jobs(
        workspace.services.use(Scopes),
        workspace.services.use(Sandbox),
        ShellSettings(shell=config.get("shell", default=""), withhold=withheld),
        environment=workspace.environment,
        new_file=workspace.truncator.new_file,
    )


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
