"""A small broken project and a conversation that mends it: what `tw demo` plays, with real tools."""
