"""The web of a workspace: how pages are fetched, and whom searches are sent to."""

from toolwright.app import Workspace, search_settings
from toolwright.web.fetch import Fetcher
from toolwright.web.search import Searcher, SearchSettings
from toolwright.wire import from_json


def fetcher(workspace: Workspace) -> Fetcher:
    return Fetcher(environment=workspace.environment)


def searcher(workspace: Workspace) -> Searcher:
    said = search_settings(workspace.config, workspace.environment, trusted=workspace.trusted)
    return Searcher(settings=from_json(SearchSettings, said), environment=workspace.environment)
