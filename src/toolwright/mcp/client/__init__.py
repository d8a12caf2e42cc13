"""The servers of other programs, whose tools join ours."""
