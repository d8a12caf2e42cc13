"""A command line understood: what it calls, what it touches, what cannot be known, what an approval may cover."""
