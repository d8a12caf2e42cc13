"""The JSON of Python types: what a model is told of a parameter, and what the function is given."""
