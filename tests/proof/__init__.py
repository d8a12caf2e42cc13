"""Goals and evidence."""
