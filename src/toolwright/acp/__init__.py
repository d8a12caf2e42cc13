"""An agent for editors: the Agent Client Protocol on standard input and output."""
