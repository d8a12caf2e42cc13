"""The walk through a script: every statement in every branch, with what is known by then."""
