"""A prompt from the command line: its options, where it runs, who answers its questions, what is printed."""
