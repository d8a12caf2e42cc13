"""How the services below a conversation are put together for a workspace; each module is loaded when it is needed."""
