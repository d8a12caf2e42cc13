"""Who may do what: rules that decide, a gate that asks, an explanation of every answer."""
