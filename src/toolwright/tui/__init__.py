"""The conversation on the whole screen of a terminal, drawn with textual."""
