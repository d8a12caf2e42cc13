"""Programs run for a session: in scopes that leave nothing behind, in a sandbox where the machine has one."""
