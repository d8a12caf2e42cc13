"""Undo: what a session's calls changed, by turn, call, file or hunk, and put back."""
