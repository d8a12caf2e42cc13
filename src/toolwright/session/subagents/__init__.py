"""Subagents: work handed to other agents, side by side, in the background, or for good."""
