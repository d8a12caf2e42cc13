"""The sandbox: which boxes this machine can put up, the one around each command, and what it refused."""
