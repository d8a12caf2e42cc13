"""The models of a workspace: those the settings know, one that a caller brought, and a small one for titles."""

from collections.abc import Mapping, Sequence

from toolwright.config.auth import AuthFile
from toolwright.config.load import Config
from toolwright.machine.folders import Folders
from toolwright.models.connect import Connections, accounts_of
from toolwright.models.known.catalog import Catalog
from toolwright.models.model import Model
from toolwright.session.turns.title import small_sibling


def open_connections(
    config: Config, folders: Folders, environment: Mapping[str, str], brought: str | Model, lists: Sequence[str]
) -> Connections:
    """The models there are, and the user's keys for them. `lists` are the names that settings and agents give."""
    settings = config.settings
    file = AuthFile(folders.auth)
    records = file.records()
    catalog = Catalog(
        {name: provider.said for name, provider in settings.provider.items()},
        disabled=settings.disabled_providers,
        enabled=settings.enabled_providers,
        fetched=folders.models,
        accounts=accounts_of(records),
    )
    connections = Connections(catalog, env=environment, auth=records, lists=lists, file=file)
    if not isinstance(brought, str):
        connections.add(brought.info.full_name, brought)
    return connections


def small_model(connections: Connections, chosen: str, model: Model) -> Model:
    """The model for titles: the user's choice, or a small one of the same provider; never another provider's."""
    if chosen:
        return connections.open(chosen)
    small = small_sibling(model.info, connections.catalog.models(model.info.provider))
    return connections.open(small.full_name) if small else model
