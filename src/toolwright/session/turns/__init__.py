"""Turns: a prompt waits for its turn, is answered in steps, steered, stopped, resumed."""
