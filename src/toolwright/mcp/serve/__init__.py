"""Our tools, offered to other programs."""
