"""The network of commands: which destinations they reach, by what rules, and through which door."""
