"""Stored sessions played once more: as scripts for a model, and call by call against the tools of today."""

from toolwright.replay.outcome import CallOutcome, Replay
from toolwright.replay.playing import children_of, replay, replay_export
from toolwright.replay.script import script_of

__all__ = ["CallOutcome", "Replay", "children_of", "replay", "replay_export", "script_of"]
