"""Python functions as tools: their parameters as a schema, their arguments read, their body run in its time."""
