"""This machine as far as it is ours: the user's folders, private files, our ports, git's index."""
