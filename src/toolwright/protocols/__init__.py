"""Forms in which programs speak: JSON, JSON-RPC, server-sent events, HTTP answers."""
