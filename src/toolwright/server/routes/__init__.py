"""What the server answers, one module for each kind of thing asked about."""
