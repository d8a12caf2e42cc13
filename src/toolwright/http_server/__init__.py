"""What every server of ours stands on: uvicorn, the guard before it, and how a request is refused."""
