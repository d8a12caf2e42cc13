"""The conversation in the terminal: lines appended, nothing redrawn but one line of progress."""
