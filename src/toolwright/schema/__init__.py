"""JSON Schema: what is wrong with a value, told in one line for each problem."""
