"""A small broken project and a conversation that fixes it: what `tw demo` plays, with real tools."""
