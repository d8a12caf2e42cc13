"""Proof that work is done: conditions that are checked, what they were checked on, and what speaks against it."""
