"""The models that can be used as this machine is: those of providers that are set up, or that have a key."""

from typing import TYPE_CHECKING, Literal

from toolwright.models.connect import find_key
from toolwright.models.model import ModelError

if TYPE_CHECKING:
    from toolwright.models.known.catalog import ProviderInfo
    from toolwright.workspace import Workspace

Source = Literal["config", "env", "api", "custom"]
"""Source of a provider's access; `custom` where there is none."""


def readiness(workspace: "Workspace", provider: "ProviderInfo") -> tuple[bool, Source]:
    """Tell whether a provider can be used, and where its access comes from."""
    configured = provider.id in workspace.settings.provider
    if workspace.connections.has_login(provider.id):
        return True, "api"
    try:
        key = find_key(provider, workspace.environment, workspace.connections.auth_of(provider.id))
    except ModelError:
        return False, "config" if configured else "custom"
    in_environment = any(workspace.environment.get(name) for name in provider.env)
    ready = configured or key is not None
    return ready, "config" if configured else "env" if in_environment else "api" if key else "custom"


def ready_models(workspace: "Workspace") -> list[str]:
    """Return the full names of the models of all providers that can be used."""
    catalog = workspace.connections.catalog
    ready = (one for one in catalog.providers() if readiness(workspace, one)[0])
    return [one.full_name for provider in ready for one in catalog.models(provider.id) if one.status != "deprecated"]
