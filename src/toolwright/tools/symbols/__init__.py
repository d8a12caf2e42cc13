"""The lsp tool's questions to language servers, and its answers for the model."""
