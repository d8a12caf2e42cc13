"""Formatters: programs that put a file in order after it was changed."""
