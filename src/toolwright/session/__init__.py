"""What a conversation is: its state, its calls, its records on disk."""
