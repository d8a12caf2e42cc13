"""Programs run: in scopes that leave nothing behind, and as small children that end with us."""
