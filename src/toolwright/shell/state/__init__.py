"""Facts at one point of a script: folder, variables, arguments, and the findings so far."""
