"""The skills of a workspace."""

from toolwright.app import Workspace
from toolwright.skills import Skills, skill_folders


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
