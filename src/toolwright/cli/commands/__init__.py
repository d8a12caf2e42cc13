"""The commands of tw, one module for each."""
