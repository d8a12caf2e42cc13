"""The records of a conversation: messages, calls and lists as they are kept and shown to the model."""
