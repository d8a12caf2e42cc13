"""Base of our servers: uvicorn, the guard before it, and how a request is refused."""
