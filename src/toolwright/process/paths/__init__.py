"""Paths that boxes look after: git folders, settings, hidden files, sockets; looked at safely."""
