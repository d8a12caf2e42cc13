"""Goals: prompts that are worked on until their checks hold, and the evidence for it."""
