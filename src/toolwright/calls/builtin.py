"""The names of the built-in tools: here, below everything, so that nobody writes them down again."""

INVALID = "invalid"
"""The tool in whose name a call is recorded that could not be made."""
BUILTIN: tuple[str, ...] = (
    INVALID,
    "question",
    "bash",
    "read",
    "glob",
    "grep",
    "list",
    "edit",
    "multiedit",
    "write",
    "apply_patch",
    "task",
    "webfetch",
    "todowrite",
    "todoread",
    "websearch",
    "codesearch",
    "skill",
    "lsp",
    "batch",
    "plan_exit",
    "plan_enter",
)
"""In the order a model sees them."""
