"""Permissions: rules that decide, a gate that asks, an explanation of every answer."""
