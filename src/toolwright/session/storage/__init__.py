"""Storage of sessions: in memory or in SQLite, chained, searched, copied, bundled."""
