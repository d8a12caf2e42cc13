"""The conversation from the command line: its project opened, in lines or on the full screen."""
