"""The Model Context Protocol, both ways: other programs' tools here, and ours there."""
