"""A session by what a person calls it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolwright.app.words import plural
from toolwright.errors import UsageError
from toolwright.text.ids import is_id

if TYPE_CHECKING:
    from toolwright.app.project import Project
    from toolwright.messages import SessionInfo

MOST = 100_000
"""Sessions that are looked through for one that is named."""
_NONE = "There is no session {!r} in this project. Give its id, its two words, the beginning of either, or last."


async def named_session(project: "Project", name: str) -> "SessionInfo":
    """Return the session of a project that a person means by a name."""
    if name == "last":
        listed = await project.sessions(1)
        if not listed:
            raise UsageError("There is no session to go on with in this project yet.")
        return listed[0]
    fits = _fitting(await project.sessions(MOST, below=True), name)
    if not fits and is_id(name, "ses"):
        # Whose it is instead, or that nobody knows it, is told by who keeps all of them.
        return await project.session(name)
    if len(fits) != 1:
        several = f"{name!r} fits {plural(len(fits), 'session')}; give more of its name."
        raise UsageError(several if fits else _NONE.format(name))
    return fits[0]


def _fitting(sessions: Sequence["SessionInfo"], name: str) -> list["SessionInfo"]:
    """Return those of an id or of two words, else those whose id or words begin like that."""
    exact = [one for one in sessions if name in (one.id, one.slug)]
    # What every id begins with names none of them.
    tells = len(name) > len("ses_")
    near = [one for one in sessions if one.slug.startswith(name) or (tells and one.id.startswith(name))]
    return exact or near
