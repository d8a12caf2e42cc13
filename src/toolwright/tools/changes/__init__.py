"""Changes of files by tools: worked out in memory, asked for, made, reported."""
