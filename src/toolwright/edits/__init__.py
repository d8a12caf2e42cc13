"""Changing text: where an old text stands, what takes its place, and patches. Pure functions, no files."""
