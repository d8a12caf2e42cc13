"""The commands of a workspace: where they run, in which box, and with how much of our environment."""

from toolwright.app import Workspace
from toolwright.files.store import Files
from toolwright.process.environment import SECRETS, Withholding
from toolwright.process.jobs import Jobs, ShellSettings
from toolwright.process.sandbox import Sandbox, SandboxSettings
from toolwright.process.scope import Scopes
from toolwright.wire import from_json


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
        config=(workspace.folders.config, workspace.folders.reference_config),
        environment=workspace.environment,
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
