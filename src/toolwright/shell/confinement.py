"""What the sandbox around a command keeps it from, as far as that decides which questions need not be asked."""

from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Confinement:
    """Facts about the box that the command will run in. The default is no box at all."""

    complete: bool = False
    """Whether whatever the command starts can change nothing but the project and what was granted, cannot read what
    the rules keep from being read, and cannot change what they keep from being changed, or our settings and data."""
    private_tmp: bool = False
    """Whether `/tmp` and `/var/tmp` are the command's own, empty and gone with it."""


OPEN = Confinement()
