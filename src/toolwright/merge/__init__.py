"""Three texts become one: what two sides made of the same file, put together or left as a conflict. Pure."""
