"""Jobs: shell commands that run, some beyond the call that began them, and what each came to."""
