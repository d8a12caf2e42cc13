"""Copies of a project, for work that goes on beside it, and the way back into it."""
