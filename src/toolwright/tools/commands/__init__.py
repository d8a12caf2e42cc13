"""Commands of the bash tool: asked for, boxed, run, and made undoable."""
