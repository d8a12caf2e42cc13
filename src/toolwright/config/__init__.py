"""Settings: found, read, checked and merged."""
