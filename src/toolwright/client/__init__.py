"""A client for a server of ours or of OpenCode's: `Client` to be awaited, `SyncClient` for scripts."""

from toolwright.client.calls import ServerError, ServerGone
from toolwright.client.client import Client
from toolwright.client.session import ClientSession
from toolwright.client.sync import SyncClient

__all__ = ["Client", "ClientSession", "ServerError", "ServerGone", "SyncClient"]
