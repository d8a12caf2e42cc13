"""Capture: the leader sees every call that changes names or opens for writing before it is made, and keeps what was.

The kernel holds each such call of a program (seccomp user notification) until we have looked: `calls` says which they
are, `listener` puts up the filter and speaks with the kernel, `names` finds out which file a call means, `earlier`
keeps what was there, in a `store`, and `watch` brings these together in a thread of the leader. It is no wall: a call
that could not be looked at is let go on and noted as such. What was approved outside of the box `broker` does for the
program, and `questions` are put before a change where a rule asks.
"""
