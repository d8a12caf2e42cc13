"""Conversations: their state, their calls, their records on disk."""
