"""Permission rules looked after like code: linted, tried on recorded calls, covered and mutated by tables."""
