"""One door for people: whatever two surfaces would decide, decided once."""
