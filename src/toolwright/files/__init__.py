"""The files of a project: where a path leads, what a file says, and the one way to change it."""
