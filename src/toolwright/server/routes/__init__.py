"""Routes of the server, one module for each kind of thing asked about."""
