"""Wire formats: a conversation as a provider's JSON, and its events back."""
