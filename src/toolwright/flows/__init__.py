"""Texts read that others wrote, and whether the person has named what a call then reaches or changes. Pure."""
