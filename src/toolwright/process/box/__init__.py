"""A box around one command: what it may write, read and see, and the mechanisms that put it up."""
