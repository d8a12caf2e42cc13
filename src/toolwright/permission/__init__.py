"""Who may do what: rules that decide, a broker that asks, an explanation of every answer."""
