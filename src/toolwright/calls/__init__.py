"""The parts of a call: its request, its part in a message, its look, its place in the order, its output."""
