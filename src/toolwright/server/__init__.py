"""The HTTP server: workspaces of one person, for clients that speak the reference's contract."""
