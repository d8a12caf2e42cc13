"""The permissions that a command line needs: for its paths, and for its commands."""
